package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/testneeds"
	"termpilot/tunnel/tunneltest"
)

// BenchmarkTunnel calls a quick tool down the tunnel, and beside it pings our
// server, which is what carrying costs, and calls one that answers with a
// constant, behind the same tunnel-client: the difference is what our side adds.
func BenchmarkTunnel(b *testing.B) {
	client := os.Getenv("TERMPILOT_TUNNEL_CLIENT")
	if client == "" {
		client = testneeds.Program(b, "tunnel-client")
	}
	w := newWorld(b, client)
	w.mustSetup()
	plane := trivial(b, client)
	message := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "list_sessions", "arguments": map[string]any{}}}
	ping := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "ping"}
	var ours, carried, bare []time.Duration
	call := func(c *tunneltest.ControlPlane, message map[string]any) time.Duration {
		ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		if reply, err := c.Call(ctx, message); err != nil || reply.Status != http.StatusOK {
			b.Fatalf("%+v %v", reply, err)
		}
		return time.Since(began)
	}
	for b.Loop() {
		ours, carried, bare = append(ours, call(w.plane, message)), append(carried, call(w.plane, ping)), append(bare, call(plane, message))
	}
	for name, list := range map[string][]time.Duration{"": ours, "ping-": carried, "bare-": bare} {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, name+"p50-ms")
		b.ReportMetric(float64(list[len(list)*99/100].Microseconds())/1000, name+"p99-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// trivial runs tunnel-client in front of a server that says the same to everybody.
func trivial(b *testing.B, client string) *tunneltest.ControlPlane {
	b.Helper()
	plane := tunneltest.New(b, tunnelID, canary)
	dir, err := os.MkdirTemp("", "tp")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "m"))
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || len(body) == 0 {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		result := `{"content":[]}`
		if strings.Contains(string(body), `"initialize"`) {
			result = `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"trivial","version":"1"}}`
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, result)
	})}
	go func() { _ = server.Serve(l) }()
	b.Cleanup(func() { _ = server.Close() })
	cmd := exec.Command(client, "run", "--control-plane.base-url", plane.URL(), "--control-plane.tunnel-id", tunnelID, "--control-plane.api-key", "env:K",
		"--mcp.server-url", "channel=main,url=http://localhost/mcp,unix-socket=env:S", "--health.unix-socket", filepath.Join(dir, "h"), "--log.format", "json")
	cmd.Env = []string{"K=" + canary, "S=" + filepath.Join(dir, "m"), "HOME=" + dir, "PATH=/usr/bin:/bin"}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // how it ends is nothing to us
	})
	for end := time.Now().Add(20 * time.Second); plane.Clients() == 0; time.Sleep(5 * time.Millisecond) { // until it polls
		if time.Now().After(end) {
			b.Fatal("it does not poll")
		}
	}
	return plane
}
