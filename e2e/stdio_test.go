package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The hygiene of the protocol's pipe.

// converse writes lines to a fresh server, closes its input when told to, and
// returns every line of its output.
func converse(t *testing.T, h home, lines []string, answered func(line string) bool) []string {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = h.env()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := &lineLog{seen: make(chan string, 4096)}
	cmd.Stdout = out
	cmd.Stderr = testWriter{t}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		t.Fatal(err)
	}
	var all []string
	limit := time.After(20 * time.Second)
wait:
	for {
		select {
		case line := <-out.seen:
			all = append(all, line)
			if answered(line) {
				break wait
			}
		case <-limit:
			t.Errorf("no answer to the last request; output so far: %q", all)
			break wait
		}
	}
	in.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the server's end: %v, want exit 0", err)
		}
	case <-time.After(soon):
		t.Errorf("the server did not end with its input")
		_ = cmd.Process.Kill()
		<-ended
	}
	for _, line := range all {
		if !json.Valid([]byte(line)) || !strings.Contains(line, `"jsonrpc":"2.0"`) {
			t.Errorf("stdout carries %q", line)
		}
	}
	return all
}

// lineLog is a writer that passes on whole lines.
type lineLog struct {
	rest []byte
	seen chan string
}

func (l *lineLog) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		l.seen <- string(l.rest[:i])
		l.rest = l.rest[i+1:]
	}
}

func answers(id int) func(string) bool {
	return func(line string) bool { return strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) }
}

func TestBadLinesAreAnsweredAndTheConnectionGoesOn(t *testing.T) { // B62
	out := converse(t, newHome(t), []string{
		`{bad`, `[]`, `"x"`, `{"jsonrpc":"2.0","id":1,"method":""}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, ``,
		"\uFEFF", "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\r", `{"jsonrpc":"2.0","id":9,"method":"ping"}`,
	}, answers(9))
	text := strings.Join(out, "\n")
	for _, want := range []string{"-32700", "-32600", `"id":8`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
}

func TestCallsBeforeInitializeAndRepeatedInitializeAreAnswered(t *testing.T) {
	hello := func(id int, version string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, id, version)
	}
	out := converse(t, newHome(t), []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":{}}}`,
		hello(2, "2025-11-25"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, hello(3, "2025-06-18"),
		`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`,
	}, func() func(string) bool {
		seen := map[int]bool{}
		return func(line string) bool {
			for id := 1; id <= 4; id++ {
				if answers(id)(line) {
					seen[id] = true
				}
			}
			return len(seen) == 4
		}
	}())
	for _, line := range out {
		if strings.Contains(line, `"error"`) {
			t.Errorf("answered with an error: %s", line)
		}
	}
}

func TestALineOfFiveMegabytesIsAnswered(t *testing.T) { // B63
	big := strings.Repeat("x", 5<<20)
	out := converse(t, newHome(t), []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_text","arguments":{"session_id":"s","text":"` + big + `"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"ping"}`,
	}, func() func(string) bool {
		n := 0
		return func(string) bool { n++; return n == 2 }
	}())
	if text := strings.Join(out, "\n"); !strings.Contains(text, "invalid_argument") && !strings.Contains(text, "too_large") {
		t.Errorf("no error that names the limit: %.400s", text)
	}
}

func TestTheServerEndsWithItsInputOrASignal(t *testing.T) { // B65
	h := newHome(t)
	began := time.Now()
	cmd := exec.Command(binary)
	cmd.Env = h.env()
	if err := cmd.Run(); err != nil { // stdin is /dev/null
		t.Errorf("with no input: %v, want exit 0", err)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("with no input it took %v to end", took)
	}

	s := serve(t, h).open(h, "bash", nil)
	busy := start(t, h)
	busy.post("tools/call", map[string]any{"name": "run_command", "arguments": with(s, map[string]any{"command": "sleep 30"})})
	s.until("text", "sleep 30", soon)
	if err := busy.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-busy.done:
	case <-time.After(soon): // its call takes 30 s
		t.Error("SIGTERM did not end the server")
	}
}
