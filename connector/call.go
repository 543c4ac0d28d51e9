package connector

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/connector/internal/wire"
	"termpilot/fault"
	"termpilot/terminal"
)

// When progress is told: soon, so that a person sees that something happens,
// then at a pace that keeps clients from giving up.
const (
	firstProgress = time.Second
	nextProgress  = 5 * time.Second
)

// call is one running call of a tool.
type call struct {
	*Server
	note *note
}

// note is the last word on how a call stands.
type note struct {
	mu   sync.Mutex
	text string
}

// progress is for the engine to say how a call stands.
func (c call) progress(_ time.Duration, message string) {
	c.note.mu.Lock()
	defer c.note.mu.Unlock()
	c.note.text = message
}

func (n *note) read() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text
}

// serveTools answers what is asked of tools from the table. The SDK's own server
// of tools takes every schema apart before it answers anything at all.
func (s *Server) serveTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			return s.list(req)
		case *mcp.CallToolRequest:
			return s.answer(ctx, req)
		}
		return next(ctx, method, req)
	}
}

// list lists the tools that this server offers, all in one page.
func (s *Server) list(req *mcp.ListToolsRequest) (mcp.Result, error) {
	if req.Params != nil && req.Params.Cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such cursor: all tools are on the first page"}
	}
	res := &toolList{ListToolsResult: mcp.ListToolsResult{Cacheable: keep}, Tools: make([]json.RawMessage, 0, len(s.tools))}
	for _, t := range s.tools {
		listed, err := t.listed()
		if err != nil {
			return nil, err
		}
		res.Tools = append(res.Tools, listed)
	}
	return res, nil
}

// toolList is a list of tools that are JSON already.
type toolList struct {
	mcp.ListToolsResult
	Tools []json.RawMessage `json:"tools"` // in place of those of the SDK's type
}

// answer calls a tool for a client. A failed call is a result with an error for
// the guard of wire to put into words, never a protocol error.
func (s *Server) answer(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	t, ok := s.tool(req.Params.Name)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", wire.Clip(req.Params.Name, 80))}
	}
	var tell func(elapsed time.Duration, message string)
	if token := req.Params.GetProgressToken(); token != nil {
		tell = func(elapsed time.Duration, message string) {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // a client that is gone hears nothing
				ProgressToken: token, Progress: elapsed.Seconds(), Message: message,
			})
		}
	}
	r, err := s.perform(ctx, t, req.Params.Arguments, tell)
	if err != nil {
		res := wire.CallResult()
		res.SetError(err)
		return res, nil
	}
	return wire.Result{Text: s.words(r), Structured: r.structured}.Answer(), nil
}

// direct is answer for a client whose calls do not pass through the SDK.
func (s *Server) direct(name string) (wire.Tool, bool) {
	t, ok := s.tool(name)
	return func(ctx context.Context, arguments json.RawMessage, tell func(time.Duration, string)) (wire.Result, error) {
		r, err := s.perform(ctx, t, arguments, tell)
		if err != nil {
			return wire.Result{}, err
		}
		return wire.Result{Text: s.words(r), Structured: r.structured}, nil
	}, ok
}

// tool returns the tool of a name, if this server offers it.
func (s *Server) tool(name string) (tool, bool) {
	i := slices.IndexFunc(s.tools, func(t tool) bool { return t.name == name })
	if i < 0 {
		return tool{}, false
	}
	return s.tools[i], true
}

// perform runs a tool within the server's limits. tell, if any, hears how long
// the call has lasted, now and then, and is not called after perform returns.
func (s *Server) perform(ctx context.Context, t tool, args json.RawMessage, tell func(time.Duration, string)) (result, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		return result{}, &fault.Error{
			Op: t.name, Code: fault.Busy,
			Detail: fmt.Sprintf("%d calls are running, which is the most at once", maxCalls), Hint: "wait for some of them to end, then call again",
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(wire.ErrClosing) })()

	c := call{Server: s, note: &note{}}
	start := time.Now()
	if tell != nil {
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel(nil)
		wg.Go(func() { report(ctx, c.note, start, tell) })
	}
	r, err := t.run(ctx, c, args)
	s.log.Info("tool called", "tool", t.name, "ms", time.Since(start).Milliseconds(), "code", string(fault.CodeOf(err)))
	return r, err
}

// report tells how a call stands until ctx ends.
func report(ctx context.Context, n *note, start time.Time, tell func(time.Duration, string)) {
	timer := time.NewTimer(firstProgress)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			message := n.read()
			if message == "" {
				message = "still running"
			}
			tell(time.Since(start), terminal.OneLine(message, 0))
			timer.Reset(nextProgress)
		}
	}
}

// Result is what a tool answered to [Server.Call].
type Result struct {
	IsError    bool
	Text       string          // what a client's text block says; for an error, its code, message and hint as JSON
	Structured json.RawMessage // nil for an error
	Err        error           // for an error: its cause, usually a *fault.Error
}

// Call calls a tool in this process, as a client would. An unknown tool is an
// error of code NotAllowed when this server leaves it out, else InvalidArgument.
func (s *Server) Call(ctx context.Context, name string, args json.RawMessage) Result {
	if t, ok := s.tool(name); ok {
		r, err := s.perform(ctx, t, args, nil)
		if err != nil {
			return failed(err)
		}
		return Result{Text: s.words(r), Structured: r.structured}
	}
	for _, t := range table {
		if t.name == name {
			return failed(&fault.Error{
				Op: "call " + name, Code: fault.NotAllowed, Detail: "this server does not offer it",
				Hint: "leave --read-only out, or pass its toolset as well",
			})
		}
	}
	return failed(&fault.Error{Op: "call " + wire.Clip(name, 80), Code: fault.InvalidArgument, Detail: "no such tool", Hint: "see termpilot tools"})
}

func failed(err error) Result {
	return Result{IsError: true, Text: wire.Describe(err), Err: err}
}
