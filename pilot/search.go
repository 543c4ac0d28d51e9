package pilot

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/reduce"
	"termpilot/terminal"
)

// MaxContext is the most lines around each match that a caller may ask for.
const MaxContext = 20

// compilePattern returns the expression for a pattern, or InvalidArgument.
func compilePattern(op, pattern string, isRegex bool) (*regexp.Regexp, error) {
	refuse := func(detail, hint string) error {
		return &fault.Error{Op: op, Code: fault.InvalidArgument, Detail: detail, Hint: hint}
	}
	if pattern == "" || len(pattern) > MaxPattern || !utf8.ValidString(pattern) {
		return nil, refuse(fmt.Sprintf("a pattern has 1 to %d bytes of text", MaxPattern), "pass the text to look for")
	}
	if !isRegex {
		pattern = regexp.QuoteMeta(pattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, refuse("the pattern is not a regular expression of RE2: "+oneLine(err.Error()), "correct it, or pass regex=false")
	}
	return re, nil
}

// search looks for the pattern in all that the source has, and keeps what it
// shows of it.
func (r *reading) search(ctx context.Context) error {
	re, err := compilePattern("read", r.req.Pattern, r.req.Regex)
	if err != nil {
		return err
	}
	parts, err := r.searched(ctx)
	if err != nil {
		return err
	}
	h := hits{r: r, re: re, newest: r.source() == SourceScreen || r.source() == SourceHistory || r.source() == SourceAll}
	for _, part := range parts {
		if err := r.scan(ctx, part, &h); err != nil {
			return err
		}
	}
	h.finish()
	if r.source() == SourceSince {
		end := r.endOfLines()
		r.next = &end
	}
	// The sizes and the cursor of the answer are those of now.
	return r.ask(ctx, terminal.Range{Kind: terminal.Visible})
}

// searchedPart is a span that is searched, and the rest of an output that ends there.
type searchedPart struct {
	terminal.Span
	rest string
}

// searched returns the parts that are searched. A cursor bounds them: at their
// beginning, or for history at their end.
func (r *reading) searched(ctx context.Context) ([]searchedPart, error) {
	rows := func(from, to int64) terminal.Span {
		return terminal.Span{Start: terminal.Point{Row: from}, End: terminal.Point{Row: to}}
	}
	var at *int64
	if r.req.Cursor != "" {
		found, err := r.locate(ctx, r.from.row-contextRows, terminal.MaxRows)
		if err != nil {
			return nil, err
		}
		if !found.ok {
			r.head = true
			return nil, nil
		}
		row := r.lines[found.line].row
		if found.off > 0 && found.off >= utf8.RuneCountInString(r.lines[found.line].text) && found.line+1 < len(r.lines) {
			row = r.lines[found.line+1].row // behind the end of that line
		}
		at = &row
	}
	if r.source() == SourceCommand {
		prompts, err := r.prompts(ctx)
		if err != nil {
			return nil, err
		}
		var parts []searchedPart
		for _, p := range prompts {
			if span := p.Output; at == nil || rowsEnd(span) > *at {
				if at != nil && span.Start.Row < *at {
					span.Start = terminal.Point{Row: *at}
				}
				parts = append(parts, searchedPart{span, p.Rest})
			}
		}
		return parts, nil
	}
	if err := r.ask(ctx, terminal.Range{Kind: terminal.Visible}); err != nil {
		return nil, err
	}
	span := rows(r.shot.Oldest, r.shot.End)
	switch r.source() {
	case SourceScreen:
		span.Start.Row = r.shot.Top
	case SourceHistory:
		span.End.Row = r.shot.Top
	case SourceSince:
		span.Start.Row = *at
		return []searchedPart{{Span: span}}, nil
	}
	if at != nil {
		span.End.Row = min(span.End.Row, *at)
	}
	return []searchedPart{{Span: span}}, nil
}

// scan gives the lines of a part to h, in order, as many rows at a time as one
// call returns.
func (r *reading) scan(ctx context.Context, all searchedPart, h *hits) error {
	span := all.Span
	if span.Empty() && all.rest != "" {
		r.shot = terminal.Screen{Rows: []terminal.Row{{Text: all.rest}}, First: span.End.Row, Columns: r.shot.Columns}
		r.lines = linesFrom(r.shot.Rows, r.shot.First, true)
		return h.take(ctx, r.lines)
	}
	for first := true; !span.Empty(); first = false {
		part := span
		last := rowsEnd(span)-span.Start.Row <= terminal.MaxRows
		if !last {
			part.End = terminal.Point{Row: span.Start.Row + terminal.MaxRows}
		}
		if err := r.ask(ctx, terminal.Range{Kind: terminal.Cells, Span: part}); err != nil {
			return err
		}
		if first && r.shot.Oldest > span.Start.Row {
			r.head = true
		}
		lines := r.lines
		if rows := r.shot.Rows; !last && len(lines) > 1 && len(rows) > 0 && rows[len(rows)-1].Soft {
			lines = lines[:len(lines)-1] // it goes on: read it again, whole
			part.End = terminal.Point{Row: r.lines[len(lines)].row}
		}
		if text, fresh := strings.CutPrefix(all.rest, "\n"); last && len(lines) > 0 {
			if rows := r.shot.Rows; fresh {
				r.shot.Rows = append(rows, terminal.Row{Text: text})
			} else {
				rows[len(rows)-1].Text += text
			}
			r.lines = screenLines(r.shot)
			lines = r.lines
		}
		if err := h.take(ctx, lines); err != nil {
			return err
		}
		if last {
			return nil
		}
		span.Start = part.End
	}
	return nil
}

// hits collects matching lines with those around them, as many as have room.
type hits struct {
	r      *reading
	re     *regexp.Regexp
	newest bool // keep the last, otherwise the first

	blocks  []block
	before  []shownLine // the last lines that no block holds
	after   int         // lines to come that belong to the last block
	lines   int         // of all blocks, separators counted
	chars   int
	full    bool // nothing more is kept
	matches int
	shown   int
	gap     bool    // lines were passed over since the last block
	next    *cursor // the place of the first line that has no room
}

// block is lines that stand together.
type block struct {
	lines   []shownLine
	matches int
}

type shownLine struct {
	text  string // with its secrets marked
	at    cursor
	match bool
}

// take takes in the first lines of those that were read.
func (h *hits) take(ctx context.Context, lines []line) error {
	where, from, to := h.search(lines)
	if err := h.r.find(ctx, from, to); err != nil {
		return err
	}
	for i := range lines {
		h.line(lines, i, where[i])
	}
	return nil
}

// search finds where lines match, and lines[from:to], which has all that may show.
func (h *hits) search(lines []line) (where [][]int, from, to int) {
	where = make([][]int, len(lines))
	for i, l := range lines {
		if where[i] = h.re.FindStringIndex(l.text); where[i] == nil {
			continue
		}
		if to == 0 {
			from = i
		}
		to = i + 1
	}
	if h.r.req.Context > 0 {
		return where, 0, len(lines) // the match may be in what comes before or after
	}
	return where, from, to
}

// line takes in a line, and where it matches.
func (h *hits) line(lines []line, i int, where []int) {
	if where == nil && h.r.req.Context == 0 {
		h.gap = true
		return
	}
	l := shownLine{at: place(h.r.t.id(), lines, i, 0, h.r.shot.Columns), match: where != nil}
	l.text = around(lines[i], where)
	switch {
	case where != nil:
		h.matches++
		if len(h.blocks) == 0 || h.gap {
			h.begin()
		}
		for _, b := range h.before {
			h.add(b)
		}
		h.before = h.before[:0]
		h.add(l)
		h.after, h.gap = h.r.req.Context, false
	case h.after > 0:
		h.after--
		h.add(l)
	default:
		if h.before = append(h.before, l); len(h.before) > h.r.req.Context {
			h.before, h.gap = h.before[1:], true
		}
	}
}

// begin begins a block.
func (h *hits) begin() {
	if h.full {
		return
	}
	if len(h.blocks) > 0 {
		h.lines, h.chars = h.lines+1, h.chars+len(between)+1
	}
	h.blocks = append(h.blocks, block{})
}

// between separates lines that do not stand together.
const between = "--"

// add gives a line to the last block. When there is no room, the oldest blocks
// go, or this and all that come are not kept.
func (h *hits) add(l shownLine) {
	if h.full || len(h.blocks) == 0 {
		return
	}
	n := utf8.RuneCountInString(l.text) + 1
	if !h.newest && h.lines > 0 && (h.lines+1 > h.r.maxLines() || h.chars+n > h.r.maxChars()) {
		h.full, h.next = true, &l.at
		if b := h.blocks[len(h.blocks)-1]; b.matches == 0 && len(b.lines) > 0 {
			h.next = &b.lines[0].at
		}
		return
	}
	b := &h.blocks[len(h.blocks)-1]
	b.lines = append(b.lines, l)
	b.matches += boolInt(l.match)
	h.shown += boolInt(l.match)
	h.lines, h.chars = h.lines+1, h.chars+n
	for h.newest && h.lines > 1 && (h.lines > h.r.maxLines() || h.chars > h.r.maxChars()) {
		h.dropOldest()
	}
}

// dropOldest makes room: it drops the first block, or the first line of the
// only one.
func (h *hits) dropOldest() {
	b := &h.blocks[0]
	if len(h.blocks) > 1 {
		for _, l := range b.lines {
			h.lines, h.chars = h.lines-1, h.chars-utf8.RuneCountInString(l.text)-1
		}
		h.lines, h.chars = h.lines-1, h.chars-len(between)-1
		h.shown -= b.matches
		h.blocks = h.blocks[1:]
		return
	}
	l := b.lines[0]
	h.lines, h.chars = h.lines-1, h.chars-utf8.RuneCountInString(l.text)-1
	h.shown -= boolInt(l.match)
	b.matches -= boolInt(l.match)
	b.lines = b.lines[1:]
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// finish puts the blocks into the answer, and says how the others can be had.
func (h *hits) finish() {
	var text []string
	for _, b := range h.blocks {
		if b.matches == 0 {
			continue // lines before a match that had no room
		}
		if len(text) > 0 {
			text = append(text, between)
		}
		for _, l := range b.lines {
			text = append(text, l.text)
		}
	}
	r := h.r
	cut := reduce.Cut(strings.Join(text, "\n"), reduce.Options{MaxChars: r.maxChars(), Mask: !r.p.noMask, Marked: true})
	r.text, r.masked, r.matches = cut.Text, cut.Masked, h.matches
	r.omitted = h.matches - h.shown
	if r.omitted == 0 {
		return
	}
	at := h.next
	if h.newest {
		at = &h.blocks[0].lines[0].at
	}
	if at != nil {
		r.more = r.call("source=" + string(r.source()) + r.runFlag() + " cursor=" + at.encode() + r.searchFlags() + r.limits())
	}
}

func (r *reading) searchFlags() string {
	s := fmt.Sprintf(" pattern=%q", r.req.Pattern)
	if r.req.Regex {
		s += " regex=true"
	}
	if r.req.Context > 0 {
		s += fmt.Sprintf(" context=%d", r.req.Context)
	}
	return s
}

// around is a line as a search shows it: of a long one what stands around the
// match, or its beginning.
func around(l line, where []int) string {
	const most, before = 500, 150
	if utf8.RuneCountInString(l.text) <= most {
		return l.marked()
	}
	runes := []rune(l.marked())
	from := 0
	if where != nil {
		from = max(0, utf8.RuneCountInString(l.part(0, where[0]))-before)
	}
	to := min(len(runes), from+most)
	from = max(0, to-most)
	within := func(i int) bool { // a mark is not cut
		return i > 0 && i < len(runes) && runes[i] == runes[i-1] && string(runes[i]) == reduce.Secret[:1]
	}
	for within(from) {
		from--
	}
	for within(to) {
		to++
	}
	shown := string(runes[from:to])
	if from > 0 {
		shown = "…" + shown
	}
	if to < len(runes) {
		shown += "…"
	}
	return shown
}
