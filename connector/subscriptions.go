package connector

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termpilot/connector/internal/wire"
	"termpilot/fault"
)

// The most that one client subscribes to. A listen holds one of the calls that a
// client may have open.
const (
	mostSubscribed = 64 // resources
	mostListens    = 16
)

// unfollowing is how long followers may take to end after their client has.
const unfollowing = 500 * time.Millisecond

// subscription is one listen, or one resource that was subscribed to in the older era.
type subscription struct {
	id     json.RawMessage   // of the listen; nil in the older era
	uris   map[string]string // as the client spelled them: which session, "" is all agents
	listed bool              // it wants to hear when agents come and go
	open   bool              // it may be told already
}

// wantsAll reports whether a subscription is about every agent.
func (x *subscription) wantsAll() bool {
	if x.listed {
		return true
	}
	for _, session := range x.uris {
		if session == "" {
			return true
		}
	}
	return false
}

// names reports whether a subscription is about the agent of a session by itself.
func (x *subscription) names(session string) bool {
	if x == nil {
		return false
	}
	for _, one := range x.uris {
		if one == session {
			return true
		}
	}
	return false
}

// lock takes the token, and reports false when ctx ended first.
func (a *audience) lock(ctx context.Context) bool {
	select {
	case a.life <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (a *audience) unlock() { <-a.life }

// subscribe is resources/subscribe of the older era.
func (s *Server) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	a := audienceOf(ctx)
	if a == nil || !s.offers {
		return methodNotFound
	}
	session, err := parseURI(r.Params.URI)
	if err == nil {
		x := &subscription{uris: map[string]string{r.Params.URI: session}, listed: session == "", open: true}
		err = a.add(ctx, r.Session, x)
	}
	if err != nil {
		return refuseResource(r.Params, err)
	}
	return nil
}

// unsubscribe is resources/unsubscribe. What was not subscribed to changes nothing.
func (s *Server) unsubscribe(ctx context.Context, r *mcp.UnsubscribeRequest) error {
	a := audienceOf(ctx)
	if a == nil || !s.offers {
		return methodNotFound
	}
	if x := a.legacy(r.Params.URI); x != nil {
		a.remove(x)
	}
	return nil
}

// legacy is the subscription of the older era to a URI, or nil.
func (a *audience) legacy(uri string) *subscription {
	a.mu.Lock()
	defer a.mu.Unlock()
	for x := range a.subs {
		if _, is := x.uris[uri]; is && x.id == nil {
			return x
		}
	}
	return nil
}

// listen is subscriptions/listen of the newer era: it lasts until the client
// cancels it or one side ends.
func (a *audience) listen(ctx context.Context, session *mcp.ServerSession, p *mcp.SubscriptionsListenParams) (*mcp.SubscriptionsListenResult, error) {
	var asked mcp.NotificationSubscriptions // as far as it is offered
	if a.s.offers {
		asked = *p.Notifications
	}
	x := &subscription{id: wire.RequestID(p), uris: map[string]string{}, listed: asked.ResourcesListChanged}
	agreed := mcp.NotificationSubscriptions{ResourcesListChanged: x.listed}
	for _, uri := range asked.ResourceSubscriptions {
		session, err := parseURI(uri)
		if err != nil {
			return nil, err
		}
		if _, twice := x.uris[uri]; !twice {
			x.uris[uri] = session
			agreed.ResourceSubscriptions = append(agreed.ResourceSubscriptions, uri)
		}
	}
	client := wire.ClientOf(ctx)
	over := &mcp.SubscriptionsListenResult{Meta: x.meta()}
	lasts := x.listed || len(x.uris) > 0
	if lasts {
		if err := a.add(ctx, session, x); err != nil {
			return nil, err
		}
		defer a.remove(x)
	}
	err := client.Notify(notifyAcknowledged, &mcp.SubscriptionsAcknowledgedParams{Meta: x.meta(), Notifications: agreed})
	if err != nil || !lasts {
		return over, err
	}
	a.mu.Lock()
	x.open = true
	a.mu.Unlock()
	a.nudge()
	select {
	case <-ctx.Done():
	case <-a.s.ctx.Done():
	case <-client.Done():
	}
	return over, nil
}

// meta names the subscription in what is sent on it; nil in the older era.
func (x *subscription) meta() mcp.Meta {
	if x.id == nil {
		return nil
	}
	return mcp.Meta{mcp.MetaKeySubscriptionID: x.id}
}

// add takes a subscription in, and returns when everything that happens from now on
// will be told. session is the client's.
func (a *audience) add(ctx context.Context, session *mcp.ServerSession, x *subscription) error {
	if !a.lock(ctx) {
		return ctx.Err()
	}
	defer a.unlock()
	if x.id == nil {
		for uri := range x.uris {
			if a.legacy(uri) != nil {
				return nil
			}
		}
	}
	if err := a.room(x); err != nil {
		return err
	}
	if a.end == nil {
		if err := a.begin(wire.ClientOf(ctx), session); err != nil {
			return err
		}
	}
	a.mu.Lock()
	a.subs[x] = true
	a.mu.Unlock()
	err := a.sync(ctx, x)
	if err != nil {
		a.drop(x)
	}
	return err
}

// room refuses a subscription that is too many.
func (a *audience) room(x *subscription) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	uris, listens := len(x.uris), 0
	for other := range a.subs {
		uris += len(other.uris)
		if other.id != nil {
			listens++
		}
	}
	refused := func(detail, hint string) error {
		return &fault.Error{Op: "subscribe", Code: fault.TooLarge, Detail: detail, Hint: hint}
	}
	switch {
	case a.closed:
		return &fault.Error{Op: "subscribe", Code: fault.Deadline, Detail: "the connection is ending", Hint: "connect anew"}
	case uris > mostSubscribed:
		return refused(fmt.Sprintf("%d resources are the most that a client subscribes to", mostSubscribed), "subscribe to "+agentsURI+", which tells of all, or end other subscriptions")
	case x.id != nil && listens >= mostListens:
		return refused(fmt.Sprintf("%d listens are the most that a client has open", mostListens), "name several resources in one, or cancel others")
	}
	return nil
}

// remove ends a subscription.
func (a *audience) remove(x *subscription) {
	a.life <- struct{}{}
	defer a.unlock()
	a.drop(x)
}

// drop is remove with the token held. With the last one the watching ends.
func (a *audience) drop(x *subscription) {
	a.mu.Lock()
	delete(a.subs, x)
	for n := range a.due {
		if n.sub == x {
			delete(a.due, n)
		}
	}
	left := len(a.subs)
	a.mu.Unlock()
	switch {
	case a.end == nil:
	case left == 0:
		a.halt()
		a.running.Wait()
	default:
		if err := a.sync(a.ctx, nil); err != nil {
			a.warn(err)
		}
	}
}

// halt lets everything end that watches.
func (a *audience) halt() {
	a.end()
	a.end = nil
	a.mu.Lock()
	defer a.mu.Unlock()
	a.subs, a.followed, a.due, a.said = nil, nil, nil, nil
}

// close ends all subscriptions for good. What cannot end is given up on in time: it
// holds nothing but its own memory.
func (a *audience) close() {
	ctx, cancel := context.WithTimeout(context.Background(), unfollowing)
	defer cancel()
	if !a.lock(ctx) {
		return
	}
	defer a.unlock()
	a.closed = true
	if a.end == nil {
		return
	}
	a.halt()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.running.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
