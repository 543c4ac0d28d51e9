package host

import (
	"slices"

	"termpilot/iterm/api"
)

// properties are a profile's, as JSON by key.
func (p profile) properties() map[string]string {
	properties := map[string]string{
		"Name":                  encode(p.Name),
		"Guid":                  encode(p.guid()),
		"Custom Command":        encode("Custom Shell"),
		"Command":               encode(p.Shell),
		"Custom Directory":      encode("No"),
		"Working Directory":     encode(""),
		"Rows":                  encode(defaultRows),
		"Columns":               encode(defaultColumns),
		"Scrollback Lines":      encode(defaultScrollback),
		"Unlimited Scrollback":  encode(false),
		"Terminal Type":         encode("xterm-256color"),
		"Character Encoding":    encode(4), // UTF-8, by the number that macOS gives it
		"Close Sessions On End": encode(true),
		"Default Bookmark":      encode(yesNo(p.Name == defaultProfile)),
	}
	addLooks(properties)
	return properties
}

func yesNo(yes bool) string {
	if yes {
		return "Yes"
	}
	return "No"
}

// listed picks the properties with the wanted keys, all for none, in order.
func listed(properties map[string]string, keys []string) []*api.ProfileProperty {
	var list []*api.ProfileProperty
	for key, value := range properties {
		if len(keys) == 0 || slices.Contains(keys, key) {
			list = append(list, &api.ProfileProperty{Key: ptr(key), JsonValue: ptr(value)})
		}
	}
	slices.SortFunc(list, func(a, b *api.ProfileProperty) int {
		if a.GetKey() < b.GetKey() {
			return -1
		}
		return 1
	})
	return list
}

func listProfiles(c *client, in *api.ListProfilesRequest) (*api.ListProfilesResponse, error) {
	out := &api.ListProfilesResponse{}
	for _, p := range profiles(c.host.env) {
		if guids := in.GetGuids(); len(guids) > 0 && !slices.Contains(guids, p.guid()) {
			continue
		}
		out.Profiles = append(out.Profiles, &api.ListProfilesResponse_Profile{
			Properties: listed(c.host.profileProperties(p), in.GetProperties()),
		})
	}
	return out, nil
}

func getProfileProperty(c *client, in *api.GetProfilePropertyRequest) (*api.GetProfilePropertyResponse, error) {
	s, ok := c.host.readable(in.GetSession())
	if !ok {
		return &api.GetProfilePropertyResponse{Status: api.GetProfilePropertyResponse_SESSION_NOT_FOUND.Enum()}, nil
	}
	properties := c.host.profileProperties(s.profile)
	columns, rows := s.facts.size()
	properties["Columns"], properties["Rows"] = encode(columns), encode(rows)
	if name := s.facts.label(); name != "" {
		properties["Name"] = encode(name)
	}
	s.facts.mu.Lock()
	for key, value := range s.facts.properties {
		properties[key] = value
	}
	s.facts.mu.Unlock()
	return &api.GetProfilePropertyResponse{
		Status: api.GetProfilePropertyResponse_OK.Enum(), Properties: listed(properties, in.GetKeys()),
	}, nil
}

// maxProperties bounds the profile properties that clients keep at a session.
const maxProperties, maxProperty = 512, 64 << 10

// setProfileProperty gives properties to one session, or to profiles. Of a
// session, Name is its name; the others are remembered and have no effect:
// nothing is drawn here.
func setProfileProperty(c *client, in *api.SetProfilePropertyRequest) (*api.SetProfilePropertyResponse, error) {
	answer := func(status api.SetProfilePropertyResponse_Status) (*api.SetProfilePropertyResponse, error) {
		return &api.SetProfilePropertyResponse{Status: status.Enum()}, nil
	}
	properties, ok := assignments(in)
	if !ok {
		return answer(api.SetProfilePropertyResponse_REQUEST_MALFORMED)
	}
	if list := in.GetGuidList(); list != nil {
		return answer(c.host.changeProfiles(list.GetGuids(), properties))
	}
	targets := c.host.chosen(in.GetSession())
	if len(targets) == 0 {
		return answer(api.SetProfilePropertyResponse_SESSION_NOT_FOUND)
	}
	name, named := "", false
	if value, has := properties["Name"]; has {
		if named = strictly([]byte(value), &name); !named {
			return answer(api.SetProfilePropertyResponse_REQUEST_MALFORMED)
		}
		delete(properties, "Name")
	}
	for _, add := range []bool{false, true} { // all of them or none
		for _, s := range targets {
			if !s.facts.keep(properties, add) {
				return answer(api.SetProfilePropertyResponse_REQUEST_MALFORMED)
			}
		}
	}
	for _, s := range targets {
		if named {
			c.host.rename(s, name)
		}
	}
	return answer(api.SetProfilePropertyResponse_OK)
}
