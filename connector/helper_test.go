package connector

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"termpilot/connector/internal/fake"
	"termpilot/doctor"
	"termpilot/pilot"
)

var update = flag.Bool("update", false, "rewrite the schemas")

// The real engine fits.
var _ Pilot = (*pilot.Pilot)(nil)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is the fake, and what it was asked.
type recorder struct {
	fake.Pilot

	mu   sync.Mutex
	run  pilot.RunRequest
	read pilot.ReadRequest
	wait pilot.WaitRequest
	open pilot.OpenRequest

	arranged string // the last call that arranges or lists profiles
}

func (r *recorder) Focus(ctx context.Context, id string) (pilot.Arranged, error) {
	r.arranged = "focus " + id
	return r.Pilot.Focus(ctx, id)
}

func (r *recorder) Resize(ctx context.Context, id string, rows, columns int) (pilot.Arranged, error) {
	r.arranged = fmt.Sprintf("resize %s %dx%d", id, rows, columns)
	return r.Pilot.Resize(ctx, id, rows, columns)
}

func (r *recorder) Rename(ctx context.Context, id, name string) (pilot.Arranged, error) {
	r.arranged = "rename " + id + " " + name
	return r.Pilot.Rename(ctx, id, name)
}

func (r *recorder) Profiles(ctx context.Context, backend string) (pilot.ProfileListing, error) {
	r.arranged = "profiles " + backend
	return r.Pilot.Profiles(ctx, backend)
}

func (r *recorder) Run(ctx context.Context, req pilot.RunRequest) (pilot.RunResult, error) {
	r.mu.Lock()
	r.run = req
	r.mu.Unlock()
	return r.Pilot.Run(ctx, req)
}

func (r *recorder) Read(ctx context.Context, req pilot.ReadRequest) (pilot.ReadResult, error) {
	r.mu.Lock()
	r.read = req
	r.mu.Unlock()
	return r.Pilot.Read(ctx, req)
}

func (r *recorder) Wait(ctx context.Context, req pilot.WaitRequest) (pilot.WaitResult, error) {
	r.mu.Lock()
	r.wait = req
	r.mu.Unlock()
	return r.Pilot.Wait(ctx, req)
}

func (r *recorder) Open(ctx context.Context, req pilot.OpenRequest) (pilot.Opened, error) {
	r.mu.Lock()
	r.open = req
	r.mu.Unlock()
	return r.Pilot.Open(ctx, req)
}

func newServer(t *testing.T, o Options) (*Server, *recorder) {
	t.Helper()
	r := &recorder{}
	o.Pilot = r
	o.Closer, o.Agents = fake.Closer{}, fake.Agents{}
	if o.Checks == nil {
		o.Checks = func() []doctor.Check {
			return []doctor.Check{{ID: "test.check", Run: func(context.Context) doctor.Result {
				return doctor.Result{State: doctor.Warn, Summary: "it is \x1b[31mred\x1b[0m", Evidence: "seen", Next: "paint it"}
			}}}
		}
	}
	s := New(o)
	t.Cleanup(func() { _ = s.Close() })
	return s, r
}

// dial connects a client in memory.
func dial(t *testing.T, s *Server, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	server, err := s.mcp.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Wait()
	})
	return client
}

// callTool calls a tool through c; args is a JSON object.
func callTool(t *testing.T, c *mcp.ClientSession, name, args string) *mcp.CallToolResult {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return res
}

func textOf(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, part := range res.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// said is a failure as clients read it.
type said struct{ Code, Message, Hint string }

func failure(t *testing.T, res *mcp.CallToolResult) said {
	t.Helper()
	var f said
	if !res.IsError || res.StructuredContent != nil || len(res.Content) != 1 {
		t.Fatalf("no plain failure: %+v", res)
	}
	d := json.NewDecoder(strings.NewReader(textOf(res)))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil || f.Code == "" || f.Message == "" || f.Hint == "" {
		t.Fatalf("failure %s: %v", textOf(res), err)
	}
	return f
}
