package tunnel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"termpilot/private"
)

// own is a listener that lets in this user alone, whatever the socket's folder allows.
type own struct{ *net.UnixListener }

func (l own) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if uid, err := private.Peer(conn); err == nil && uid == os.Getuid() {
			return conn, nil
		}
		_ = conn.Close()
	}
}

// door is a private socket and what serves it, for as long as it takes.
type door struct {
	path  string
	serve func(net.Listener) // returns when the listener is closed

	mu       sync.Mutex
	listener net.Listener
	serving  sync.WaitGroup
}

// open listens, in place of what listened before. What was let in goes on.
func (d *door) open() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener != nil {
		_ = d.listener.Close() // first: it takes the path away
	}
	if err := private.Folder(filepath.Dir(d.path)); err != nil {
		return err
	}
	l, err := private.Listen(d.path)
	if err != nil {
		return err
	}
	d.listener = l
	d.serving.Go(func() { d.serve(own{l}) })
	return nil
}

// missing reports whether the socket was taken away: cleaners of temporary
// folders do that, and the end of a login does.
func (d *door) missing() bool {
	_, err := os.Lstat(d.path)
	return err != nil
}

// close lets nobody in any more, and returns when nothing is served.
func (d *door) close() {
	d.mu.Lock()
	if d.listener != nil {
		_ = d.listener.Close()
	}
	d.mu.Unlock()
	d.serving.Wait()
}

// try asks the MCP server behind a socket for its tools, as a client that shakes
// hands first does, and returns how many there are.
func try(ctx context.Context, socket string) (tools int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c := over(socket)
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"termpilot-check","version":"1"}}}`
	var greeting struct {
		ServerInfo struct {
			Name string `json:"name"`
		} `json:"serverInfo"`
	}
	if err := post(ctx, c, hello, &greeting); err != nil {
		return 0, fmt.Errorf("initialize: %w", err)
	}
	if greeting.ServerInfo.Name == "" {
		return 0, errors.New("initialize: the answer names no server")
	}
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if err := post(ctx, c, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, &list); err != nil {
		return 0, fmt.Errorf("tools/list: %w", err)
	}
	if len(list.Tools) == 0 {
		return 0, errors.New("tools/list: there is no tool")
	}
	return len(list.Tools), nil
}

// post sends one message and reads the result of its answer.
func post(ctx context.Context, c *http.Client, message string, result any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", bytes.NewReader([]byte(message)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	for line := range bytes.Lines(body) { // of an event stream, the line that holds the message
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			body = data
		}
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return errors.New("the answer is no JSON")
	}
	if answer.Error != nil {
		return fmt.Errorf("it answered with an error: %.200s", answer.Error.Message)
	}
	return json.Unmarshal(answer.Result, result)
}
