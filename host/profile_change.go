package host

import (
	"encoding/json"
	"maps"
	"slices"

	"termpilot/iterm/api"
)

// profileChanges are the properties that clients gave to profiles, as JSON, by
// the profile's id. They last as long as the host, and hold for the sessions
// that are opened after them. The server's lock guards them.
type profileChanges map[string]map[string]string

// hasProfile reports whether there is a profile with an id.
func (h *server) hasProfile(guid string) bool {
	return slices.ContainsFunc(profiles(h.env), func(p profile) bool { return p.guid() == guid })
}

// profileProperties are a profile's, with what clients changed.
func (h *server) profileProperties(p profile) map[string]string {
	properties := p.properties()
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.Copy(properties, h.changed[p.guid()])
	return properties
}

// changeProfiles gives properties to profiles, all or none, and tells it. What
// names a profile cannot change.
func (h *server) changeProfiles(guids []string, properties map[string]string) api.SetProfilePropertyResponse_Status {
	for _, guid := range guids {
		if !h.hasProfile(guid) {
			return api.SetProfilePropertyResponse_BAD_GUID
		}
	}
	_, name := properties["Name"]
	_, guid := properties["Guid"]
	if name || guid || len(guids) == 0 || customize(&request{}, asProperties(properties)) != nil {
		return api.SetProfilePropertyResponse_REQUEST_MALFORMED
	}
	h.mu.Lock()
	fits := !slices.ContainsFunc(guids, func(guid string) bool { return !fit(h.changed[guid], properties) })
	for _, guid := range guids {
		if h.changed[guid] == nil {
			h.changed[guid] = map[string]string{}
		}
		if fits {
			maps.Copy(h.changed[guid], properties)
		}
	}
	h.mu.Unlock()
	if !fits {
		return api.SetProfilePropertyResponse_REQUEST_MALFORMED
	}
	for _, guid := range guids {
		h.hub.publish(about(api.NotificationType_NOTIFY_ON_PROFILE_CHANGE, guid), func() *api.Notification {
			return &api.Notification{ProfileChangedNotification: &api.ProfileChangedNotification{Guid: &guid}}
		})
	}
	return api.SetProfilePropertyResponse_OK
}

// fit reports whether properties can be kept with those that are.
func fit(kept, properties map[string]string) bool {
	fresh := 0
	for key := range properties {
		if _, has := kept[key]; !has {
			fresh++
		}
	}
	return len(kept)+fresh <= maxProperties
}

func asProperties(properties map[string]string) []*api.ProfileProperty {
	return listed(properties, nil)
}

// withProfile completes what a client asked for by what its profile has been
// given.
func (h *server) withProfile(r request) request {
	h.mu.Lock()
	changed := asProperties(h.changed[r.profile.guid()])
	h.mu.Unlock()
	own := request{profile: r.profile, near: r.near}
	if len(changed) == 0 || customize(&own, changed) != nil {
		return r
	}
	if len(r.command) == 0 && r.shellLine == "" {
		r.command, r.shellLine, r.profile.Shell = own.command, own.shellLine, own.profile.Shell
	}
	if r.typed == "" {
		r.typed = own.typed
	}
	if r.dir == "" {
		r.dir = own.dir
	}
	if r.env == nil {
		r.env = own.env
	}
	if r.columns == 0 {
		r.columns = own.columns
	}
	if r.rows == 0 {
		r.rows = own.rows
	}
	if r.scrollback == 0 {
		r.scrollback = own.scrollback
	}
	return r
}

// assignments reads the properties that a request sets. false when a value is
// not JSON, or too long.
func assignments(in *api.SetProfilePropertyRequest) (map[string]string, bool) {
	list := in.GetAssignments()
	if in.Key != nil {
		list = append(list, &api.SetProfilePropertyRequest_Assignment{Key: in.Key, JsonValue: in.JsonValue})
	}
	properties := map[string]string{}
	for _, a := range list {
		if !json.Valid([]byte(a.GetJsonValue())) || a.GetKey() == "" || len(a.GetKey())+len(a.GetJsonValue()) > maxProperty {
			return nil, false
		}
		properties[a.GetKey()] = a.GetJsonValue()
	}
	return properties, true
}
