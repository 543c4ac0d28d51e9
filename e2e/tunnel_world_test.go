package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"termpilot/testneeds"
	"termpilot/tunnel/tunneltest"
)

// The canary is the runtime key of these tests: it must be found nowhere.
const (
	canary   = "sk-canary_7Q2x-never_to_be_seen"
	tunnelID = "tunnel_0123456789abcdef0123456789abcdef"
)

// tunnelClients runs a test with the stand-in and, where there is one, with the
// real tunnel-client.
func tunnelClients(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("stand-in", func(t *testing.T) {
		path, err := tunneltest.Install(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		test(t, newWorld(t, path))
	})
	t.Run("real", func(t *testing.T) {
		path := os.Getenv("TERMPILOT_TUNNEL_CLIENT")
		if path == "" {
			path = testneeds.Program(t, "tunnel-client")
		}
		test(t, newWorld(t, path))
	})
}

// world is a home, a control plane and a tunnel-client.
type world struct {
	home
	t      testing.TB
	plane  *tunneltest.ControlPlane
	client string
	base   []string // further variables of every command
	said   []string // all that was printed
}

func newWorld(t testing.TB, client string) *world {
	t.Helper()
	w := &world{home: newHome(t), t: t, plane: tunneltest.New(t, tunnelID, canary), client: client}
	t.Cleanup(func() {
		if _, errs, code := w.chatgpt("disconnect"); code != 0 {
			t.Errorf("disconnect: %d %s", code, errs)
		}
	})
	return w
}

// chatgpt runs one of the commands.
func (w *world) chatgpt(args ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	w.extra = append(slices.Clone(w.base), w.extra...)
	defer func() { w.extra = nil }()
	out, errs, code := w.termpilot(w.t, append([]string{"chatgpt"}, args...)...)
	w.said = append(w.said, out, errs)
	return out, errs, code
}

// setup sets up with the canary in the environment.
func (w *world) setup(args ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	w.extra = []string{"CONTROL_PLANE_API_KEY=" + canary}
	return w.chatgpt(append([]string{"setup", "--tunnel-id", tunnelID, "--tunnel-client", w.client, "--base-url", w.plane.URL()}, args...)...)
}

func (w *world) mustSetup(args ...string) {
	w.t.Helper()
	if out, errs, code := w.setup(args...); code != 0 {
		w.t.Fatalf("setup: %d\n%s%s", code, out, errs)
	}
}

// tunnelStatus is what the tests look at of status --json.
type tunnelStatus struct {
	V          int    `json:"v"`
	Running    bool   `json:"running"`
	Healthy    bool   `json:"healthy"`
	Ready      bool   `json:"ready"`
	PID        int    `json:"pid"`
	ClientPID  int    `json:"client_pid"`
	Polling    string `json:"polling"`
	Refused    int    `json:"refused"`
	LastError  string `json:"last_error"`
	Calls      int    `json:"calls"`
	Restarts   int    `json:"restarts"`
	LastExit   string `json:"last_exit"`
	LogPath    string `json:"log_path"`
	RunsTunnel string `json:"runs_tunnel"`
	Tools      int    `json:"tools"`
}

func (w *world) status() (tunnelStatus, int) {
	w.t.Helper()
	out, errs, code := w.chatgpt("status", "--json")
	var s tunnelStatus
	if err := json.Unmarshal([]byte(out), &s); err != nil || s.V != 1 {
		w.t.Fatalf("status --json: %v\n%s%s", err, out, errs)
	}
	return s, code
}

// until waits until the status is as wanted.
func (w *world) until(what string, want func(tunnelStatus) bool) tunnelStatus {
	w.t.Helper()
	for end := time.Now().Add(40 * time.Second); ; time.Sleep(50 * time.Millisecond) { // between looks at the status
		s, _ := w.status()
		if want(s) {
			return s
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s: not within 40 s: %+v", what, s)
		}
	}
}

// call calls as ChatGPT does, and returns the result.
func (w *world) call(method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 70*time.Second)
	defer cancel()
	reply, err := w.plane.Call(ctx, map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	var body struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(reply.Body, &body); err != nil || body.Result == nil {
		return nil, fmt.Errorf("%s: status %d: %s", method, reply.Status, reply.Body)
	}
	return body.Result, nil
}

// tool calls a tool and returns its structured result.
func (w *world) tool(name string, args map[string]any) (map[string]any, error) {
	result, err := w.call("tools/call", map[string]any{"name": name, "arguments": args})
	if err != nil {
		return nil, err
	}
	var r struct {
		Structured map[string]any  `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		Content    json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(result, &r); err != nil || r.IsError {
		return nil, fmt.Errorf("%s: %v %s", name, err, r.Content)
	}
	return r.Structured, nil
}

func (w *world) mustTool(name string, args map[string]any) map[string]any {
	w.t.Helper()
	r, err := w.tool(name, args)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func alive(pid int) bool {
	state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !bytes.Contains(state, []byte(") Z "))
}

// untilRuns waits until a session runs something.
func (w *world) untilRuns(session any) {
	w.t.Helper()
	for end := time.Now().Add(soon); time.Now().Before(end); {
		for _, s := range w.mustTool("list_sessions", map[string]any{})["sessions"].([]any) {
			if s := s.(map[string]any); s["session_id"] == session && s["readiness"].(map[string]any)["state"] == "busy" {
				return
			}
		}
	}
	w.t.Fatal("the command did not start")
}

// standIn installs the stand-in for tunnel-client.
func standIn(t testing.TB) string {
	t.Helper()
	path, err := tunneltest.Install(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}
