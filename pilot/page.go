package pilot

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"termpilot/reduce"
	"termpilot/terminal"
)

// backward reads the newest lines of history, or of history and screen; with
// a cursor, those before it.
func (r *reading) backward(ctx context.Context) error {
	count := min(terminal.MaxRows, 3*r.maxLines()+max(r.t.session.Rows, 64))
	var end found
	if r.req.Cursor == "" {
		if err := r.ask(ctx, terminal.Range{Kind: terminal.Tail, Count: count}); err != nil {
			return err
		}
		end.line = lastText(r.lines)
		if r.req.Source == SourceHistory {
			for end.line > 0 && r.lines[end.line-1].row >= r.shot.Top {
				end.line--
			}
		}
	} else {
		var err error
		if end, err = r.locate(ctx, r.from.row-int64(count), count+contextRows); err != nil {
			return err
		}
		if !end.ok {
			r.head = true
			return nil
		}
	}
	at, dropped, err := r.takeBackward(ctx, end)
	if err != nil {
		return err
	}
	r.omitted = dropped
	above := at.row - r.shot.Oldest
	if above > 0 {
		r.omitted += int(above)
	} else {
		r.head = r.shot.Oldest > 0
	}
	switch {
	case dropped > 0 && r.req.Reduce: // the page again as it was printed, and from there the older ones
		r.more = r.call("source=" + string(r.req.Source) + r.cursorFlag() + " reduce=false" + r.limits())
	case dropped > 0: // one row over the whole budget: in parts
		r.more = r.call("source=since cursor=" + at.encode() + " reduce=false" + r.limits())
	case above > 0:
		r.more = r.call("source=" + string(r.req.Source) + " cursor=" + at.encode() + r.flags())
	}
	return nil
}

func (r *reading) cursorFlag() string {
	if r.req.Cursor == "" {
		return ""
	}
	return " cursor=" + r.req.Cursor
}

func (r *reading) flags() string { return fmt.Sprintf(" reduce=%t", r.req.Reduce) + r.limits() }

func (r *reading) limits() string {
	s := ""
	if r.req.MaxLines > 0 {
		s += fmt.Sprintf(" max_lines=%d", r.req.MaxLines)
	}
	if r.req.MaxChars > 0 {
		s += fmt.Sprintf(" max_chars=%d", r.req.MaxChars)
	}
	return s
}

// takeBackward puts the lines before a place that fit into the budget into
// r.text, and returns the place of the first of them, and how many of them do
// not show in full. Of one line over the whole budget it takes the last rows.
func (r *reading) takeBackward(ctx context.Context, at found) (from cursor, dropped int, err error) {
	end := at.line
	if at.off > 0 {
		end++ // of this line what is before the place
	}
	chars, first := 0, end
	for ; first > 0 && end-first < r.maxLines(); first-- {
		n := utf8.RuneCountInString(r.lines[first-1].text) + 1
		if first == end && at.off > 0 {
			n = at.off + 1
		}
		if chars+n > r.maxChars() && first < end {
			break
		}
		chars += n
	}
	if err := r.find(ctx, first, end); err != nil {
		return cursor{}, 0, err
	}
	if at.off > 0 {
		r.lines[at.line] = r.lines[at.line].upTo(offset(r.lines[at.line].text, at.off))
	}
	from = place(r.t.id(), r.lines, first, 0, r.shot.Columns)
	if chars > r.maxChars() && !r.req.Reduce {
		row, text := r.lastRows(r.lines[first])
		if row > from.row {
			from = place(r.t.id(), []line{{row: row}}, 0, 0, r.shot.Columns)
		}
		r.text = text
		return from, r.shape(), nil
	}
	var b strings.Builder
	for i := first; i < end; i++ {
		b.WriteString(r.lines[i].marked())
		b.WriteByte('\n')
	}
	r.text = strings.TrimSuffix(b.String(), "\n")
	return from, r.shape(), nil
}

// lastRows is the text of the last rows of a line that fit into the budget, one
// at least, and the number of the first of them.
func (r *reading) lastRows(l line) (row int64, text string) {
	rows := r.shot.Rows[l.row-r.shot.First:]
	var begins []int // in l.text, of each row
	for at, i := 0, 0; at < len(l.text) && i < len(rows); i++ {
		begins = append(begins, at)
		at += len(rows[i].Text)
	}
	i := len(begins) - 1
	for i > 0 && utf8.RuneCountInString(l.text[begins[i-1]:]) < r.maxChars() {
		i--
	}
	return l.row + int64(i), l.part(begins[i], len(l.text))
}

// shape brings a page, which is within the budget but for one long line, into
// the wished form, and returns how many of its lines do not show in full.
func (r *reading) shape() (dropped int) {
	o := r.options()
	cut := reduce.Cut(r.text, o)
	if r.req.Reduce {
		cut = reduce.Plain(r.text, o)
	}
	r.text, r.masked = cut.Text, cut.Masked
	return cut.Dropped
}

// forward takes a page of r.lines from a place on, and leaves the new cursor
// behind it. The text ends before row end, be it in r.lines or not.
func (r *reading) forward(ctx context.Context, at found, end int64, source Source) error {
	last := lastText(r.lines)
	if err := r.find(ctx, at.line, min(last, at.line+r.maxLines()+1)); err != nil {
		return err
	}
	i, off, chars := at.line, at.off, 0
	var b strings.Builder
	shown := 0
	for ; i < last && shown < r.maxLines(); i++ {
		l := r.lines[i]
		begin := offset(l.text, off)
		text := l.text[begin:]
		if text == "" && off > 0 {
			off = 0
			continue
		}
		n := utf8.RuneCountInString(text) + 1
		if room := r.maxChars() - chars; n > room {
			if shown > 0 {
				break
			}
			b.WriteString(l.part(begin, offset(l.text, off+room)) + "\n") // one line over the whole budget: a part of it
			off += room
			break
		}
		b.WriteString(l.part(begin, len(l.text)))
		b.WriteByte('\n')
		chars += n
		off = 0
		shown++
	}
	cut := reduce.Cut(strings.TrimSuffix(b.String(), "\n"), reduce.Options{MaxChars: 2 * MaxChars, Mask: !r.p.noMask, Marked: true})
	r.text, r.masked = cut.Text, cut.Masked
	readAll := r.shot.First+int64(len(r.shot.Rows)) >= end
	if i >= last && readAll {
		return nil
	}
	var next cursor
	var left int64
	if i < last {
		next = place(r.t.id(), r.lines, i, off, r.shot.Columns)
		left = end - r.lines[i].row
	} else {
		next = r.endOfLines()
		left = end - next.row - 1
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
