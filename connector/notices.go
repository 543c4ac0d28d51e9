package connector

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/agent"
	"termpilot/connector/internal/wire"
	"termpilot/terminal"
)

// Notifications that leave, beside those of the SDK.
const (
	notifyUpdated      = "notifications/resources/updated"
	notifyListed       = "notifications/resources/list_changed"
	notifyAcknowledged = "notifications/subscriptions/acknowledged"
)

// audience is the client of one ServeStdio, as far as it listens for agents. While
// it subscribes to nothing, nothing is watched.
type audience struct {
	s *Server

	// life is held, as a token, while subscriptions come and go and followers are
	// begun and ended.
	life    chan struct{}
	end     context.CancelFunc // of the watching; nil while there is none
	ctx     context.Context    // its life
	session *mcp.ServerSession // who gets messages
	running *sync.WaitGroup
	closed  bool

	mu       sync.Mutex
	subs     map[*subscription]bool
	followed map[string]*followed      // by session
	due      map[notice]bool           // what is to be told: at most once each
	said     map[string]agent.Standing // by session, for clients that want messages
	wake     chan struct{}
}

// followed is an agent that is followed, or was to its end.
type followed struct {
	launch string
	stop   context.CancelFunc
	over   bool // to its end
}

// notice is what one subscription is to be told; "" is that the list changed.
type notice struct {
	sub *subscription
	uri string
}

// retry is how long after a failure it is tried again to list agents, or to follow one.
const retry = 5 * time.Second

type audienceKey struct{}

// audienceOf returns the audience whose message is handled; nil where none is offered.
func audienceOf(ctx context.Context) *audience {
	a, _ := ctx.Value(audienceKey{}).(*audience)
	return a
}

func newAudience(s *Server) *audience {
	return &audience{s: s, life: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// begin starts to watch. It needs the token.
func (a *audience) begin(client *wire.Client, session *mcp.ServerSession) error {
	launched, stop, err := a.s.agents.Launches()
	if err != nil {
		return err
	}
	a.ctx, a.end = context.WithCancel(context.Background()) // of no request: it outlasts the first
	a.running, a.session = new(sync.WaitGroup), session
	a.mu.Lock()
	a.subs, a.followed = map[*subscription]bool{}, map[string]*followed{}
	a.due, a.said = map[notice]bool{}, map[string]agent.Standing{}
	a.mu.Unlock()
	watching := a.ctx
	a.running.Go(func() {
		defer stop()
		for again := (<-chan time.Time)(nil); ; {
			select {
			case <-watching.Done():
				return
			case <-launched:
			case <-again:
			}
			again = nil
			if !a.lock(watching) {
				return
			}
			if watching.Err() == nil {
				if err := a.resync(watching); err != nil && watching.Err() == nil {
					a.warn(err)
					again = time.After(retry)
				}
			}
			a.unlock()
		}
	})
	a.running.Go(func() { a.speak(watching, client) })
	return nil
}

func (a *audience) warn(err error) {
	a.s.log.Warn("agents cannot be followed", "error", terminal.OneLine(err.Error(), 200))
}

// sync follows exactly the agents that are subscribed to, and returns when each has
// told how it stands, which is no news to added: a change from there on is. It needs
// the token.
func (a *audience) sync(ctx context.Context, added *subscription) error {
	list, err := a.s.agents.List()
	if err != nil {
		return err
	}
	want, err := a.wanted(ctx, list, added)
	if err != nil {
		return err
	}
	begun := map[string]chan error{}
	a.mu.Lock()
	for session, f := range a.followed {
		if l, is := want[session]; !is {
			f.stop()
			delete(a.followed, session)
			a.tellRemoved(session)
		} else if l.LaunchID == f.launch {
			delete(want, session)
		}
	}
	for session, l := range want {
		arrived := l.Runs
		if old := a.followed[session]; old != nil {
			arrived = arrived || old.launch != l.LaunchID
			old.stop()
		}
		ctx, stop := context.WithCancel(a.ctx)
		f := &followed{launch: l.LaunchID, stop: stop}
		a.followed[session] = f
		first := make(chan error, 1)
		begun[session] = first
		a.running.Go(func() {
			defer stop()
			a.follow(ctx, session, f, first, arrived, added)
			a.mu.Lock()
			f.over = true
			a.mu.Unlock()
		})
	}
	a.mu.Unlock()
	for session, first := range begun {
		select {
		case err := <-first:
			if err != nil && added.names(session) {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// resync is sync for agents that came or went. A panic costs this look alone.
func (a *audience) resync(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = wire.Panicked(a.s.log, "follow", v)
		}
	}()
	return a.sync(ctx, nil)
}

// wanted are the agents to follow: those that run, those whose end is not told yet,
// and those that are named. It fails when added is about a session without one.
func (a *audience) wanted(ctx context.Context, list []agent.Listed, added *subscription) (map[string]agent.Listed, error) {
	a.mu.Lock()
	all, sessions := false, map[string]bool{}
	for x := range a.subs {
		all = all || x.wantsAll()
		for _, session := range x.uris {
			if session != "" {
				sessions[session] = true
			}
		}
	}
	want := map[string]agent.Listed{}
	running := 0
	for _, l := range list {
		take := sessions[l.SessionID]
		if f := a.followed[l.SessionID]; all && !l.Runs && f != nil {
			take = take || f.launch == l.LaunchID && !f.over
		}
		if all && l.Runs && running < agent.MaxListed {
			running++
			take = true
		}
		if take {
			want[l.SessionID] = l
		}
	}
	a.mu.Unlock()
	if added == nil {
		return want, nil
	}
	for _, session := range added.uris {
		if _, is := want[session]; !is && session != "" {
			if _, err := a.s.agents.Standing(ctx, session); err != nil {
				return nil, err
			}
		}
	}
	return want, nil
}

// follow tells of an agent's changes until it ends. Where it has arrived, how it
// stands at first is news, to all but added. first gets why that cannot be read, or
// nil; then it is tried again, as long as anybody subscribes.
func (a *audience) follow(ctx context.Context, session string, f *followed, first chan<- error, arrived bool, added *subscription) {
	for said, failing := false, false; ; {
		err := a.hear(ctx, session, func(now agent.Standing) {
			failing = false
			switch {
			case said:
				a.tell(now, now.State == agent.Ended, nil)
			case arrived:
				a.tell(now, now.State != agent.Ended, added)
			}
			if !said {
				a.mu.Lock()
				f.launch = now.LaunchID
				a.mu.Unlock()
				first <- nil
			}
			said = true
		})
		if err == nil || ctx.Err() != nil {
			return
		}
		if !said {
			first <- err // which is news to the others alone
		} else {
			added = nil
		}
		if !failing {
			a.warn(err)
			a.tell(agent.Standing{Waited: agent.Waited{SessionID: session}}, false, added) // whoever reads hears why
		}
		said, failing = true, true
		select {
		case <-ctx.Done():
			return
		case <-time.After(retry):
		}
	}
}

// hear follows an agent. A panic costs this following alone.
func (a *audience) hear(ctx context.Context, session string, say func(agent.Standing)) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = wire.Panicked(a.s.log, "follow", v)
		}
	}()
	for now, err := range a.s.agents.Follow(ctx, session) {
		if err != nil {
			return err
		}
		say(now)
	}
	return nil
}

// tell notes that an agent stands otherwise than before, or cannot be read where its
// state is "", and with listed that the list of those that run changed. It never
// waits for the client.
func (a *audience) tell(now agent.Standing, listed bool, except *subscription) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for x := range a.subs {
		if x == except {
			continue
		}
		for uri, session := range x.uris {
			if session == "" || session == now.SessionID {
				a.due[notice{x, uri}] = true
				if now.State != "" {
					a.said[now.SessionID] = now
				}
			}
		}
		if listed && x.listed {
			a.due[notice{x, ""}] = true
		}
	}
	a.nudge()
}

// tellRemoved is tell for an agent that is no longer listed, which concerns those
// alone that name it. It needs mu.
func (a *audience) tellRemoved(session string) {
	for x := range a.subs {
		for uri, one := range x.uris {
			if one == session {
				a.due[notice{x, uri}] = true
			}
		}
	}
	a.nudge()
}

// nudge wakes speak.
func (a *audience) nudge() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// speak sends what is due, one after the other, as fast as the client reads. What
// becomes due again meanwhile is sent once.
func (a *audience) speak(ctx context.Context, client *wire.Client) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-client.Done():
			return
		case <-a.wake:
		}
		for {
			n, ok := a.take()
			if !ok {
				break
			}
			if err := client.Notify(n.words()); err != nil {
				return
			}
		}
		for _, now := range a.messages() {
			if err := message(ctx, a.session, now); err != nil {
				return
			}
		}
	}
}

// messages returns what was told since the last time, for a client that set a level
// for messages: the SDK sends none to any other.
func (a *audience) messages() map[string]agent.Standing {
	a.mu.Lock()
	defer a.mu.Unlock()
	said := a.said
	a.said = map[string]agent.Standing{}
	return said
}

// take returns a notice that is due, and is not any more.
func (a *audience) take() (notice, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := range a.due {
		if n.sub.open {
			delete(a.due, n)
			return n, true
		}
	}
	return notice{}, false
}

// words is a notice as it is sent.
func (n notice) words() (method string, params any) {
	if n.uri == "" {
		return notifyListed, &mcp.ResourceListChangedParams{Meta: n.sub.meta()}
	}
	return notifyUpdated, &mcp.ResourceUpdatedNotificationParams{Meta: n.sub.meta(), URI: n.uri}
}
