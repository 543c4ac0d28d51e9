package connector

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"termpilot/agent"
	"termpilot/connector/internal/fake"
	"termpilot/fault"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// stage is agents that do what a test says, and what watches them.
type stage struct {
	fake.Agents
	t testing.TB

	mu        sync.Mutex
	agents    []*played
	launched  chan struct{}
	watches   int // that last
	followers int // that last
	fails     error
	panics    int // so many times more, for whoever asks for the list
}

// played is one agent. Changes are handed to one follower at a time.
type played struct {
	agent.Standing
	runs    bool
	changes chan agent.Standing
	breaks  chan error // a follower fails with it; nil is a panic
	broken  error      // every follower does
}

func newStage(t testing.TB) *stage { return &stage{t: t, launched: make(chan struct{}, 1)} }

// launch adds an agent that is idle.
func (s *stage) launch(session, launch string) {
	now := agent.Standing{
		Schema: "termpilot.agent-standing.v1", State: agent.Idle, Next: "agent_turn action=status session_id=" + session,
		Waited: agent.Waited{SessionID: session, LaunchID: launch, Provider: "claude", Outcome: agent.None},
	}
	s.mu.Lock()
	s.agents = append([]*played{{Standing: now, runs: true, changes: make(chan agent.Standing), breaks: make(chan error)}}, s.agents...)
	s.mu.Unlock()
	s.wake()
}

// remove takes the records of a session's agents away.
func (s *stage) remove(session string) {
	s.mu.Lock()
	s.agents = slices.DeleteFunc(s.agents, func(p *played) bool { return p.SessionID == session })
	s.mu.Unlock()
	s.wake()
}

// wake says that launches have changed.
func (s *stage) wake() {
	select {
	case s.launched <- struct{}{}:
	default:
	}
}

// of is the newest agent of a session, or nil.
func (s *stage) of(session string) *played {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.agents {
		if p.SessionID == session {
			return p
		}
	}
	return nil
}

// change lets the agent of a session stand otherwise, and returns when its follower
// has taken that.
func (s *stage) change(session, state string, outcome agent.Outcome) {
	s.t.Helper()
	p, now := s.set(session, state, outcome)
	select {
	case p.changes <- now:
	case <-time.After(patience):
		s.t.Fatal("nobody follows " + session)
	}
}

// offer is change for a follower that may not be there.
func (s *stage) offer(session, state string, outcome agent.Outcome) {
	p, now := s.set(session, state, outcome)
	select {
	case p.changes <- now:
	default:
	}
}

func (s *stage) set(session, state string, outcome agent.Outcome) (*played, agent.Standing) {
	p := s.of(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	p.State, p.Outcome, p.Waits = state, outcome, state == agent.WaitingApproval
	p.runs = state != agent.Ended
	return p, p.Standing
}

// watched says what is watched now.
func (s *stage) watched() (watches, followers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches, s.followers
}

func (s *stage) List() (list []agent.Listed, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panics > 0 {
		s.panics--
		panic("told to")
	}
	seen := map[string]bool{}
	for _, p := range s.agents {
		if !seen[p.SessionID] {
			list = append(list, agent.Listed{SessionID: p.SessionID, LaunchID: p.LaunchID, Provider: p.Provider, Cwd: "/srv/\x1b[31mred", Runs: p.runs})
		}
		seen[p.SessionID] = true
	}
	return list, s.fails
}

func (s *stage) Standing(_ context.Context, session string) (agent.Standing, error) {
	p := s.of(session)
	if p == nil {
		return agent.Standing{}, &fault.Error{Op: "standing", Session: session, Code: fault.AgentNotFound, Detail: "no agent was launched here", Hint: "launch one"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.Standing, nil
}

func (s *stage) Standings(context.Context) (all []agent.Standing, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.agents {
		all = append(all, p.Standing)
	}
	return all, nil
}

func (s *stage) Follow(ctx context.Context, session string) iter.Seq2[agent.Standing, error] {
	return func(yield func(agent.Standing, error) bool) {
		p := s.of(session)
		s.mu.Lock()
		s.followers++
		now, runs, broken := p.Standing, p.runs, p.broken
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.followers--
			s.mu.Unlock()
		}()
		if broken != nil {
			yield(agent.Standing{}, broken)
			return
		}
		for yield(now, nil) && runs {
			select {
			case err := <-p.breaks:
				if err == nil {
					panic("told to")
				}
				yield(agent.Standing{}, err)
				return
			case now = <-p.changes:
				runs = now.State != agent.Ended
			case <-ctx.Done():
				return
			}
		}
	}
}

func (s *stage) Launches() (<-chan struct{}, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches++
	return s.launched, func() {
		s.mu.Lock()
		s.watches--
		s.mu.Unlock()
	}, nil
}

// talk is a client that writes and reads lines.
type talk struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

// talkTo serves s to a client; it reads when the test does. hello shakes hands.
func talkTo(t testing.TB, s *Server) *talk {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &talk{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	go func() {
		c.done <- s.ServeStdio(context.Background(), inR, outW)
		_ = outW.Close()
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		_, _ = io.Copy(io.Discard, c.out)
		if err := <-c.done; err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *talk) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// hear reads the next line.
func (c *talk) hear() string {
	c.t.Helper()
	heard := make(chan string, 1)
	go func() {
		line, _ := c.out.ReadString('\n')
		heard <- strings.TrimSpace(line)
	}()
	select {
	case line := <-heard:
		return line
	case <-time.After(patience):
		c.t.Fatal("nothing was said")
		return ""
	}
}

// want reads lines, in whatever order they come.
func (c *talk) want(lines ...string) {
	c.t.Helper()
	var got []string
	for range lines {
		got = append(got, c.hear())
	}
	slices.Sort(got)
	slices.Sort(lines)
	if !slices.Equal(got, lines) {
		c.t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// ask sends a request and reads its answer, which is the next line.
func (c *talk) ask(line string) string {
	c.t.Helper()
	c.say(line)
	return c.hear()
}

// silent wants that nothing was said up to now.
func (c *talk) silent() {
	c.t.Helper()
	if got := c.ask(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`); got != `{"jsonrpc":"2.0","id":"ping","result":{}}` {
		c.t.Errorf("something was said: %s", got)
	}
}

// hello shakes hands in the older era.
func (c *talk) hello() {
	c.t.Helper()
	c.ask(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// request is one in the older era; stateless is one in the newer.
func request(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

func stateless(id, method, params string) string {
	if params != "" {
		params += ","
	}
	return request(id, method, params+`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`)
}

func subscribe(id, uri string) string { return request(id, "resources/subscribe", `"uri":"`+uri+`"`) }

func updated(uri string) string {
	return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
}

const listChanged = `{"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{}}`

func empty(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

// refusal is a failure about resources as a client reads it.
func refusal(t testing.TB, line string) (code int, f said) {
	t.Helper()
	var m struct {
		Error struct {
			Code    int
			Message string
			Data    said
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Error.Message == "" || m.Error.Data.Hint == "" {
		t.Fatalf("no refusal: %s %v", line, err)
	}
	return m.Error.Code, m.Error.Data
}

// until waits for what must come true.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) { // between looks
		if time.Now().After(end) {
			t.Fatalf("it did not come to pass that %s", what)
		}
	}
}
