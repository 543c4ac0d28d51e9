package tmux

import (
	"context"
	"errors"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Close ends a pane: tmux hangs up on its program. The two modes are the same
// here, because tmux asks nobody.
func (b *Backend) Close(ctx context.Context, id terminal.ID, _ terminal.CloseMode) error {
	const op = "close"
	p, err := b.live(ctx, op, id)
	if err != nil {
		return err
	}
	at := "-t " + p.target()
	return b.kill(ctx, op, p.link, "if-shell -F "+at+" '"+p.other()+"' 'display-message -p "+other+"' 'kill-pane "+at+"'", []*pane{p})
}

// CloseTab ends all panes of a tmux window.
func (b *Backend) CloseTab(ctx context.Context, tab string, _ terminal.CloseMode) error {
	const op = "close"
	l, panes, err := b.group(ctx, op, func(p *pane) bool { return p.describe().Tab == tab })
	switch {
	case err != nil:
		return err
	case len(panes) == 0:
		return &fault.Error{Op: op, Code: fault.TabNotFound, Detail: tab, Hint: "call list_sessions and pass a tab_id from it"}
	}
	return b.kill(ctx, op, l, "kill-window -t "+quote(bare(tab)), panes)
}

// CloseWindow ends all panes of a tmux session.
func (b *Backend) CloseWindow(ctx context.Context, window string, _ terminal.CloseMode) error {
	const op = "close"
	l, panes, err := b.group(ctx, op, func(p *pane) bool { return p.describe().Window == window })
	switch {
	case err != nil:
		return err
	case len(panes) == 0:
		return windowNotFound(op, window)
	}
	return b.kill(ctx, op, l, "kill-session -t "+quote(bare(window)), panes)
}

func windowNotFound(op, window string) error {
	return &fault.Error{Op: op, Code: fault.WindowNotFound, Detail: window, Hint: "call list_sessions and pass a window_id from it"}
}

// bare is tmux's own name of a window or session of ours.
func bare(id string) string {
	if i := strings.LastIndexAny(id, "@!"); i > 0 {
		return id[:i]
	}
	return id
}

// group returns the live panes that belong to something.
func (b *Backend) group(ctx context.Context, op string, of func(*pane) bool) (*link, []*pane, error) {
	ctx, cancel := b.limited(ctx)
	defer cancel()
	l, err := b.reach(ctx, false)
	if err == nil {
		err = l.refresh(ctx)
	}
	if err != nil {
		return nil, nil, b.explain(op, "", err)
	}
	l.mu.Lock()
	all := l.order
	l.mu.Unlock()
	var panes []*pane
	for _, p := range all {
		if of(p) {
			panes = append(panes, p)
		}
	}
	return l, panes, nil
}

// kill carries out a command that ends panes, and returns when tmux lists them
// no more. The server may end with its last session, and then answers nothing.
func (b *Backend) kill(ctx context.Context, op string, l *link, command string, panes []*pane) error {
	ctx, cancel := b.limited(ctx)
	defer cancel()
	_, err := l.alone(ctx, true, command)
	if err == nil {
		err = l.refresh(ctx)
	}
	if err != nil && !errors.Is(err, errSilent) && l.died() { // with its last session
		l.give(errLost)
		err = nil
	}
	if err != nil {
		return b.explain(op, panes[0].id, err)
	}
	for _, p := range panes {
		for over := false; !over; {
			if over, _ = p.isOver(); over {
				break
			}
			select {
			case <-ctx.Done():
				return b.explain(op, p.id, errSilent)
			case <-time.After(2 * time.Millisecond): // its end is told by another goroutine
			}
		}
	}
	return nil
}

// Exit returns how a session ended. tmux tells it of the panes that we opened.
func (b *Backend) Exit(_ context.Context, id terminal.ID) (terminal.Exit, error) {
	p := b.over(id)
	if p == nil {
		return terminal.Exit{}, notFound("exit", id)
	}
	_, exit := p.isOver()
	return exit, nil
}
