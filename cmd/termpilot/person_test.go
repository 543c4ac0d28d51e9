package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// patient is how long a test waits for what must happen and has no time of its own.
const patient = 20 * time.Second

// person is somebody at a terminal who runs termpilot there.
type person struct {
	t   *testing.T
	cmd *exec.Cmd
	tty *os.File

	mu   sync.Mutex
	seen []byte
	news chan struct{} // has an item when something was seen, and is closed at the end
}

func sit(t *testing.T, env []string, args ...string) *person {
	t.Helper()
	p := &person{t: t, cmd: command(env, args...), news: make(chan struct{}, 1)}
	var err error
	if p.tty, err = pty.StartWithSize(p.cmd, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(p.look)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.tty.Close()
		reading.Wait()
	})
	return p
}

func (p *person) look() {
	defer close(p.news)
	buf := make([]byte, 4096)
	for {
		n, err := p.tty.Read(buf)
		p.mu.Lock()
		p.seen = append(p.seen, buf[:n]...)
		p.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case p.news <- struct{}{}:
		default:
		}
	}
}

func (p *person) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.seen)
}

// sees waits until the terminal has shown text.
func (p *person) sees(text string) {
	p.t.Helper()
	limit := time.After(patient)
	for !strings.Contains(p.all(), text) {
		select {
		case _, more := <-p.news:
			if !more && !strings.Contains(p.all(), text) {
				p.t.Fatalf("%v ended without showing %q, but %q", p.cmd.Args, text, p.all())
			}
		case <-limit:
			p.t.Fatalf("%v does not show %q, but %q", p.cmd.Args, text, p.all())
		}
	}
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

func TestPeopleAndClientsShareASession(t *testing.T) { // CLI-25
	env := home(t)
	id := openSession(t, env)
	one := sit(t, env, "attach", id)
	one.sees("at your command> ")
	two := sit(t, env, "attach") // the only session
	two.sees("at your command> ")
	one.types("echo by-$((40+2))-hand\r")
	one.sees("by-42-hand")
	two.sees("by-42-hand")
	output(t, env, "call", "wait_session", "session_ids="+id, "until=prompt", "timeout_seconds=10")
	if got := output(t, env, "run", "--session", id, "--", "echo by-$((40+3))-client"); got != "by-43-client\n" {
		t.Errorf("a client's command printed %q", got)
	}
	one.sees("by-43-client")
	two.types("\x1b[92;5u") // the detach key, as kitty's protocol spells it
	two.sees("come back with termpilot attach " + id)
	endsWithin(t, two.cmd, patient, exitOK)
	one.types("\x1c")
	one.sees("come back with")
	endsWithin(t, one.cmd, patient, exitOK)
	if got := output(t, env, "run", "--session", id, "--", "echo still here"); got != "still here\n" {
		t.Errorf("after everybody left: %q", got)
	}
}

func TestAttachEndsWithTheSession(t *testing.T) { // CLI-25
	env := home(t)
	id := openSession(t, env)
	one := sit(t, env, "attach", id)
	one.sees("at your command> ")
	one.types("exit 5\r")
	one.sees("the session ended with exit code 5")
	endsWithin(t, one.cmd, patient, exitOK)
	gone := sit(t, env, "attach", "nonsense")
	gone.sees("session_not_found")
	endsWithin(t, gone.cmd, patient, exitGone)
}

func TestBareTermpilotAtATerminalHelps(t *testing.T) { // CLI-9
	p := sit(t, home(t))
	p.sees("Usage:")
	endsWithin(t, p.cmd, patient, exitOK)
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) { // CLI-5
	for _, c := range []struct {
		add  string
		want bool
	}{{"A=b", true}, {"NO_COLOR=1", false}, {"NO_COLOR=", true}, {"TERM=dumb", false}} {
		p := sit(t, append(home(t), c.add), "nonsense")
		p.sees("hint:")
		endsWithin(t, p.cmd, patient, exitUsage)
		if got := bytes.ContainsRune([]byte(p.all()), 0x1b); got != c.want {
			t.Errorf("%s: colour %v, want %v: %q", c.add, got, c.want, p.all())
		}
	}
}

func TestTheDetachKeyIsKnownHoweverItIsSpelled(t *testing.T) { // CLI-25
	for spelled, want := range map[string]string{
		"\x1c": "\x1c", "\x1b[92;5u": "\x1c", "\x1b[27;5;92~": "\x1c",
		"\x1b[92;5:1ux":         "\x1cx", // a press is told
		"\x1b[92;5:2u":          "\x1c",
		"\x1b[92::55;5u":        "\x1c", // with the key's place on another keyboard
		"\x1b[92:124:55;133:1u": "\x1c", // with Num Lock on
		"a\x1b[92;69;28ub":      "a\x1cb",
		"\x1b[92;5:3u":          "\x1b[92;5:3u", // let go of
		"\x1b[92;6u":            "\x1b[92;6u",   // with Shift
		"\x1b[92;1;92u":         "\x1b[92;1;92u",
		"\x1b[192;5u":           "\x1b[192;5u",
	} {
		typed, err := io.ReadAll(&detachReader{in: strings.NewReader(spelled)})
		if err != nil || string(typed) != want {
			t.Errorf("%q: got %q, %v, want %q", spelled, typed, err, want)
		}
	}
}
