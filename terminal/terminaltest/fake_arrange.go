package terminaltest

import (
	"context"
	"fmt"
	"slices"

	"termpilot/fault"
	"termpilot/terminal"
)

// place finds where a new session goes: its window, its tab, and where in the
// order of sessions. A split takes its room from the neighbour. The lock must be held.
func (f *Fake) place(spec *terminal.OpenSpec) (window, tab string, at int, err error) {
	window, tab, at = fmt.Sprintf("w%d", f.count+1), fmt.Sprintf("t%d", f.count+1), len(f.order)
	switch spec.Place {
	case terminal.InTab:
		if len(f.group(func(s *session) bool { return s.window == spec.Window })) == 0 {
			return "", "", 0, &fault.Error{Op: "open", Code: fault.WindowNotFound, Detail: spec.Window, Hint: "list the sessions"}
		}
		window = spec.Window
	case terminal.InSplit:
		beside, err := f.live("open", spec.Beside)
		if err != nil {
			return "", "", 0, err
		}
		columns, rows := beside.grid.width, beside.grid.height
		spec.Columns, spec.Rows = columns, rows
		if spec.Direction == terminal.Right || spec.Direction == terminal.Left {
			spec.Columns = columns - columns/2 - 1 // one goes to the divider
			columns /= 2
		} else {
			spec.Rows = rows - rows/2 - 1
			rows /= 2
		}
		if spec.Columns < 2 || spec.Rows < 1 {
			return "", "", 0, &fault.Error{Op: "open", Session: string(spec.Beside), Code: fault.Refused, Detail: "too small to be divided", Hint: "open a tab"}
		}
		beside.resize(columns, rows)
		window, tab, at = beside.window, beside.tab, slices.Index(f.order, beside.id)
		if spec.Direction == terminal.Right || spec.Direction == terminal.Below {
			at++
		}
	}
	return window, tab, at, nil
}

// group is the live sessions that fit, in order.
func (f *Fake) group(fits func(*session) bool) (list []*session) {
	for _, id := range f.order {
		if s := f.sessions[id]; fits(s) {
			list = append(list, s)
		}
	}
	return list
}

func (s *session) resize(columns, rows int) {
	s.grid.resize(columns, rows)
	s.emit(terminal.Output, nil)
}

// arrange runs change on a live session.
func (f *Fake) arrange(ctx context.Context, op string, id terminal.ID, change func(*session) error) error {
	if err := f.enter(ctx, op, id); err != nil {
		return err
	}
	s, err := f.live(op, id)
	if err == nil {
		err = change(s)
	}
	f.mu.Unlock()
	return f.leave(ctx, op, id, err)
}

// Focus implements terminal.Arranger.
func (f *Fake) Focus(ctx context.Context, id terminal.ID) error {
	return f.arrange(ctx, "focus", id, func(s *session) error {
		f.current = s.id
		return nil
	})
}

// Resize implements terminal.Arranger. A session that shares its tab keeps the
// size that the others leave it.
func (f *Fake) Resize(ctx context.Context, id terminal.ID, rows, columns int) error {
	return f.arrange(ctx, "resize", id, func(s *session) error {
		if rows < 1 || columns < 1 || rows > 1000 || columns > 1000 {
			return &fault.Error{Op: "resize", Session: string(id), Code: fault.InvalidArgument, Detail: "no such size", Hint: "ask for 1 to 1000 rows and columns"}
		}
		if len(f.group(func(other *session) bool { return other.tab == s.tab })) == 1 {
			s.resize(columns, rows)
		}
		return nil
	})
}

// Rename implements terminal.Arranger.
func (f *Fake) Rename(ctx context.Context, id terminal.ID, name string) error {
	return f.arrange(ctx, "rename", id, func(s *session) error {
		s.name = name
		return nil
	})
}

// CloseTab implements terminal.GroupCloser.
func (f *Fake) CloseTab(ctx context.Context, tab string, how terminal.CloseMode) error {
	return f.closeGroup(ctx, "close tab", fault.TabNotFound, tab, how, func(s *session) bool { return s.tab == tab })
}

// CloseWindow implements terminal.GroupCloser.
func (f *Fake) CloseWindow(ctx context.Context, window string, how terminal.CloseMode) error {
	return f.closeGroup(ctx, "close window", fault.WindowNotFound, window, how, func(s *session) bool { return s.window == window })
}

// closeGroup closes all of a group or, when one of it resists, none.
func (f *Fake) closeGroup(ctx context.Context, op string, none fault.Code, what string, how terminal.CloseMode, in func(*session) bool) error {
	if err := f.enter(ctx, op, ""); err != nil {
		return err
	}
	all := f.group(in)
	var err error
	if len(all) == 0 {
		err = &fault.Error{Op: op, Code: none, Detail: what, Hint: "list the sessions"}
	}
	for _, s := range all {
		if how == terminal.Hangup && s.resists {
			err = &fault.Error{Op: op, Session: string(s.id), Code: fault.Refused, Detail: "its user kept it open", Hint: "close it with force"}
		}
	}
	for _, s := range all {
		if err == nil {
			s.end(endOf(how))
		}
	}
	f.mu.Unlock()
	return f.leave(ctx, op, "", err)
}

// endOf is how a session ends that is closed.
func endOf(how terminal.CloseMode) terminal.Exit {
	if how == terminal.Force {
		return terminal.Exit{Signal: "SIGKILL"}
	}
	return terminal.Exit{Signal: "SIGHUP"}
}
