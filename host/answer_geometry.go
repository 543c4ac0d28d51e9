package host

import (
	"encoding/json"
	"math"

	"termpilot/iterm/api"
)

func getProperty(c *client, in *api.GetPropertyRequest) (*api.GetPropertyResponse, error) {
	h := c.host
	var value any
	known := true
	switch id := in.GetIdentifier().(type) {
	case *api.GetPropertyRequest_SessionId:
		s, ok := h.readable(id.SessionId)
		if !ok {
			return &api.GetPropertyResponse{Status: api.GetPropertyResponse_INVALID_TARGET.Enum()}, nil
		}
		value, known = h.sessionProperty(s, in.GetName())
	case *api.GetPropertyRequest_WindowId:
		h.mu.Lock()
		defer h.mu.Unlock()
		w := h.layout.bySerial[id.WindowId]
		if w == nil {
			return &api.GetPropertyResponse{Status: api.GetPropertyResponse_INVALID_TARGET.Enum()}, nil
		}
		switch in.GetName() {
		case "frame":
			b := w.bounds()
			value = frameValue{origin{b.x, b.y}, extent{b.width, b.height}}
		case "fullscreen":
			value = w.fullscreen
		default:
			known = false
		}
	default:
		return &api.GetPropertyResponse{Status: api.GetPropertyResponse_INVALID_TARGET.Enum()}, nil
	}
	if !known {
		return &api.GetPropertyResponse{Status: api.GetPropertyResponse_UNRECOGNIZED_NAME.Enum()}, nil
	}
	return &api.GetPropertyResponse{Status: api.GetPropertyResponse_OK.Enum(), JsonValue: ptr(encode(value))}, nil
}

func (h *server) sessionProperty(s *session, name string) (any, bool) {
	switch name {
	case "number_of_lines":
		return s.lineInfo(), true
	case "grid_size": // the true size, where the API's own server is one short
		columns, rows := s.facts.size()
		return extent{columns, rows}, true
	case "buried":
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.layout.grave(s) != nil, true
	}
	return nil, false
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
	status := api.SetPropertyResponse_INVALID_TARGET
	value := []byte(in.GetJsonValue())
	switch id := in.GetIdentifier().(type) {
	case *api.SetPropertyRequest_SessionId:
		if s, ok := c.host.live(id.SessionId); ok {
			status = c.host.setSessionProperty(s, in.GetName(), value)
		}
	case *api.SetPropertyRequest_WindowId:
		c.host.arrange(func(l *layout) bool {
			if w := l.bySerial[id.WindowId]; w != nil {
				status = w.setProperty(in.GetName(), value)
			}
			return status == api.SetPropertyResponse_OK
		})
	}
	return &api.SetPropertyResponse{Status: status.Enum()}, nil
}

func (h *server) setSessionProperty(s *session, name string, value []byte) api.SetPropertyResponse_Status {
	switch name {
	case "grid_size":
		var size extent
		if json.Unmarshal(value, &size) != nil || size.Width < 1 || size.Height < 1 || size.Width > maxColumns || size.Height > maxRows {
			return api.SetPropertyResponse_INVALID_VALUE
		}
		if h.fullscreen(s) || !h.resizeTo(s, Size{size.Width, size.Height}) {
			return api.SetPropertyResponse_IMPOSSIBLE
		}
	case "buried":
		var on *bool
		if json.Unmarshal(value, &on) != nil || on == nil {
			return api.SetPropertyResponse_INVALID_VALUE
		}
		if !h.setBuried(s, *on) {
			return api.SetPropertyResponse_INVALID_TARGET
		}
	default:
		return api.SetPropertyResponse_UNRECOGNIZED_NAME
	}
	return api.SetPropertyResponse_OK
}

// fullscreen reports whether a session's window is said to fill the screen: then
// its sessions have no size of their own.
func (h *server) fullscreen(s *session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.layout.inTab[s]
	return t != nil && t.window.fullscreen
}

// maxPoints bounds a frame.
const maxPoints = 1 << 20

// setProperty changes a window. There is no screen: fullscreen is what the
// window is said to be, and changes no size.
func (w *window) setProperty(name string, value []byte) api.SetPropertyResponse_Status {
	switch name {
	case "frame":
		var f *struct {
			Origin struct{ X, Y float64 }
			Size   struct{ Width, Height float64 }
		}
		if json.Unmarshal(value, &f) != nil || f == nil || !(f.Size.Width > 0 && f.Size.Height > 0) {
			return api.SetPropertyResponse_INVALID_VALUE
		}
		if max(math.Abs(f.Origin.X), math.Abs(f.Origin.Y), f.Size.Width, f.Size.Height) > maxPoints {
			return api.SetPropertyResponse_INVALID_VALUE
		}
		w.reshape(rect{int(f.Origin.X), int(f.Origin.Y), int(f.Size.Width), int(f.Size.Height)})
	case "fullscreen":
		var on *bool
		if json.Unmarshal(value, &on) != nil || on == nil {
			return api.SetPropertyResponse_INVALID_VALUE
		}
		w.fullscreen = *on
	default:
		return api.SetPropertyResponse_UNRECOGNIZED_NAME
	}
	return api.SetPropertyResponse_OK
}
