package host

import (
	"encoding/json"

	"termpilot/iterm/api"
)

// maxPreferences bounds the preferences that clients set.
const maxPreferences = 512

// preferences answers with the default profile, which is fixed, and with the
// preferences that clients set: they last as long as the host, and nothing
// here follows them. One that is not set is null.
func preferences(c *client, in *api.PreferencesRequest) (*api.PreferencesResponse, error) {
	if len(in.GetRequests()) > maxAsked {
		return nil, tooMuchAsked("preferences")
	}
	out := &api.PreferencesResponse{}
	for _, r := range in.GetRequests() {
		out.Results = append(out.Results, c.host.preference(r))
	}
	return out, nil
}

func (h *server) preference(r *api.PreferencesRequest_Request) *api.PreferencesResponse_Result {
	guid := profile{Name: defaultProfile}.guid()
	switch ask := r.GetRequest().(type) {
	case *api.PreferencesRequest_Request_GetDefaultProfileRequest:
		return &api.PreferencesResponse_Result{Result: &api.PreferencesResponse_Result_GetDefaultProfileResult_{
			GetDefaultProfileResult: &api.PreferencesResponse_Result_GetDefaultProfileResult{Guid: &guid},
		}}
	case *api.PreferencesRequest_Request_SetDefaultProfileRequest:
		status := api.PreferencesResponse_Result_SetDefaultProfileResult_OK
		if ask.SetDefaultProfileRequest.GetGuid() != guid { // the login shell is the default, whatever a client wants
			status = api.PreferencesResponse_Result_SetDefaultProfileResult_BAD_GUID
		}
		return &api.PreferencesResponse_Result{Result: &api.PreferencesResponse_Result_SetDefaultProfileResult_{
			SetDefaultProfileResult: &api.PreferencesResponse_Result_SetDefaultProfileResult{Status: status.Enum()},
		}}
	case *api.PreferencesRequest_Request_GetPreferenceRequest:
		h.mu.Lock()
		value := orNull(h.preferences[ask.GetPreferenceRequest.GetKey()])
		h.mu.Unlock()
		return &api.PreferencesResponse_Result{Result: &api.PreferencesResponse_Result_GetPreferenceResult_{
			GetPreferenceResult: &api.PreferencesResponse_Result_GetPreferenceResult{JsonValue: &value},
		}}
	case *api.PreferencesRequest_Request_SetPreferenceRequest:
		status := h.setPreference(ask.SetPreferenceRequest.GetKey(), ask.SetPreferenceRequest.GetJsonValue())
		return &api.PreferencesResponse_Result{Result: &api.PreferencesResponse_Result_SetPreferenceResult_{
			SetPreferenceResult: &api.PreferencesResponse_Result_SetPreferenceResult{Status: status.Enum()},
		}}
	}
	return &api.PreferencesResponse_Result{Result: &api.PreferencesResponse_Result_UnrecognizedRequest{
		UnrecognizedRequest: &api.PreferencesResponse_Result_UnrecognizedResult{},
	}}
}

// setPreference keeps a preference; null takes it away.
func (h *server) setPreference(key, value string) api.PreferencesResponse_Result_SetPreferenceResult_Status {
	switch {
	case !json.Valid([]byte(value)):
		return api.PreferencesResponse_Result_SetPreferenceResult_BAD_JSON
	case key == "" || len(key)+len(value) > 64<<10:
		return api.PreferencesResponse_Result_SetPreferenceResult_INVALID_VALUE
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if value == "null" {
		delete(h.preferences, key)
		return api.PreferencesResponse_Result_SetPreferenceResult_OK
	}
	if _, has := h.preferences[key]; !has && len(h.preferences) >= maxPreferences {
		return api.PreferencesResponse_Result_SetPreferenceResult_INVALID_VALUE
	}
	h.preferences[key] = value
	return api.PreferencesResponse_Result_SetPreferenceResult_OK
}
