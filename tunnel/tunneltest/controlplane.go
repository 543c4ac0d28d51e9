// Package tunneltest plays the part of OpenAI's side of a tunnel, for tests: a
// control plane on the loopback interface that speaks the protocol that
// tunnel-client's documentation publishes (docs/protocol.md of
// github.com/openai/tunnel-client), and through which a test calls the MCP
// server at the other end as ChatGPT would.
package tunneltest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Reply is what came back for one message.
type Reply struct {
	Status int                 // HTTP status of the MCP server, as the client passes it on
	Header map[string][]string // its headers
	Body   json.RawMessage     // the JSON-RPC answer
	Notes  []json.RawMessage   // notifications that came before it
}

// String is what a test says of it.
func (r Reply) String() string {
	return fmt.Sprintf("status %d, %.300s, %d notifications", r.Status, r.Body, len(r.Notes))
}

// ControlPlane is a control plane with one tunnel and one key. Its methods may
// be called from several goroutines.
type ControlPlane struct {
	Tunnel string // the id of the tunnel
	Key    string // the key that may use it

	address string
	cert    *tls.Certificate
	mu      sync.Mutex
	server  *http.Server
	queue   []*command
	pending map[string]*command
	news    chan struct{} // closed when something was queued
	fault   int           // answer everything with this status
	useOnly int           // answer polls with this status
	hang    bool
	garbage bool // answer with what is no JSON
	number  int
	clients map[string]bool // instance ids that polled
}

type command struct {
	id    string
	kind  string // command_type
	head  map[string][]string
	body  json.RawMessage
	reply Reply
	done  chan struct{}
}

// New starts a control plane that ends with the test.
func New(t testing.TB, tunnel, key string) *ControlPlane {
	t.Helper()
	return begin(t, tunnel, key, nil)
}

// NewTLS starts one that speaks TLS with that certificate.
func NewTLS(t testing.TB, tunnel, key string, cert tls.Certificate) *ControlPlane {
	t.Helper()
	return begin(t, tunnel, key, &cert)
}

func begin(t testing.TB, tunnel, key string, cert *tls.Certificate) *ControlPlane {
	t.Helper()
	c := &ControlPlane{
		Tunnel: tunnel, Key: key, cert: cert, pending: map[string]*command{},
		news: make(chan struct{}), clients: map[string]bool{},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.address = l.Addr().String()
	c.serve(l)
	t.Cleanup(c.Down)
	return c
}

// URL is the control plane's base URL; it stays the same when it goes down and
// comes back.
func (c *ControlPlane) URL() string {
	if c.cert != nil {
		return "https://" + c.address
	}
	return "http://" + c.address
}

// Address is where it listens: a host and a port.
func (c *ControlPlane) Address() string { return c.address }

func (c *ControlPlane) serve(l net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/tunnels/{id}", c.guard(c.metadata))
	mux.HandleFunc("GET /v1/tunnels/{id}/poll", c.guard(c.poll))
	mux.HandleFunc("POST /v1/tunnels/{id}/response", c.guard(c.response))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)} // handshakes that fail are what tests want
	if c.cert != nil {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*c.cert}})
	}
	c.mu.Lock()
	c.server = server
	c.mu.Unlock()
	go func() { _ = server.Serve(l) }() // ended by Down
}

// Down makes the control plane unreachable.
func (c *ControlPlane) Down() {
	c.mu.Lock()
	server := c.server
	c.server = nil
	c.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
}

// Up makes it reachable again, at the same address.
func (c *ControlPlane) Up(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", c.address)
	if err != nil {
		t.Fatal(err)
	}
	c.serve(l)
}

// Answer makes it answer every request with an HTTP status; 0 is the truth again.
func (c *ControlPlane) Answer(status int) { c.set(func() { c.fault = status }) }

// AnswerPolls does the same for polls alone, as when a key may read a tunnel but not use it.
func (c *ControlPlane) AnswerPolls(status int) { c.set(func() { c.useOnly = status }) }

// Hang makes it take requests and not answer them.
func (c *ControlPlane) Hang(yes bool) { c.set(func() { c.hang = yes }) }

// Garble makes it answer with what is no JSON.
func (c *ControlPlane) Garble(yes bool) { c.set(func() { c.garbage = yes }) }

func (c *ControlPlane) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// Clients is how many different clients have polled.
func (c *ControlPlane) Clients() (n int) {
	c.set(func() { n = len(c.clients) })
	return n
}

// Call sends one JSON-RPC message down the tunnel and waits for its answer. An
// error means that none came before ctx ended.
func (c *ControlPlane) Call(ctx context.Context, message any) (Reply, error) {
	return c.CallWith(ctx, nil, message)
}

// CallWith does the same with further HTTP headers for the MCP server.
func (c *ControlPlane) CallWith(ctx context.Context, headers map[string]string, message any) (Reply, error) {
	head := map[string][]string{"Content-Type": {"application/json"}}
	for name, value := range headers {
		head[name] = []string{value}
	}
	body, err := json.Marshal(message)
	if err != nil {
		return Reply{}, err
	}
	return c.send(ctx, &command{kind: "jsonrpc", head: head, body: body})
}

// Terminate sends the end of a session down the tunnel.
func (c *ControlPlane) Terminate(ctx context.Context, session string) (Reply, error) {
	return c.send(ctx, &command{kind: "session_termination", head: map[string][]string{"Mcp-Session-Id": {session}}})
}

func (c *ControlPlane) send(ctx context.Context, one *command) (Reply, error) {
	one.done = make(chan struct{})
	c.mu.Lock()
	c.number++
	one.id = "req_" + strconv.Itoa(c.number)
	c.queue = append(c.queue, one)
	c.pending[one.id] = one
	close(c.news)
	c.news = make(chan struct{})
	c.mu.Unlock()
	select {
	case <-one.done:
		return one.reply, nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, one.id)
		c.mu.Unlock()
		return Reply{}, fmt.Errorf("no answer to %s: %w", one.id, ctx.Err())
	}
}

// guard answers what does not need the tunnel: a bad key, a wrong tunnel, a
// fault that the test asked for.
func (c *ControlPlane) guard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		fault, hang, garbage := c.fault, c.hang, c.garbage
		c.mu.Unlock()
		switch {
		case hang:
			<-r.Context().Done()
		case garbage:
			_, _ = io.WriteString(w, "<html>a proxy's page</html>") // whoever asked may have gone
		case fault != 0:
			refuse(w, fault, "server_error", "as the test wants, and repeats: "+r.Header.Get("Authorization"))
		case r.Header.Get("Authorization") != "Bearer "+c.Key:
			refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
		case r.PathValue("id") != c.Tunnel:
			refuse(w, http.StatusNotFound, "tunnel_not_found", "No such tunnel.")
		default:
			next(w, r)
		}
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Request-Id", "cp_test")
	reply(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": code, "param": nil}})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone, if this fails
}

func (c *ControlPlane) metadata(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"id": c.Tunnel, "name": "lab", "description": "a tunnel on loopback", "organization_ids": []string{"org_lab"}})
}

// longestPoll is how long an idle poll lasts here: shorter than what clients ask
// for, so that tests need not wait for the first to return.
const longestPoll = time.Second

func (c *ControlPlane) poll(w http.ResponseWriter, r *http.Request) {
	wait := 30 * time.Second
	if ms, err := strconv.Atoi(r.URL.Query().Get("timeout_ms")); err == nil {
		wait = time.Duration(ms) * time.Millisecond
	}
	over := time.NewTimer(min(wait, longestPoll))
	defer over.Stop()
	c.mu.Lock()
	c.clients[r.Header.Get("X-Tunnel-Client-Instance-Id")] = true
	refused := c.useOnly
	c.mu.Unlock()
	if refused != 0 {
		refuse(w, refused, "forbidden", "This key may not use the tunnel.")
		return
	}
	for {
		c.mu.Lock()
		queue, news := c.queue, c.news
		c.queue = nil
		c.mu.Unlock()
		if len(queue) > 0 {
			var list []map[string]any
			for _, one := range queue {
				order := map[string]any{
					"request_id": one.id, "shard_token": "shard-" + one.id, "command_type": one.kind, "channel": "main",
					"created_at": time.Now().UTC().Format(time.RFC3339Nano), "headers": one.head,
				}
				if one.body != nil {
					order["jsonrpc"] = one.body
				}
				list = append(list, order)
			}
			reply(w, http.StatusOK, map[string]any{"commands": list})
			return
		}
		select {
		case <-news:
		case <-over.C:
			w.WriteHeader(http.StatusNoContent)
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (c *ControlPlane) response(w http.ResponseWriter, r *http.Request) {
	var body struct {
		RequestID string              `json:"request_id"`
		Message   json.RawMessage     `json:"resp_json"`
		Headers   map[string][]string `json:"resp_headers"`
		Code      int                 `json:"resp_code"`
		Type      string              `json:"resp_type"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<20)).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	if err := c.take(body.RequestID, r.Header.Get("X-Tunnel-Shard-Token"), func(one *command) bool {
		if body.Type == "jsonrpc_notify" {
			one.reply.Notes = append(one.reply.Notes, body.Message)
			return false
		}
		one.reply.Status, one.reply.Header, one.reply.Body = body.Code, body.Headers, body.Message
		return true
	}); err != nil {
		refuse(w, http.StatusNotFound, "not_pending", err.Error())
		return
	}
	reply(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (c *ControlPlane) take(id, shard string, fill func(*command) (final bool)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.pending[id]
	if !ok || strings.TrimPrefix(shard, "shard-") != id {
		return errors.New("nobody waits for " + id)
	}
	if fill(one) {
		delete(c.pending, id)
		close(one.done)
	}
	return nil
}
