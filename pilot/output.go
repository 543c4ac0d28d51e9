package pilot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/reduce"
	"termpilot/terminal"
)

// Budgets of an answer, in characters and lines.
const (
	defaultChars = 32768
	MaxChars     = 131072 // the most that a caller may ask for
	defaultLines = 200
	MaxLines     = 2000 // the most that a caller may ask for
)

// outputWish is how much of an output is wanted, and in which form.
type outputWish struct {
	chars  int
	lines  int // 0: as many as fit
	reduce bool
}

func (w outputWish) budget() int { return cmp.Or(w.chars, defaultChars) }

// checkLimit refuses a limit of an answer that is none; 0 stands for the usual one.
func checkLimit(op, session, what string, limit, most int) error {
	if limit >= 0 && limit <= most {
		return nil
	}
	return &fault.Error{
		Op: op, Session: session, Code: fault.InvalidArgument, Detail: fmt.Sprintf("%s is %d; the most is %d", what, limit, most),
		Hint: fmt.Sprintf("pass %d or less, and read on page by page", most),
	}
}

const (
	// headRows and tailRows are what is read of an output that does not fit
	// into one Screen call: more than any budget shows.
	headRows = 2000
	tailRows = 8000
)

// extent is text of a span, with what could not be had.
type extent struct {
	text    string
	rows    int64 // of the span, lost ones too
	lost    int64 // rows at its start that the terminal no longer keeps
	skipped int64 // rows in its middle that were not read
	seam    int   // where in text the skipped rows would be
}

// readOutput reads what the command of a prompt printed.
func readOutput(ctx context.Context, t target, p terminal.Prompt) (extent, error) {
	e, err := readSpan(ctx, t, p.Output)
	if p.Rest != "" {
		e.text += p.Rest
		e.rows++
	}
	return e, err
}

// readSpan reads the cells of a span: all of them when they fit into one call,
// else its head and its tail.
func readSpan(ctx context.Context, t target, span terminal.Span) (extent, error) {
	if span.Empty() {
		return extent{}, nil
	}
	rows := rowsEnd(span) - span.Start.Row
	read := func(part terminal.Span) (terminal.Screen, error) {
		return t.backend.Screen(ctx, t.id(), terminal.Range{Kind: terminal.Cells, Span: part})
	}
	if rows <= terminal.MaxRows {
		s, err := read(span)
		if err != nil {
			return extent{}, err
		}
		return extent{text: joinRows(s.Rows), rows: rows, lost: lostRows(s, span)}, nil
	}
	tail, err := read(terminal.Span{Start: terminal.Point{Row: span.End.Row - tailRows}, End: span.End})
	if err != nil {
		return extent{}, err
	}
	first := max(span.Start.Row, tail.Oldest)
	start := span.Start
	if first > start.Row {
		start = terminal.Point{Row: first}
	}
	e := extent{rows: rows, lost: first - span.Start.Row}
	end := min(first+headRows, tail.First)
	if end > first {
		head, err := read(terminal.Span{Start: start, End: terminal.Point{Row: end}})
		if err != nil {
			return extent{}, err
		}
		e.text = joinRows(head.Rows)
		if e.text != "" && !strings.HasSuffix(e.text, "\n") {
			e.text += "\n"
		}
	}
	e.skipped = max(0, tail.First-end)
	e.seam = len(e.text)
	e.text += joinRows(tail.Rows)
	return e, nil
}

func lostRows(s terminal.Screen, span terminal.Span) int64 {
	return min(max(0, s.Oldest-span.Start.Row), max(0, span.End.Row-span.Start.Row+1))
}

// joinRows is the text of rows as lines: rows that a line was wrapped into are
// one line again, and blanks that a program wrote stay.
func joinRows(rows []terminal.Row) string {
	n := 0
	for _, r := range rows {
		n += len(r.Text) + 1
	}
	var b strings.Builder
	b.Grow(n)
	for _, r := range rows {
		b.WriteString(r.Text)
		if !r.Soft {
			b.WriteByte('\n')
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// report turns what was awaited into the result, and records the outcome. It
// finishes its reading although the caller may be gone.
func (p *Pilot) report(ctx context.Context, t target, a *awaiting, wish outputWish) (RunResult, error) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	now := time.Now()
	one := a.run
	one.Prompts = slices.Clone(a.ids)
	one.Status, one.Exit, one.Reason, one.untyped = a.status, a.exit, a.reason, a.untyped
	switch a.status {
	case Continues:
		one.Left = a.current()
	case Rejected:
		one.Left = a.other
	default:
		one.Left = ""
	}
	res := RunResult{
		RunID: one.ID, SessionID: string(one.Session), Command: one.Command, Status: a.status, Kind: a.kind,
		ExitCode: a.exit, ExitReason: a.reason, Evidence: append([]string{}, one.Evidence...),
		DurationMS: now.Sub(one.Began).Milliseconds(), Cwd: t.session.Cwd,
	}
	switch {
	case a.unseen, one.over() && a.endedAt.IsZero() && a.run.over():
		res.DurationMS = 0
	case a.ended && !a.endedAt.IsZero():
		res.DurationMS = a.endedAt.Sub(one.Began).Milliseconds()
	}
	if a.named {
		res.Evidence = append(res.Evidence, "text")
	}
	if one.over() && one.Ended.IsZero() && !a.unseen {
		one.Ended = now
		if a.ended && !a.endedAt.IsZero() {
			one.Ended = a.endedAt
		}
	}
	p.collect(ctx, t, a, wish, &res)
	if res.Status == Rejected && res.Output == "" {
		res.Output, res.Masked = p.refusalText(ctx, t, one.Command)
	}
	res.ExitReason = exitReason(res)
	if a.run.over() {
		return res, nil // on record already
	}
	// The command ran: its result is worth more than its record.
	failed := func(one run, err error) { p.log.Warn("run outcome not recorded", "run", one.ID, "error", err) }
	if a.status == Completed && a.ended {
		p.runs.report(one, failed)
	} else if err := p.runs.save("run", one); err != nil {
		failed(one, err)
	}
	p.log.Info("run reported", "run", one.ID, "status", string(res.Status), "ms", res.DurationMS)
	return res, nil
}

// exitReason says why there is no exit code, when nothing said it yet.
func exitReason(res RunResult) string {
	if res.ExitReason == "" && res.ExitCode == nil {
		return "the shell reported no exit code"
	}
	return res.ExitReason
}

// collect reads what the run printed into res.
func (p *Pilot) collect(ctx context.Context, t target, a *awaiting, wish outputWish, res *RunResult) {
	var all extent
	strewn := false
	for i, id := range a.ids {
		if a.status == Completed && slices.Contains(a.silent, id) {
			continue // its end told all that is asked here
		}
		prompt, err := t.backend.Prompt(ctx, t.id(), id)
		if err != nil {
			res.ExitReason = joinReasons(res.ExitReason, "the output could not be read: "+oneLine(err.Error()))
			continue
		}
		if prompt.State == terminal.Lost {
			res.ExitReason = joinReasons(res.ExitReason, "the output is no longer kept by the terminal")
			continue
		}
		if res.Command == "" {
			res.Command = prompt.Command
		}
		if prompt.Cwd != "" {
			res.Cwd = prompt.Cwd
		}
		if prompt.Unseen {
			res.ExitReason = joinReasons(res.ExitReason, "the command began before this process watched the terminal: read what it printed with read_terminal")
			continue
		}
		strewn = strewn || prompt.Strewn
		if i == len(a.ids)-1 && a.status == RunUnknown {
			prompt.Output = withoutPrompt(prompt.Output)
		}
		e, err := readOutput(ctx, t, prompt)
		if err != nil {
			res.ExitReason = joinReasons(res.ExitReason, "the output could not be read: "+oneLine(err.Error()))
			continue
		}
		all = all.append(e)
	}
	out := p.fit(res.Command, all, wish)
	res.Output, res.Masked, res.TruncatedHead = out.text, out.masked, all.lost > 0
	res.Omitted.Lines = out.omitted + int(all.lost)
	if out.omitted > 0 {
		res.Omitted.HowToGet = fmt.Sprintf("read_terminal session_id=%s source=command run_id=%s reduce=false max_lines=%d", res.SessionID, res.RunID, MaxLines)
	}
	if strewn {
		res.ExitReason = joinReasons(res.ExitReason, "it printed over older text, or left the cursor above what it printed, so that output is not all of it")
		res.Omitted.HowToGet = cmp.Or(res.Omitted.HowToGet, readScreen(res.SessionID))
	}
	res.Cwd = a.cwd(res.Cwd)
}

// readScreen is the call that shows what is left of an output that is strewn.
func readScreen(session string) string {
	return "read_terminal session_id=" + session + " source=screen"
}

// cwd is the folder that the shell is in: after a command, that of the prompt
// which follows it, and not known until that was seen.
func (a *awaiting) cwd(before string) string {
	switch {
	case a.unseen:
		return ""
	case a.lastSeen.ID != "" && a.lastSeen.ID != a.current() && a.lastSeen.Cwd != "":
		return a.lastSeen.Cwd
	case a.ended:
		return ""
	}
	return before
}

func joinReasons(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// refusalText is what the shell printed instead of running a command: what
// stands on the screen between the line that was typed and the present prompt. No
// marks surround it, so it is empty when the typed line is not found.
func (p *Pilot) refusalText(ctx context.Context, t target, command string) (text string, masked int) {
	s, err := t.backend.Screen(ctx, t.id(), terminal.Range{Kind: terminal.Visible})
	if err != nil {
		return "", 0
	}
	lines := screenLines(s)
	for len(lines) > 0 && lines[len(lines)-1].row >= s.Cursor.Row {
		lines = lines[:len(lines)-1]
	}
	typed := squash(command[strings.LastIndexByte(command, '\n')+1:])
	for i := len(lines) - 1; i >= 0 && typed != ""; i-- {
		if strings.HasSuffix(squash(lines[i].text), typed) {
			out := p.fit("", extent{text: textOf(lines, i+1)}, outputWish{reduce: true})
			return out.text, out.masked
		}
	}
	return "", 0
}

// withoutPrompt cuts the last row of an output that ends at the present cursor,
// where a shell without marks has its prompt.
func withoutPrompt(s terminal.Span) terminal.Span {
	s.End.Column = 0
	return s
}

// append adds the text of a further span.
func (e extent) append(next extent) extent {
	if e.rows == 0 {
		return next
	}
	if next.rows == 0 {
		return e
	}
	sep := ""
	if e.text != "" && next.text != "" && !strings.HasSuffix(e.text, "\n") {
		sep = "\n"
	}
	sum := extent{text: e.text + sep + next.text, rows: e.rows + next.rows, lost: e.lost + next.lost, skipped: e.skipped + next.skipped}
	switch {
	case e.skipped > 0:
		sum.seam = e.seam
	case next.skipped > 0:
		sum.seam = len(e.text) + len(sep) + next.seam
	}
	return sum
}

// fitted is text cut to a budget.
type fitted struct {
	text    string
	omitted int // lines that are not shown
	masked  int // secrets that are hidden
}

// fit brings what a command printed into the wished form and size.
func (p *Pilot) fit(command string, e extent, wish outputWish) fitted {
	o := reduce.Options{MaxChars: wish.budget(), MaxLines: wish.lines, Skipped: int(e.skipped), Seam: e.seam, Mask: !p.noMask}
	r := reduce.Cut(e.text, o)
	if wish.reduce {
		r = reduce.Output(command, e.text, o)
	}
	return fitted{text: r.Text, omitted: r.Dropped, masked: r.Masked}
}
