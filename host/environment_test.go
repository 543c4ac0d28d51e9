package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"termpilot/iterm/api"
	"termpilot/testneeds"
)

func TestTheEnvironmentIsTheUsersAndTheTerminalsOwn(t *testing.T) { // HOST-10, HOST-11
	h := newHost(t, func(o *Options) {
		o.Env = append(o.Env, "MINE=kept", "CODEX_HOME=/c", "EDITOR=vi",
			"TMUX=/tmp/x,1,0", "TMUX_PANE=%1", "STY=1", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CODEX_SANDBOX=1",
			"ITERM_SESSION_ID=w0t0p0:X", "ITERM_PROFILE=x", "TERM_SESSION_ID=x", "VSCODE_PID=1", "TERM_PROGRAM=vscode", "LC_TERMINAL=iTerm2",
			"GEMINI_CLI=canary", "CURSOR_AGENT=canary", "OPENCODE=canary", "NVIM=canary", "TERMINAL_EMULATOR=canary", "GNOME_TERMINAL_SCREEN=canary",
			"WARP_IS_LOCAL_SHELL_SESSION=canary", "NOTIFY_SOCKET=canary", "JOURNAL_STREAM=canary",
			"ITERM2_COOKIE=canary", "ITERM2_KEY=canary", "CONTROL_PLANE_API_KEY=canary", "TERMPILOT_HTTP_TOKEN=canary")
	})
	c := h.connect()
	c.watchEnds()
	out := filepath.Join(t.TempDir(), "env")
	id := c.open("", "Custom Command", quote("Yes"), "Command", quote("/bin/sh -c 'env >"+out+"'"), "Termpilot Environment", `{"ADDED":"a b"}`)
	c.awaitTerminated(id)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, want := range []string{
		"MINE=kept", "CODEX_HOME=/c", "EDITOR=vi", "ADDED=a b", "TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=termpilot",
		"TERM_PROGRAM_VERSION=1.2.3", "LANG=C.UTF-8", "HOME=" + h.home, "TERMPILOT_SESSION_ID=" + id,
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if value == "canary" || slices.Contains([]string{"TMUX", "TMUX_PANE", "STY", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "ITERM_SESSION_ID", "ITERM_PROFILE", "TERM_SESSION_ID", "VSCODE_PID", "LC_TERMINAL"}, name) {
			t.Errorf("%s passed", entry)
		}
	}
	// The same in the shells that are integrated, and no secret of ours there either.
	for _, shell := range shells {
		testneeds.Program(t, shell)
		id := c.openReady(shell)
		_, got := c.run(id, "tr '\\0' '\\n' </proc/$fish_pid$$/environ | grep -c canary; env | grep -E '^(TERM|LANG)='")
		if shell != "fish" && !strings.HasPrefix(got, "0\n") || !strings.Contains(got, "TERM=xterm-256color") || !strings.Contains(got, "LANG=C.UTF-8") {
			t.Errorf("%s: %q", shell, got)
		}
	}
}

func TestALocaleThatTheUserSetIsKept(t *testing.T) { // HOST-11
	for _, test := range []struct{ set, want string }{
		{"LC_ALL=C", ""}, {"LC_CTYPE=de_DE.UTF-8", ""}, {"LANG=fr_FR.UTF-8", "fr_FR.UTF-8"}, {"LANG=", utf8Locale()}, {"X=1", utf8Locale()},
	} {
		if got := lookup(environment([]string{test.set}, "1", "S", "/", nil), "LANG"); got != test.want {
			t.Errorf("%s: LANG is %q, want %q", test.set, got, test.want)
		}
	}
}

func TestProfilesAreTheLoginShellAndEachInstalledShell(t *testing.T) { // HOST-13
	h := newHost(t)
	c := h.connect()
	list := c.call(&api.ListProfilesRequest{Properties: []string{"Name", "Guid"}}).GetListProfilesResponse()
	var names []string
	for _, p := range list.GetProfiles() {
		if len(p.GetProperties()) != 2 {
			t.Errorf("properties: %v", p)
		}
		names = append(names, strings.Trim(p.GetProperties()[1].GetJsonValue(), `"`))
	}
	if len(names) < 2 || names[0] != "Default" || !slices.Contains(names, "bash") {
		t.Errorf("profiles: %q", names)
	}
	if got := c.variable(c.open(""), "shell"); got != `"/bin/bash"` {
		t.Errorf("the login shell: %s", got)
	}
	r := c.create("nosuch").GetCreateTabResponse()
	if r.GetStatus() != api.CreateTabResponse_INVALID_PROFILE_NAME || r.GetSessionId() != "" {
		t.Errorf("an unknown profile: %v", r)
	}
}

func TestWhatCannotBeStartedIsANamedErrorAndLeavesNothing(t *testing.T) { // HOST-14
	h := newHost(t)
	c := h.connect()
	for _, test := range []struct {
		properties []string
		want       string
	}{
		{[]string{"Custom Command", `"Yes"`, "Command", `"/no/such/program"`}, "shell_not_found: "},
		{[]string{"Custom Command", `"Yes"`, "Command", `"nosuchprogram -x"`}, "shell_not_found: "},
		{[]string{"Custom Command", `"Yes"`, "Command", `"'open"`}, "invalid_argument: "},
		{[]string{"Working Directory", `"/no/such/folder"`}, "invalid_argument: "},
		{[]string{"Working Directory", `"relative"`}, "invalid_argument: "},
		{[]string{"Rows", `"many"`}, "invalid_argument: "},
		{[]string{"Rows", `-3`}, "invalid_argument: "},
		{[]string{"Columns", `100000`}, "invalid_argument: "},
		{[]string{"Termpilot Environment", `{"A=B":"x"}`}, "invalid_argument: "},
		{[]string{"Termpilot Environment", `{"A":"x\u0000"}`}, "invalid_argument: "},
		{[]string{"Name", `"a\nb"`}, "invalid_argument: "},
		{[]string{"Anything", `{`}, "invalid_argument: "},
	} {
		if got := c.create("", test.properties...).GetError(); !strings.HasPrefix(got, test.want) {
			t.Errorf("%v: got %q", test.properties, got)
		}
	}
	if list := c.call(&api.ListSessionsRequest{}).GetListSessionsResponse(); len(list.GetWindows()) != 0 {
		t.Errorf("left: %v", list)
	}
	if left, _ := filepath.Glob(filepath.Join(h.loc.Folder, "s-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestPropertiesOfANewSessionHaveTheirEffect(t *testing.T) { // HOST-15, HOST-16
	h := newHost(t)
	c := h.connect()
	dir := t.TempDir()
	id := c.open("", "Termpilot Shell Command", quote(`printf '%s|%s|%s\n' "$(stty size)" "$PWD" "$A"; shopt -q login_shell && echo login; exec sleep 69`),
		"Working Directory", quote(dir), "Custom Directory", `"Yes"`, "Rows", "10", "Columns", "200", "Name", `"build"`, "Termpilot Environment", `{"A":"1"}`)
	c.awaitScreen(id, "login")
	if got := c.screen(id); !strings.Contains(got, "10 200|"+dir+"|1") {
		t.Errorf("got %q", got)
	}
	if got := c.variable(id, "name"); got != `"build"` {
		t.Errorf("name: %s", got)
	}
	short := c.open("sh", "Scrollback Lines", "100")
	c.send(short, "seq 1 1000; echo do''ne\r")
	c.awaitScreen(short, "done")
	info := c.call(&api.GetPropertyRequest{Identifier: &api.GetPropertyRequest_SessionId{SessionId: short}, Name: ptr("number_of_lines")}).GetGetPropertyResponse()
	if !strings.Contains(info.GetJsonValue(), `"history":100`) {
		t.Errorf("lines: %s", info.GetJsonValue())
	}
}

func TestOneSessionTooManyIsRefused(t *testing.T) { // HOST-17
	h := newHost(t)
	const clients = 8
	var opened atomic.Int32
	var wg sync.WaitGroup
	for range clients { // at once, as more than one client would
		c := h.connect()
		wg.Go(func() {
			for range maxSessions/clients + 1 {
				got := c.create("", "Custom Command", `"Yes"`, "Command", `"/bin/sleep 70"`, "Rows", "1", "Columns", "2", "Scrollback Lines", "1")
				switch {
				case got.GetError() == "":
					opened.Add(1)
				case !strings.HasPrefix(got.GetError(), "backend_refused: "):
					t.Errorf("got %q", got.GetError())
				}
			}
		})
	}
	wg.Wait()
	if n := opened.Load(); n != maxSessions {
		t.Errorf("opened %d", n)
	}
}

func TestCommandsAreSplitLikeShellWords(t *testing.T) { // HOST-15
	for command, want := range map[string][]string{
		`/bin/sh -c 'echo "a b"'`: {"/bin/sh", "-c", `echo "a b"`},
		`a\ b "c \" d" ''`:        {"a b", `c " d`, ""},
		"  x\ty ":                 {"x", "y"},
	} {
		if got, err := splitWords(command); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q %v", command, got, err)
		}
	}
}
