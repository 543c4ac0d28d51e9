package pilot

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

func TestAnUnknownIdReachesNoSession(t *testing.T) { // RUN-3, FIND-1
	on(t, terminaltest.Options{}, func(b bench) {
		for _, id := range []string{b.id + "x", b.id[:len(b.id)-1], "host", "%1", "active", "all", "current", "*", "fake-*", "w1", "t1", "1"} {
			if err := b.runErr(RunRequest{SessionID: id, Command: "true"}); !errors.Is(err, fault.SessionNotFound) {
				b.t.Errorf("%q: got %v", id, err)
			}
		}
		for _, id := range []string{"\n", strings.Repeat("x", 300), "a\xff"} {
			if err := b.runErr(RunRequest{SessionID: id, Command: "true"}); !errors.Is(err, fault.InvalidArgument) {
				b.t.Errorf("%q: got %v", id, err)
			}
		}
		_, err := b.Read(b.t.Context(), ReadRequest{SessionID: ""})
		if !errors.Is(err, fault.InvalidArgument) {
			b.t.Errorf("got %v", err)
		}
		if n := b.f.Calls("send") + b.f.Calls("watch"); n != 0 {
			b.t.Errorf("%d calls reached the session", n)
		}
	})
}

func TestARefusedSelectorNamesTheCandidates(t *testing.T) { // FIND-2
	onWith(t, terminaltest.Options{}, Options{}, func(b bench) {
		for range 2 {
			if _, err := b.f.Open(b.t.Context(), terminal.OpenSpec{Name: "Build"}); err != nil {
				b.t.Fatal(err)
			}
		}
		for range 9 {
			if _, err := b.f.Open(b.t.Context(), terminal.OpenSpec{Name: "server"}); err != nil {
				b.t.Fatal(err)
			}
		}
		b.f.On("title", terminaltest.Prints("\x1b]2;my title\x07", 0))
		b.run("title")
		for selector, want := range map[string]string{
			"build":    "pass the session_id: fake-2 (Build), fake-3 (Build)",
			" Build ":  "pass the session_id: fake-2 (Build), fake-3 (Build)",
			"bui":      "pass the session_id: fake-2 (Build), fake-3 (Build)",
			"my title": "pass the session_id: fake-1 (my title)",
			"MY":       "pass the session_id: fake-1 (my title)",
			"w3":       "pass the session_id: fake-3 (Build)",
			"FAKE-2":   "pass the session_id: fake-2 (Build)",
			"server":   "pass the session_id: fake-4 (server), fake-5 (server), fake-6 (server), fake-7 (server), fake-8 (server), 4 others",
			"Active":   "call get_current_session and pass its session_id",
			"nosuch":   "call list_sessions and pass a session_id from it",
		} {
			err := b.runErr(RunRequest{SessionID: selector, Command: "true"})
			if got := fault.HintOf(err); !errors.Is(err, fault.SessionNotFound) || got != want {
				b.t.Errorf("%q: got %v, hint %q, want %q", selector, err, got, want)
			}
		}
	})
}

func TestAHintHidesWhatTheServerHides(t *testing.T) { // FIND-2, POLICY-2
	onWith(t, terminaltest.Options{}, Options{Allow: []terminal.ID{"fake-1", "build"}}, func(b bench) {
		if _, err := b.f.Open(b.t.Context(), terminal.OpenSpec{Name: "build"}); err != nil {
			b.t.Fatal(err)
		}
		if err := b.runErr(RunRequest{SessionID: "build", Command: "true"}); strings.Contains(fault.HintOf(err), "fake-2") {
			b.t.Errorf("the hint is %q", fault.HintOf(err))
		}
	})
}

func TestASessionOfABackendThatIsGoneIsNotCalledUnknown(t *testing.T) { // FIND-3
	on(t, terminaltest.Options{}, func(b bench) {
		b.run("true")
		gone := &fault.Error{Op: "sessions", Code: fault.BackendUnavailable, Err: fs.ErrNotExist}
		b.f.Fail("sessions", gone)
		err := b.runErr(RunRequest{Command: "true"})
		if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), "host, which had it") {
			b.t.Errorf("got %v", err)
		}
		// A backend that does not run has no sessions: any other id is not found.
		if err := b.runErr(RunRequest{SessionID: "nosuch", Command: "true"}); !errors.Is(err, fault.SessionNotFound) {
			b.t.Errorf("got %v", err)
		}
		b.f.Answer("sessions")
		b.f.Disconnect()
		for _, id := range []string{b.id, "nosuch"} { // it runs, and may have it
			if err := b.runErr(RunRequest{SessionID: id, Command: "true"}); !errors.Is(err, fault.BackendUnavailable) {
				b.t.Errorf("%s: got %v", id, err)
			}
		}
	})
}
