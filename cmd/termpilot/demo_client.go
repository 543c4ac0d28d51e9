package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// stdioClient is as much of an MCP client as a demonstration needs: it starts
// a server, writes one request at a time to its standard input and reads lines
// from its standard output until the answer comes. It knows nothing of the
// server but the protocol. Not safe for concurrent use.
type stdioClient struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	last int // id of the last request
}

// serverPatience is how long a server may take to leave after its input ended,
// and again after it was told to terminate.
const serverPatience = 3 * time.Second

// startServer starts the MCP server that argv names, with env, and shakes hands.
// When ctx ends the server is told to terminate.
func startServer(ctx context.Context, argv, env []string, errs io.Writer) (*stdioClient, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr = env, errs
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = serverPatience
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &stdioClient{cmd: cmd, in: in, out: bufio.NewReader(out)}
	hello := map[string]any{
		"protocolVersion": "2025-11-25",
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "termpilot demo", "version": version()},
	}
	if err := c.request("initialize", hello, nil); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := c.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// toolFailure is a tool's error result.
type toolFailure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (f *toolFailure) Error() string { return f.Code + ": " + f.Message }

// call calls a tool and decodes its structured result into result. A failed
// call is a *toolFailure.
func (c *stdioClient) call(tool string, args map[string]any, result any) error {
	var answer struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := c.request("tools/call", map[string]any{"name": tool, "arguments": args}, &answer); err != nil {
		return err
	}
	if !answer.IsError {
		return json.Unmarshal(answer.Structured, result)
	}
	failure := &toolFailure{}
	if len(answer.Content) == 0 || json.Unmarshal([]byte(answer.Content[0].Text), failure) != nil {
		return fmt.Errorf("%s: an error without words", tool)
	}
	return failure
}

// request sends one request and decodes the result of its answer.
func (c *stdioClient) request(method string, params, result any) error {
	c.last++
	if err := c.write(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%s: the server left without an answer: %w", method, err)
		}
		var message struct {
			ID     *int            `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(line, &message); err != nil {
			return fmt.Errorf("%s: the server wrote what is not protocol: %w", method, err)
		}
		if message.Method != "" || message.ID == nil || *message.ID != c.last {
			continue // a notification, such as progress
		}
		if message.Error != nil {
			return fmt.Errorf("%s: %s", method, message.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(message.Result, result)
	}
}

func (c *stdioClient) write(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(line, '\n'))
	return err
}

// close ends the server as the protocol asks: its input ends and it leaves by
// itself; if it does not it is told to, then made to.
func (c *stdioClient) close() error {
	_ = c.in.Close()
	nudge := time.AfterFunc(serverPatience, func() {
		_ = c.cmd.Process.Signal(os.Interrupt)
	})
	defer nudge.Stop()
	force := time.AfterFunc(2*serverPatience, func() { _ = c.cmd.Process.Kill() })
	defer force.Stop()
	_, _ = io.Copy(io.Discard, c.out)
	return c.cmd.Wait()
}
