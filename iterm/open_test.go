package iterm

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// asked returns the profile properties of the last creation, by key.
func (s *fakeServer) asked() (tab *api.CreateTabRequest, split *api.SplitPaneRequest, properties map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	properties = map[string]string{}
	var list []*api.ProfileProperty
	for _, m := range s.requests {
		if r := m.GetCreateTabRequest(); r != nil {
			tab, list = r, r.GetCustomProfileProperties()
		}
		if r := m.GetSplitPaneRequest(); r != nil {
			split, list = r, r.GetCustomProfileProperties()
		}
	}
	for _, p := range list {
		properties[p.GetKey()] = p.GetJsonValue()
	}
	return tab, split, properties
}

func TestOpenSaysWhatItsSpecSays(t *testing.T) { // ITERM-52
	spec := terminal.OpenSpec{
		Profile: "zsh", Command: "make \"it\"", Cwd: "/a b", Env: map[string]string{"K": "v=1"}, Name: "n", Rows: 17, Columns: 61,
	}
	for _, host := range []bool{true, false} {
		w := newWorld(1)
		w.host = host
		s := newFakeServer(t, w)
		c := s.client(Options{})
		got, err := c.Open(t.Context(), spec)
		if err != nil || got.ID != sid(2) || got.Window != "pty-2" || got.Tab != "2" || got.Job != "bash" || got.Columns != 80 {
			t.Fatalf("got %+v, %v", got, err)
		}
		tab, _, properties := s.asked()
		if tab.GetProfileName() != "zsh" || tab.WindowId != nil || tab.SelectTab == nil || tab.GetSelectTab() {
			t.Errorf("got %v", tab)
		}
		want := map[string]string{
			"Name": `"n"`, "Custom Directory": `"Yes"`, "Working Directory": `"/a b"`, "Rows": "17", "Columns": "61",
		}
		if host {
			want["Termpilot Environment"], want["Termpilot Shell Command"] = `{"K":"v=1"}`, `"make \"it\""`
		} else {
			want["Custom Command"], want["Command"] = `"Yes"`, properties["Command"]
			want["Close Sessions On End"] = "1"
		}
		if !maps.Equal(properties, want) {
			t.Errorf("got %v, want %v", properties, want)
		}
		list := sessions(t, c)
		if len(list) != 2 || list[1] != got {
			t.Errorf("listed %+v, opened %+v", list, got)
		}
	}
}

func TestTabsAndSplitsGoWhereTheyAreTold(t *testing.T) { // ITERM-52
	w := newWorld(1)
	s := newFakeServer(t, w)
	var split func(*api.SplitPaneResponse)
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetSplitPaneRequest() == nil {
			return false
		}
		w.mu.Lock()
		r := &api.SplitPaneResponse{SessionId: []string{w.add().id}}
		w.mu.Unlock()
		split(r)
		c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_SplitPaneResponse{SplitPaneResponse: r}})
		return true
	}
	c := s.client(Options{})
	if _, err := c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InTab, Window: "pty-1", Focus: true}); err != nil {
		t.Fatal(err)
	}
	if tab, _, _ := s.asked(); tab.GetWindowId() != "pty-1" || !tab.GetSelectTab() {
		t.Errorf("got %v", tab)
	}
	split = func(*api.SplitPaneResponse) {}
	for direction, want := range map[terminal.Direction]string{
		terminal.Right: "VERTICAL false", terminal.Left: "VERTICAL true", terminal.Below: "HORIZONTAL false", terminal.Above: "HORIZONTAL true",
	} {
		if _, err := c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(1), Direction: direction}); err != nil {
			t.Fatal(err)
		}
		_, r, _ := s.asked()
		got := r.GetSplitDirection().String() + map[bool]string{true: " true", false: " false"}[r.GetBefore()]
		if got != want || r.GetSession() != guid(1) {
			t.Errorf("direction %d: got %v", direction, r)
		}
	}
	for status, want := range map[api.SplitPaneResponse_Status]fault.Code{
		api.SplitPaneResponse_SESSION_NOT_FOUND:                 fault.SessionNotFound,
		api.SplitPaneResponse_INVALID_PROFILE_NAME:              fault.ProfileNotFound,
		api.SplitPaneResponse_CANNOT_SPLIT:                      fault.Refused,
		api.SplitPaneResponse_MALFORMED_CUSTOM_PROFILE_PROPERTY: fault.Refused,
		api.SplitPaneResponse_OK:                                fault.Deadline, // tmux -CC names no session
	} {
		split = func(r *api.SplitPaneResponse) { r.Status, r.SessionId = status.Enum(), nil }
		_, err := c.Open(t.Context(), terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(77)})
		wantCode(t, err, want)
	}
}

func TestOpenRefusesWhatCannotBe(t *testing.T) { // ITERM-52
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{})
	for _, spec := range []terminal.OpenSpec{
		{Command: "a\x00b"},
		{Cwd: "\xff"},
		{Env: map[string]string{"": "x"}},
		{Env: map[string]string{"A=B": "x"}},
		{Env: map[string]string{"A": "\x00"}},
		{Rows: -1},
		{Columns: 1 << 30},
		{Place: terminal.InTab},
		{Place: 9},
		{Direction: 9},
	} {
		_, err := c.Open(t.Context(), spec)
		wantCode(t, err, fault.InvalidArgument)
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	for status, want := range map[api.CreateTabResponse_Status]fault.Code{
		api.CreateTabResponse_INVALID_PROFILE_NAME: fault.ProfileNotFound,
		api.CreateTabResponse_INVALID_WINDOW_ID:    fault.WindowNotFound,
		api.CreateTabResponse_MISSING_SUBSTITUTION: fault.Refused,
		api.CreateTabResponse_OK:                   fault.Deadline, // without an id
	} {
		s.mu.Lock()
		s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetCreateTabRequest() == nil {
				return false
			}
			c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_CreateTabResponse{
				CreateTabResponse: &api.CreateTabResponse{Status: status.Enum()},
			}})
			return true
		}
		s.mu.Unlock()
		_, err := c.Open(t.Context(), terminal.OpenSpec{})
		wantCode(t, err, want)
	}
}

func TestOpenWaitsForALateLayoutAndAShortLife(t *testing.T) { // ITERM-52
	w := newWorld(1)
	s := newFakeServer(t, w)
	short := false
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetCreateTabRequest() == nil {
			return false
		}
		w.mu.Lock()
		x := w.add()
		x.late = true
		w.mu.Unlock()
		c.notify(created(x.id))
		if short {
			w.mu.Lock()
			w.sessions = w.sessions[:len(w.sessions)-1]
			w.mu.Unlock()
			c.notify(terminated(x.id))
		}
		c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_CreateTabResponse{
			CreateTabResponse: &api.CreateTabResponse{WindowId: proto.String(x.window), SessionId: proto.String(x.id)},
		}})
		if short {
			return true
		}
		c.notify(layoutChanged(w)) // without it
		w.mu.Lock()
		x.late = false
		w.mu.Unlock()
		c.notify(layoutChanged(w))
		return true
	}
	c := s.client(Options{})
	got, err := c.Open(t.Context(), terminal.OpenSpec{})
	if err != nil || got.ID != sid(2) {
		t.Errorf("got %+v, %v", got, err)
	}
	short = true
	got, err = c.Open(t.Context(), terminal.OpenSpec{})
	if err != nil || got.ID != sid(3) {
		t.Errorf("got %+v, %v", got, err)
	}
	wantCode(t, c.Close(t.Context(), got.ID, terminal.Force), fault.SessionEnded)
}

func TestOnlyOpenStartsTheTerminal(t *testing.T) { // ITERM-51, ITERM-11
	s := newFakeServer(t, newWorld(1))
	s.stop()
	started := 0
	c := s.client(Options{Name: "host", Start: func(context.Context) error {
		started++
		if started == 1 {
			return errors.New("no room")
		}
		s.start()
		return nil
	}})
	_, err := c.Sessions(t.Context())
	wantCode(t, err, fault.BackendUnavailable)
	_, err = c.Screen(t.Context(), sid(1), terminal.Range{})
	wantCode(t, err, fault.BackendUnavailable)
	wantCode(t, c.Send(t.Context(), sid(1), nil), fault.BackendUnavailable)
	if started != 0 {
		t.Fatal("a read started the terminal")
	}
	_, err = c.Open(t.Context(), terminal.OpenSpec{})
	wantCode(t, err, fault.BackendUnavailable)
	if _, err := c.Open(t.Context(), terminal.OpenSpec{}); err != nil || started != 2 {
		t.Errorf("%v after %d starts", err, started)
	}
	if _, err := c.Open(t.Context(), terminal.OpenSpec{}); err != nil || started != 2 {
		t.Errorf("%v after %d starts", err, started)
	}
}

func TestOpenStartsNothingWhenSomethingElseIsInTheWay(t *testing.T) { // ITERM-51
	c := New(Options{
		Name: "host",
		Dial: func(context.Context) (net.Conn, error) {
			return nil, &fault.Error{Op: "dial", Code: fault.NotAllowed, Detail: "another user's", Hint: "use your own"}
		},
		Start: func(context.Context) error { t.Error("it was started"); return nil },
	})
	_, err := c.Open(t.Context(), terminal.OpenSpec{})
	wantCode(t, err, fault.NotAllowed)
	if got, want := err.Error(), "open: not_allowed: another user's"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// split is iTerm2's splitting of a command into words, from its description:
// see word. It also finds what would begin a variable or a home folder.
func split(t *testing.T, command string) []string {
	t.Helper()
	if strings.Contains(command, "$$") {
		t.Errorf("%q holds a variable", command)
	}
	var words []string
	var word strings.Builder
	started, quoted, escaped := false, false, false
	for _, r := range command + " " {
		switch {
		case escaped:
			escaped, started = false, true
			if i := strings.IndexRune("antr", r); i >= 0 {
				r = rune("\a\n\t\r"[i])
			}
			word.WriteRune(r)
		case r == '\\':
			escaped = true
		case r == '"':
			quoted, started = !quoted, true
		case !quoted && unicode.IsSpace(r):
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			if !started && r == '~' {
				t.Errorf("%q holds a home folder", command)
			}
			started = true
			word.WriteRune(r)
		}
	}
	return words
}

func TestITerm2GetsTheExactWords(t *testing.T) { // ITERM-53
	check := func(spec terminal.OpenSpec, want ...string) {
		t.Helper()
		if got := split(t, wrapped(spec)); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	const nasty = "a b\t'c' \"d\" \\ $$HOME$$ ~ \n\r 漢\u3000é😀 `x` ; & | # ! * antr"
	script := `exec "${SHELL:-/bin/sh}" -l -i -c "$1"`
	check(terminal.OpenSpec{Command: nasty}, "/usr/bin/env", "/bin/sh", "-c", script, "sh", nasty)
	check(terminal.OpenSpec{Env: map[string]string{"B": nasty, "A": ""}}, "/usr/bin/env", "A=", "B="+nasty, "/bin/sh", "-c", `exec "${SHELL:-/bin/sh}" -l`)
	if got := split(t, word("")); len(got) != 1 || got[0] != "" {
		t.Errorf("an empty word: %q", got)
	}
}

func FuzzEveryWordReachesITerm2Unchanged(f *testing.F) {
	f.Add("~$$x$$\\n \"'")
	f.Fuzz(func(t *testing.T, s string) {
		if !strings.ContainsRune(s, 0) && strings.ToValidUTF8(s, "") == s {
			if got := split(t, word(s)+" "+word("end")); len(got) != 2 || got[0] != s || got[1] != "end" {
				t.Fatalf("got %q, want %q", got, s)
			}
		}
	})
}

func TestCloseReturnsWhenTheSessionIsGone(t *testing.T) { // ITERM-54
	w := newWorld(4)
	s := newFakeServer(t, w)
	c := s.client(Options{})
	if err := c.Close(t.Context(), sid(1), terminal.Hangup); err != nil {
		t.Fatal(err)
	}
	if list := sessions(t, c); len(list) != 3 {
		t.Errorf("listed %+v", list)
	}
	wantCode(t, c.Close(t.Context(), sid(1), terminal.Hangup), fault.SessionEnded)
	wantCode(t, c.Close(t.Context(), sid(9), terminal.Hangup), fault.SessionNotFound)

	answer := func(status api.CloseResponse_Status, then func(*fakeConn)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.handle = func(fc *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetCloseRequest() == nil {
				return false
			}
			fc.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_CloseResponse{
				CloseResponse: &api.CloseResponse{Statuses: []api.CloseResponse_Status{status}},
			}})
			then(fc)
			return true
		}
	}
	answer(api.CloseResponse_USER_DECLINED, func(*fakeConn) {})
	wantCode(t, c.Close(t.Context(), sid(2), terminal.Hangup), fault.Refused)

	answer(api.CloseResponse_OK, func(*fakeConn) { // gone without a word
		w.mu.Lock()
		w.sessions = w.sessions[1:]
		w.mu.Unlock()
	})
	if err := c.Close(t.Context(), sid(2), terminal.Force); err != nil {
		t.Errorf("no notification: %v", err)
	}
	answer(api.CloseResponse_OK, func(*fakeConn) {}) // it says so, but stays
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantCode(t, c.Close(ctx, sid(3), terminal.Force), fault.Deadline)
}
