package pilot

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/reduce"
	"termpilot/terminal"
)

// Read returns terminal text: the screen, history, what is new since a cursor,
// or a command's output. It changes nothing, for other readers too: a cursor
// is the caller's own. Ended sessions can be read for as long as their backend
// keeps them.
func (p *Pilot) Read(ctx context.Context, req ReadRequest) (ReadResult, error) {
	const op = "read"
	if err := checkRead(req); err != nil {
		return ReadResult{}, err
	}
	if req.SessionID == "" && req.RunID != "" {
		one, err := p.runs.find(op, req.RunID)
		if err != nil {
			return ReadResult{}, err
		}
		req.SessionID = string(one.Session)
	}
	t, err := p.find(ctx, op, req.SessionID)
	if err != nil {
		return ReadResult{}, err
	}
	r := &reading{p: p, t: t, req: req}
	if req.Cursor != "" {
		if r.from, err = decodeCursor(t.id(), req.Cursor); err != nil {
			return ReadResult{}, err
		}
	}
	switch req.Source {
	case "", SourceScreen:
		err = r.screen(ctx)
	case SourceHistory, SourceAll:
		err = r.backward(ctx)
	case SourceSince:
		err = r.since(ctx)
	case SourceCommand:
		err = r.command(ctx)
	}
	if err != nil {
		return ReadResult{}, err
	}
	return r.result(ctx), nil
}

func checkRead(req ReadRequest) error {
	refuse := func(detail, hint string) error {
		return &fault.Error{Op: "read", Session: req.SessionID, Code: fault.InvalidArgument, Detail: detail, Hint: hint}
	}
	switch req.Source {
	case "", SourceScreen, SourceHistory, SourceAll, SourceCommand:
	case SourceSince:
		if req.Cursor == "" {
			return refuse("source=since needs a cursor", "read source=screen first, and pass back its cursor")
		}
	default:
		return refuse("there is no source "+oneLine(string(req.Source)), "use screen, history, all, since or command")
	}
	if req.MaxLines < 0 || req.MaxLines > MaxLines || req.MaxChars < 0 || req.MaxChars > MaxChars {
		return refuse(fmt.Sprintf("max_lines is at most %d and max_chars at most %d", MaxLines, MaxChars), "ask for less, and read on page by page")
	}
	return nil
}

// reading is one read under way.
type reading struct {
	p    *Pilot
	t    target
	req  ReadRequest
	from cursor

	shot    terminal.Screen // the last answer: sizes and cursor
	lines   []line          // what the new cursor is placed in
	text    string
	next    *cursor // the new cursor, when it is not the end of lines
	omitted int
	more    string // the call that returns what was left out
	head    bool   // first lines are no longer kept
}

func (r *reading) maxLines() int {
	if r.req.MaxLines == 0 {
		return defaultLines
	}
	return r.req.MaxLines
}

func (r *reading) maxChars() int { return outputWish{chars: r.req.MaxChars}.budget() }

func (r *reading) ask(ctx context.Context, want terminal.Range) error {
	s, err := r.t.backend.Screen(ctx, r.t.id(), want)
	if err != nil {
		return err
	}
	r.shot, r.lines = s, screenLines(s)
	return nil
}

// screen reads what shows. A full-screen program's rows stay as they are; of
// the rest, wrapped rows are joined.
func (r *reading) screen(ctx context.Context) error {
	if err := r.ask(ctx, terminal.Range{Kind: terminal.Visible}); err != nil {
		return err
	}
	r.text = r.visible()
	r.limit()
	return nil
}

// visible is the text of r.shot, which is a screen, without blank rows below.
func (r *reading) visible() string {
	if r.shot.Alternate || !r.req.Reduce {
		rows := make([]string, len(r.shot.Rows))
		for i, row := range r.shot.Rows {
			rows[i] = row.Text
		}
		return strings.TrimRight(strings.Join(rows, "\n"), "\n")
	}
	return textOf(r.lines, 0, 0)
}

// limit brings r.text, which cannot be paged, into the budget.
func (r *reading) limit() {
	o := reduce.Options{MaxChars: r.maxChars(), MaxLines: r.maxLines(), Mask: !r.p.noMask}
	cut := reduce.Cut(r.text, o)
	if r.req.Reduce && !r.shot.Alternate {
		cut = reduce.Plain(r.text, o)
	}
	r.text, r.omitted = cut.Text, r.omitted+cut.Dropped
	if r.omitted > 0 && r.more == "" {
		r.more = r.call("source=" + string(r.source()) + " reduce=false max_chars=" + fmt.Sprint(MaxChars))
	}
}

func (r *reading) source() Source {
	if r.req.Source == "" {
		return SourceScreen
	}
	return r.req.Source
}

// call prints a read_terminal call as it can be made.
func (r *reading) call(rest string) string {
	return "read_terminal session_id=" + string(r.t.id()) + " " + rest
}

// textOf is lines from character off of lines[i] on, without blank lines at the end.
func textOf(lines []line, i, off int) string {
	var b strings.Builder
	for n := i; n < lastText(lines); n++ {
		text := lines[n].text
		if n == i {
			text = text[offset(text, off):]
			if text == "" && off > 0 {
				continue // the place was the end of this line
			}
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// lastText is one past the last line that is not blank.
func lastText(lines []line) int {
	n := len(lines)
	for n > 0 && lines[n-1].blank() {
		n--
	}
	return n
}

// backward reads the newest lines of history, or of history and screen; with
// a cursor, those before it.
func (r *reading) backward(ctx context.Context) error {
	count := min(terminal.MaxRows, 3*r.maxLines()+max(r.t.session.Rows, 64))
	end := 0
	if r.req.Cursor == "" {
		if err := r.ask(ctx, terminal.Range{Kind: terminal.Tail, Count: count}); err != nil {
			return err
		}
		end = lastText(r.lines)
		if r.req.Source == SourceHistory {
			for end > 0 && r.lines[end-1].row >= r.shot.Top {
				end--
			}
		}
	} else {
		found, err := r.locate(ctx, r.from.row-int64(count), count+contextRows)
		if err != nil {
			return err
		}
		if !found.ok {
			r.head = true
			return nil
		}
		end = found.line
	}
	first := r.takeBackward(end)
	at := place(r.t.id(), r.lines, first, 0, r.shot.Columns)
	var above int64
	if first < len(r.lines) {
		above = r.lines[first].row - r.shot.Oldest
	}
	switch {
	case above > 0:
		r.omitted += int(above)
		r.more = r.call("source=" + string(r.req.Source) + " cursor=" + at.encode() + r.flags())
	case r.shot.Oldest > 0:
		r.head = true
	}
	return nil
}

func (r *reading) flags() string {
	s := fmt.Sprintf(" reduce=%t", r.req.Reduce)
	if r.req.MaxLines > 0 {
		s += fmt.Sprintf(" max_lines=%d", r.req.MaxLines)
	}
	if r.req.MaxChars > 0 {
		s += fmt.Sprintf(" max_chars=%d", r.req.MaxChars)
	}
	return s
}

// takeBackward puts the lines before lines[end] that fit into the budget into
// r.text, and returns the first of them.
func (r *reading) takeBackward(end int) (first int) {
	chars := 0
	for first = end; first > 0 && end-first < r.maxLines(); first-- {
		n := utf8.RuneCountInString(r.lines[first-1].text) + 1
		if chars+n > r.maxChars() && first < end {
			break
		}
		chars += n
	}
	var b strings.Builder
	for i := first; i < end; i++ {
		b.WriteString(r.lines[i].text)
		b.WriteByte('\n')
	}
	r.text = strings.TrimSuffix(b.String(), "\n")
	r.shape()
	return first
}

// shape brings a page, which is within the budget but for one long line, into
// the wished form.
func (r *reading) shape() {
	o := reduce.Options{MaxChars: r.maxChars(), MaxLines: r.maxLines(), Mask: !r.p.noMask}
	cut := reduce.Cut(r.text, o)
	if r.req.Reduce {
		cut = reduce.Plain(r.text, o)
	}
	r.text = cut.Text
	r.omitted += cut.Dropped
}

// contextRows is how many rows before a cursor's row are read to know it by.
const contextRows = 64

// found is a cursor's place among r.lines.
type found struct {
	line, off int
	ok        bool // otherwise the text before it is gone
}

// locate reads rows around a cursor, from first on, and finds its place; when
// it is not there, in the last rows that one call returns.
func (r *reading) locate(ctx context.Context, first int64, count int) (found, error) {
	first = max(0, first)
	if err := r.ask(ctx, terminal.Range{Kind: terminal.Rows, First: first, Count: min(count, terminal.MaxRows)}); err != nil {
		return found{}, err
	}
	if r.from.row >= r.shot.Oldest {
		if i, off, ok := r.from.in(r.lines, r.shot.Columns); ok {
			return found{i, off, true}, nil
		}
	}
	if err := r.ask(ctx, terminal.Range{Kind: terminal.Tail, Count: terminal.MaxRows}); err != nil {
		return found{}, err
	}
	i, off, ok := r.from.in(r.lines, r.shot.Columns)
	return found{i, off, ok}, nil
}

// since reads what came after the cursor.
func (r *reading) since(ctx context.Context) error {
	at, err := r.locate(ctx, r.from.row-contextRows, terminal.MaxRows)
	if err != nil {
		return err
	}
	if r.shot.Alternate {
		return r.sinceFullScreen(ctx)
	}
	if !at.ok {
		r.head = true
		at.line = r.recent()
	}
	if !r.req.Reduce {
		return r.forward(ctx, at, terminal.Point{Row: r.shot.End}, SourceSince)
	}
	start := at
	if end := r.shot.First + int64(len(r.shot.Rows)); end < r.shot.End {
		// More is new than one call returns: the newest is shown, the rest counted.
		if err := r.ask(ctx, terminal.Range{Kind: terminal.Tail, Count: terminal.MaxRows}); err != nil {
			return err
		}
		r.omitted += int(max(0, r.shot.First-r.from.row))
		start = found{}
	}
	r.text = textOf(r.lines, start.line, start.off)
	r.more = r.call("source=since cursor=" + r.req.Cursor + " reduce=false")
	r.limit()
	if r.omitted == 0 {
		r.more = ""
	}
	return nil
}

// recent is the first of the newest lines that the budget shows.
func (r *reading) recent() int {
	return max(0, lastText(r.lines)-r.maxLines())
}

// sinceFullScreen is the whole screen of a full-screen program if it has
// changed. The place in the text below it is kept.
func (r *reading) sinceFullScreen(ctx context.Context) error {
	if err := r.ask(ctx, terminal.Range{Kind: terminal.Visible}); err != nil {
		return err
	}
	text := r.visible()
	next := r.from
	next.screen = max(1, hash32(text))
	r.next = &next
	if next.screen == r.from.screen {
		return nil
	}
	r.text = text
	r.limit()
	return nil
}

// forward reads a page from a place on, up to end, and leaves the new cursor
// behind it.
func (r *reading) forward(ctx context.Context, at found, end terminal.Point, source Source) error {
	last := lastText(r.lines)
	i, off, chars := at.line, at.off, 0
	var b strings.Builder
	shown := 0
	for ; i < last && shown < r.maxLines(); i++ {
		text := r.lines[i].text[offset(r.lines[i].text, off):]
		if text == "" && off > 0 {
			off = 0
			continue
		}
		n := utf8.RuneCountInString(text) + 1
		if room := r.maxChars() - chars; n > room {
			if shown > 0 {
				break
			}
			text = prefix(text, room) // one line over the whole budget: a part of it
			b.WriteString(text + "\n")
			off += room
			shown++
			break
		}
		b.WriteString(text)
		b.WriteByte('\n')
		chars += n
		off = 0
		shown++
	}
	r.text = reduce.Cut(strings.TrimSuffix(b.String(), "\n"), reduce.Options{MaxChars: 2 * MaxChars, Mask: !r.p.noMask}).Text
	readAll := r.shot.First+int64(len(r.shot.Rows)) >= end.Row
	if i >= last && readAll {
		return nil
	}
	var next cursor
	var left int64
	if i < last {
		next = place(r.t.id(), r.lines, i, off, r.shot.Columns)
		left = end.Row - r.lines[i].row
	} else {
		next = r.endOfLines()
		left = end.Row - next.row - 1
	}
	r.next = &next
	r.omitted = max(1, int(left))
	r.more = r.call("source=" + string(source) + r.runFlag() + " cursor=" + next.encode() + r.flags())
	return nil
}

func (r *reading) runFlag() string {
	if r.req.RunID == "" {
		return ""
	}
	return " run_id=" + r.req.RunID
}

// endOfLines is the cursor behind the last text of r.lines.
func (r *reading) endOfLines() cursor {
	n := lastText(r.lines)
	if n == 0 {
		return place(r.t.id(), r.lines, 0, 0, r.shot.Columns)
	}
	return place(r.t.id(), r.lines, n-1, utf8.RuneCountInString(r.lines[n-1].text), r.shot.Columns)
}

// result is the answer, with the readiness of the session now.
func (r *reading) result(ctx context.Context) ReadResult {
	res := ReadResult{
		SessionID: string(r.t.id()), Content: r.text, Rows: r.t.session.Rows, Columns: r.shot.Columns,
		CursorRow: int(r.shot.Cursor.Row - r.shot.Top), CursorColumn: r.shot.Cursor.Column, Alternate: r.shot.Alternate,
		TruncatedHead: r.head, Omitted: Omitted{Lines: r.omitted, HowToGet: r.more},
		Readiness: r.p.readinessNow(ctx, r.t),
	}
	if res.Rows == 0 {
		res.Rows = int(r.shot.End - r.shot.Top)
	}
	if r.text != "" {
		res.LineCount = strings.Count(r.text, "\n") + 1
	}
	c := r.endOfLines()
	if r.next != nil {
		c = *r.next
	} else if r.shot.Alternate {
		c.screen = max(1, hash32(r.visible()))
	}
	c.session = hash32(string(r.t.id()))
	res.Cursor = c.encode()
	return res
}
