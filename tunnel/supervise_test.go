package tunnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/process"
	"termpilot/tunnel/tunneltest"
)

const (
	testTunnel = "tunnel_0123456789abcdef0123456789abcdef"
	testKey    = "sk-lab_1"
)

// mcpStub answers as an MCP server with one tool; "slow" takes a while.
var mcpStub = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, result)
})

// bench is a place, a control plane and the stand-in for tunnel-client.
type bench struct {
	t     testing.TB
	place Place
	plane *tunneltest.ControlPlane
	c     Config
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp") // short: sockets live below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	client, err := tunneltest.Install(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, place: Place{Home: filepath.Join(dir, "h"), Sockets: filepath.Join(dir, "s")}, plane: tunneltest.New(t, testTunnel, testKey)}
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
		ended <- Supervise(ctx, Options{Place: b.place, Config: b.c, Key: Secret{testKey}, Handler: mcpStub, Version: "test", Getenv: os.Getenv})
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

func TestOneSupervisorHasAnAlias(t *testing.T) { // TUN-8, TUN-33
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

func TestASocketThatWasTakenAwayComesBack(t *testing.T) { // TUN-14
	b := newBench(t)
	b.supervise()
	b.until("ready", func(s Status) bool { return s.Ready })
	path := b.place.files("a").mcp
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) { // a socket appears without an event
		if _, err := os.Lstat(path); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it did not come back")
		}
	}
	reply, err := b.plane.Call(t.Context(), map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
	if err != nil || reply.Status != http.StatusOK {
		t.Errorf("the next call: %+v %v", reply, err)
	}
}

func TestAClientThatWasLeftBehindIsEndedFirst(t *testing.T) { // TUN-12
	b := newBench(t)
	f, err := b.place.make("a")
	if err != nil {
		t.Fatal(err)
	}
	orphaned, err := start(b.c, f, Secret{testKey}, os.Getenv, &listener{log: &logFile{path: f.log}, told: func(record) {}})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); b.plane.Clients() == 0; time.Sleep(5 * time.Millisecond) { // until it polls
		if time.Now().After(end) {
			t.Fatal("it does not poll")
		}
	}
	b.supervise()
	s := b.until("ready", func(s Status) bool { return s.Ready })
	select {
	case <-orphaned.done:
	case <-time.After(10 * time.Second):
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
	began := time.Now()
	if s, err := Inspect(t.Context(), b.place, "a"); !errors.Is(err, fault.Deadline) || s.Running && s.Ready {
		t.Errorf("got %+v %v, want deadline_exceeded", s, err)
	}
	if took := time.Since(began); took > controlTimeout+5*time.Second {
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
