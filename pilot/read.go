package pilot

import (
	"cmp"
	"context"
	"fmt"
	"strings"

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
		one, err := p.findRun(op, req.RunID)
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
	switch {
	case req.Pattern != "":
		err = r.search(ctx)
	case req.Source == "", req.Source == SourceScreen:
		err = r.screen(ctx)
	case req.Source == SourceHistory, req.Source == SourceAll:
		err = r.backward(ctx)
	case req.Source == SourceSince:
		err = r.since(ctx)
	case req.Source == SourceCommand:
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
	if err := cmp.Or(
		checkLimit("read", req.SessionID, "max_lines", req.MaxLines, MaxLines),
		checkLimit("read", req.SessionID, "max_chars", req.MaxChars, MaxChars),
		checkLimit("read", req.SessionID, "context", req.Context, MaxContext),
	); err != nil {
		return err
	}
	if req.Pattern == "" && (req.Regex || req.Context > 0) {
		return refuse("regex or context is given, and no pattern", "pass the text to search for")
	}
	if req.Pattern != "" {
		_, err := compilePattern("read", req.Pattern, req.Regex)
		return err
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
	masked  int
	matches int
	more    string // the call that returns what was left out
	strewn  bool   // a part of a command's output stands where it is not told
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
	s, err := r.p.ask(ctx, r.t, want)
	if err != nil {
		return err
	}
	r.shot, r.lines = s, screenLines(s)
	return nil
}

// find finds the secrets of r.lines[from:to].
func (r *reading) find(ctx context.Context, from, to int) error {
	return r.p.findSecrets(ctx, r.t, r.shot, r.lines, from, to)
}

// screen reads what shows. A full-screen program's rows stay as they are; of
// the rest, wrapped rows are joined.
func (r *reading) screen(ctx context.Context) error {
	if err := r.ask(ctx, terminal.Range{Kind: terminal.Visible}); err != nil {
		return err
	}
	return r.show(ctx)
}

// show puts the screen that was read into the answer.
func (r *reading) show(ctx context.Context) error {
	if err := r.find(ctx, 0, len(r.lines)); err != nil {
		return err
	}
	r.text = r.visible()
	r.limit()
	return nil
}

// visible is the text of r.shot, which is a screen, without blank rows below.
func (r *reading) visible() string {
	if !r.shot.Alternate && r.req.Reduce {
		return textOf(r.lines, 0)
	}
	var b strings.Builder
	for i := range r.lines {
		for _, row := range r.rowsOf(i) {
			b.WriteString(row.marked())
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// rowsOf is a line in its rows.
func (r *reading) rowsOf(i int) []line {
	l, end := r.lines[i], r.shot.First+int64(len(r.shot.Rows))
	if i+1 < len(r.lines) {
		end = r.lines[i+1].row
	}
	var rows []line
	at := 0
	for _, row := range r.shot.Rows[l.row-r.shot.First : end-r.shot.First] {
		rows = append(rows, line{text: row.Text, secrets: clip(l.secrets, at, at+len(row.Text))})
		at += len(row.Text)
	}
	return rows
}

// trace tells the screen of a full-screen program that was read from others.
func (r *reading) trace() uint32 {
	rows := make([]string, len(r.shot.Rows))
	for i, row := range r.shot.Rows {
		rows[i] = row.Text
	}
	return max(1, hash32(strings.TrimRight(strings.Join(rows, "\n"), "\n")))
}

// options are those of an answer whose secrets are marked.
func (r *reading) options() reduce.Options {
	return reduce.Options{MaxChars: r.maxChars(), MaxLines: r.maxLines(), Mask: !r.p.noMask, Marked: true}
}

// limit brings r.text, which cannot be paged, into the budget.
func (r *reading) limit() {
	o := r.options()
	cut := reduce.Cut(r.text, o)
	if r.req.Reduce && !r.shot.Alternate {
		cut = reduce.Plain(r.text, o)
	}
	r.text, r.omitted, r.masked = cut.Text, r.omitted+cut.Dropped, cut.Masked
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

// textOf is lines from lines[i] on, without blank lines at the end.
func textOf(lines []line, i int) string {
	var b strings.Builder
	for n := i; n < lastText(lines); n++ {
		b.WriteString(lines[n].marked())
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

// result is the answer, with the readiness of the session now.
func (r *reading) result(ctx context.Context) ReadResult {
	res := ReadResult{
		SessionID: string(r.t.id()), Content: r.text, Rows: r.t.session.Rows, Columns: r.shot.Columns,
		CursorRow: int(r.shot.Cursor.Row - r.shot.Top), CursorColumn: r.shot.Cursor.Column, Alternate: r.shot.Alternate,
		TruncatedHead: r.head, Omitted: Omitted{Lines: r.omitted, HowToGet: r.more}, Masked: r.masked, Matches: r.matches,
		Readiness: r.p.readinessNow(ctx, r.t),
	}
	if r.strewn {
		res.Omitted.HowToGet = cmp.Or(r.more, readScreen(res.SessionID))
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
		c.screen = r.trace()
	}
	c.session = hash32(string(r.t.id()))
	res.Cursor = c.encode()
	return res
}
