package iterm

import (
	"context"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/doctor"
	"termpilot/iterm/api"
)

// homeOfITerm2 is a home in which a fake server stands where iTerm2's socket would.
func homeOfITerm2(t *testing.T) (home, folder string) {
	t.Helper()
	home, err := os.MkdirTemp("", "it") // short: the socket's path must fit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	folder = filepath.Join(home, "Library", "Application Support", "iTerm2")
	if err := os.MkdirAll(filepath.Join(folder, "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	return home, folder
}

// examined is a health of a client that finds a server at home, if any.
func examined(t *testing.T, home string, env map[string]string) (health, *[]string) {
	t.Helper()
	asked := &[]string{}
	o := ITerm2(func(name string) string {
		if name == "HOME" {
			return home
		}
		return env[name]
	})
	o.keys.root = uint32(os.Getuid())
	o.keys.script = func(_ context.Context, source string) (string, error) {
		*asked = append(*asked, source)
		return "cookie key", nil
	}
	o.Deadline = patience
	c := New(o)
	t.Cleanup(func() { c.Disconnect() })
	return health{client: c, keys: o.keys, mac: machine{system: "darwin", output: func(_ context.Context, name string, _ ...string) (string, bool, error) {
		if strings.HasSuffix(name, "pgrep") {
			return "77\n78", false, nil
		}
		return "1", false, nil
	}}}, asked
}

func (h health) all() []doctor.Check {
	list := h.client.Checks(h.ask)
	for i, run := range []func(context.Context) doctor.Result{h.running, h.enabled, h.listening, h.letIn, h.protocol, h.shells} {
		list[i].Run = run
	}
	return list
}

// say is the states of a report, in a word each.
func say(r doctor.Report) string {
	var words []string
	for _, one := range r.Results {
		words = append(words, string(one.State))
	}
	return strings.Join(words, " ")
}

// examine runs the checks and holds them to what every result must have.
func examine(t *testing.T, h health) doctor.Report {
	t.Helper()
	r := doctor.Run(t.Context(), h.all())
	for _, one := range r.Results {
		bad := one.State == doctor.Fail || one.State == doctor.Warn || one.State == doctor.Unknown
		if one.Summary == "" || one.Evidence == "" || bad != (one.Next != "") {
			t.Errorf("%+v", one)
		}
	}
	return r
}

func TestAHealthyWayToITerm2Passes(t *testing.T) { // ITERM-79
	home, folder := homeOfITerm2(t)
	w := newWorld(2)
	w.sessions[0].prompts = []*api.GetPromptResponse{editing("P")}
	s := &fakeServer{t: t, path: filepath.Join(folder, "private", "socket"), world: w}
	s.start()
	t.Cleanup(s.stop)
	h, asked := examined(t, home, nil)
	r := examine(t, h)
	if got, want := say(r), "pass pass pass unknown skipped skipped"; got != want || len(*asked) != 0 || len(s.conns) != 0 {
		t.Errorf("got %s; %d connections, asked %q; %+v", got, len(s.conns), *asked, r.Results)
	}
	h.ask = true
	if r := examine(t, h); say(r) != "pass pass pass pass pass warn" || len(*asked) != 1 || !strings.Contains(r.Results[5].Evidence, guid(2)) {
		t.Errorf("got %s, asked %q; %+v", say(r), *asked, r.Results)
	}
	h.ask = false // now there is a connection
	if r := examine(t, h); say(r) != "pass pass pass pass pass warn" || len(*asked) != 1 {
		t.Errorf("got %s, asked %q", say(r), *asked)
	}
	if checks := New(Options{Name: "host"}).Checks(true); len(checks) != 0 {
		t.Errorf("another terminal has %d checks", len(checks))
	}
}

func TestWhereNoCookieIsNeededNobodyIsAsked(t *testing.T) { // ITERM-79
	home, folder := homeOfITerm2(t)
	path := filepath.Join(folder, "disable-automation-auth")
	if err := os.WriteFile(path, []byte(hex.EncodeToString([]byte(path))+" 61DF88DC-3423-4823-B725-22570E01C027"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &fakeServer{t: t, path: filepath.Join(folder, "private", "socket"), world: newWorld(0)}
	s.start()
	t.Cleanup(s.stop)
	h, asked := examined(t, home, nil)
	if r := examine(t, h); say(r) != "pass pass pass pass pass skipped" || len(*asked) != 0 {
		t.Errorf("got %s, asked %q; %+v", say(r), *asked, r.Results)
	}
}

func TestACookieIsKeptForUse(t *testing.T) { // ITERM-79
	home, _ := homeOfITerm2(t)
	h, _ := examined(t, home, map[string]string{"ITERM2_COOKIE": "a-secret-cookie"})
	r := examine(t, h)
	if one := r.Results[3]; one.State != doctor.Unknown || !strings.Contains(one.Evidence, "was kept") || strings.Contains(one.Evidence+one.Summary+one.Next, "a-secret-cookie") {
		t.Errorf("%+v", one)
	}
	if cookie, _, err := h.keys.credentials(t.Context()); err != nil || cookie != "a-secret-cookie" {
		t.Errorf("got %q, %v", cookie, err)
	}
}

func TestEveryStepOnTheWayToITerm2HasItsNext(t *testing.T) { // ITERM-79
	for _, c := range []struct {
		name    string
		check   int
		prepare func(t *testing.T, h *health, socket string)
		want    doctor.State
		next    string
	}{
		{"another system", 0, func(_ *testing.T, h *health, _ string) { h.mac.system = "linux" }, doctor.Skipped, ""},
		{"not running", 0, answers("", true, nil), doctor.Fail, "start iTerm2"},
		{"no pgrep", 0, answers("", false, errors.New("no such file")), doctor.Unknown, "start iTerm2"},
		{"settings of another system", 1, func(_ *testing.T, h *health, _ string) { h.mac.system = "linux" }, doctor.Skipped, ""},
		{"the API is off", 1, answers("0", false, nil), doctor.Fail, "Magic"},
		{"the API was never on", 1, answers("", true, nil), doctor.Fail, "Magic"},
		{"no defaults", 1, answers("", false, errors.New("no such file")), doctor.Unknown, "Magic"},
		{"no socket", 2, func(*testing.T, *health, string) {}, doctor.Fail, "start iTerm2"},
		{"a file in its place", 2, func(t *testing.T, _ *health, socket string) {
			if err := os.WriteFile(socket, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, doctor.Fail, "move it away"},
		{"a socket that is left over", 2, func(t *testing.T, _ *health, socket string) {
			l := mustListen(t, socket)
			l.SetUnlinkOnClose(false)
			l.Close()
		}, doctor.Fail, "start iTerm2"},
		{"nobody answers", 2, func(t *testing.T, _ *health, socket string) {
			l := mustListen(t, socket)
			t.Cleanup(func() { l.Close() })
		}, doctor.Fail, "dialog"},
		{"it answers no HTTP", 2, func(t *testing.T, _ *health, socket string) { serveRaw(t, socket, "what?\r\n\r\n") }, doctor.Fail, "dialog"},
		{"it refuses", 3, func(t *testing.T, h *health, socket string) {
			h.ask = true
			serveRaw(t, socket, "HTTP/1.1 401 Unauthorized\r\n\r\n")
		}, doctor.Fail, "ITERM2_COOKIE"},
		{"macOS refuses", 3, func(t *testing.T, h *health, socket string) {
			h.ask = true
			serveRaw(t, socket, "")
			h.keys.script = func(context.Context, string) (string, error) {
				return "", scriptFault(-1743, errors.New("exit status 1"))
			}
		}, doctor.Fail, "Automation"},
		{"it is not there", 3, func(_ *testing.T, h *health, _ string) { h.ask = true }, doctor.Fail, "start iTerm2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, folder := homeOfITerm2(t)
			h, _ := examined(t, home, nil)
			c.prepare(t, &h, filepath.Join(folder, "private", "socket"))
			limit := patience
			if c.name == "nobody answers" {
				limit = 2 * time.Second // which it takes
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			r := h.all()[c.check].Run(ctx)
			if r.State != c.want || !strings.Contains(r.Next, c.next) || r.Summary == "" || r.Evidence == "" || (c.next == "") != (r.Next == "") {
				t.Errorf("%+v", r)
			}
		})
	}
}

func answers(text string, failed bool, err error) func(*testing.T, *health, string) {
	return func(_ *testing.T, h *health, _ string) {
		h.mac.output = func(context.Context, string, ...string) (string, bool, error) { return text, failed, err }
	}
}

// serveRaw answers whatever comes with the same bytes.
func serveRaw(t *testing.T, path, answer string) {
	t.Helper()
	l := mustListen(t, path)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			answerOnce(c, answer)
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
}

func answerOnce(c net.Conn, answer string) {
	defer c.Close()
	buffer := make([]byte, 4096)
	if _, err := c.Read(buffer); err == nil {
		_, _ = c.Write([]byte(answer))
	}
}

func TestVersionsAreComparedByTheirNumbers(t *testing.T) { // ITERM-79
	for version, want := range map[string]bool{"1.5": true, "1.17": true, "2.0": true, "1.4": false, "0.69": false, "": false, "1": false, "x.y": false, "1.5.1": false} {
		if got := atLeast(version, leastProtocol); got != want {
			t.Errorf("%q: got %v", version, got)
		}
	}
	h, _ := examined(t, t.TempDir(), nil)
	if r := h.protocol(t.Context()); r.State != doctor.Skipped {
		t.Errorf("%+v", r)
	}
}
