package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"termpilot/fault"
	"termpilot/process"
	"termpilot/terminal"
)

// Focus selects the pane and its window, and has the client that was used last
// show its session. Nobody else's view changes.
func (b *Backend) Focus(ctx context.Context, id terminal.ID) error {
	const op = "focus"
	p, err := b.live(ctx, op, id)
	if err != nil {
		return err
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	l, session := p.link, p.session()
	at := "-t " + p.target()
	line := "select-window " + at + " ; select-pane " + at
	answers, err := l.do(ctx, "list-clients -F "+quote("F #{client_control_mode} #{client_activity} #{session_id} #{client_name}"))
	if err != nil {
		return b.explain(op, id, err)
	}
	client, shows, err := newestClient(answers)
	if err != nil {
		return b.explain(op, id, err)
	}
	if client != "" && shows != session {
		line += " ; switch-client -c " + quote(client) + " -t " + quote(session)
	}
	if _, err := l.do(ctx, line); err != nil {
		return b.explain(op, id, p.vanished(err))
	}
	if err := l.refresh(ctx); err != nil {
		return b.explain(op, id, err)
	}
	return nil
}

// newestClient is the person's client that was used last, and the session that
// it shows.
func newestClient(answers []answer) (name, session string, err error) {
	newest := int64(-1)
	for _, a := range answers {
		for _, line := range a.lines {
			f := strings.SplitN(string(line), " ", 5)
			if len(f) != 5 || f[0] != "F" {
				return "", "", unread(string(line))
			}
			at, err := strconv.ParseInt(f[2], 10, 64)
			if err != nil {
				return "", "", unread(string(line))
			}
			if f[1] != "1" && at > newest {
				newest, name, session = at, f[4], f[3]
			}
		}
	}
	return name, session, nil
}

// Resize asks for a size in cells. Where a person's client shows the window,
// its size is that client's: only what the panes have of it can change.
func (b *Backend) Resize(ctx context.Context, id terminal.ID, rows, columns int) error {
	const op = "resize"
	p, err := b.live(ctx, op, id)
	if err != nil {
		return err
	}
	if rows < 1 || columns < 1 || rows > maxRows || columns > maxColumns {
		return &fault.Error{
			Op: op, Session: string(id), Code: fault.InvalidArgument, Detail: fmt.Sprintf("%d rows and %d columns are not possible", rows, columns),
			Hint: "give 1 to 1000 of each",
		}
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	if err := p.link.resize(ctx, p, rows, columns); err != nil {
		return b.explain(op, id, p.vanished(err))
	}
	if err := p.link.refresh(ctx); err != nil {
		return b.explain(op, id, err)
	}
	return nil
}

// resize changes a pane's share of its window; the size of the window itself
// when it is alone there and no person's client shows it. 0 stays as it is.
func (l *link) resize(ctx context.Context, p *pane, rows, columns int) error {
	p.mu.Lock()
	seen, watched := p.seen, p.who.attached[p.seen.session] > 0
	h := p.listener
	p.mu.Unlock()
	if rows == 0 {
		rows = seen.rows
	}
	if columns == 0 {
		columns = seen.columns
	}
	command := fmt.Sprintf("resize-pane -t %s -x %d -y %d", p.target(), columns, rows)
	if !watched && l.fills(seen) {
		command = fmt.Sprintf("resize-window -t %s -x %d -y %d", p.target(), columns, rows)
	}
	if _, err := l.do(ctx, command); err != nil {
		return err
	}
	if h != nil && h.conn != nil {
		l.measure(h)
		if _, err := h.conn.do(ctx, nothing); err != nil { // what was asked before is answered before
			return err
		}
	}
	p.awaitSize(ctx)
	return nil
}

// lateSize is how long tmux may put off telling a program of its new size.
const lateSize = 600 * time.Millisecond

// awaitSize returns when the pane's terminal has the size that tmux lists.
func (p *pane) awaitSize(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lateSize)
	defer cancel()
	for {
		p.mu.Lock()
		tty, term := p.seen.tty, p.term
		columns, rows := 0, 0
		if term != nil {
			columns, rows = term.Size()
		}
		p.mu.Unlock()
		if c, r, err := sizeOf(tty); err != nil || c == columns && r == rows {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(3 * time.Millisecond): // only the program is told
		}
	}
}

// sizeOf is the size of a terminal device.
func sizeOf(tty string) (columns, rows int, err error) {
	if !strings.HasPrefix(tty, "/dev/") {
		return 0, 0, process.ErrNoTTY
	}
	fd, err := unix.Open(tty, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(fd)
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, err
	}
	return int(size.Col), int(size.Row), nil
}

// fills reports whether a pane has its window to itself.
func (l *link) fills(seen listed) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, p := range l.order {
		p.mu.Lock()
		if p.seen.window == seen.window {
			n++
		}
		p.mu.Unlock()
	}
	return n <= 1
}

// Rename sets the name that we know the pane by. It is an option of the pane's
// own; nothing that the person named is renamed.
func (b *Backend) Rename(ctx context.Context, id terminal.ID, name string) error {
	const op = "rename"
	p, err := b.live(ctx, op, id)
	if err != nil {
		return err
	}
	if strings.Contains(name, "\x00") {
		return &fault.Error{Op: op, Session: string(id), Code: fault.InvalidArgument, Detail: "there is a NUL in it"}
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	command := "set-option -p -t " + p.target() + " @termpilot_name " + quote(name)
	if name == "" {
		command = "set-option -p -u -t " + p.target() + " @termpilot_name"
	}
	if _, err = p.link.do(ctx, command); err == nil {
		err = p.link.refresh(ctx)
	}
	if err != nil {
		return b.explain(op, id, p.vanished(err))
	}
	return nil
}
