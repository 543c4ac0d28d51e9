package iterm

import (
	"context"
	"errors"
	"fmt"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// Resize asks for a size of a session, and returns when the terminal shows it.
// A pane that shares its tab gets what its neighbours can give.
func (c *Client) Resize(ctx context.Context, id terminal.ID, rows, columns int) error {
	const op = "resize"
	if !exact(id) {
		return unknown(op, id)
	}
	if rows < 1 || columns < 1 || rows > maxSize || columns > maxSize {
		return badSize(op, id)
	}
	return c.arrange(ctx, op, id, func(ctx context.Context, l *link) error {
		return l.resize(ctx, id, size{rows: rows, columns: columns})
	})
}

// maxSize is the most rows or columns that are asked for.
const maxSize = 1000

func badSize(op string, id terminal.ID) error {
	return &fault.Error{
		Op: op, Session: string(id), Code: fault.InvalidArgument, Detail: "the size is out of range",
		Hint: fmt.Sprintf("give rows and columns from 1 to %d", maxSize),
	}
}

// size is a session's, in cells.
type size struct{ rows, columns int }

// errMoved says that the tab is no longer as it was when its new layout was made.
var errMoved = errors.New("the panes were moved meanwhile")

func (l *link) resize(ctx context.Context, id terminal.ID, want size) error {
	for attempt := 0; ; attempt++ {
		at, t, alive := l.state.where(id)
		if !alive {
			return errNotFound
		}
		if at.listed {
			if err := hidden(at, t); err != nil {
				return err
			}
		}
		shared := panes(t.root) > 1
		if shared && t.tmux {
			return &fault.Error{
				Code: fault.Unsupported, Detail: "tmux decides over the sizes of its panes", Hint: "resize it with tmux resize-pane",
			}
		}
		var err error
		if shared {
			err = l.layOut(ctx, at, t, want)
		} else {
			err = l.setSize(ctx, id, want)
		}
		if errors.Is(err, errMoved) && attempt == 0 {
			err = l.readTopology(ctx)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		return l.awaitSize(ctx, id, size{at.rows, at.columns}, want, shared)
	}
}

// hidden refuses a session that is not among the panes of its tab: the window
// would change its size for nothing.
func hidden(at record, t tab) error {
	switch _, pane := pathTo(t.root, at.id, 0); {
	case pane != nil:
		return nil
	case at.window == "":
		return buried(at.id)
	}
	return &fault.Error{
		Code: fault.Refused, Detail: "another pane of its tab hides the session", Hint: "ask the user to restore the panes, then try again",
	}
}

// setSize resizes the window of a session that is alone in its tab.
func (l *link) setSize(ctx context.Context, id terminal.ID, want size) error {
	ask := askSize(id, want.rows, want.columns)
	r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetSetPropertyResponse)
	if err != nil {
		return err
	}
	switch r.GetStatus() {
	case api.SetPropertyResponse_OK, api.SetPropertyResponse_DEFERRED: // the layout will tell
		return nil
	case api.SetPropertyResponse_INVALID_TARGET:
		return errNotFound
	case api.SetPropertyResponse_INVALID_VALUE:
		return badSize("", "")
	case api.SetPropertyResponse_UNRECOGNIZED_NAME:
		return &fault.Error{Code: fault.Unsupported, Detail: "this terminal cannot resize sessions", Hint: "update the terminal"}
	case api.SetPropertyResponse_IMPOSSIBLE:
		return &fault.Error{
			Code: fault.Refused, Detail: "the window cannot change its size now", Hint: "ask the user to leave full screen, then try again",
		}
	default:
		return refusedBy("the size", r.GetStatus())
	}
}

// layOut moves the dividers of a tab.
func (l *link) layOut(ctx context.Context, at record, t tab, want size) error {
	ask := askTabLayout(at.tab, resized(t.root, at.id, want))
	r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetSetTabLayoutResponse)
	if err != nil {
		return err
	}
	switch r.GetStatus() {
	case api.SetTabLayoutResponse_OK:
		return nil
	case api.SetTabLayoutResponse_BAD_TAB_ID, api.SetTabLayoutResponse_WRONG_TREE:
		return errMoved
	case api.SetTabLayoutResponse_INVALID_SIZE:
		return badSize("", "")
	default:
		return refusedBy("the layout", r.GetStatus())
	}
}

// awaitSize waits until the layout shows a session in its new size. Layouts come
// late; when two readings of it agree on another size, that is the answer.
func (l *link) awaitSize(ctx context.Context, id terminal.ID, before, want size, shared bool) error {
	var read size
	last := 0
	return l.until(ctx, func(reads int) (bool, error) {
		at, _, alive := l.state.where(id)
		got := size{at.rows, at.columns}
		agree := reads > 1 && reads > last && got == read
		if reads > last {
			last, read = reads, got
		}
		switch {
		case !alive:
			return false, errNotFound
		case got == want:
			return true, nil
		case agree && shared && got != before: // what its neighbours could give
			return true, nil
		case agree:
			return false, &fault.Error{
				Code: fault.Refused, Hint: "ask for a smaller size, or move the session to a window of its own",
				Detail: fmt.Sprintf("the terminal made it %d rows of %d columns", got.rows, got.columns),
			}
		}
		return false, nil
	})
}
