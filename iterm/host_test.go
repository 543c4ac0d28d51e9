package iterm_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"termpilot/host"
	"termpilot/iterm"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
	"termpilot/testneeds"
)

// gate is the way to a host. It can be shut, with all that passed through it.
type gate struct {
	socket string
	mu     sync.Mutex
	shut   bool
	open   []net.Conn
}

func (g *gate) dial(ctx context.Context) (net.Conn, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return nil, errors.New("the gate is shut")
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", g.socket)
	if err == nil {
		g.open = append(g.open, c)
	}
	return c, err
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	for _, c := range g.open {
		c.Close()
	}
	g.open = nil
}

// serveHost runs a host in a place of its own and returns a client of it.
func serveHost(t testing.TB) (*iterm.Client, *gate) {
	t.Helper()
	home, err := os.MkdirTemp("", "tp") // short: the socket's path must fit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	env := []string{
		"TERMPILOT_HOME=" + filepath.Join(home, "state"), "HOME=" + home, "SHELL=/bin/bash", "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "USER=tester",
	}
	place, err := host.Paths(func(name string) string {
		if name == "TERMPILOT_HOME" {
			return filepath.Join(home, "state")
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{socket: place.Socket}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	c := iterm.New(iterm.Options{Name: "host", Dial: g.dial, Start: func(context.Context) error {
		go func() {
			defer close(done)
			if err := host.Serve(ctx, host.Options{Env: env}); err != nil {
				t.Errorf("the host: %v", err)
			}
		}()
		return nil
	}})
	t.Cleanup(func() {
		c.Disconnect()
		cancel()
		<-done
	})
	return c, g
}

func TestTheHostIsABackend(t *testing.T) {
	testneeds.Program(t, "bash")
	gates := map[terminal.Backend]*gate{}
	terminaltest.TestBackend(t, func(t *testing.T) terminal.Backend {
		c, g := serveHost(t)
		gates[c] = g
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s, err := c.Open(ctx, terminal.OpenSpec{}) // starts it
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(ctx, s.ID, terminal.Force); err != nil {
			t.Fatal(err)
		}
		return c
	}, terminaltest.Abilities{
		UTF8Only: true, Overflow: 300, Scrollback: 100000,
		Disconnect: func(_ *testing.T, b terminal.Backend) { gates[b].set(true) },
		Reconnect:  func(_ *testing.T, b terminal.Backend) { gates[b].set(false) },
	})
}

// BenchmarkTrue is the least that running a command takes: watch, send, wait
// for its end, read its prompt and its output.
func BenchmarkTrue(b *testing.B) {
	c, _ := serveHost(b)
	ctx := b.Context()
	s, err := c.Open(ctx, terminal.OpenSpec{})
	if err != nil {
		b.Fatal(err)
	}
	id := s.ID
	first, err := c.Watch(ctx, id)
	if err != nil {
		b.Fatal(err)
	}
	for e := range first {
		if e.Prompt.State == terminal.Editing {
			break
		}
	}
	for b.Loop() {
		events, err := c.Watch(ctx, id)
		if err != nil {
			b.Fatal(err)
		}
		sent, mine := false, ""
		for e, err := range events {
			if err != nil {
				b.Fatal(err)
			}
			if !sent && e.Prompt.State == terminal.Editing {
				sent = true
				if err := c.Send(ctx, id, []byte("true\r")); err != nil {
					b.Fatal(err)
				}
			}
			if e.Kind == terminal.Started {
				mine = e.Prompt.ID
			}
			if e.Kind == terminal.Ended && e.Prompt.ID == mine {
				break
			}
		}
		p, err := c.Prompt(ctx, id, mine)
		if err != nil || p.State != terminal.Finished {
			b.Fatal(p, err)
		}
		if _, err := c.Screen(ctx, id, terminal.Range{Kind: terminal.Cells, Span: p.Output}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPrompt is one round of two requests to the host and back.
func BenchmarkPrompt(b *testing.B) {
	c, _ := serveHost(b)
	s, err := c.Open(b.Context(), terminal.OpenSpec{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Prompt(b.Context(), s.ID, ""); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScreen is the same for what shows.
func BenchmarkScreen(b *testing.B) {
	c, _ := serveHost(b)
	s, err := c.Open(b.Context(), terminal.OpenSpec{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Screen(b.Context(), s.ID, terminal.Range{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSessions lists 200 sessions of the host, once they are known.
func BenchmarkSessions(b *testing.B) {
	c, _ := serveHost(b)
	for range 200 {
		if _, err := c.Open(b.Context(), terminal.OpenSpec{Command: "sleep 600"}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if list, err := c.Sessions(b.Context()); err != nil || len(list) != 200 {
			b.Fatal(len(list), err)
		}
	}
}
