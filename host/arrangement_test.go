package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/iterm/api"
)

func (c *apiClient) arrangement(action api.SavedArrangementRequest_Action, name, window string) *api.ServerOriginatedMessage {
	c.t.Helper()
	r := &api.SavedArrangementRequest{Action: &action, Name: &name}
	if window != "" {
		r.WindowId = &window
	}
	return c.call(r)
}

// shape is a list of windows without what is new in each life.
func shape(list *api.ListSessionsResponse) string {
	var pane func(n *api.SplitTreeNode) string
	pane = func(n *api.SplitTreeNode) string {
		text := map[bool]string{true: "|", false: "-"}[n.GetVertical()]
		for _, l := range n.GetLinks() {
			if l.GetNode() != nil {
				text += "(" + pane(l.GetNode()) + ")"
				continue
			}
			text += fmt.Sprintf(" %s %dx%d", l.GetSession().GetTitle(), l.GetSession().GetGridSize().GetWidth(), l.GetSession().GetGridSize().GetHeight())
		}
		return text
	}
	var all []string
	for _, w := range list.GetWindows() {
		for _, t := range w.GetTabs() {
			all = append(all, fmt.Sprintf("%d: %s", w.GetFrame().GetOrigin().GetX(), pane(t.GetRoot())))
		}
	}
	return strings.Join(all, "\n")
}

func TestArrangementsAreSavedAndRestored(t *testing.T) { // HOST-118
	h := newHost(t)
	c := h.connect()
	c.subscribeTopology()
	dir := filepath.Join(h.home, "project")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a := c.open("bash", "Name", `"a"`, "Columns", "101", "Rows", "31", "Working Directory", quote(dir))
	b := c.split(a, true)
	c.name(b, "b")
	c.name(c.split(b, false), "c")
	d, _ := c.tabIn(a, "Custom Command", `"Yes"`, "Command", `"/bin/cat"`)
	c.name(d, "d")
	e := c.open("sh", "Name", `"e"`, "Rows", "9")
	w, _ := c.tabOf(a)
	c.setWindow(w.GetWindowId(), "frame", `{"origin":{"x":33,"y":44},"size":{"width":808,"height":496}}`)
	want := shape(c.list())
	for _, window := range []string{"", w.GetWindowId()} {
		if got := c.arrangement(api.SavedArrangementRequest_SAVE, "my "+window, window); got.GetSavedArrangementResponse().GetStatus() != api.SavedArrangementResponse_OK || got.GetError() != "" {
			t.Fatal(got)
		}
	}
	if got := c.arrangement(api.SavedArrangementRequest_LIST, "", "").GetSavedArrangementResponse().GetNames(); !slices.Equal(got, []string{"my ", "my " + w.GetWindowId()}) {
		t.Errorf("names: %q", got)
	}
	all := []string{a, b, d, e}
	c.call(&api.CloseRequest{Target: &api.CloseRequest_Windows{Windows: &api.CloseRequest_CloseWindows{WindowIds: []string{w.GetWindowId()}}}, Force: ptr(true)})
	c.closeSession(e, true)
	if got := c.arrangement(api.SavedArrangementRequest_RESTORE, "my ", ""); got.GetSavedArrangementResponse().GetStatus() != api.SavedArrangementResponse_OK || got.GetError() != "" {
		t.Fatal(got)
	}
	list := c.list()
	if got := shape(list); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	first := list.GetWindows()[0].GetTabs()[0].GetActiveSessionId()
	if slices.Contains(all, first) {
		t.Error("an id is back")
	}
	if got := c.variable(first, "path"); got != quote(dir) {
		t.Errorf("its folder: %s", got)
	}
	cat := list.GetWindows()[0].GetTabs()[1].GetActiveSessionId()
	c.send(cat, "meow\r")
	c.awaitScreen(cat, "meow\nmeow")

	// Into a window: as further tabs of it, and the focus stays.
	had, target := c.focused(), list.GetWindows()[1].GetWindowId()
	c.arrangement(api.SavedArrangementRequest_RESTORE, "my "+w.GetWindowId(), target)
	if got := c.list().GetWindows(); len(got) != 2 || len(got[1].GetTabs()) != 3 || c.focused() != had {
		t.Errorf("into a window: %v", got)
	}
	for want, r := range map[api.SavedArrangementResponse_Status]*api.ServerOriginatedMessage{
		api.SavedArrangementResponse_ARRANGEMENT_NOT_FOUND: c.arrangement(api.SavedArrangementRequest_RESTORE, "none", ""),
		api.SavedArrangementResponse_WINDOW_NOT_FOUND:      c.arrangement(api.SavedArrangementRequest_SAVE, "x", "pty-x"),
		api.SavedArrangementResponse_REQUEST_MALFORMED:     c.arrangement(api.SavedArrangementRequest_SAVE, "", ""),
	} {
		if got := r.GetSavedArrangementResponse().GetStatus(); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func (c *apiClient) name(id, name string) {
	c.t.Helper()
	c.call(&api.SetProfilePropertyRequest{
		Target:      &api.SetProfilePropertyRequest_Session{Session: id},
		Assignments: []*api.SetProfilePropertyRequest_Assignment{{Key: ptr("Name"), JsonValue: ptr(quote(name))}},
	})
}

func TestArrangementsArePrivateAndHoldNoEnvironment(t *testing.T) { // HOST-119
	h := newHost(t)
	c := h.connect()
	c.open("sh", "Termpilot Environment", `{"TOKEN":"canary-51"}`)
	c.arrangement(api.SavedArrangementRequest_SAVE, "../../x/y", "")
	files, _ := os.ReadDir(h.loc.arrangements())
	if len(files) != 1 {
		t.Fatalf("files: %v", files)
	}
	path := filepath.Join(h.loc.arrangements(), files[0].Name())
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), "canary-51") {
		t.Errorf("%v: %s", err, data)
	}
	for _, p := range []struct {
		path string
		want os.FileMode
	}{{path, 0o600}, {h.loc.arrangements(), 0o700}} {
		if info, err := os.Stat(p.path); err != nil || info.Mode().Perm() != p.want {
			t.Errorf("%s: %v", p.path, info.Mode())
		}
	}
	// A file that is broken, or holds what no host has saved, counts as none.
	var whole arrangement
	if err := json.Unmarshal(data, &whole); err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string]string{
		"cut":       string(data[:len(data)/2]),
		"too large": string(data) + strings.Repeat(" ", maxArrangement),
		"a size":    strings.Replace(string(data), `"columns":80`, `"columns":1`, 1),
		"a folder":  strings.Replace(string(data), quote(h.home), `"relative"`, 1),
		"no tabs":   `{"v":1,"name":"../../x/y","windows":[{"tabs":[]}]}`,
		"one part":  `{"v":1,"name":"../../x/y","windows":[{"tabs":[{"root":{"parts":[{"columns":80,"rows":24}]}}]}]}`,
		"a crowd":   `{"v":1,"name":"../../x/y","windows":[` + strings.Repeat(`{"tabs":[{"root":{"columns":80,"rows":24}}]},`, maxSessions) + `{"tabs":[{"root":{"columns":80,"rows":24}}]}]}`,
		"newer":     strings.Replace(string(data), `"v":1`, `"v":2`, 1),
		"renamed":   strings.Replace(string(data), "../x", "..-x", 1),
	} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil || broken == string(data) {
			t.Fatal(err, name)
		}
		got := c.arrangement(api.SavedArrangementRequest_RESTORE, "../../x/y", "").GetSavedArrangementResponse().GetStatus()
		if got != api.SavedArrangementResponse_ARRANGEMENT_NOT_FOUND {
			t.Errorf("%s: %v", name, got)
		}
	}
	// A program that is gone leaves nothing of the others.
	whole.Windows[0].Tabs = append(whole.Windows[0].Tabs, savedTab{Root: savedPane{Command: []string{"/no/such"}, Columns: 80, Rows: 24}})
	broken, _ := json.Marshal(whole)
	if err := os.WriteFile(path, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.arrangement(api.SavedArrangementRequest_RESTORE, "../../x/y", "").GetError(); !strings.HasPrefix(got, "shell_not_found: ") {
		t.Errorf("a program that is gone: %s", got)
	}
	if got := c.list().GetWindows(); len(got) != 1 || len(got[0].GetTabs()) != 1 {
		t.Errorf("half of an arrangement: %v", got)
	}
}

func TestThereIsALimitToArrangements(t *testing.T) { // HOST-119
	h := newHost(t)
	c := h.connect()
	c.arrangement(api.SavedArrangementRequest_SAVE, "0", "")
	for i := 1; i < maxArrangements; i++ {
		name := fmt.Sprint(i)
		if err := os.WriteFile(h.loc.fileOf(name), []byte(`{"v":1,"name":"`+name+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.arrangement(api.SavedArrangementRequest_SAVE, "more", "").GetError(); !strings.HasPrefix(got, "backend_refused: ") {
		t.Errorf("one too many: %s", got)
	}
	if got := c.arrangement(api.SavedArrangementRequest_SAVE, "7", "").GetError(); got != "" {
		t.Errorf("one that is known: %s", got)
	}
}

// FuzzNoArrangementFileDoesHarm reads whatever a file may hold.
func FuzzNoArrangementFileDoesHarm(f *testing.F) { // HOST-119
	f.Add([]byte(`{"v":1,"name":"x","windows":[{"frame":{"x":1,"y":2,"width":3,"height":4},"tabs":[{"root":{"vertical":true,"parts":[{"columns":40,"rows":24},{"columns":39,"rows":24}]}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, ok := parseArrangement(data)
		for _, w := range a.Windows {
			for _, tab := range w.Tabs {
				if root, leaves := tab.Root.tree(1); ok && (root == nil || !root.whole() || len(leaves) != len(root.places(0, 0))) {
					t.Fatal("a broken tree was read as sound")
				}
			}
		}
	})
}

func TestWhatIsSavedCanBeRestored(t *testing.T) { // HOST-119
	c := newHost(t).connect()
	id := c.open("", "Custom Command", `"Yes"`, "Command", quote(`/bin/sh -c 'printf "on\033]1337;CurrentDir=here\007"; read x'`))
	c.awaitScreen(id, "on")
	if got := c.variable(id, "path"); got != `"here"` {
		t.Fatalf("it says that it is in %s", got)
	}
	for _, action := range []api.SavedArrangementRequest_Action{api.SavedArrangementRequest_SAVE, api.SavedArrangementRequest_RESTORE} {
		if got := c.arrangement(action, "a", "").GetSavedArrangementResponse().GetStatus(); got != api.SavedArrangementResponse_OK {
			t.Errorf("%v: %v", action, got)
		}
	}

	// What a spec and a division may nest, a file may.
	for depth := 1; depth <= maxDepth+1; depth++ {
		spec, saved := specNode{SessionID: "x"}, savedPane{Columns: 2, Rows: 1}
		for n := range depth {
			vertical := n%2 == 0
			spec = specNode{Vertical: vertical, Children: []specNode{{SessionID: "y"}, spec}}
			saved = savedPane{Vertical: vertical, Parts: []savedPane{{Columns: 2, Rows: 1}, saved}}
		}
		_, err := (&server{}).newSessions(nil, &spec, "", 1, false, false)
		if root, _ := saved.tree(1); (err == nil) != (root != nil) || (err == nil) != (depth < maxDepth) {
			t.Errorf("nested %d deep: a spec %v, a file %v", depth, err, root != nil)
		}
	}

	dir := t.TempDir()
	row := savedPane{Vertical: true}
	for range 140 {
		row.Parts = append(row.Parts, savedPane{Columns: maxColumns, Rows: 1})
	}
	z := 140*(maxColumns+1) - 1
	wide := arrangement{V: 1, Name: "wide", Windows: []savedWindow{{Frame: savedFrame{Width: z * cellWidth}, Tabs: []savedTab{{Root: row}}}}}
	if err := (Location{Home: dir}).save(wide); !errors.Is(err, fault.TooLarge) {
		t.Errorf("wider than a frame may be: %v", err)
	}
}
