package iterm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"termpilot/fault"
)

func TestARefusedHandshakeSaysWhy(t *testing.T) { // ITERM-10, ITERM-11
	for _, c := range []struct {
		status int
		code   fault.Code
		hint   string
		asked  int
	}{
		{http.StatusUnauthorized, fault.BackendUnavailable, "ITERM2_COOKIE", 2},
		{http.StatusNotAcceptable, fault.Protocol, "update", 1},
		{http.StatusBadRequest, fault.Protocol, "socket", 1},
	} {
		s := newFakeServer(t, newWorld(1))
		s.refuse = c.status
		asked := 0
		client := s.client(Options{Credentials: func(context.Context) (string, string, error) {
			asked++
			return fmt.Sprintf("cookie%d", asked), "key", nil
		}})
		_, err := client.Sessions(t.Context())
		wantCode(t, err, c.code)
		if !strings.Contains(fault.HintOf(err), c.hint) {
			t.Errorf("%d: hint %q", c.status, fault.HintOf(err))
		}
		if asked != c.asked {
			t.Errorf("%d: credentials were asked for %d times, want %d", c.status, asked, c.asked)
		}
		if got, want := s.headers[len(s.headers)-1].Get("X-Iterm2-Cookie"), fmt.Sprintf("cookie%d", asked); got != want {
			t.Errorf("cookie %q, want %q", got, want)
		}
		s.mu.Lock()
		s.refuse = 0
		s.mu.Unlock()
		if _, err := client.Sessions(t.Context()); err != nil { // after a short pause
			t.Errorf("%d: the next call: %v", c.status, err)
		}
	}
}

func TestWithoutAFreshCookieTheRefusalIsTold(t *testing.T) { // ITERM-10
	s := newFakeServer(t, newWorld(1))
	s.refuse = http.StatusUnauthorized
	asked := 0
	c := s.client(Options{Credentials: func(context.Context) (string, string, error) {
		if asked++; asked > 1 {
			return "", "", errors.New("no more cookies")
		}
		return "stale", "", nil
	}})
	_, err := c.Sessions(t.Context())
	wantCode(t, err, fault.BackendUnavailable)
	if !strings.Contains(err.Error(), "did not authorise") {
		t.Errorf("got %v", err)
	}
}

func TestATerminalThatRefusesAgainAndAgainIsLeftAlone(t *testing.T) { // ITERM-11
	synctest.Test(t, func(t *testing.T) { // a clock that stands still between the calls
		s := &fakeServer{t: t, world: newWorld(1), refuse: http.StatusUnauthorized}
		c := New(Options{Name: "iterm2", Dial: s.pipe})
		for range 8 {
			_, err := c.Sessions(t.Context())
			wantCode(t, err, fault.BackendUnavailable)
		}
		if got, want := len(s.headers), 2; got > want {
			t.Errorf("8 calls made %d handshakes, want at most %d", got, want)
		}
		_ = c.Disconnect()
		s.running.Wait()
	})
}
