package tmux

import (
	"context"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/process"
	"termpilot/terminal"
	"termpilot/vt"
)

// Sessions lists the live panes, in tmux's order.
func (b *Backend) Sessions(ctx context.Context) ([]terminal.Session, error) {
	const op = "list"
	if ctx.Err() != nil {
		return nil, b.explain(op, "", errSilent)
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	l, err := b.listed(ctx)
	if err != nil {
		return nil, b.explain(op, "", err)
	}
	l.mu.Lock()
	panes := l.order
	l.mu.Unlock()
	l.settle(ctx, panes)
	list := make([]terminal.Session, 0, len(panes))
	for _, p := range panes {
		if over, _ := p.isOver(); !over {
			list = append(list, p.describe())
		}
	}
	return list, nil
}

// Find returns one live pane.
func (b *Backend) Find(ctx context.Context, id terminal.ID) (terminal.Session, error) {
	const op = "find"
	if ctx.Err() != nil {
		return terminal.Session{}, b.explain(op, id, errSilent)
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	l, err := b.listed(ctx)
	if err != nil {
		return terminal.Session{}, b.explain(op, id, err)
	}
	p := l.byID(id)
	switch {
	case p != nil:
	case b.over(id) != nil:
		return terminal.Session{}, ended(op, id)
	default:
		return terminal.Session{}, notFound(op, id)
	}
	l.settle(ctx, []*pane{p})
	if over, _ := p.isOver(); over {
		return terminal.Session{}, ended(op, id)
	}
	return p.describe(), nil
}

// listed connects, and reads the lists of panes and clients.
func (b *Backend) listed(ctx context.Context) (*link, error) {
	l, err := b.reach(ctx, false)
	if err == nil {
		err = l.refresh(ctx)
	}
	return l, err
}

// describe tells what is known of a session without reading its screen.
func (p *pane) describe() terminal.Session {
	p.mu.Lock()
	seen, who, pid := p.seen, p.who, p.pid
	s := terminal.Session{
		ID: p.id, Backend: "tmux",
		Window: seen.session + "@" + p.link.identity, Tab: seen.window + "!" + p.link.identity,
		Name: oneLine(seen.name), Title: entitled(seen.where, seen.title), Current: who.current(seen),
		ShellPID: pid, TTY: seen.tty, Local: true, Rows: seen.rows, Columns: seen.columns, Marks: p.marks(),
	}
	if p.term != nil {
		s.Alternate = p.term.Modes().Alternate
		s.Columns, s.Rows = p.term.Size()
		s.Host, s.Cwd = p.tracker.Folder()
		if title := p.term.Title(); title != "" {
			s.Title = entitled(seen.where, title)
		}
	}
	p.mu.Unlock()
	if pgid, name, err := process.Front(pid); err == nil {
		s.Job, s.JobPID = name, pgid
	}
	if s.Cwd == "" {
		if at, err := process.Lookup(pid); err == nil {
			s.Cwd = at.Cwd
		}
	}
	return s
}

// entitled puts what people call a pane's session and window before the title that its
// program set: those are the words in which they speak of it.
func entitled(where, title string) string { return oneLine(strings.TrimSpace(where + " " + title)) }

// starting is how long a pane must be still before a shell that has shown no
// mark counts as one that shows none.
const starting = 2 * time.Second

// marks says whose prompt marks the pane has. A shell that has told tmux its
// folder has an integration, although we came after its prompt. mu is held.
func (p *pane) marks() terminal.Marks {
	switch {
	case p.tracker == nil || !p.tracker.Seen():
		if p.nonce == "" && p.seen.folder == "" && p.tracker != nil && time.Since(p.lastOutput) >= starting {
			return terminal.MarksNone
		}
		return terminal.MarksUnknown
	case p.nonce != "":
		return terminal.MarksNonce
	}
	return terminal.MarksPlain
}

// shown is live for a caller that needs to know how the pane stands now.
func (b *Backend) shown(ctx context.Context, op string, id terminal.ID) (*pane, error) {
	p, err := b.live(ctx, op, id)
	if err != nil {
		return nil, err
	}
	return p, b.catchUp(ctx, op, p)
}

// awaitPicture returns when the pane's emulator shows what tmux does.
func (b *Backend) awaitPicture(ctx context.Context, op string, p *pane) error {
	if p.pictured() {
		return nil
	}
	return b.catchUp(ctx, op, p)
}

// catchUp returns when the pane's emulator shows what tmux did at the time of the
// call, or later. What tmux had read of the pane by then, it tells before it answers
// what is asked now: another process of ours may know of it already, and count on
// it. When another pane of the same tmux session prints faster than we read, that
// takes up to the second after which tmux leaves that pane out.
func (b *Backend) catchUp(ctx context.Context, op string, p *pane) error {
	ctx, cancel := b.limited(ctx)
	defer cancel()
	blind, err := p.catchUp(ctx, false)
	if err == nil && blind {
		blind, err = p.catchUp(ctx, true)
	}
	if err == nil && blind {
		err = errUnread
	}
	if err != nil {
		return b.explain(op, p.id, err)
	}
	return nil
}

// catchUp is that of the backend, once. blind: the picture that was asked for last,
// here where again is set, could not be read.
func (p *pane) catchUp(ctx context.Context, again bool) (blind bool, err error) {
	p.mu.Lock()
	over, h := p.over, p.listener
	p.mu.Unlock()
	switch {
	case over:
		return false, nil
	case !p.heard():
		err = p.link.look(ctx, p)
	default:
		if again {
			p.link.seed(h, p)
		}
		_, err = h.conn.do(ctx, nothing)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.blind, err
}

// pictured reports whether there is a picture of the pane, and none is awaited.
func (p *pane) pictured() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.term != nil && !p.seeding || p.over
}

// settle waits for the pictures that are asked for, as far as they come.
func (l *link) settle(ctx context.Context, panes []*pane) {
	asked := map[*conn]bool{}
	for _, p := range panes {
		p.mu.Lock()
		waits, h := p.seeding || p.term == nil, p.listener
		p.mu.Unlock()
		if waits && h != nil && h.conn != nil && !asked[h.conn] {
			asked[h.conn] = true
			_, _ = h.conn.do(ctx, nothing) // what was asked before is answered before
		}
	}
}

// look takes the picture of a pane that nobody listens to.
func (l *link) look(ctx context.Context, p *pane) error {
	c, err := l.main(ctx)
	if err != nil {
		return err
	}
	h := &listener{session: p.session(), conn: c}
	p.mu.Lock()
	p.listener = nil
	p.mu.Unlock()
	l.seed(h, p)
	_, err = c.do(ctx, nothing)
	return err
}

// Screen reads rows.
func (b *Backend) Screen(ctx context.Context, id terminal.ID, want terminal.Range) (terminal.Screen, error) {
	const op = "read"
	p, err := b.find(ctx, op, id)
	if err == nil {
		err = b.awaitPicture(ctx, op, p)
	}
	if err != nil {
		return terminal.Screen{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.term == nil {
		return terminal.Screen{}, &fault.Error{
			Op: op, Session: string(id), Code: fault.Protocol, Detail: "tmux did not tell what the pane shows", Hint: "try again",
		}
	}
	return p.screen(want), nil
}

// screen reads rows of the emulator. mu is held.
func (p *pane) screen(want terminal.Range) terminal.Screen {
	t := p.term
	c := t.Cursor()
	columns, rows := t.Size()
	s := terminal.Screen{
		Oldest: t.Dropped(), Columns: columns, Alternate: t.Modes().Alternate,
		Cursor: terminal.Point{Row: c.Row, Column: c.Column},
	}
	s.Top = s.Oldest + int64(t.History())
	s.End = s.Top + int64(rows)
	first, n := s.Top, int64(rows)
	switch want.Kind {
	case terminal.Tail:
		n = int64(min(max(want.Count, 0), terminal.MaxRows))
		first = max(s.Oldest, s.End-n)
	case terminal.Rows:
		n = int64(max(want.Count, 0))
		first = want.First
	case terminal.Cells:
		if want.Span.Empty() {
			s.First = want.Span.Start.Row
			return s
		}
		first, n = want.Span.Start.Row, want.Span.End.Row-want.Span.Start.Row+1
		if want.Span.End.Column == 0 {
			n--
		}
	}
	if first < s.Oldest {
		n -= s.Oldest - first
		first = s.Oldest
	}
	n = min(n, terminal.MaxRows, s.End-first)
	s.First = first
	if n <= 0 {
		return s
	}
	if want.Kind == terminal.Cells {
		s.Rows = cells(t, first, int(n), want.Span)
		return s
	}
	for _, r := range t.Text(first, int(n)) {
		s.Rows = append(s.Rows, terminal.Row{Text: r.Text, Soft: r.Wrapped})
	}
	return s
}

// cells reads rows of which the first and the last may be parts.
func cells(t *vt.Terminal, first int64, n int, span terminal.Span) []terminal.Row {
	text := t.Text(first, n)
	rows := make([]terminal.Row, len(text))
	for i, r := range text {
		rows[i] = terminal.Row{Text: r.Text, Soft: r.Wrapped}
		at := first + int64(i)
		from, to := 0, -1
		if at == span.Start.Row {
			from = span.Start.Column
		}
		if at == span.End.Row {
			to = span.End.Column
		}
		if from == 0 && to < 0 {
			continue
		}
		whole := t.Rows(at, 1)[0].Cells
		if to < 0 || to > len(whole) {
			to = len(whole)
		} else {
			rows[i].Soft = rows[i].Soft && to == len(whole)
		}
		rows[i].Text = part(whole, min(from, to), to)
	}
	return rows
}

// part is the text of the cells from to to: a character counts when its first
// cell is among them. What was never written is left out at the end.
func part(whole []vt.Cell, from, to int) string {
	for to > from && whole[to-1].Text == "" && whole[to-1].Width != 0 {
		to--
	}
	return vt.CellText(whole[from:to])
}

// Prompt returns a prompt of a session, the last one for "".
func (b *Backend) Prompt(ctx context.Context, id terminal.ID, promptID string) (terminal.Prompt, error) {
	const op = "prompt"
	p, err := b.find(ctx, op, id)
	if err == nil {
		err = b.catchUp(ctx, op, p)
	}
	if err != nil {
		return terminal.Prompt{}, err
	}
	if promptID == "" {
		ask(ctx, p)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case promptID == "":
		return p.last(), nil
	case p.tracker == nil:
		return terminal.Prompt{ID: promptID, State: terminal.Lost}, nil
	}
	q := p.tracker.Prompt(promptID, p.unread())
	if q.State == terminal.Lost {
		return q, nil
	}
	return p.finish(q), nil
}

// Prompts returns the last prompt of every live pane. It costs no more than
// listing them.
func (b *Backend) Prompts(ctx context.Context) (map[terminal.ID]terminal.Prompt, error) {
	const op = "prompts"
	if ctx.Err() != nil {
		return nil, b.explain(op, "", errSilent)
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	l, err := b.reach(ctx, false)
	if err == nil {
		err = l.refresh(ctx)
	}
	if err != nil {
		return nil, b.explain(op, "", err)
	}
	l.mu.Lock()
	panes := l.order
	l.mu.Unlock()
	l.settle(ctx, panes)
	ask(ctx, panes...)
	all := make(map[terminal.ID]terminal.Prompt, len(panes))
	for _, p := range panes {
		p.mu.Lock()
		q := p.last()
		over := p.over
		p.mu.Unlock()
		if !over {
			all[p.id] = terminal.Prompt{ID: q.ID, State: q.State, Marks: q.Marks, Typed: q.Typed, Touched: q.Touched, Paste: q.Paste}
		}
	}
	return all, nil
}

// ApplicationCursor reports whether the program wants its cursor keys in their
// application form.
func (b *Backend) ApplicationCursor(ctx context.Context, id terminal.ID) (bool, error) {
	p, err := b.shown(ctx, "keys", id)
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.term != nil && p.term.Modes().ApplicationCursor, nil
}
