package connector

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a server that is a program of its own.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	end io.Closer // of the output
}

// begin starts the server and a call that lasts.
func begin(t *testing.T, server string) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), server)}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out, p.end = bufio.NewReader(out), out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.say(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_command","arguments":{`+session+`,"command":"sleep 60","timeout_seconds":55},"_meta":{"progressToken":"p"}}}`)
	if line, err := p.out.ReadString('\n'); err != nil || !strings.Contains(line, `"progressToken":"p"`) {
		t.Fatalf("got %q, %v, want progress", line, err)
	}
	return p
}

func (p *process) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func TestAServerProcessLeavesInTimeHoweverItsClientDoes(t *testing.T) { // MCP-11, MCP-12, MCP-13
	server := filepath.Join(t.TempDir(), "fakeserver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", server, "./testdata/fakeserver").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, test := range []struct {
		name  string
		leave func(t *testing.T, p *process)
		fails bool
	}{
		{"closes the input", func(_ *testing.T, p *process) { _ = p.in.Close() }, false},
		{"sends SIGTERM", func(t *testing.T, p *process) {
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"stops reading, then asks", func(t *testing.T, p *process) {
			_ = p.end.Close()
			p.say(t, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := begin(t, server)
			defer func() { _ = p.in.Close() }()
			start := time.Now()
			test.leave(t, p)
			rest, _ := io.ReadAll(p.out) // nothing, or an error where the test closed it
			err := p.cmd.Wait()
			// The call takes 55 s; that it is two seconds is held in internal/wire, by a clock of its own.
			if took := time.Since(start); took > patience || (err != nil) != test.fails || len(rest) > 0 {
				t.Errorf("left after %v with %v, having said %q", took, err, rest)
			}
		})
	}
}
