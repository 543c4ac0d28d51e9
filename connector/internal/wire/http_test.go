package wire

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const secret = "correct horse"

func serveHTTP(t *testing.T, w *world, o HTTP) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(Handler(w.mcp, o))
	t.Cleanup(func() {
		server.Close()
		CloseSessions(w.mcp)
	})
	return server
}

// post sends a message and returns the status and the body.
func post(t *testing.T, server *httptest.Server, path, body string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+secret)
	if change != nil {
		change(r)
	}
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

const (
	hello    = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	newMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + newMeta + `}}`
)

func newEra(r *http.Request) {
	r.Header.Set("Mcp-Protocol-Version", StatelessVersion)
	r.Header.Set("Mcp-Method", "server/discover")
}

func TestHTTPLetsInOnlyThoseWhoMayCome(t *testing.T) { // MCP-50, MCP-51, MCP-52
	server := serveHTTP(t, newWorld(t), HTTP{Token: secret})
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	for _, test := range []struct {
		name, path string
		change     func(*http.Request)
		want       int
	}{
		{"as it should be", "/mcp", nil, 200},
		{"the root", "/", nil, 404},
		{"below", "/mcp/x", nil, 404},
		{"well-known, without token", "/.well-known/oauth-protected-resource", func(r *http.Request) { r.Header.Del("Authorization") }, 404},
		{"no token", "/mcp", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"another token", "/mcp", header("Authorization", "Bearer correct horsf"), 401},
		{"a longer token", "/mcp", header("Authorization", "Bearer correct horse battery"), 401},
		{"an empty token", "/mcp", header("Authorization", "Bearer "), 401},
		{"another scheme", "/mcp", header("Authorization", "Basic "+secret), 401},
		{"the scheme in small letters", "/mcp", header("Authorization", "bearer "+secret), 200},
		{"localhost", "/mcp", host("localhost:7"), 200},
		{"IPv6", "/mcp", host("[::1]:7"), 200},
		{"a rebound name", "/mcp", host("evil.example"), 403},
		{"a name that begins well", "/mcp", host("localhost.evil.example"), 403},
		{"an address of the network", "/mcp", host("192.168.1.2:80"), 403},
		{"a local page", "/mcp", header("Origin", "http://localhost:6274"), 200},
		{"a foreign page", "/mcp", header("Origin", "https://evil.example"), 403},
		{"a page without origin", "/mcp", header("Origin", "null"), 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, body := post(t, server, test.path, hello, test.change); got != test.want {
				t.Errorf("got %d, want %d: %s", got, test.want, body)
			}
		})
	}
}

func TestHTTPRefusesABodyOverTheLimit(t *testing.T) { // MCP-53
	server := serveHTTP(t, newWorld(t), HTTP{Token: secret})
	big := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"size","arguments":{"x":"` + strings.Repeat("x", MaxMessage) + `"},` + newMeta + `}}`
	for name, change := range map[string]func(*http.Request){"new": newEra, "old": nil} {
		if got, body := post(t, server, Path, big, change); got != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: got %d, want 413: %.200s", name, got, body)
		}
	}
}

func TestARefusedRequestIsAnsweredUnderItsOwnID(t *testing.T) { // MCP-57
	server := serveHTTP(t, newWorld(t), HTTP{Token: secret, Stateless: true})
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"a-1","method":"none/such"}`:        `{"error":{"code":-32601,"message":"method not found"},"id":"a-1","jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":12345678901234567890,"method":"x"}`: `"id":12345678901234567890`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`:           `"code":-32600`,
	} {
		if status, text := post(t, server, "/mcp", body, nil); status != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: got %d %s, want %s", body, status, text, want)
		}
	}
	for _, body := range []string{"", "{", "[]", `{"jsonrpc":"2.0","method":"none/such"}`, `{"jsonrpc":"2.0","id":null,"method":"none/such"}`} {
		if status, text := post(t, server, "/mcp", body, nil); status != 400 {
			t.Errorf("%s: got %d %s, want 400", body, status, text)
		}
	}
}

func TestHTTPServesBothEras(t *testing.T) { // MCP-54
	for name, o := range map[string]HTTP{"sessions": {Token: secret}, "stateless": {Token: secret, Stateless: true}} {
		t.Run(name, func(t *testing.T) {
			server := serveHTTP(t, newWorld(t), o)
			if got, body := post(t, server, Path, discover, newEra); got != 200 || !strings.Contains(body, `"2026-07-28"`) {
				t.Errorf("new: %d %s", got, body)
			}
			client := dialHTTP(t, server, nil)
			if got := client.InitializeResult().ProtocolVersion; got == "" {
				t.Error("no version")
			}
			res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"a": 1}})
			if err != nil || len(res.Content) != 1 {
				t.Errorf("a call: %v, %v", res, err)
			}
			if got, body := post(t, server, Path, callTool("7", "echo"), nil); got != 200 || !strings.Contains(body, `"id":7,"result"`) { // MCP-8
				t.Errorf("old, without initialize: %d %s", got, body)
			}
			if got, body := post(t, server, Path, hello, nil); got != 200 || !strings.Contains(body, `"protocolVersion":"2025-11-25"`) {
				t.Errorf("old: %d %s", got, body)
			}
		})
	}
}

func dialHTTP(t *testing.T, server *httptest.Server, o *mcp.ClientSessionOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: server.URL + Path, HTTPClient: &http.Client{Transport: bearer{server.Client().Transport}},
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+secret)
	return b.RoundTripper.RoundTrip(r)
}

func TestAClientOfTheNewEraThatGoesAwayCancelsItsCall(t *testing.T) { // MCP-55
	w := newWorld(t)
	server := serveHTTP(t, w, HTTP{Token: secret})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold","arguments":{},` + newMeta + `}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+Path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + secret,
		"Mcp-Protocol-Version": StatelessVersion, "Mcp-Method": "tools/call", "Mcp-Name": "hold",
	} {
		r.Header.Set(name, value)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if res, err := server.Client().Do(r); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}()
	wait(t, w.started, "the call")
	cancel()
	wait(t, w.ended, "its cancellation")
	<-gone
}

func TestSessionsHaveABound(t *testing.T) { // MCP-56
	w := newWorld(t)
	server := serveHTTP(t, w, HTTP{Token: secret})
	last := ""
	for i := range maxSessions {
		if last = shake(t, server); last == "" {
			t.Fatalf("client %d has no session", i)
		}
	}
	if got := shake(t, server); got != "" {
		t.Errorf("one too many has session %s", got)
	}
	if got, body := post(t, server, Path, callTool("7", "echo"), nil); got != 200 || !strings.Contains(body, `"id":7,"result"`) {
		t.Errorf("its call: %d %s", got, body)
	}
	if got, body := post(t, server, Path, callTool("8", "echo"), func(r *http.Request) { r.Header.Set(sessionHeader, last) }); got != 200 || !strings.Contains(body, `"id":8,"result"`) {
		t.Errorf("a call within a session: %d %s", got, body)
	}
}

// shake performs the handshake of the older era, and returns the session that came of it.
func shake(t *testing.T, server *httptest.Server) (session string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+Path, strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+secret)
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), `"serverInfo"`) {
		t.Fatalf("got %s, %v", text, err)
	}
	return res.Header.Get(sessionHeader)
}

func TestAClientOfTheOlderEraCancelsWithinItsSession(t *testing.T) { // MCP-56
	w := newWorld(t)
	server := serveHTTP(t, w, HTTP{Token: secret})
	id := shake(t, server)
	if id == "" {
		t.Fatal("no session")
	}
	inSession := func(r *http.Request) { r.Header.Set(sessionHeader, id) }
	answered := make(chan string, 1)
	go func() {
		_, body := post(t, server, Path, callTool("5", "hold"), inSession)
		answered <- body
	}()
	wait(t, w.started, "the call")
	if got, body := post(t, server, Path, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`, inSession); got != http.StatusAccepted {
		t.Errorf("cancelling: %d %s", got, body)
	}
	wait(t, w.ended, "its cancellation")
	wait(t, answered, "the end of the request")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, server.URL+Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	inSession(r)
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
}
