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
		end = r.upTo(found)
	}
	at, dropped := r.takeBackward(end)
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

// upTo leaves of a line in which the place is what is before it, and returns
// how many lines begin before the place.
func (r *reading) upTo(at found) int {
	if at.off == 0 {
		return at.line
	}
	l := &r.lines[at.line]
	l.text = prefix(l.text, at.off)
	return at.line + 1
}

// takeBackward puts the lines before lines[end] that fit into the budget into
// r.text, and returns the place of the first of them, and how many of them do
// not show in full. Of one line over the whole budget it takes the last rows.
func (r *reading) takeBackward(end int) (from cursor, dropped int) {
	chars, first := 0, end
	for ; first > 0 && end-first < r.maxLines(); first-- {
		n := utf8.RuneCountInString(r.lines[first-1].text) + 1
		if chars+n > r.maxChars() && first < end {
			break
		}
		chars += n
	}
	from = place(r.t.id(), r.lines, first, 0, r.shot.Columns)
	if chars > r.maxChars() && !r.req.Reduce {
		row, text := r.lastRows(r.lines[first])
		if row > from.row {
			from = place(r.t.id(), []line{{row: row}}, 0, 0, r.shot.Columns)
		}
		r.text = text
		return from, r.shape()
	}
	var b strings.Builder
	for i := first; i < end; i++ {
		b.WriteString(r.lines[i].text)
		b.WriteByte('\n')
	}
	r.text = strings.TrimSuffix(b.String(), "\n")
	return from, r.shape()
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
	n := utf8.RuneCountInString(l.text)
	return l.row + int64(i), r.part(l.text, n-utf8.RuneCountInString(l.text[begins[i]:]), n)
}

// part is a line's characters from one to another. A secret of the line that is
// cut does not look like one any more, and shows as *** all the same, in one of the
// parts; r.masked counts those of this one.
func (r *reading) part(text string, from, to int) string {
	mask := func(text string) reduce.Result {
		return reduce.Cut(text, reduce.Options{MaxChars: len(text), Mask: !r.p.noMask})
	}
	line := mask(text)
	begin, end := offset(text, from), offset(text, to)
	if line.Masked == 0 {
		return text[begin:end]
	}
	shown := func(at int) int { return common(line.Text, mask(text[:at]).Text) }
	part := line.Text[shown(begin):max(shown(begin), shown(end))]
	if end == len(text) {
		part = line.Text[shown(begin):]
	}
	r.masked += min(line.Masked, strings.Count(part, "***"))
	return part
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// shape brings a page, which is within the budget but for one long line, into
// the wished form, and returns how many of its lines do not show in full.
func (r *reading) shape() (dropped int) {
	o := reduce.Options{MaxChars: r.maxChars(), MaxLines: r.maxLines(), Mask: !r.p.noMask}
	cut := reduce.Cut(r.text, o)
	if r.req.Reduce {
		cut = reduce.Plain(r.text, o)
	}
	r.text, r.masked = cut.Text, r.masked+cut.Masked
	return cut.Dropped
}

// forward takes a page of r.lines from a place on, and leaves the new cursor
// behind it. The text ends before row end, be it in r.lines or not.
func (r *reading) forward(at found, end int64, source Source) {
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
			b.WriteString(r.part(r.lines[i].text, off, off+room) + "\n") // one line over the whole budget: a part of it
			off += room
			break
		}
		if off > 0 {
			text = r.part(r.lines[i].text, off, off+n)
		}
		b.WriteString(text)
		b.WriteByte('\n')
		chars += n
		off = 0
		shown++
	}
	cut := reduce.Cut(strings.TrimSuffix(b.String(), "\n"), reduce.Options{MaxChars: 2 * MaxChars, Mask: !r.p.noMask})
	r.text, r.masked = cut.Text, r.masked+cut.Masked
	readAll := r.shot.First+int64(len(r.shot.Rows)) >= end
	if i >= last && readAll {
		return
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
