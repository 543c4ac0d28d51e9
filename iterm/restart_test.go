package iterm

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/host"
	"termpilot/terminal"
	"termpilot/testneeds"
)

// hostProcess is a host of its own, that can be killed.
type hostProcess struct {
	t      *testing.T
	env    []string
	socket string
	cmd    *exec.Cmd
}

func newHostProcess(t *testing.T) *hostProcess {
	t.Helper()
	testneeds.Program(t, "bash")
	home, err := os.MkdirTemp("", "tp") // short: the socket's path must fit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	state := filepath.Join(home, "state")
	place, err := host.Paths(func(name string) string {
		return map[string]string{"TERMPILOT_HOME": state}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return &hostProcess{t: t, socket: place.Socket, env: []string{
		hostVariable + "=1", "TERMPILOT_HOME=" + state, "HOME=" + home, "SHELL=/bin/bash", "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "USER=tester",
	}}
}

func (h *hostProcess) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", h.socket)
}

// start returns when the host listens.
func (h *hostProcess) start() {
	h.t.Helper()
	h.cmd = exec.Command(os.Args[0])
	h.cmd.Env = h.env
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(h.kill)
	for began := time.Now(); ; {
		c, err := h.dial(h.t.Context())
		if err == nil {
			c.Close()
			return
		}
		if time.Since(began) > patience {
			h.t.Fatal(err)
		}
		timer := time.NewTimer(5 * time.Millisecond)
		<-timer.C
	}
}

// stop returns when the host takes requests and answers none.
func (h *hostProcess) stop() {
	h.t.Helper()
	var status syscall.WaitStatus
	err := h.cmd.Process.Signal(syscall.SIGSTOP)
	if err == nil {
		_, err = syscall.Wait4(h.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	}
	if err != nil || !status.Stopped() {
		h.t.Fatalf("%v, %v", status, err)
	}
}

func (h *hostProcess) kill() {
	h.cmd.Process.Kill()
	h.cmd.Wait()
}

func TestAKilledTerminalEndsWaitsTrulyAndIsFoundAgain(t *testing.T) { // ITERM-8, ITERM-9, ITERM-48, ITERM-70
	h := newHostProcess(t)
	h.start()
	c := New(Options{Name: "iterm2", Dial: h.dial})
	defer c.Disconnect()
	old, err := c.Open(t.Context(), terminal.OpenSpec{})
	if err != nil {
		t.Fatal(err)
	}
	events := watch(t, c, old.ID)

	h.stop()
	sent, read := make(chan error, 1), make(chan error, 1)
	go func() { sent <- c.Send(t.Context(), old.ID, []byte("x")) }()
	go func() {
		_, err := c.Screen(t.Context(), old.ID, terminal.Range{})
		read <- err
	}()
	waiting := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		n := 0
		for _, call := range c.link.pending {
			if call.state.Load() == 1 && (call.request.GetSendTextRequest() != nil || call.request.GetGetBufferRequest() != nil) {
				n++
			}
		}
		return n
	}
	for waiting() < 2 {
		timer := time.NewTimer(time.Millisecond)
		<-timer.C
	}
	h.kill()

	if err := <-sent; fault.CodeOf(err) != fault.Deadline || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("a text under way: %v", err)
	}
	wantCode(t, <-read, fault.BackendUnavailable)
	var last error
	for _, err := range events {
		last = err
	}
	wantCode(t, last, fault.BackendUnavailable)
	_, err = c.Sessions(t.Context())
	wantCode(t, err, fault.BackendUnavailable)
	wantCode(t, c.Send(t.Context(), old.ID, []byte("x")), fault.BackendUnavailable)
	wantCode(t, c.Focus(t.Context(), old.ID), fault.BackendUnavailable)

	h.start()
	list, err := c.Sessions(t.Context()) // the next call finds it
	if err != nil || len(list) != 0 {
		t.Errorf("listed %v, %v", list, err)
	}
	_, err = c.Screen(t.Context(), old.ID, terminal.Range{})
	wantCode(t, err, fault.SessionEnded)
	wantCode(t, c.Send(t.Context(), old.ID, []byte("x")), fault.SessionEnded)
	fresh, err := c.Open(t.Context(), terminal.OpenSpec{})
	if err != nil || fresh.ID == old.ID {
		t.Fatalf("got %+v, %v", fresh, err)
	}
	events = watch(t, c, fresh.ID)
	if err := c.Send(t.Context(), fresh.ID, []byte("exit\r")); err != nil {
		t.Fatal(err)
	}
	collect(t, events, terminal.Gone) // its notifications come again
}

// awaitLoss returns when the client has noticed that its connection is over.
func awaitLoss(c *Client) {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	<-l.lost
}

func TestAfterARestartTheCookieIsAskedAnew(t *testing.T) { // ITERM-70
	s := newFakeServer(t, newWorld(2))
	asked := 0
	c := s.client(Options{Credentials: func(context.Context) (string, string, error) {
		asked++
		return fmt.Sprintf("cookie%d", asked), "", nil
	}})
	sessions(t, c)
	s.stop()
	awaitLoss(c)
	_, err := c.Sessions(t.Context())
	wantCode(t, err, fault.BackendUnavailable)
	s.world.mu.Lock()
	s.world.sessions = s.world.sessions[1:] // the session server kept one
	s.world.mu.Unlock()
	s.start()
	if list := sessions(t, c); len(list) != 1 || list[0].ID != sid(2) {
		t.Errorf("listed %+v", list)
	}
	if got := s.headers[len(s.headers)-1].Get("X-Iterm2-Cookie"); got != "cookie2" || asked != 2 {
		t.Errorf("the cookie is %q, after asking %d times", got, asked)
	}
	// What it tells now reaches us.
	events := watch(t, c, sid(2))
	s.notifyAll(commandEnded(guid(2), "P", 0))
	collect(t, events, terminal.Ended)
}
