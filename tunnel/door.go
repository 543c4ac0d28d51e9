package tunnel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
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

// mcpServer serves the MCP server on the private socket, for as long as it takes.
type mcpServer struct {
	path    string
	handler http.Handler
	log     *slog.Logger

	mu     sync.Mutex
	server *http.Server
	ended  chan struct{}
}

// open listens, in place of what listened before.
func (m *mcpServer) open() error {
	m.close()
	l, err := private.Listen(m.path)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: m.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 10 * time.Minute,
		ErrorLog: slog.NewLogLogger(m.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan struct{})
	m.mu.Lock()
	m.server, m.ended = server, ended
	m.mu.Unlock()
	go func() {
		defer close(ended)
		_ = server.Serve(own{l}) // watch finds out when it no longer serves
	}()
	return nil
}

// close ends it, and every call that runs in it.
func (m *mcpServer) close() {
	m.mu.Lock()
	server, ended := m.server, m.ended
	m.server = nil
	m.mu.Unlock()
	if server != nil {
		_ = server.Close()
		<-ended
	}
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
