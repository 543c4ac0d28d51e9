package tunnel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"termpilot/fault"
	"termpilot/process"
	"termpilot/testneeds"
	"termpilot/tunnel/tunneltest"
)

const (
	testTunnel = "tunnel_0123456789abcdef0123456789abcdef"
	testKey    = "sk-lab_1"
)

// patience is the longest wait for anything that must come.
const patience = 20 * time.Second

const largeAnswer = 20 << 20

// stub answers as an MCP server with one tool; "slow" takes until it may
// end, and "large" says much.
type stub struct {
	slow atomic.Int64  // how many of the slow calls have begun
	may  chan struct{} // they may end once it is closed
}

// mcpStub is the one of those who ask for nothing slow.
var mcpStub = &stub{}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	result := `{"ok":true}`
	switch text := string(body); {
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
		return
	case strings.Contains(text, `"initialize"`):
		result = `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"stub","version":"1"}}`
	case strings.Contains(text, `"tools/list"`):
		result = `{"tools":[{"name":"t"}]}`
	case strings.Contains(text, `"large"`):
		result = `"` + strings.Repeat("x", largeAnswer) + `"`
	case strings.Contains(text, `"slow"`):
		s.slow.Add(1)
		select {
		case <-s.may:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	var message struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(body, &message) // what is sent here is JSON
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, message.ID, result)
}

// begun waits until so many slow calls have reached the server.
func (s *stub) begun(t *testing.T, n int64) {
	t.Helper()
	for end := time.Now().Add(patience); s.slow.Load() < n; time.Sleep(5 * time.Millisecond) { // between looks
		if time.Now().After(end) {
			t.Fatalf("%d of %d slow calls have begun", s.slow.Load(), n)
		}
	}
}

// bench is a place, a control plane and the stand-in for tunnel-client.
type bench struct {
	t     testing.TB
	place Place
	plane *tunneltest.ControlPlane
	c     Config
	mcp   stub
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return newBenchWith(t, "")
}

// eachClient runs a test with the stand-in and, where there is one, with the
// real tunnel-client.
func eachClient(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Run("stand-in", func(t *testing.T) { test(t, newBench(t)) })
	t.Run("real", func(t *testing.T) {
		client := os.Getenv("TERMPILOT_TUNNEL_CLIENT")
		if client == "" {
			client = testneeds.Program(t, "tunnel-client")
		}
		test(t, newBenchWith(t, client))
	})
}

func newBenchWith(t *testing.T, client string) *bench {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp") // short: sockets live below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if client == "" {
		if client, err = tunneltest.Install(dir); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{t: t, place: Place{Home: filepath.Join(dir, "h"), Sockets: filepath.Join(dir, "s")}, plane: tunneltest.New(t, testTunnel, testKey), mcp: stub{may: make(chan struct{})}}
	b.c = Config{Alias: "a", TunnelID: testTunnel, Client: client, BaseURL: b.plane.URL()}
	if err := b.c.check(); err != nil {
		t.Fatal(err)
	}
	return b
}

// supervise runs a supervisor until the test ends or it is told to stop.
func (b *bench) supervise() (stop func() error) {
	b.t.Helper()
	f, err := b.place.make("a")
	if err == nil {
		err = b.c.save(f.config)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Supervise(ctx, Options{Place: b.place, Config: b.c, Key: Secret{testKey}, Handler: &b.mcp, Version: "test", Getenv: os.Getenv})
	}()
	var once sync.Once
	stop = func() (err error) {
		once.Do(func() { cancel(); err = <-ended })
		return err
	}
	b.t.Cleanup(func() {
		if err := stop(); err != nil {
			b.t.Errorf("the supervisor: %v", err)
		}
	})
	return stop
}

// until waits for a status.
func (b *bench) until(what string, want func(Status) bool) Status {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) { // between looks at the status
		s, err := Inspect(b.t.Context(), b.place, "a")
		if err == nil && want(s) {
			return s
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s: not within 30 s: %+v %v", what, s, err)
		}
	}
}

func TestOneSupervisorHasAnAlias(t *testing.T) { // TUN-8, TUN-24, TUN-33
	b := newBench(t)
	stop := b.supervise()
	s := b.until("ready", func(s Status) bool { return s.Ready })
	if s.Tools != 1 || !s.KnowsTunnel || s.Calls != 0 || s.RunsTunnel != testTunnel {
		t.Errorf("got %+v", s)
	}
	err := Supervise(t.Context(), Options{Place: b.place, Config: b.c, Key: Secret{testKey}, Handler: mcpStub, Getenv: os.Getenv})
	if !errors.Is(err, fault.TunnelBusy) {
		t.Errorf("a second supervisor: got %v, want tunnel_busy", err)
	}
	other := b.c
	other.Serve = []string{"--read-only"}
	getenv := func(name string) string { return map[string]string{DefaultKeyVariable: testKey}[name] }
	if _, _, _, err := Prepare(t.Context(), b.place, Request{Config: other, Sources: Sources{Getenv: getenv}}); !errors.Is(err, fault.TunnelBusy) {
		t.Errorf("preparing another: got %v, want tunnel_busy", err)
	}
	if err := os.Remove(b.place.files("a").setup); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(b.place.files("a").setup, 0o700); err != nil {
		t.Error(err)
	}
	if _, err := Setup(t.Context(), b.place, Request{Config: other, Sources: Sources{Getenv: getenv}}); !errors.Is(err, fault.Storage) {
		t.Errorf("with no lock to be had: got %v, want storage_failed", err)
	}
	if c, err := Load(b.place, "a"); err != nil || len(c.Serve) != 0 {
		t.Errorf("what another would have run was written down: %+v %v", c, err)
	}
	if _, err := b.plane.Call(t.Context(), map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}); err != nil {
		t.Error(err)
	}
	b.until("one call", func(s Status) bool { return s.Calls == 1 && time.Since(s.LastCall) < time.Minute })
	e, err := end(t.Context(), b.place, "a")
	if err != nil || !e.WasRunning || e.ClientPID != s.ClientPID {
		t.Errorf("got %+v %v", e, err)
	}
	if p, err := process.Lookup(s.ClientPID); err == nil && p.State != process.Zombie {
		t.Errorf("the client lives: %+v", p)
	}
	if err := stop(); err != nil {
		t.Errorf("the supervisor: %v", err)
	}
	if e, err := end(t.Context(), b.place, "a"); err != nil || e.WasRunning {
		t.Errorf("again: got %+v %v", e, err)
	}
}

func TestASupervisorIsFoundWhereItListens(t *testing.T) { // TUN-17
	b := newBench(t)
	stop := b.supervise()
	b.until("ready", func(s Status) bool { return s.Ready })
	elsewhere := Place{Home: b.place.Home, Sockets: filepath.Join(b.place.Home, "..", "o")} // another XDG_RUNTIME_DIR
	if s, err := Inspect(t.Context(), elsewhere, "a"); err != nil || !s.Ready {
		t.Errorf("got %+v %v", s, err)
	}
	if e, err := end(t.Context(), elsewhere, "a"); err != nil || !e.WasRunning || e.PID != os.Getpid() {
		t.Errorf("got %+v %v", e, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestAskingIsNotTakenForASupervisor(t *testing.T) { // TUN-8
	b := newBench(t)
	f, err := b.place.make("a")
	if err == nil {
		err = b.c.save(f.config)
	}
	if err == nil {
		err = os.WriteFile(f.lock, nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for range 500 {
				if held, _ := heldBy(f.lock); held {
					t.Error("somebody who asks was taken for a supervisor")
					return
				}
			}
		})
	}
	asking.Wait()
	done := make(chan struct{})
	for range 8 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					heldBy(f.lock)
				}
			}
		})
	}
	for range 20 {
		lock := flock.New(f.lock)
		if held, err := hold(t.Context(), lock); !held || err != nil {
			t.Errorf("the lock was refused because somebody asked: %v", err)
		}
		_ = lock.Close()
	}
	close(done)
	asking.Wait()
}

func TestCallsThatGoAstrayAreNoticed(t *testing.T) { // TUN-18
	s := &supervisor{tools: 1, nudge: make(chan struct{}, 1)}
	lost := record{Msg: "dispatcher received MCP upstream error; posted error response to control plane", Source: "connect", Kind: "dial", Request: "1"}
	said := record{Msg: "dispatcher forwarded command to MCP server", Request: "2"}
	s.hear(said)
	for range tooManyUnreached {
		if s.astray() {
			t.Error("too early")
		}
		s.hear(lost)
	}
	if !s.astray() || len(s.nudge) != 1 || s.calls != 1 || s.callErrs != tooManyUnreached || s.callErr != "connect dial" || !s.failedAt.After(s.lastCall) {
		t.Errorf("got %+v", s)
	}
	s.serverErr = "gone"
	if s.astray() {
		t.Error("the client was blamed for a server that does not answer")
	}
	s.serverErr = ""
	s.hear(said)
	if s.astray() {
		t.Error("a call got through")
	}
	s.hear(record{Msg: "dispatcher posted terminal downstream error response to control plane", Source: "transport_closed", Kind: "eof", Request: "3"})
	s.hear(record{Msg: said.Msg, Request: "3"})
	if s.calls != 2 || s.callErrs != tooManyUnreached+1 {
		t.Errorf("a call that failed was counted as answered: %+v", s)
	}
}

func TestAClientThatWasLeftBehindIsEndedFirst(t *testing.T) { // TUN-12
	b := newBench(t)
	f, err := b.place.make("a")
	if err != nil {
		t.Fatal(err)
	}
	orphaned, err := start(b.c, f, Secret{testKey}, os.Getenv, &listener{hide: Secret{}.redactor(none), log: &logFile{path: f.log}, told: func(record) {}})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); b.plane.Clients() == 0; time.Sleep(5 * time.Millisecond) { // until it polls
		if time.Now().After(end) {
			t.Fatal("it does not poll")
		}
	}
	b.supervise()
	s := b.until("ready", func(s Status) bool { return s.Ready })
	select {
	case <-orphaned.done:
	case <-time.After(patience):
		t.Error("the client that was left behind still runs")
		orphaned.stop()
	}
	if s.ClientPID == orphaned.cmd.Process.Pid {
		t.Error("it was taken for the supervisor's own")
	}
}

func TestAClientThatEndsIsStartedAgainLaterEachTime(t *testing.T) { // TUN-10
	b := newBench(t)
	script := filepath.Join(b.place.Home, "..", "dies")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"start tunnel-client: no good\"\nexit 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.c.Client = script
	b.supervise()
	s := b.until("two restarts", func(s Status) bool { return s.Restarts >= 2 })
	if took := time.Since(s.Since); took < firstBackoff {
		t.Errorf("two restarts within %v", took)
	}
	if s.Healthy || s.Ready || s.Polling != PollingStopped || !strings.Contains(s.LastExit, "status 7: start tunnel-client: no good") {
		t.Errorf("got %+v", s)
	}
}

func TestADeafClientIsTold(t *testing.T) { // TUN-11, TUN-30
	now := time.Now()
	for _, c := range []struct {
		name     string
		moved    time.Duration // since polling last got somewhere
		lastPoll time.Duration // since a poll succeeded; 0: none has
		begun    time.Duration
		err      string
		deaf     bool
		polling  Polling
	}{
		{"just started", time.Second, 0, time.Second, "", false, PollingPending},
		{"polls", 5 * time.Second, 5 * time.Second, time.Hour, "", false, PollingOK},
		{"polls fail", 8 * time.Second, time.Hour, time.Hour, "503", false, PollingFailing},
		{"silent for a while", time.Minute, time.Minute, time.Hour, "", false, PollingDeaf},
		{"silent for long", 3 * time.Minute, 3 * time.Minute, time.Hour, "", true, PollingDeaf},
		{"never polled", 3 * time.Minute, 0, 3 * time.Minute, "", true, PollingDeaf},
	} {
		s := &supervisor{moved: now.Add(-c.moved), begun: now.Add(-c.begun), lastError: c.err, heard: true, tools: 1, client: &child{}}
		s.client.cmd = self()
		if c.lastPoll != 0 {
			s.state.LastPoll = now.Add(-c.lastPoll)
		}
		if got := s.deaf(now); got != c.deaf {
			t.Errorf("%s: deaf: got %v", c.name, got)
		}
		if st := s.status(now); st.Polling != c.polling || st.Ready != (c.polling == PollingOK) {
			t.Errorf("%s: got %s, ready %v; want %s", c.name, st.Polling, st.Ready, c.polling)
		}
	}
}

func TestASupervisorThatHangsIsToldSoAndEnded(t *testing.T) { // TUN-34
	b := newBench(t)
	f, err := b.place.make("a")
	if err == nil {
		err = b.c.save(f.config)
	}
	if err != nil {
		t.Fatal(err)
	}
	holder := held(t, b.place)
	if err := syscall.Kill(holder, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) { // until it has stopped
		if p, err := process.Lookup(holder); err == nil && p.State == process.Stopped {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it does not stop")
		}
	}
	began := time.Now()
	if s, err := Inspect(t.Context(), b.place, "a"); !errors.Is(err, fault.Deadline) || s.Running && s.Ready {
		t.Errorf("got %+v %v, want deadline_exceeded", s, err)
	}
	if took := time.Since(began); took > controlTimeout+patience {
		t.Errorf("it took %v to say so", took)
	}
	e, err := end(t.Context(), b.place, "a")
	if err != nil || e.PID != holder {
		t.Errorf("got %+v %v, want %d ended", e, err, holder)
	}
	if h, _ := heldBy(f.lock); h {
		t.Error("the lock is still held")
	}
}
