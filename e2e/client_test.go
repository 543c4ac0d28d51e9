package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// client is an MCP client over stdio that knows nothing of termpilot's code: it
// writes lines and reads lines, so that what it sees is what any client sees.
type client struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{} // closed when the server's output ended

	mu       sync.Mutex
	next     int
	waiting  map[string]chan reply
	progress []json.RawMessage
	notices  chan string // methods of other notifications
	strays   []string    // lines that were not JSON-RPC
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// serve starts the built binary as an MCP server in home and shakes hands.
func serve(t *testing.T, h home, args ...string) *client {
	t.Helper()
	c := start(t, h, args...)
	c.request("initialize", map[string]any{
		"protocolVersion": "2025-11-25",
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "e2e", "version": "1"},
	})
	c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// start starts the server and says nothing to it.
func start(t *testing.T, h home, args ...string) *client {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"serve"}, args...)...)
	cmd.Env = h.env()
	cmd.Dir = h.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = testWriter{t}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, cmd: cmd, in: in, done: make(chan struct{}), waiting: map[string]chan reply{}, notices: make(chan string, 1000)}
	go c.read(out)
	t.Cleanup(func() {
		c.in.Close()
		select {
		case <-c.done:
		case <-time.After(soon):
			t.Errorf("the server did not end with its input")
			_ = cmd.Process.Signal(syscall.SIGKILL)
		}
		_ = cmd.Wait()
		for _, line := range c.strays {
			t.Errorf("stdout carries something that is not JSON-RPC: %q", line)
		}
	})
	return c
}

func (c *client) read(out io.Reader) {
	defer close(c.done)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			c.take(line)
		}
		if err != nil {
			return
		}
	}
}

func (c *client) take(line []byte) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		reply
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" {
		c.strays = append(c.strays, string(line))
		return
	}
	if m.Method == "notifications/progress" {
		c.progress = append(c.progress, m.Params)
		return
	}
	if m.Method != "" {
		c.notices <- m.Method
		return
	}
	if ch, ok := c.waiting[string(m.ID)]; ok {
		delete(c.waiting, string(m.ID))
		ch <- m.reply
	}
}

func (c *client) write(line string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Errorf("write to the server: %v", err)
	}
}

// post sends a request and returns its id and where its answer will come.
func (c *client) post(method string, params any) (int, <-chan reply) {
	c.t.Helper()
	c.mu.Lock()
	c.next++
	id := c.next
	ch := make(chan reply, 1)
	c.waiting[fmt.Sprint(id)] = ch
	c.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(string(line))
	return id, ch
}

// patience is the longest that any answer may take: waits are capped at 55 s.
const patience = 70 * time.Second

// soon is how long what must come of itself may take, also on a busy machine. A
// command is waited for longer.
const soon = 20 * time.Second

func (c *client) await(method string, ch <-chan reply) reply {
	c.t.Helper()
	select {
	case r := <-ch:
		return r
	case <-c.done:
		select { // the answer may have been the server's last line
		case r := <-ch:
			return r
		default:
		}
		c.t.Fatalf("%s: the server ended without an answer", method)
	case <-time.After(patience):
		c.t.Fatalf("%s: no answer within %v", method, patience)
	}
	return reply{}
}

// told waits for the next notification, which is of method.
func (c *client) told(method string) {
	c.t.Helper()
	select {
	case got := <-c.notices:
		if got != method {
			c.t.Errorf("told %s, want %s", got, method)
		}
	case <-time.After(patience):
		c.t.Fatalf("%s did not come within %v", method, patience)
	}
}

func (c *client) request(method string, params any) json.RawMessage {
	c.t.Helper()
	_, ch := c.post(method, params)
	r := c.await(method, ch)
	if r.Error != nil {
		c.t.Fatalf("%s: error %d: %s", method, r.Error.Code, r.Error.Message)
	}
	return r.Result
}

// failure is what a refused call says.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// try calls a tool and decodes its structured content into out. It returns the
// failure when the tool refused.
func (c *client) try(tool string, args map[string]any, out any) *failure {
	c.t.Helper()
	_, ch := c.post("tools/call", map[string]any{"name": tool, "arguments": args})
	return c.settle(tool, c.await(tool, ch), out)
}

func (c *client) settle(tool string, r reply, out any) *failure {
	c.t.Helper()
	if r.Error != nil {
		c.t.Fatalf("%s: protocol error %d: %s", tool, r.Error.Code, r.Error.Message)
	}
	var res struct {
		IsError    bool            `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct{ Text string }
	}
	if err := json.Unmarshal(r.Result, &res); err != nil {
		c.t.Fatalf("%s: %v in %s", tool, err, r.Result)
	}
	if res.IsError {
		if len(res.Structured) > 0 {
			c.t.Errorf("%s: a failure carries structured content %s", tool, res.Structured)
		}
		f := new(failure)
		if len(res.Content) == 0 {
			c.t.Fatalf("%s: a failure without text", tool)
		}
		if err := json.Unmarshal([]byte(res.Content[0].Text), f); err != nil || f.Code == "" {
			c.t.Fatalf("%s: the failure is not code, message and hint: %s", tool, res.Content[0].Text)
		}
		return f
	}
	if out != nil {
		if err := json.Unmarshal(res.Structured, out); err != nil {
			c.t.Fatalf("%s: %v in %s", tool, err, res.Structured)
		}
	}
	return nil
}

// call calls a tool that must not refuse.
func (c *client) call(tool string, args map[string]any, out any) {
	c.t.Helper()
	if f := c.try(tool, args, out); f != nil {
		c.t.Fatalf("%s %v: refused: %s: %s (hint: %s)", tool, args, f.Code, f.Message, f.Hint)
	}
}

// testWriter shows a child's stderr in the test's log.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	if context.Cause(w.t.Context()) == nil {
		w.t.Logf("server: %s", p)
	}
	return len(p), nil
}
