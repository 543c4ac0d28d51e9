package pilot

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal/terminaltest"
)

func TestTextIsSentVerbatim(t *testing.T) { // SEND-1
	on(t, terminaltest.Options{}, func(b bench) {
		for _, text := range []string{"Enter", "C-c", "-n foo", "-l", "a\tb\r\n", "\x00\x1b[A", "日本 \"'$`\\", strings.Repeat("x", MaxText)} {
			before := len(b.f.Sent(b.sid()))
			got, err := b.SendText(b.t.Context(), b.id, text, false)
			if err != nil || !got.Delivered || got.TaskCompletion != "unknown" || got.SessionID != b.id {
				b.t.Fatalf("%.20q: got %+v, %v", text, got, err)
			}
			if sent := b.f.Sent(b.sid())[before:]; len(sent) != 1 || string(sent[0]) != text {
				b.t.Errorf("%.20q: sent %.60q", text, sent)
			}
		}
		for text, code := range map[string]fault.Code{"": fault.InvalidArgument, "\xff": fault.InvalidArgument, strings.Repeat("x", MaxText+1): fault.TooLarge} {
			if _, err := b.SendText(b.t.Context(), b.id, text, false); !errors.Is(err, code) {
				b.t.Errorf("%.20q: got %v", text, err)
			}
		}
	})
}

func TestTextIsPastedWhereProgramsTakePastes(t *testing.T) { // SEND-2, SEND-8
	for _, c := range []struct {
		o    terminaltest.Options
		want string
	}{{terminaltest.Options{}, "\x1b[200~a\nb\x1b[201~"}, {terminaltest.Options{NoPaste: true}, "a\nb"}} {
		on(t, c.o, func(b bench) {
			for _, paste := range []bool{true, false} {
				got, err := b.SendText(b.t.Context(), b.id, "a\nb", paste)
				if err != nil || got.Pasted != (paste && !c.o.NoPaste) {
					b.t.Fatalf("got %+v, %v", got, err)
				}
			}
			if got := string(b.f.Sent(b.sid())[0]); got != c.want {
				b.t.Errorf("got %q, want %q", got, c.want)
			}
			for _, text := range []string{"a\x1b[201~\rrm", "a\u009b201~\rrm"} {
				if _, err := b.SendText(b.t.Context(), b.id, text, true); !errors.Is(err, fault.InvalidArgument) {
					b.t.Errorf("%q: got %v", text, err)
				}
			}
		})
	}
}

func TestKeysAreKnownByName(t *testing.T) { // SEND-3
	for name, want := range map[string]string{
		"enter": "\r", "tab": "\t", "escape": "\x1b", "backspace": "\x7f", "delete": "\x1b[3~", "up": "\x1b[A", "f1": "\x1bOP", "f12": "\x1b[24~",
		"ctrl_a": "\x01", "ctrl_c": "\x03", "ctrl_z": "\x1a", "ctrl_space": "\x00", "shift_tab": "\x1b[Z", "alt_x": "\x1bx", "alt_é": "\x1bé", "page_down": "\x1b[6~",
	} {
		if got, ok := encodeKey(name, false); !ok || got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	names := KeyNames()
	if !slices.Contains(names, "page_up") || !slices.Contains(names, "ctrl_q") || !slices.Contains(names, "alt_<char>") {
		t.Errorf("got %q", names)
	}
	on(t, terminaltest.Options{}, func(b bench) {
		for _, keys := range [][]string{nil, {"nosuchkey"}, {"enter", "C-c"}, {"Up"}, {"alt_"}, {"alt_ab"}, {"alt_\x1b"}, {"ctrl_1"}, {""}, slices.Repeat([]string{"up"}, MaxKeys+1)} {
			_, err := b.SendKeys(b.t.Context(), b.id, keys)
			if !errors.Is(err, fault.InvalidArgument) && !errors.Is(err, fault.TooLarge) {
				b.t.Errorf("%q: got %v", keys, err)
			}
			if errors.Is(err, fault.InvalidArgument) && !strings.Contains(fault.HintOf(err), "page_up") {
				b.t.Errorf("%q: the hint is %q", keys, fault.HintOf(err))
			}
		}
		if n := b.f.Calls("send"); n != 0 {
			b.t.Errorf("%d writes", n)
		}
		if _, err := b.SendKeys(b.t.Context(), b.id, []string{"up", "enter"}); err != nil {
			b.t.Fatal(err)
		}
		if got := string(b.f.Sent(b.sid())[0]); got != "\x1b[A\r" {
			b.t.Errorf("got %q", got)
		}
	})
}

func TestAKeyAfterEscapeIsSentApart(t *testing.T) { // SEND-4
	on(t, terminaltest.Options{}, func(b bench) {
		began := time.Now()
		if _, err := b.SendKeys(b.t.Context(), b.id, []string{"escape", "alt_b", "enter"}); err != nil {
			b.t.Fatal(err)
		}
		sent := b.f.Sent(b.sid())
		if len(sent) != 2 || string(sent[0]) != "\x1b" || string(sent[1]) != "\x1bb\r" || time.Since(began) < 100*time.Millisecond {
			b.t.Errorf("sent %q in %v", sent, time.Since(began))
		}
	})
}

func TestKeysThatWereSentInPartAreTold(t *testing.T) { // SEND-9
	on(t, terminaltest.Options{}, func(b bench) {
		time.AfterFunc(escapePause/2, func() {
			b.f.Fail("send", &fault.Error{Op: "send", Code: fault.BackendUnavailable})
		})
		_, err := b.SendKeys(b.t.Context(), b.id, []string{"escape", "enter"})
		if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), "number 1 were sent, the rest not") {
			b.t.Errorf("got %v", err)
		}
	})
}

func TestKeysOfWhichNobodyKnowsAreNotCalledUnsent(t *testing.T) { // SEND-9
	on(t, terminaltest.Options{}, func(b bench) {
		time.AfterFunc(escapePause/2, func() { b.f.LoseAnswer("send") })
		_, err := b.SendKeys(b.t.Context(), b.id, []string{"escape", "enter"})
		if !errors.Is(err, fault.Deadline) || !strings.Contains(err.Error(), "number 1 were sent, whether those after it were is not known") {
			b.t.Errorf("got %v", err)
		}
	})
}

func TestAnEndedSessionTakesNothing(t *testing.T) { // SEND-5
	on(t, terminaltest.Options{}, func(b bench) {
		b.run("exit 7")
		_, text := b.SendText(b.t.Context(), b.id, "x", false)
		_, keys := b.SendKeys(b.t.Context(), b.id, []string{"enter"})
		for _, err := range []error{text, keys} {
			if !errors.Is(err, fault.SessionEnded) || !strings.Contains(err.Error(), "code 7") {
				b.t.Errorf("got %v", err)
			}
		}
	})
}

func TestCursorKeysFollowTheProgramsMode(t *testing.T) { // SEND-7
	if got, _ := encodeKey("up", true); got != "\x1bOA" {
		t.Errorf("got %q", got)
	}
	if got, _ := encodeKey("f5", true); got != "\x1b[15~" {
		t.Errorf("got %q", got)
	}
	on(t, terminaltest.Options{}, func(b bench) {
		for i, want := range []string{"\x1b[D", "\x1bOD", "\x1b[D"} {
			switch i {
			case 1:
				b.f.Print(b.sid(), "\x1b[?1h")
			case 2:
				b.f.Fail("keys", &fault.Error{Op: "keys", Code: fault.Deadline})
			}
			if _, err := b.SendKeys(b.t.Context(), b.id, []string{"left"}); err != nil {
				b.t.Fatal(err)
			}
			if sent := b.f.Sent(b.sid()); string(sent[len(sent)-1]) != want {
				b.t.Errorf("got %q, want %q", sent[len(sent)-1], want)
			}
		}
	})
}
