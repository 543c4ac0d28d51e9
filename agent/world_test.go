package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termpilot/fault"
	"termpilot/host"
	"termpilot/iterm"
	"termpilot/pilot"
	"termpilot/terminal"
)

// TestMain lets this binary be the vendors' programs and what they and the
// terminal call back, beside the tests.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	switch {
	case vendorOf(name) != nil:
		os.Exit(playStandIn(name, os.Args[1:]))
	case len(os.Args) == 4 && os.Args[1] == "agent" && os.Args[2] == "exec":
		if err := Exec(context.Background(), os.Args[3], os.Environ()); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
	case len(os.Args) == 3 && os.Args[1] == "hook":
		_ = Hook(context.Background(), os.Args[2], os.Getenv, os.Stdin, "")
		return
	}
	_ = flag.Set("test.parallel", "12") // tests wait for programs, and hardly compute; -parallel says otherwise
	goleak.VerifyTestMain(m)
}

// patience is the longest wait for anything that must come.
const patience = 30 * time.Second

// world is a person's machine: a home, a host, and the vendors' programs on PATH.
type world struct {
	t      *testing.T
	home   string
	pilot  *pilot.Pilot
	host   *iterm.Client
	agents *Agents
	env    []string
	added  map[string]string // to the environment of what is launched
	log    string
}

// newWorld starts a host of the test's own, beside those of other tests.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	home, err := os.MkdirTemp("/tmp", "agent") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, v := range vendors {
		if err := os.Symlink(self, filepath.Join(bin, v.name)); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t: t, home: home, log: filepath.Join(home, "standin.log"), added: map[string]string{}}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); slices.Contains([]string{"GOCOVERDIR", "LANG", "TMPDIR", "TZ"}, name) {
			w.env = append(w.env, entry)
		}
	}
	w.env = append(w.env, "HOME="+home, "TERMPILOT_HOME="+filepath.Join(home, "tp"), "PATH="+bin+":/usr/bin:/bin", "STANDIN_LOG="+w.log,
		"GORACE=atexit_sleep_ms=10",                      // else every program of these tests takes a second to end under the race detector
		"SHELL=/bin/bash", "CLAUDE_CODE_CHILD_SESSION=1") // as in a server that an agent started
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- host.Serve(ctx, host.Options{Env: w.env}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error("host:", err)
		}
	})
	w.connect()
	w.until("the host answers", func() bool {
		_, err := w.host.Sessions(t.Context())
		return err == nil
	})
	return w
}

// connect makes a client of the host with all that drives it.
func (w *world) connect() {
	t := w.t
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	where, err := host.Paths((&Agents{env: w.env}).getenv)
	if err != nil {
		t.Fatal(err)
	}
	w.host = iterm.New(iterm.Options{Name: "host", Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", where.Socket)
	}})
	if w.pilot, err = pilot.New(pilot.Options{Backends: []terminal.Backend{w.host}, Dir: filepath.Join(w.home, "tp", "runs")}); err != nil {
		t.Fatal(err)
	}
	w.agents = New(Options{Pilot: w.pilot, Dir: filepath.Join(w.home, "tp", "agents"), Self: self, Env: w.env})
	t.Cleanup(func() {
		w.pilot.Close()
		w.host.Disconnect()
	})
}

// program is this test binary with arguments, in the world's environment with more.
func (w *world) program(args []string, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), w.agents.self, args...)
	cmd.Env = append(slices.Clone(w.env), env...)
	return cmd
}

// process is another process that runs one test, which gets the same world by
// worldOfProcess.
func (w *world) process(test string, env ...string) *exec.Cmd {
	return w.program([]string{"-test.run=^" + test + "$"}, env...)
}

// worldOfProcess is the world in a process that another one's test started.
func worldOfProcess(t *testing.T) *world {
	w := &world{t: t, home: os.Getenv("HOME"), env: os.Environ()}
	w.connect()
	return w
}

// until waits for what must come true: it is asked anew until then.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !is(); {
		if time.Now().After(end) {
			w.t.Fatalf("it did not come to pass that %s", what)
		}
		pause(w.t.Context(), 20*time.Millisecond)
	}
}

// launch launches an agent that behaves as standin says.
func (w *world) launch(preset, standin, prompt string) LaunchReceipt {
	w.t.Helper()
	r, err := w.agents.Launch(w.t.Context(), w.request(preset, standin, prompt))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) request(preset, standin, prompt string) LaunchRequest {
	w.t.Helper()
	env := map[string]string{"STANDIN": standin, "STANDIN_LOG": w.log}
	for name, value := range w.added {
		env[name] = value
	}
	return LaunchRequest{Preset: preset, Prompt: prompt, Cwd: w.home, Env: env, Delegate: true}
}

// send gives a prompt.
func (w *world) send(session, text string) TurnReceipt {
	w.t.Helper()
	r, err := w.agents.Send(w.t.Context(), SendRequest{SessionID: session, Text: text})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// wait waits for the turn of a receipt.
func (w *world) wait(session, cursor string) Waited {
	w.t.Helper()
	r, err := w.agents.Wait(w.t.Context(), WaitRequest{Sessions: []string{session}, Cursors: []string{cursor}, Timeout: patience})
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Sessions[0]
}

// ends gives a prompt and wants an outcome of it.
func (w *world) ends(session, text string, want Outcome) Waited {
	w.t.Helper()
	got := w.wait(session, w.send(session, text).Cursor)
	if got.Outcome != want {
		w.t.Fatalf("%q ended as %s (%s), want %s\n%s", text, got.Outcome, got.Reason, want, w.screen(session))
	}
	return got
}

func (w *world) result(session string) string {
	w.t.Helper()
	r, err := w.agents.Result(w.t.Context(), ResultRequest{SessionID: session})
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Text
}

// noted is what the stand-ins wrote down under a word, in order.
func (w *world) noted(word string) []string {
	w.t.Helper()
	f, err := os.Open(w.log)
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one map[string]string
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			if text, ok := one[word]; ok {
				all = append(all, text)
			}
		}
	}
	return all
}

func (w *world) screen(session string) string {
	s, err := w.host.Screen(w.t.Context(), terminal.ID(session), terminal.Range{Kind: terminal.Visible})
	if err != nil {
		return err.Error()
	}
	rows, _ := rowsOf(s)
	return strings.TrimSpace(strings.Join(rows, "\n"))
}

func (w *world) keys(session, keys string) {
	w.t.Helper()
	if err := w.host.Send(w.t.Context(), terminal.ID(session), []byte(keys)); err != nil {
		w.t.Fatal(err)
	}
}

// refuses wants a code, and that the stand-in got nothing.
func (w *world) refuses(err error, want fault.Code) {
	w.t.Helper()
	if !errors.Is(err, want) {
		w.t.Errorf("%v, want %s", err, want)
	}
}

func (w *world) wantNoted(word string, want ...string) {
	w.t.Helper()
	if got := w.noted(word); !slices.Equal(got, want) {
		w.t.Errorf("%s: %q, want %q", word, got, want)
	}
}

// every runs a test with each vendor.
func every(t *testing.T, test func(t *testing.T, w *world, preset string)) {
	t.Parallel()
	for _, v := range vendors {
		t.Run(v.name, func(t *testing.T) { test(t, newWorld(t), v.name) })
	}
}
