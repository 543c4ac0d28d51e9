// Package connector is termpilot's MCP front end: it words what pilot means
// for MCP clients and for the command line.
//
// A tool is one file and one row of the table in table.go. Its schemas come
// from its Go types. The messages are carried by internal/wire.
package connector

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/agent"
	"termpilot/closing"
	"termpilot/connector/internal/wire"
	"termpilot/doctor"
	"termpilot/pilot"
)

// instructions is what a client's model is told about the tools as a whole.
// Its first 512 characters stand alone: some clients cut there.
//
//go:embed instructions.md
var instructions string

// Pilot is what the tools do. *pilot.Pilot is it.
type Pilot interface {
	Sessions(ctx context.Context, backend string) (pilot.Listing, error)
	Current(ctx context.Context) (pilot.SessionInfo, error)
	Read(ctx context.Context, r pilot.ReadRequest) (pilot.ReadResult, error)
	Run(ctx context.Context, r pilot.RunRequest) (pilot.RunResult, error)
	Wait(ctx context.Context, r pilot.WaitRequest) (pilot.WaitResult, error)
	Open(ctx context.Context, r pilot.OpenRequest) (pilot.Opened, error)
	Focus(ctx context.Context, sessionID string) (pilot.Arranged, error)
	Resize(ctx context.Context, sessionID string, rows, columns int) (pilot.Arranged, error)
	Rename(ctx context.Context, sessionID, name string) (pilot.Arranged, error)
	Profiles(ctx context.Context, backend string) (pilot.ProfileListing, error)
	SendText(ctx context.Context, sessionID, text string, paste bool) (pilot.SendResult, error)
	SendKeys(ctx context.Context, sessionID string, keys []string) (pilot.SendResult, error)
}

// Closer is what the tools that close need of a [closing.Closer].
type Closer interface {
	Close(ctx context.Context, r closing.Request) (closing.Result, error)
	Inspect(ctx context.Context, sessionID, name string) ([]closing.Item, error)
	Recoveries(id string) ([]closing.Receipt, error)
}

// Agents is what the tools for coding agents need of [agent.Agents].
type Agents interface {
	Launch(ctx context.Context, r agent.LaunchRequest) (agent.LaunchReceipt, error)
	Send(ctx context.Context, r agent.SendRequest) (agent.TurnReceipt, error)
	Status(ctx context.Context, sessionID, operation string) (agent.TurnReceipt, error)
	Result(ctx context.Context, r agent.ResultRequest) (agent.TurnReceipt, error)
	Recover(ctx context.Context, sessionID, operation string) (agent.TurnReceipt, error)
	Wait(ctx context.Context, r agent.WaitRequest) (agent.WaitReceipt, error)
	Ask(ctx context.Context, sessionID string) (agent.Approval, error)
	Answer(ctx context.Context, sessionID, digest string, yes bool) (agent.Approval, error)
	Configure(ctx context.Context, sessionID, model, effort string) (agent.Configured, error)

	List() ([]agent.Listed, error)
	Standing(ctx context.Context, sessionID string) (agent.Standing, error)
	Standings(ctx context.Context) ([]agent.Standing, error)
	Follow(ctx context.Context, sessionID string) iter.Seq2[agent.Standing, error]
	Launches() (c <-chan struct{}, stop func(), err error)
}

// Options configures [New]. Only Pilot is needed; without a Closer, or Agents,
// their tools are not there.
type Options struct {
	Pilot    Pilot
	Closer   Closer
	Agents   Agents
	Checks   func() []doctor.Check // what the diagnostics tool runs, asked at each of its calls; nil is nothing
	Toolsets []string              // of [Toolsets]; empty offers all, and other names none
	ReadOnly bool                  // offer only tools that change nothing
	MaxWait  time.Duration         // longest wait of one call for agents; 0 is 55 s
	Text     string                // [TextFull] or [TextSummary]; "" is TextFull
	Version  string                // of this program; "" is "dev"
	Log      *slog.Logger          // nil is silence
}

// How much of a result its text block says. The structured result is always whole.
const (
	TextFull    = "full"    // a line about the result, and the terminal's text
	TextSummary = "summary" // the line only, for clients whose model sees the structured result too
)

// defaultWait fits the deadlines of the usual clients.
const defaultWait = 55 * time.Second

// maxCalls is how many tool calls one server runs at once.
const maxCalls = 64

// Server offers the tools. Its methods may be called from several goroutines.
type Server struct {
	pilot   Pilot
	closer  Closer
	agents  Agents
	maxWait time.Duration
	checks  func() []doctor.Check
	summary bool
	log     *slog.Logger
	tools   []tool
	mcp     *mcp.Server
	offers  bool // resources, over ServeStdio
	http    wire.Underway

	slots chan struct{} // holds one token for each running call
	ctx   context.Context
	end   context.CancelCauseFunc
	once  sync.Once
}

// New returns a server with the tools that o allows. A read-only server does
// not merely refuse the other tools: it does not list them.
func New(o Options) *Server {
	s := &Server{
		pilot: o.Pilot, closer: o.Closer, agents: o.Agents, maxWait: cmp.Or(o.MaxWait, defaultWait), checks: o.Checks, summary: o.Text == TextSummary, log: o.Log,
		slots: make(chan struct{}, maxCalls),
	}
	if s.checks == nil {
		s.checks = func() []doctor.Check { return nil }
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	self := mcp.InitializeResult{
		ServerInfo:   &mcp.Implementation{Name: "termpilot", Title: "termpilot", Version: o.Version},
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the list never changes
	}
	s.mcp = mcp.NewServer(self.ServerInfo, &mcp.ServerOptions{
		Instructions: self.Instructions,
		Capabilities: self.Capabilities,
		Logger:       s.log,
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { *c = keep },

		SubscribeHandler: s.subscribe, UnsubscribeHandler: s.unsubscribe, // they refuse where nothing is offered
	})
	for _, t := range table {
		if o.ReadOnly && t.access != reads || !wanted(o.Toolsets, t.set) ||
			t.set == closes && o.Closer == nil || t.set == agents && o.Agents == nil {
			continue
		}
		s.tools = append(s.tools, t)
	}
	s.offers = o.Agents != nil && wanted(o.Toolsets, agents)
	s.mcp.AddReceivingMiddleware(s.serveResources, s.serveTools)
	wire.Guard(s.mcp, self, s.log)
	s.mcp.AddReceivingMiddleware(announceResources)
	return s
}

// keep is how long a client may keep what the server says of itself: it holds
// for the life of this process.
var keep = mcp.Cacheable{TTLMs: 5 * 60 * 1000, CacheScope: "private"}

// ServeStdio serves one client on in and out until the input ends, ctx ends or
// the output breaks, cancels the calls that are still open, and returns within
// two seconds: nil, or the cause when the output broke. A call that has not ended
// by then is left to [Server.Close]. Commands that run in terminals go on. If in is
// an [io.Closer] it is closed. Here alone agents are resources, and the client is
// told of them as far as it subscribes.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	a := newAudience(s)
	defer a.close()
	err := wire.ServeStdio(context.WithValue(ctx, audienceKey{}, a), s.mcp, wire.Direct{Find: s.direct, Log: s.log}, in, out)
	if errors.Is(err, wire.ErrStuck) {
		s.log.Warn("the client has gone", "error", err)
		return nil
	}
	return err
}

// HTTPOptions configures [Server.Handler].
type HTTPOptions struct {
	// Token is the bearer token that every request must carry. "" checks none:
	// only for a socket that nobody else can reach.
	Token string
	// Stateless keeps no sessions for clients older than 2026-07-28: nothing is
	// lost when the process restarts, but they cannot cancel.
	Stateless bool
}

// Handler serves streamable HTTP under /mcp, and 404 elsewhere.
func (s *Server) Handler(o HTTPOptions) http.Handler {
	return wire.Handler(s.mcp, wire.HTTP{Token: o.Token, Stateless: o.Stateless, Underway: &s.http, Log: s.log})
}

// telling is how long clients over HTTP may take to hear how their calls ended.
const telling = 500 * time.Millisecond

// Close cancels all calls, ends all sessions and returns when they have ended.
// Calls made later are refused. Over HTTP those that were cancelled are told so.
func (s *Server) Close() error {
	s.once.Do(func() {
		s.end(wire.ErrClosing)
		for range maxCalls {
			s.slots <- struct{}{} // kept, so that no call finds one
		}
		s.http.Settle(telling)
		wire.CloseSessions(s.mcp)
	})
	return nil
}

// WatchParent returns a context that ends when the process that started this
// one is gone, for [Server.ServeStdio]. The caller calls stop.
func WatchParent(ctx context.Context) (watched context.Context, stop func()) {
	return wire.WatchParent(ctx)
}
