package host

import (
	"encoding/json"
	"slices"

	"termpilot/iterm/api"
)

func getProperty(c *client, in *api.GetPropertyRequest) (*api.GetPropertyResponse, error) {
	h := c.host
	bad := func(status api.GetPropertyResponse_Status) (*api.GetPropertyResponse, error) {
		return &api.GetPropertyResponse{Status: status.Enum()}, nil
	}
	is := func(v any) (*api.GetPropertyResponse, error) {
		return &api.GetPropertyResponse{Status: api.GetPropertyResponse_OK.Enum(), JsonValue: ptr(encode(v))}, nil
	}
	switch id := in.GetIdentifier().(type) {
	case *api.GetPropertyRequest_SessionId:
		s, ok := h.readable(id.SessionId)
		if !ok {
			return bad(api.GetPropertyResponse_INVALID_TARGET)
		}
		switch in.GetName() {
		case "number_of_lines":
			return is(s.lineInfo())
		case "grid_size": // the true size, where the API's own server is one short
			columns, rows := s.facts.size()
			return is(map[string]int{"width": columns, "height": rows})
		case "buried":
			return is(false)
		}
	case *api.GetPropertyRequest_WindowId:
		h.mu.Lock()
		w := h.layout.bySerial[id.WindowId]
		var frame rect
		if w != nil {
			frame = w.bounds()
		}
		h.mu.Unlock()
		if w == nil {
			return bad(api.GetPropertyResponse_INVALID_TARGET)
		}
		switch in.GetName() {
		case "frame":
			return is(frameValue{origin{frame.x, frame.y}, extent{frame.width, frame.height}})
		case "fullscreen":
			return is(false)
		}
	default:
		return bad(api.GetPropertyResponse_INVALID_TARGET)
	}
	return bad(api.GetPropertyResponse_UNRECOGNIZED_NAME)
}

type frameValue struct {
	Origin origin `json:"origin"`
	Size   extent `json:"size"`
}

type origin struct {
	X int `json:"x"`
	Y int `json:"y"`
}

type extent struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// lineInfo counts the session's rows: lost, in the scrollback, on the screen.
func (s *session) lineInfo() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, rows := s.term.Size()
	dropped, history := s.term.Dropped(), int64(s.term.History())
	return map[string]int64{
		"overflow": dropped, "history": history, "grid": int64(rows), "first_visible": dropped + history,
	}
}

func setProperty(c *client, in *api.SetPropertyRequest) (*api.SetPropertyResponse, error) {
	h := c.host
	answer := func(status api.SetPropertyResponse_Status) (*api.SetPropertyResponse, error) {
		return &api.SetPropertyResponse{Status: status.Enum()}, nil
	}
	switch id := in.GetIdentifier().(type) {
	case *api.SetPropertyRequest_SessionId:
		s, ok := h.live(id.SessionId)
		if !ok {
			return answer(api.SetPropertyResponse_INVALID_TARGET)
		}
		if in.GetName() != "grid_size" {
			return answer(api.SetPropertyResponse_UNRECOGNIZED_NAME)
		}
		var size extent
		if json.Unmarshal([]byte(in.GetJsonValue()), &size) != nil || size.Width < 1 || size.Height < 1 ||
			size.Width > maxColumns || size.Height > maxRows {
			return answer(api.SetPropertyResponse_INVALID_VALUE)
		}
		if err := s.resize(size.Width, size.Height); err != nil {
			return answer(api.SetPropertyResponse_FAILED)
		}
		h.mu.Lock()
		h.tellLayout()
		h.mu.Unlock()
		return answer(api.SetPropertyResponse_OK)
	case *api.SetPropertyRequest_WindowId:
		h.mu.Lock()
		defer h.mu.Unlock()
		w := h.layout.bySerial[id.WindowId]
		if w == nil {
			return answer(api.SetPropertyResponse_INVALID_TARGET)
		}
		switch in.GetName() {
		case "frame":
			var f struct {
				Origin struct{ X, Y float64 }
				Size   struct{ Width, Height float64 }
			}
			if json.Unmarshal([]byte(in.GetJsonValue()), &f) != nil || !(f.Size.Width > 0 && f.Size.Height > 0) {
				return answer(api.SetPropertyResponse_INVALID_VALUE)
			}
			w.frame = rect{int(f.Origin.X), int(f.Origin.Y), int(f.Size.Width), int(f.Size.Height)}
			h.tellLayout()
			return answer(api.SetPropertyResponse_OK)
		case "fullscreen":
			if in.GetJsonValue() == "false" {
				return answer(api.SetPropertyResponse_OK)
			}
			return answer(api.SetPropertyResponse_FAILED)
		}
	default:
		return answer(api.SetPropertyResponse_INVALID_TARGET)
	}
	return answer(api.SetPropertyResponse_UNRECOGNIZED_NAME)
}

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
const maxProperties = 512

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
	for _, s := range targets {
		s.facts.mu.Lock()
		for key, value := range properties {
			if _, has := s.facts.properties[key]; has || len(s.facts.properties) < maxProperties {
				s.facts.properties[key] = value
			}
		}
		s.facts.mu.Unlock()
		if named {
			c.host.rename(s, name)
		}
	}
	return answer(api.SetProfilePropertyResponse_OK)
}
