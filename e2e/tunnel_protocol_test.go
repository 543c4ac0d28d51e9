package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/tunnel/tunneltest"
)

// send sends a message down the tunnel, and wants an answer of that status.
func (w *world) send(headers map[string]string, message map[string]any, status int) tunneltest.Reply {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 70*time.Second)
	defer cancel()
	message["jsonrpc"] = "2.0"
	reply, err := w.plane.CallWith(ctx, headers, message)
	if err != nil || reply.Status != status {
		w.t.Errorf("%v: got %v %v, want status %d", message["method"], reply, err, status)
	}
	return reply
}

func TestWhateverComesDownTheTunnelIsAnswered(t *testing.T) { // TUN-19
	tunnelClients(t, func(t *testing.T, w *world) {
		w.mustSetup()
		list := map[string]any{"id": 1, "method": "tools/list"}
		w.send(nil, list, 200) // nobody shook hands
		for range 2 {
			w.send(nil, map[string]any{"id": 2, "method": "initialize", "params": map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "openai-mcp", "version": "1"},
			}}, 200)
			w.send(nil, map[string]any{"method": "notifications/initialized"}, 202)
		}
		w.send(map[string]string{"Mcp-Session-Id": "of-nobody"}, list, 200)
		w.send(map[string]string{"Mcp-Protocol-Version": "2025-06-18"}, list, 200)
		w.send(nil, map[string]any{"method": "notifications/cancelled", "params": map[string]any{"requestId": 99}}, 202)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if reply, err := w.plane.Terminate(ctx, "of-nobody"); err != nil || reply.Status == 0 {
			t.Errorf("the end of a session: %v %v", reply, err)
		}
		if reply := w.send(nil, map[string]any{"id": 3, "method": "none/such"}, 200); !strings.Contains(string(reply.Body), "-32601") {
			t.Errorf("an unknown method: %v", reply)
		}
		text := strings.Repeat("x", 16<<20-400)
		reply := w.send(nil, map[string]any{"id": 4, "method": "tools/call", "params": map[string]any{"name": "read_terminal", "arguments": map[string]any{"session_id": text}}}, 200)
		if len(reply.Body) > 64<<10 || !strings.Contains(string(reply.Body), "jsonrpc") {
			t.Errorf("a request of 16 MiB: %v", reply)
		}
		began := time.Now()
		if reply, err := w.plane.Call(ctx, map[string]any{"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": map[string]any{"x": text + text[:1000]}}); err != nil || reply.Status < 400 {
			t.Errorf("a request over 16 MiB: %v %v after %v", reply, err, time.Since(began))
		}
		w.send(nil, list, 200)
		if s, code := w.status(); code != 0 || s.Restarts != 0 {
			t.Errorf("afterwards: %d %+v", code, s)
		}
	})
}

func TestProgressIsTheOnlyWordDuringACall(t *testing.T) { // TUN-27
	tunnelClients(t, func(t *testing.T, w *world) {
		w.mustSetup()
		session := w.mustTool("create_window", map[string]any{"profile": "bash", "backend": "host"})["session_id"]
		call := func(more map[string]any) tunneltest.Reply {
			params := map[string]any{"name": "run_command", "arguments": map[string]any{"session_id": session, "command": "sleep 2; echo over"}}
			for k, v := range more {
				params[k] = v
			}
			return w.send(nil, map[string]any{"id": 7, "method": "tools/call", "params": params}, 200)
		}
		quiet := call(nil)
		if len(quiet.Notes) != 0 || !strings.Contains(string(quiet.Body), "over") {
			t.Errorf("nobody asked for progress: %v %s", quiet, quiet.Notes)
		}
		told := call(map[string]any{"_meta": map[string]any{"progressToken": "p1"}})
		if len(told.Notes) == 0 || !strings.Contains(string(told.Body), "over") {
			t.Errorf("with a token: %v", told)
		}
		for _, note := range told.Notes {
			var n struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
				Params struct {
					Token string `json:"progressToken"`
				} `json:"params"`
			}
			if err := json.Unmarshal(note, &n); err != nil || n.ID != nil || n.Method != "notifications/progress" || n.Params.Token != "p1" {
				t.Errorf("got %s %v", note, err)
			}
		}
	})
}

func TestACallEndsBeforeChatGPTGivesUp(t *testing.T) { // TUN-27
	tunnelClients(t, func(t *testing.T, w *world) {
		w.mustSetup("--max-wait", "2s")
		session := w.mustTool("create_window", map[string]any{"profile": "bash", "backend": "host"})["session_id"]
		began := time.Now()
		ran := w.mustTool("run_command", map[string]any{"session_id": session, "command": "sleep 4; echo late", "timeout_seconds": 30})
		if took := time.Since(began); ran["status"] != "running" || ran["run_id"] == nil || took > soon {
			t.Errorf("after %v: %v", took, ran)
		}
		run := ran["run_id"]
		for end := time.Now().Add(30 * time.Second); ; {
			ran = w.mustTool("wait_session", map[string]any{"run_id": run})["run"].(map[string]any)
			if ran["status"] == "completed" || time.Now().After(end) {
				break
			}
		}
		if ran["status"] != "completed" || !strings.Contains(fmt.Sprint(ran["output"]), "late") {
			t.Errorf("got %v", ran)
		}
	})
}

func TestTheSocketServesOnePath(t *testing.T) { // TUN-28
	w := newWorld(t, standIn(t))
	w.mustSetup()
	sockets, err := filepath.Glob(filepath.Join(w.dir, "tp", "host", "t*.m"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("the sockets: %v %v", sockets, err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", sockets[0])
	}}}
	for _, c := range []struct {
		method, path, host string
		status             int
	}{
		{"GET", "/", "localhost", 404},
		{"GET", "/.well-known/oauth-protected-resource", "localhost", 404},
		{"GET", "/.well-known/oauth-protected-resource/mcp", "localhost", 404},
		{"GET", "/.well-known/oauth-authorization-server", "localhost", 404},
		{"POST", "/mcp/", "localhost", 404},
		{"POST", "/mcp/../mcp", "localhost", 404},
		{"GET", "/mcp", "localhost", 405},
		{"DELETE", "/mcp", "localhost", 405},
		{"POST", "/mcp", "evil.example", 403},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://localhost"+c.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		req.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := client.Do(req)
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.path, err)
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s %s of %s: got %d, want %d", c.method, c.path, c.host, resp.StatusCode, c.status)
		}
	}
}
