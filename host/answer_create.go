package host

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"termpilot/fault"
	"termpilot/iterm/api"
)

// custom are the profile properties that a client sets for one session, as far
// as they mean something here.
type custom struct {
	how       string // Custom Command: "Yes", "Custom Shell", else the profile's shell
	command   string
	where     string // Custom Directory: "Yes", "Recycle", "No"
	directory string
}

// customize reads the profile properties that a client sets for one session.
// Those that mean nothing here are only remembered; a value that is not JSON of
// the right type is an error.
func customize(r *request, properties []*api.ProfileProperty) error {
	var c custom
	known := map[string]any{
		"Custom Command": &c.how, "Command": &c.command, "Custom Directory": &c.where, "Working Directory": &c.directory,
		"Rows": &r.rows, "Columns": &r.columns, "Scrollback Lines": &r.scrollback, "Name": &r.name, "Initial Text": &r.typed,
		"Termpilot Environment": &r.env, "Termpilot Shell Command": &r.shellLine,
	}
	r.properties = map[string]string{}
	for _, p := range properties {
		key, value := p.GetKey(), p.GetJsonValue()
		into, ok := known[key]
		if !json.Valid([]byte(value)) || ok && json.Unmarshal([]byte(value), into) != nil {
			return malformed(key)
		}
		shown := !strings.HasPrefix(key, "Termpilot ") && key != "Name" && key != "Rows" && key != "Columns"
		if shown && len(key)+len(value) <= maxProperty && len(r.properties) < maxProperties {
			r.properties[key] = value
		}
	}
	switch {
	case c.command == "":
	case c.how == "Yes":
		words, err := splitWords(c.command)
		if err != nil {
			return err
		}
		r.command = words
	case c.how == "Custom Shell":
		if !executable(c.command) {
			return &fault.Error{
				Op: "open", Code: fault.ShellNotFound, Detail: "no such shell: " + c.command, Hint: "give the path of an installed shell",
			}
		}
		r.profile.Shell = c.command
	}
	switch {
	case c.where == "Recycle" && r.near != nil:
		if dir := r.near.path(); isFolder(dir) {
			r.dir = dir
		}
	case c.directory != "" && c.where != "No":
		r.dir = c.directory
	}
	return r.check()
}

func malformed(key string) error {
	return &fault.Error{
		Op: "open", Code: fault.InvalidArgument, Detail: "malformed value of the profile property " + strconv.Quote(clean(key)),
		Hint: "give the value as JSON of the property's type",
	}
}

func createTab(c *client, in *api.CreateTabRequest) (*api.CreateTabResponse, error) {
	h := c.host
	failed := func(status api.CreateTabResponse_Status) (*api.CreateTabResponse, error) {
		return &api.CreateTabResponse{Status: status.Enum()}, nil
	}
	p, ok := findProfile(h.env, in.GetProfileName())
	if !ok {
		return failed(api.CreateTabResponse_INVALID_PROFILE_NAME)
	}
	r := request{profile: p, window: in.GetWindowId(), index: -1, focus: in.SelectTab == nil || in.GetSelectTab()}
	w, ok := h.windowNow(r.window)
	if !ok {
		return failed(api.CreateTabResponse_INVALID_WINDOW_ID)
	}
	r.near = w.active
	if err := customize(&r, in.GetCustomProfileProperties()); err != nil {
		return nil, err
	}
	if r.window != "" { // a tab has its window's size, unless it is given another
		if r.columns == 0 {
			r.columns = w.size.Columns
		}
		if r.rows == 0 {
			r.rows = w.size.Rows
		}
	}
	status := api.CreateTabResponse_OK
	if in.TabIndex != nil && r.window != "" {
		if r.index = int(in.GetTabIndex()); r.index >= w.tabs {
			status = api.CreateTabResponse_INVALID_TAB_INDEX // the tab is made all the same
		}
	}
	s, err := h.open(r)
	if fault.CodeOf(err) == fault.WindowNotFound {
		return failed(api.CreateTabResponse_INVALID_WINDOW_ID)
	}
	if err != nil {
		return nil, err
	}
	window, tab := h.placeOf(s)
	return &api.CreateTabResponse{
		Status: status.Enum(), WindowId: ptr(window), TabId: ptr(int32(tab)), SessionId: ptr(s.id),
	}, nil
}

// windowView is what creation needs to know of a window.
type windowView struct {
	tabs   int
	size   Size     // of its tab
	active *session // the folder of which may be used anew
}

// windowNow looks at a window; "" is none, and the session in focus.
func (h *server) windowNow(id string) (windowView, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id == "" {
		return windowView{active: h.layout.current()}, true
	}
	w := h.layout.bySerial[id]
	if w == nil {
		return windowView{}, false
	}
	return windowView{len(w.tabs), w.selected.root.extent(), w.selected.active}, true
}

// placeOf tells where a session is, or was: it may have ended already.
func (h *server) placeOf(s *session) (window string, tab int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return s.placed.window, s.placed.tab
}

// splitPane divides a session, or with "all" every one. The new one is the
// active one of its tab.
func splitPane(c *client, in *api.SplitPaneRequest) (*api.SplitPaneResponse, error) {
	h := c.host
	out := &api.SplitPaneResponse{Status: api.SplitPaneResponse_OK.Enum()}
	targets := h.chosen(in.GetSession())
	p, ok := findProfile(h.env, in.GetProfileName())
	switch {
	case len(targets) == 0:
		out.Status = api.SplitPaneResponse_SESSION_NOT_FOUND.Enum()
	case !ok:
		out.Status = api.SplitPaneResponse_INVALID_PROFILE_NAME.Enum()
	}
	for _, beside := range targets {
		if out.GetStatus() != api.SplitPaneResponse_OK {
			break
		}
		id, status, err := h.splitOne(p, beside, in)
		if err != nil {
			return nil, err
		}
		out.Status = status.Enum()
		if id != "" {
			out.SessionId = append(out.SessionId, id)
		}
	}
	return out, nil
}

func (h *server) splitOne(p profile, beside *session, in *api.SplitPaneRequest) (string, api.SplitPaneResponse_Status, error) {
	r := request{
		profile: p, beside: beside, near: beside, before: in.GetBefore(),
		vertical: in.GetSplitDirection() == api.SplitPaneRequest_VERTICAL,
	}
	if err := customize(&r, in.GetCustomProfileProperties()); err != nil {
		return "", api.SplitPaneResponse_MALFORMED_CUSTOM_PROFILE_PROPERTY, nil //nolint:nilerr // told as a status
	}
	size, placed := h.sizeOf(beside)
	if !placed {
		return "", api.SplitPaneResponse_SESSION_NOT_FOUND, nil
	}
	first, second, ok := size.halves(r.vertical)
	if !ok {
		return "", api.SplitPaneResponse_CANNOT_SPLIT, nil
	}
	if r.before {
		second = first
	}
	r.columns, r.rows = second.Columns, second.Rows // the division decides, whatever the profile says
	s, err := h.open(r)
	switch {
	case fault.CodeOf(err) == fault.SessionNotFound:
		return "", api.SplitPaneResponse_SESSION_NOT_FOUND, nil
	case errors.Is(err, errNoRoom):
		return "", api.SplitPaneResponse_CANNOT_SPLIT, nil
	case err != nil:
		return "", api.SplitPaneResponse_OK, err
	}
	return s.id, api.SplitPaneResponse_OK, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && filepath.IsAbs(path)
}
