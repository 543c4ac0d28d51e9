package connector

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/connector/internal/wire"
	"termpilot/fault"
)

// Client is an MCP client of a termpilot server that is a process of its own.
type Client struct {
	session *mcp.ClientSession
	server  string
}

// Dial starts the server that cmd describes and shakes hands with it over its
// standard input and output. Close ends the process: it closes the input, then
// sends SIGTERM, then SIGKILL, each after a pause.
func Dial(ctx context.Context, cmd *exec.Cmd) (*Client, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "termpilot", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, &fault.Error{Op: "start " + cmd.Path, Code: fault.Protocol, Err: err, Hint: "run the server by hand and look at what it says"}
	}
	server := "unknown"
	if info := session.InitializeResult(); info != nil && info.ServerInfo != nil {
		server = info.ServerInfo.Name + " " + info.ServerInfo.Version
	}
	return &Client{session: session, server: server}, nil
}

// Server returns the server's name and version.
func (c *Client) Server() string { return c.server }

// Tools returns the names of the tools that the server offers.
func (c *Client) Tools(ctx context.Context) ([]string, error) {
	list, err := c.session.ListTools(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	names := make([]string, 0, len(list.Tools))
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

// Call calls a tool. args is marshalled to an object. A tool's own failure is a
// Result whose Err is a *fault.Error; the error is for a broken connection.
func (c *Client) Call(ctx context.Context, name string, args any) (Result, error) {
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return Result{}, fmt.Errorf("call %s: %w", name, err)
	}
	r := Result{IsError: res.IsError}
	for _, part := range res.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			r.Text += text.Text
		}
	}
	if r.IsError {
		r.Err = undescribe(name, r.Text)
		return r, nil
	}
	if r.Structured, err = json.Marshal(res.StructuredContent); err != nil {
		return Result{}, fmt.Errorf("call %s: %w", name, err)
	}
	return r, nil
}

// Close ends the server.
func (c *Client) Close() error { return c.session.Close() }

// undescribe is the reverse of wire.Describe: its error has the same text.
func undescribe(op, text string) error {
	var said struct {
		Code    fault.Code
		Message string
		Hint    string
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil || said.Code == "" {
		return &fault.Error{Op: op, Code: fault.Internal, Detail: wire.Clip(text, 2<<10)}
	}
	before, after, _ := strings.Cut(said.Message, string(said.Code))
	return &fault.Error{Op: strings.TrimSuffix(before, ": "), Code: said.Code, Detail: strings.TrimPrefix(after, ": "), Hint: said.Hint}
}
