package connector

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestQuickCallsDoNotWaitForSlowOnesUpToALimit(t *testing.T) { // MCP-20
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(t, Options{})
		start := time.Now()
		var wg sync.WaitGroup
		for range maxCalls - 1 {
			wg.Go(func() {
				if res := s.Call(t.Context(), "run_command", json.RawMessage(`{`+session+`,"command":"sleep 99","timeout_seconds":55}`)); res.IsError {
					t.Error(res.Text)
				}
			})
		}
		synctest.Wait()
		if res := s.Call(t.Context(), "list_sessions", nil); res.IsError || time.Since(start) != 0 {
			t.Errorf("beside %d waiting calls: %s after %v", maxCalls-1, res.Text, time.Since(start))
		}
		wg.Go(func() {
			s.Call(t.Context(), "run_command", json.RawMessage(`{`+session+`,"command":"sleep 99","timeout_seconds":55}`))
		})
		synctest.Wait()
		if res := s.Call(t.Context(), "list_sessions", nil); !strings.Contains(res.Text, `"session_busy"`) || !strings.Contains(res.Text, "64") {
			t.Errorf("one too many: got %s", res.Text)
		}
		wg.Wait()
		if took := time.Since(start); took != 55*time.Second {
			t.Errorf("the waiting calls took %v together", took)
		}
		if res := s.Call(t.Context(), "list_sessions", nil); res.IsError {
			t.Errorf("afterwards: %s", res.Text)
		}
	})
}

func TestProgressComesAfterASecondAndThenEveryFive(t *testing.T) { // MCP-22
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(t, Options{})
		var mu sync.Mutex
		var got []float64
		ours, theirs := mcp.NewInMemoryTransports()
		server, err := s.mcp.Connect(t.Context(), ours, nil)
		if err != nil {
			t.Fatal(err)
		}
		client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				mu.Lock()
				defer mu.Unlock()
				if r.Params.ProgressToken != "tok" || r.Params.Message != "sleep 17 runs" {
					t.Errorf("got token %v, message %q", r.Params.ProgressToken, r.Params.Message)
				}
				got = append(got, r.Params.Progress)
			},
		}).Connect(t.Context(), theirs, nil)
		if err != nil {
			t.Fatal(err)
		}
		params := &mcp.CallToolParams{Name: "run_command", Arguments: json.RawMessage(`{` + session + `,"command":"sleep 17"}`)}
		if _, err := client.CallTool(t.Context(), params); err != nil { // no token
			t.Fatal(err)
		}
		params.SetProgressToken("tok")
		if _, err := client.CallTool(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff([]float64{1, 6, 11, 16}, got); diff != "" {
			t.Errorf("progress differs (-want +got):\n%s", diff)
		}
		_ = client.Close()
		_ = server.Wait()
	})
}

func TestCloseCancelsAndWaitsAndRefusesLaterCalls(t *testing.T) { // MCP-24
	synctest.Test(t, func(t *testing.T) {
		s, r := newServer(t, Options{})
		done := make(chan Result, 1)
		go func() {
			done <- s.Call(t.Context(), "run_command", json.RawMessage(`{`+session+`,"command":"sleep 99","timeout_seconds":55}`))
		}()
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if r.Cancelled() != 1 {
			t.Error("the call goes on")
		}
		if res := <-done; !strings.Contains(res.Text, `"deadline_exceeded"`) {
			t.Errorf("got %s", res.Text)
		}
		if res := s.Call(t.Context(), "list_sessions", nil); !res.IsError {
			t.Errorf("after Close: %s", res.Text)
		}
		_ = s.Close()
	})
}

func TestACallOverHTTPIsToldThatTheServerCloses(t *testing.T) { // MCP-24
	for _, stateless := range []bool{true, false} {
		s, r := newServer(t, Options{})
		s.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				res, err := next(ctx, method, req)
				for len(s.slots) < maxCalls { // until Close finds no call running
					time.Sleep(time.Millisecond)
				}
				time.Sleep(20 * time.Millisecond) // it would end the sessions now
				return res, err
			}
		})
		server := httptest.NewServer(s.Handler(HTTPOptions{Stateless: stateless}))
		answered := make(chan string, 1)
		go func() {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_command","arguments":{` + session + `,"command":"sleep 60","timeout_seconds":55}}}`
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/mcp", strings.NewReader(body))
			if err != nil {
				answered <- err.Error()
				return
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			res, err := server.Client().Do(req)
			if err != nil {
				answered <- err.Error()
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			answered <- fmt.Sprint(string(text), err)
		}()
		until(t, "the call runs", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.run.Command != "" })
		_ = s.Close()
		if got := <-answered; !strings.Contains(got, "the server is closing") {
			t.Errorf("answered %q", got)
		}
		server.Close()
	}
}

func TestTheEndOfTheInputReachesTheEngine(t *testing.T) { // MCP-11
	s, r := newServer(t, Options{})
	in, feed := io.Pipe()
	done := make(chan error, 1)
	var out strings.Builder
	go func() { done <- s.ServeStdio(t.Context(), in, &out) }()
	if _, err := io.WriteString(feed, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_command","arguments":{`+session+`,"command":"sleep 55"}}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	_ = feed.Close()
	select {
	case err := <-done:
		if err != nil || r.Cancelled() != 1 || out.Len() > 0 {
			t.Errorf("got %v, %d cancelled, output %q", err, r.Cancelled(), out.String())
		}
	case <-time.After(patience):
		t.Fatal("serves on")
	}
}

func TestTheServerSaysItsNameAndNoMoreThanItCan(t *testing.T) { // MCP-9, MCP-44
	s, _ := newServer(t, Options{Version: "1.2.3"})
	var out strings.Builder
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n")
	if err := s.ServeStdio(t.Context(), in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %q", lines)
	}
	again := strings.Replace(strings.Replace(lines[1], `"id":2`, `"id":1`, 1), "2024-11-05", "2025-11-25", 1)
	if lines[0] != again {
		t.Errorf("the second answer differs:\n%s\n%s", lines[0], lines[1])
	}
	if !strings.Contains(lines[0], `"version":"1.2.3"`) || !strings.Contains(lines[0], `"capabilities":{"logging":{},"resources":{"listChanged":true,"subscribe":true},"tools":{}}`) {
		t.Errorf("got %s", lines[0])
	}
}

func TestEveryResultOfTheNewEraSaysThatItIsComplete(t *testing.T) { // MCP-17
	s, _ := newServer(t, Options{})
	for _, request := range []string{
		`"method":"server/discover","params":{`, `"method":"tools/list","params":{`, `"method":"prompts/list","params":{`,
		`"method":"resources/list","params":{`, `"method":"resources/templates/list","params":{`,
		`"method":"resources/read","params":{"uri":"termpilot://agents",`,
		`"method":"tools/call","params":{"name":"list_sessions","arguments":{},`,
		`"method":"tools/call","params":{"name":"read_terminal","arguments":{},`, // it fails
	} {
		var out strings.Builder
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,` + request +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n")
		if err := s.ServeStdio(t.Context(), in, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), `"resultType":"complete"`) {
			t.Errorf("%s: %s", request, out.String())
		}
	}
}
