package iterm

import (
	"context"
	"iter"
	"slices"
	"time"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// Watch subscribes to a session's events. Output events are asked of the
// terminal only while somebody watches the session.
func (c *Client) Watch(ctx context.Context, id terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	const op = "watch"
	if !exact(id) {
		return nil, unknown(op, id)
	}
	w := terminal.NewEventQueue(c.o.Queue)
	var l *link
	err := c.read(ctx, op, id, func(on *link) error {
		l = on
		if err := l.knowDetails(ctx); err != nil {
			return err
		}
		present, err := l.watch(ctx, id, w)
		if err != nil {
			l.unwatch(id, w)
			w = terminal.NewEventQueue(c.o.Queue)
			return err
		}
		w.Begin(present)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.sequence(ctx, l, id, w), nil
}

// sequence is a subscription to range over.
func (c *Client) sequence(ctx context.Context, l *link, id terminal.ID, w *terminal.EventQueue) iter.Seq2[terminal.Event, error] {
	events := w.Events(ctx, func() { l.unwatch(id, w) })
	return func(yield func(terminal.Event, error) bool) {
		for e, err := range events {
			if err != nil {
				err = c.explain(ctx, "watch", id, err, false)
			}
			if e.Kind == terminal.Gone && e.Exit.At.IsZero() {
				e.Exit = c.lastExit(ctx, l, id)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// watch registers w and reads the session's present, in this order, so that
// nothing falls in between.
func (l *link) watch(ctx context.Context, id terminal.ID, w *terminal.EventQueue) (terminal.Prompt, error) {
	ctx, cancel := context.WithTimeout(ctx, l.client.o.Deadline)
	defer cancel()
	screen := subscribe(api.NotificationType_NOTIFY_ON_SCREEN_UPDATE, string(id), true)
	prompt, vars := askPrompt(id, ""), l.refresh(id)
	light := l.state.isOurs() // termpilot.prompt tells all of a fresh prompt

	// Registering and asking are one step with regard to unwatch, or its
	// cancellation of the last watcher's screen updates could overtake ours.
	l.screens.Lock()
	gone := l.state.watch(id, w)
	err := gone
	var calls []*call
	if err == nil {
		if !l.rewarm(id) {
			calls = append(calls, screen)
		}
		if !light {
			calls = append(calls, prompt)
		}
		calls = append(calls, vars)
		err = l.post(ctx, calls)
	}
	l.screens.Unlock()
	if err != nil {
		return terminal.Prompt{}, err
	}
	if err := l.await(ctx, calls); err != nil {
		return terminal.Prompt{}, err
	}
	p, known, fresh, err := readFresh(vars)
	if err == nil && !(light && fresh) {
		if light {
			// One that is not fresh is asked for whole, with what goes with it.
			prompt, vars = askPrompt(id, ""), l.refresh(id)
			if err := l.do(ctx, prompt, vars); err != nil {
				return terminal.Prompt{}, err
			}
		}
		p, known, err = readPrompt(prompt, vars, "")
	}
	if err != nil {
		return p, err
	}
	if _, over := parseExit(known[varExit]); over {
		return p, ended("watch", id)
	}
	if screen.answer == nil { // it stands from before
		return p, nil
	}
	return p, subscribed(screen)
}

// readFresh makes a Prompt of the answer that tells the variables, if they tell
// all of it: one at which nothing is typed.
func readFresh(vars *call) (p terminal.Prompt, known map[string]string, fresh bool, err error) {
	v, err := answerOf(vars, (*api.ServerOriginatedMessage).GetVariableResponse)
	switch {
	case err != nil:
		return p, nil, false, err
	case v.GetStatus() == api.VariableResponse_SESSION_NOT_FOUND:
		return p, nil, false, errNotFound
	}
	if known, err = vars.variables(); err != nil {
		return p, nil, false, err
	}
	live, _ := parseLivePrompt(known[varPrompt])
	p, fresh = live.fresh(known[varMarks])
	return p, known, fresh, nil
}

// fresh makes a Prompt of what the host tells of one at which nothing is typed;
// false when it is none.
func (live livePrompt) fresh(whose string) (terminal.Prompt, bool) {
	if live.ID == "" || live.Cwd == nil || live.Typed == nil || *live.Typed || promptStates[live.State] != terminal.Editing {
		return terminal.Prompt{}, false
	}
	return withLive(terminal.Prompt{ID: live.ID, State: terminal.Editing, Marks: marks(whose, true), Cwd: *live.Cwd}, live), true
}

// lingering is how long a session's screen updates are still told when nobody
// watches it any more: most often somebody soon does again.
const lingering = 2 * time.Second

// unwatch ends a subscription; some time after the last one left a session, its
// screen updates are cancelled, without waiting for the answer.
func (l *link) unwatch(id terminal.ID, w *terminal.EventQueue) {
	l.screens.Lock()
	defer l.screens.Unlock()
	if !l.state.unwatch(id, w) || l.isLost() {
		return
	}
	if l.client.linger <= 0 {
		l.cool(id)
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(l.client.linger, func() {
		l.screens.Lock()
		defer l.screens.Unlock()
		if l.warm[id] == timer {
			delete(l.warm, id)
			l.cool(id)
		}
	})
	l.warm[id] = timer
}

// cool cancels a session's screen updates. screens is held.
func (l *link) cool(id terminal.ID) {
	if !l.isLost() {
		_ = l.post(context.Background(), []*call{subscribe(api.NotificationType_NOTIFY_ON_SCREEN_UPDATE, string(id), false)})
	}
}

// rewarm reports whether a session's screen updates are still told, and keeps
// them. screens is held.
func (l *link) rewarm(id terminal.ID) bool {
	timer, ok := l.warm[id]
	if ok {
		timer.Stop()
		delete(l.warm, id)
	}
	return ok
}

// watch registers w; it fails when the link is already lost.
func (s *state) watch(id terminal.ID, w *terminal.EventQueue) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil {
		return s.gone
	}
	s.watchers[id] = append(s.watchers[id], w)
	return nil
}

// unwatch reports whether w was the session's last watcher.
func (s *state) unwatch(id terminal.ID, w *terminal.EventQueue) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.watchers[id]
	i := slices.Index(list, w)
	if i < 0 {
		return false
	}
	if len(list) == 1 {
		delete(s.watchers, id)
		return true
	}
	s.watchers[id] = slices.Delete(list, i, i+1)
	return false
}
