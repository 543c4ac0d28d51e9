package tunnel

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestSocketsThatWereTakenAwayComeBack(t *testing.T) { // TUN-14
	eachClient(t, func(t *testing.T, b *bench) {
		b.supervise()
		b.until("ready", func(s Status) bool { return s.Ready })
		running := make(chan error, 1)
		go func() {
			reply, err := b.plane.Call(t.Context(), map[string]any{"jsonrpc": "2.0", "id": 1, "method": "slow"})
			if err == nil && reply.Status != http.StatusOK {
				err = fmt.Errorf("status %d: %s", reply.Status, reply.Body)
			}
			running <- err
		}()
		b.mcp.begun(t, 1)
		if err := os.RemoveAll(b.place.Sockets); err != nil {
			t.Fatal(err)
		}
		f := b.place.files("a")
		for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) { // a socket appears without an event
			mcp, control := reached(f.mcp), reached(f.control)
			if mcp == nil && control == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("they did not come back: %v %v", mcp, control)
			}
		}
		reply, err := b.plane.Call(t.Context(), map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
		if err != nil || reply.Status != http.StatusOK {
			t.Errorf("the next call: %v %v", reply, err)
		}
		close(b.mcp.may)
		if err := <-running; err != nil {
			t.Errorf("the call that ran: %v", err)
		}
		if s, err := Inspect(t.Context(), b.place, "a"); err != nil || !s.Running || s.Tools != 1 {
			t.Errorf("status: %+v %v", s, err)
		}
	})
}

// reached tries whether somebody listens on a socket.
func reached(path string) error {
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func TestAQuickCallIsNotBehindManySlowOnes(t *testing.T) { // TUN-13
	eachClient(t, func(t *testing.T, b *bench) {
		b.supervise()
		b.until("ready", func(s Status) bool { return s.Ready })
		var running sync.WaitGroup
		var answered atomic.Int64
		for i := range 12 {
			running.Go(func() {
				reply, err := b.plane.Call(t.Context(), map[string]any{"jsonrpc": "2.0", "id": 100 + i, "method": "slow"})
				if err != nil || reply.Status != http.StatusOK {
					t.Errorf("a slow call: %v %v", reply, err)
				}
				answered.Add(1)
			})
		}
		b.mcp.begun(t, 12) // at once: none has been answered yet
		reply, err := b.plane.Call(t.Context(), map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
		if err != nil || reply.Status != http.StatusOK || answered.Load() != 0 {
			t.Errorf("the quick call: %v %v after %d slow ones", reply, err, answered.Load())
		}
		close(b.mcp.may)
		running.Wait()
	})
}

func TestLargeMessagesPass(t *testing.T) { // TUN-19
	eachClient(t, func(t *testing.T, b *bench) {
		b.supervise()
		b.until("ready", func(s Status) bool { return s.Ready })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		reply, err := b.plane.Call(ctx, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "large"})
		if err != nil || reply.Status != http.StatusOK || len(reply.Body) < largeAnswer {
			t.Errorf("a large answer: status %d, %d bytes, %v", reply.Status, len(reply.Body), err)
		}
		reply, err = b.plane.Call(ctx, map[string]any{"jsonrpc": "2.0", "id": 2, "method": "m", "params": map[string]any{"text": strings.Repeat("x", 16<<20-200)}})
		if err != nil || reply.Status != http.StatusOK {
			t.Errorf("a large request: status %d, %.200s, %v", reply.Status, reply.Body, err)
		}
	})
}

func TestAControlPlaneThatRavesIsToldAndOutlived(t *testing.T) { // TUN-32
	eachClient(t, func(t *testing.T, b *bench) {
		b.supervise()
		first := b.until("ready", func(s Status) bool { return s.Ready })
		for name, ill := range map[string]func(bool){
			"hangs":       b.plane.Hang,
			"garbage":     b.plane.Garble,
			"unavailable": func(yes bool) { b.plane.Answer(map[bool]int{true: http.StatusServiceUnavailable}[yes]) },
		} {
			ill(true)
			s := b.until(name, func(s Status) bool { return s.Polling == PollingFailing })
			if s.Ready || s.LastError == "" || strings.Contains(s.LastError, testKey) {
				t.Errorf("%s: %+v", name, s)
			}
			t.Logf("%s: %s", name, s.LastError)
			ill(false)
			if s := b.until("ready after "+name, func(s Status) bool { return s.Ready }); s.ClientPID != first.ClientPID {
				t.Errorf("%s: the client was started anew although it heals by itself", name)
			}
		}
	})
}
