package iterm

import (
	"context"
	"errors"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// activation is how far a session is brought to the front.
type activation struct {
	front   bool // its window before others
	tab     bool // its tab in its window
	session bool // its pane in its tab
	app     bool // the terminal before other applications
}

// Focus gives a session the keyboard focus, and returns when the terminal says
// that it has it.
func (c *Client) Focus(ctx context.Context, id terminal.ID) error {
	const op = "focus"
	if !exact(id) {
		return unknown(op, id)
	}
	return c.arrange(ctx, op, id, func(ctx context.Context, l *link) error { return l.focus(ctx, id) })
}

// arrange calls do, which changes how a session is shown, once, on a link that
// knows where sessions are.
func (c *Client) arrange(ctx context.Context, op string, id terminal.ID, do func(context.Context, *link) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.o.Deadline)
	defer cancel()
	l, err := c.connect(ctx)
	if err == nil {
		err = l.knowTopology(ctx)
	}
	if err != nil {
		return c.explain(ctx, op, id, err, false)
	}
	if err = do(ctx, l); errors.Is(err, errNotFound) {
		err = c.notFound(ctx, l, op, id)
	}
	return c.explain(ctx, op, id, err, true)
}

// focus activates a session and waits until the terminal says so.
func (l *link) focus(ctx context.Context, id terminal.ID) error {
	if err := l.activate(ctx, id, activation{front: true, tab: true, session: true, app: true}); err != nil {
		return err
	}
	return l.until(ctx, func(reads int) (bool, error) {
		switch f := l.state.focus(); {
		case f.window != "" && f.in(f.window) == id:
			return true, nil
		case !l.state.alive(id):
			return false, errNotFound
		case reads > 1:
			return false, &fault.Error{
				Code: fault.Refused, Detail: "the terminal keeps the focus elsewhere", Hint: "look whether it shows a dialog, and try again",
			}
		}
		return false, nil
	})
}

func (l *link) activate(ctx context.Context, id terminal.ID, how activation) error {
	ask := askActivate(id, how)
	r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetActivateResponse)
	if err != nil {
		return err
	}
	switch r.GetStatus() {
	case api.ActivateResponse_OK:
		return nil
	case api.ActivateResponse_BAD_IDENTIFIER:
		return errNotFound
	default:
		return refusedBy("the focus", r.GetStatus())
	}
}

// giveBack undoes what a creation did to the focus, level by level: iTerm2 makes
// every new pane the active one of its tab, and older ones select and raise every
// new tab. before is the focus as it was, and what the terminal says now is
// known. A session that had the focus may be gone by now; then it stays.
func (l *link) giveBack(ctx context.Context, made terminal.ID, before focus) error {
	at, _, alive := l.state.where(made)
	now := l.state.focus()
	if !alive {
		return nil
	}
	var calls []*call
	give := func(id terminal.ID, how activation) {
		if id != "" && id != made {
			calls = append(calls, askActivate(id, how))
		}
	}
	if now.active[at.tab] == made {
		give(before.active[at.tab], activation{session: true})
	}
	if now.selected[at.window] == at.tab && before.selected[at.window] != at.tab {
		give(before.in(at.window), activation{tab: true})
	}
	if now.window == at.window && before.window != at.window {
		give(before.in(before.window), activation{front: true})
	}
	if len(calls) == 0 {
		return nil
	}
	return l.do(ctx, append(calls, l.askFocus())...)
}
