package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient is how long a test waits for something that must happen.
const patient = 20 * time.Second

// world is a server and what its tools have seen.
type world struct {
	mcp     *mcp.Server
	direct  Direct
	started chan string   // name of a tool that has started to wait
	ended   chan error    // why its context ended
	release chan struct{} // ends deaf
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{started: make(chan string, 1000), ended: make(chan error, 1000), release: make(chan struct{})}
	w.mcp = mcp.NewServer(&mcp.Implementation{Name: "world", Version: "1"}, &mcp.ServerOptions{
		Instructions: "be kind", Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	tools := map[string]mcp.ToolHandler{}
	w.direct.Find = func(name string) (Tool, bool) {
		h, ok := tools[name]
		return func(ctx context.Context, arguments json.RawMessage, _ func(time.Duration, string)) (r Result, err error) {
			res, err := h(ctx, &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: name, Arguments: arguments}})
			if err == nil && len(res.Content) > 0 {
				r.Text = res.Content[0].(*mcp.TextContent).Text
			}
			return r, err
		}, ok
	}
	add := func(name string, h mcp.ToolHandler) {
		tools[name] = h
		w.mcp.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
	}
	add("echo", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return Result{Text: string(r.Params.Arguments)}.Answer(), nil
	})
	add("size", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return Result{Text: strings.Repeat("9", len(r.Params.Arguments)/1e6)}.Answer(), nil
	})
	add("hold", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w.started <- "hold"
		<-ctx.Done()
		w.ended <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	add("deaf", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w.started <- "deaf"
		<-w.release
		return &mcp.CallToolResult{}, nil
	})
	add("panic", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("told to") })
	Guard(w.mcp, mcp.InitializeResult{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, Instructions: "be kind",
		ServerInfo: &mcp.Implementation{Name: "world", Version: "1"},
	}, nil)
	return w
}

// inBothWays runs a test with tools that are called through the SDK, and without
// it. Time passes only when nothing else can happen.
func inBothWays(t *testing.T, f func(t *testing.T, w *world)) {
	for _, way := range []string{"through the SDK", "directly"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if way != "directly" {
					w.direct = Direct{}
				}
				f(t, w)
			})
		})
	}
}

// wait receives from c, or fails the test.
func wait[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patient):
		t.Fatalf("%s did not come", what)
	}
	panic("unreachable")
}

// client is one end of a connection that a server serves.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	done  chan error
	stop  context.CancelFunc
}

func (w *world) connect(t *testing.T) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &client{t: t, in: inW, lines: make(chan string, 1000), done: make(chan error, 1), stop: cancel}
	go func() {
		c.done <- ServeStdio(ctx, w.mcp, w.direct, inR, outW)
		_ = outW.Close()
	}()
	go func() {
		defer close(c.lines)
		r := bufio.NewReader(outR)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = inW.Close()
		_ = outR.Close()
	})
	if w.direct.Find != nil { // only after a handshake
		c.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		c.hear()
	}
	return c
}

func (c *client) say(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.t.Fatalf("write: %v", err)
		}
	}
}

func (c *client) hear() string { return wait(c.t, c.lines, "an answer") }

// expect sends a ping and fails if anything else comes before its answer.
func (c *client) expectNothingElse() {
	c.t.Helper()
	c.say(`{"jsonrpc":"2.0","id":"still there","method":"ping"}`)
	if got, want := c.hear(), `{"jsonrpc":"2.0","id":"still there","result":{}}`; got != want {
		c.t.Errorf("got %s, want %s", got, want)
	}
}

func callTool(id, name string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":{}}}`
}

// Each file holds what a client says and, sorted, what it hears.
func TestConversationsGoAsWritten(t *testing.T) { // MCP-2, MCP-3, MCP-4, MCP-6, MCP-8, MCP-9, MCP-10
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			inBothWays(t, func(t *testing.T, w *world) { converse(t, w, file) })
		})
	}
}

func converse(t *testing.T, w *world, file string) {
	said, heard := conversation(t, file)
	input := strings.NewReplacer(`\r`, "\r", `\ufeff`, "\ufeff").Replace(said)
	var out bytes.Buffer
	if err := ServeStdio(t.Context(), w.mcp, w.direct, strings.NewReader(input), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	slices.Sort(lines)
	got := strings.Join(lines, "")
	if *update {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(data), serverMark)
		if err := os.WriteFile(file, []byte(head+serverMark+got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(heard, got); diff != "" {
		t.Errorf("answers differ (-want +got):\n%s", diff)
	}
}

const (
	clientMark = "-- client --\n"
	serverMark = "-- server --\n"
)

// conversation reads the two parts of a file.
func conversation(t testing.TB, file string) (client, server string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(data), clientMark)
	client, server, ok2 := strings.Cut(rest, serverMark)
	if !ok || !ok2 {
		t.Fatalf("%s lacks a part", file)
	}
	return client, server
}

func TestABatchHasABound(t *testing.T) { // MCP-6
	inBothWays(t, func(t *testing.T, w *world) {
		c := w.connect(t)
		batch := func(one string, n int) string { return "[" + strings.Repeat(one+",", n-1) + one + "]" }
		c.say(batch("1", maxBatch))
		if got := c.hear(); strings.Count(got, "-32600") != maxBatch {
			t.Errorf("%d: got %s", maxBatch, got)
		}
		for _, n := range []int{maxBatch + 1, MaxMessage/2 - 1} { // each would have an answer fifty times as long
			c.say(batch("1", n))
			if got := c.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`) || !strings.Contains(got, "64") {
				t.Errorf("%d: got %.200s", n, got)
			}
		}
		c.expectNothingElse()
	})
}

func TestAnIDInUseIsRefusedAndTheFirstCallIsNotDisturbed(t *testing.T) { // MCP-5
	inBothWays(t, func(t *testing.T, w *world) {
		c := w.connect(t)
		c.say(callTool("1", "hold"))
		wait(t, w.started, "the first call")
		c.say(callTool("1", "echo"))
		if got := c.hear(); !strings.Contains(got, `"id":null`) || !strings.Contains(got, "-32600") {
			t.Errorf("second call: got %s, want a refusal without id", got)
		}
		select {
		case err := <-w.ended:
			t.Errorf("the first call ended: %v", err)
		default:
		}
	})
}

func TestLongLinesAreReadAndLongerOnesCostNoMemory(t *testing.T) { // MCP-7
	inBothWays(t, func(t *testing.T, w *world) {
		c := w.connect(t)
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"size","arguments":{"x":"` + strings.Repeat("x", 5e6) + `"}}}`)
		if got := c.hear(); !strings.Contains(got, `"text":"99999"`) {
			t.Errorf("5 MB: got %s", got)
		}
		long := bytes.Repeat([]byte("x"), 1<<20)
		for range 100 {
			if _, err := c.in.Write(long); err != nil {
				t.Fatal(err)
			}
		}
		c.say("")
		if got := c.hear(); !strings.Contains(got, "-32600") || !strings.Contains(got, "16777216") {
			t.Errorf("100 MiB: got %s", got)
		}
		c.expectNothingElse()
	})
}

func TestTheReaderOfLinesKeepsNoMoreThanItsLimit(t *testing.T) { // MCP-7
	const limit = 1 << 20
	l := newLines(io.MultiReader(endless(64*limit), strings.NewReader("\nnext\nlast")), limit)
	if _, err := l.next(); !errors.Is(err, errTooLong) {
		t.Fatalf("got %v, want errTooLong", err)
	}
	for _, want := range []string{"next", "last"} {
		if got, err := l.next(); string(got) != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := l.next(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end", err)
	}
	exact := strings.Repeat("x", limit)
	if got, err := newLines(strings.NewReader(exact+"\n"), limit).next(); string(got) != exact || err != nil {
		t.Errorf("a line of exactly the limit: %d bytes, %v", len(got), err)
	}
	if _, err := newLines(strings.NewReader(exact+"x\n"), limit).next(); !errors.Is(err, errTooLong) {
		t.Errorf("one byte more: %v", err)
	}
	if n := testing.AllocsPerRun(1, func() {
		l := newLines(endless(64*limit), limit)
		_, _ = l.next()
	}); n > 64 {
		t.Errorf("%v allocations for a long line", n)
	}
}

func endless(n int64) io.Reader { return io.LimitReader(zeros{}, n) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestACancelledCallIsNotAnswered(t *testing.T) { // MCP-21
	inBothWays(t, func(t *testing.T, w *world) {
		c := w.connect(t)
		for _, id := range []string{"1", `"one"`, "9007199254740993", "1.5"} {
			c.say(callTool(id, "hold"))
			wait(t, w.started, "the call")
			c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"test"}}`)
			wait(t, w.ended, "its cancellation")
		}
		c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never sent"}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`)
		c.expectNothingElse()
	})
}

func TestAClientsIDDoesNotCancelAnotherCallOfThatNumberInside(t *testing.T) { // MCP-21
	inBothWays(t, func(t *testing.T, w *world) {
		c := w.connect(t)
		c.say(callTool("900", "hold"))
		wait(t, w.started, "the call")
		for _, id := range []string{"0", "1", "2", "3"} { // inside, calls are numbered from 1
			c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		}
		c.expectNothingElse()
		select {
		case err := <-w.ended:
			t.Errorf("call 900 was cancelled: %v", err)
		default:
		}
	})
}

func TestTheEndOfTheInputCancelsOpenCalls(t *testing.T) { // MCP-11
	inBothWays(t, func(t *testing.T, w *world) {
		c := w.connect(t)
		c.say(callTool("1", "hold"))
		wait(t, w.started, "the call")
		start := time.Now()
		_ = c.in.Close()
		if err := wait(t, c.done, "the end"); err != nil {
			t.Errorf("got %v, want nil", err)
		}
		wait(t, w.ended, "the cancellation")
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
		if line, ok := <-c.lines; ok {
			t.Errorf("answered %s", line)
		}
	})
}

func TestTheEndOfTheContextCancelsOpenCalls(t *testing.T) { // MCP-12
	inBothWays(t, func(t *testing.T, w *world) {
		c := w.connect(t)
		c.say(callTool("1", "hold"))
		wait(t, w.started, "the call")
		c.stop()
		if err := wait(t, c.done, "the end"); err != nil {
			t.Errorf("got %v, want nil", err)
		}
		wait(t, w.ended, "the cancellation")
	})
}

func TestABrokenOutputEndsTheServerWithTheCause(t *testing.T) { // MCP-13
	inBothWays(t, func(t *testing.T, w *world) {
		inR, inW := io.Pipe()
		broken := errors.New("nobody reads")
		done := make(chan error, 1)
		var writes atomic.Int32
		go func() {
			done <- ServeStdio(t.Context(), w.mcp, w.direct, inR, writerFunc(func([]byte) (int, error) {
				writes.Add(1)
				return 0, broken
			}))
		}()
		if _, err := io.WriteString(inW, callTool("1", "hold")+"\n"); err != nil {
			t.Fatal(err)
		}
		wait(t, w.started, "the call")
		if _, err := io.WriteString(inW, callTool("2", "echo")+"\n"); err != nil {
			t.Fatal(err)
		}
		if err := wait(t, done, "the end"); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		wait(t, w.ended, "the cancellation")
		if n := writes.Load(); n != 1 {
			t.Errorf("wrote %d times to a broken output", n)
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestACallThatHearsNoCancellationDoesNotHoldUpTheEnd(t *testing.T) { // MCP-14
	inBothWays(t, func(t *testing.T, w *world) {
		c := w.connect(t)
		defer close(w.release)
		c.say(callTool("1", "deaf"))
		wait(t, w.started, "the call")
		start := time.Now()
		_ = c.in.Close()
		if err := wait(t, c.done, "the end"); !errors.Is(err, ErrStuck) {
			t.Errorf("got %v, want %v", err, ErrStuck)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestAClientThatDoesNotReadIsHeldBack(t *testing.T) { // MCP-16
	inBothWays(t, func(t *testing.T, w *world) {
		inR, inW := io.Pipe()
		block := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- ServeStdio(t.Context(), w.mcp, w.direct, inR, writerFunc(func(p []byte) (int, error) {
				<-block
				return len(p), nil
			}))
		}()
		sent := make(chan int, 3*maxCalls)
		go func() {
			defer close(sent)
			for i := range 3 * maxCalls {
				// The server reads 64 KiB ahead, which is four of these.
				if _, err := fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":"%s %d","method":"ping"}`+"\n", strings.Repeat("x", 16<<10), i); err != nil {
					return
				}
				sent <- i
			}
			_ = inW.Close()
		}()
		n := 0
		quiet := time.NewTimer(2 * time.Second)
		for held := false; !held; {
			select {
			case _, more := <-sent:
				if !more {
					t.Fatal("the server took everything, or ended")
				}
				n++
				quiet.Reset(time.Second)
			case <-quiet.C:
				held = true
			}
		}
		if n > maxCalls+8 {
			t.Errorf("took %d calls without answering one, want about %d", n, maxCalls)
		}
		close(block)
		for range sent {
			n++
		}
		if err := wait(t, done, "the end"); err != nil || n != 3*maxCalls {
			t.Errorf("after the client reads again: %d calls, %v", n, err)
		}
	})
}

func TestAClientThatDoesNotReadDoesNotHoldUpTheEnd(t *testing.T) { // MCP-11, MCP-12
	for name, end := range map[string]func(io.Closer, context.CancelFunc){
		"input":   func(in io.Closer, _ context.CancelFunc) { _ = in.Close() },
		"context": func(_ io.Closer, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				inR, inW := io.Pipe()
				block := make(chan struct{})
				writing := make(chan struct{}, 10)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error, 1)
				go func() {
					done <- ServeStdio(ctx, w.mcp, w.direct, inR, writerFunc(func(p []byte) (int, error) {
						writing <- struct{}{}
						<-block
						return len(p), nil
					}))
				}()
				defer close(block)
				if _, err := io.WriteString(inW, callTool("1", "echo")+"\n"+callTool("2", "hold")+"\n"); err != nil {
					t.Fatal(err)
				}
				wait(t, writing, "an answer")
				wait(t, w.started, "the second call")
				start := time.Now()
				end(inW, cancel)
				if err := wait(t, done, "the end"); err != nil || time.Since(start) > 2*time.Second {
					t.Errorf("got %v after %v", err, time.Since(start))
				}
				wait(t, w.ended, "the cancellation")
			})
		})
	}
}

func TestAPanicCostsOneCall(t *testing.T) { // MCP-23
	inBothWays(t, func(t *testing.T, w *world) {
		c := w.connect(t)
		c.say(callTool("1", "panic"))
		if got := c.hear(); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `{\"code\":\"internal\"`) {
			t.Errorf("got %s, want a failed tool", got)
		}
		c.expectNothingElse()
	})
}

func TestWatchParentEndsWhenTheParentChanges(t *testing.T) { // MCP-15
	ids := make(chan int, 3)
	ids <- 7
	ids <- 7
	ids <- 1
	ctx, stop := watch(t.Context(), func() int { return <-ids }, time.Millisecond)
	defer stop()
	select {
	case <-ctx.Done():
	case <-time.After(patient):
		t.Fatal("the context goes on")
	}
	if got := context.Cause(ctx); !errors.Is(got, ErrParentGone) {
		t.Errorf("got cause %v, want %v", got, ErrParentGone)
	}
	again, stopAgain := WatchParent(t.Context())
	if again.Err() != nil {
		t.Errorf("the parent is here, but: %v", again.Err())
	}
	stopAgain()
}
