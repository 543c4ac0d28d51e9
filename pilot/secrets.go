package pilot

import (
	"context"
	"strings"
	"unicode/utf8"

	"termpilot/reduce"
	"termpilot/terminal"
)

// Rows around those that show, in which a key may begin or end. A line that
// wraps over the first row that was read begins in fewer.
const (
	keyRows  = 4096
	wrapRows = 64
)

// ask reads rows, without what stands for secrets in marked text.
func (p *Pilot) ask(ctx context.Context, t target, want terminal.Range) (terminal.Screen, error) {
	s, err := t.backend.Screen(ctx, t.id(), want)
	for i, row := range s.Rows {
		if strings.IndexByte(row.Text, reduce.Secret[0]) >= 0 {
			s.Rows[i].Text = strings.ReplaceAll(row.Text, reduce.Secret[:1], "")
		}
	}
	return s, err
}

// findSecrets finds the secrets in lines[from:to], which are lines of s, before
// anything is picked out of them: a part of one does not look like it. Where that
// tells what they are, rows around s are read.
func (p *Pilot) findSecrets(ctx context.Context, t target, s terminal.Screen, lines []line, from, to int) error {
	from, to = max(0, from), min(to, len(lines))
	if p.noMask || from >= to {
		return nil
	}
	rows, first, err := p.rowsAbove(ctx, t, s, lines, from, to)
	if err != nil {
		return err
	}
	if end := s.First + int64(len(s.Rows)); goesOn(s, lines, to) {
		below, err := p.ask(ctx, t, terminal.Range{Kind: terminal.Rows, First: end, Count: int(min(keyRows, s.End-end))})
		if err != nil {
			return err
		}
		if below.First == end {
			rows = append(rows[:len(rows):len(rows)], below.Rows...)
		}
	}
	all := linesFrom(rows, first, true)
	at, before := 0, 0 // where lines[0] is, and its bytes that were not read before
	for at+1 < len(all) && all[at+1].row <= lines[0].row {
		at++
	}
	for row := all[at].row; row < lines[0].row; row++ {
		before += len(rows[row-first].Text)
	}
	texts := make([]string, len(all))
	for i, l := range all {
		texts[i] = l.text
	}
	found := reduce.Secrets(texts, at+from, at+to, true)
	joinFull(rows, first, s.Columns, all, at+from, at+to, found)
	for i, spans := range found {
		l := &lines[from+i]
		shift := 0
		if from+i == 0 {
			shift = before
		}
		l.secrets = clip(spans, shift, shift+len(l.text))
	}
	return nil
}

// rowsAbove returns the rows of s with those above that tell what they are: some
// when the first line shows, which may be the end of something, and many when it
// looks as if that were a key.
func (p *Pilot) rowsAbove(ctx context.Context, t target, s terminal.Screen, lines []line, from, to int) (rows []terminal.Row, first int64, err error) {
	rows, first = s.Rows, s.First
	ends := from == 0 && !lines[0].whole && !lines[0].blank()
	for _, n := range []int64{wrapRows, keyRows} {
		like := mayBeInKey(lines[:to])
		start := max(s.Oldest, first-n)
		if start >= first || !like && (!ends || n > wrapRows) {
			continue
		}
		above, err := p.ask(ctx, t, terminal.Range{Kind: terminal.Rows, First: start, Count: int(first - start)})
		if err != nil {
			return nil, 0, err
		}
		if len(above.Rows) == 0 || above.First+int64(len(above.Rows)) != first {
			break
		}
		rows, first = append(above.Rows, rows...), above.First
		lines = linesFrom(rows, first, false)
		to = len(lines)
	}
	return rows, first, nil
}

// mayBeInKey reports whether some of lines look as if they stood in a key that
// begins above them.
func mayBeInKey(lines []line) bool {
	for i, l := range lines {
		if (i > 0 || l.whole) && strings.Contains(l.text, "-----") && strings.Contains(l.text, "PRIVATE KEY") {
			return false // what comes before it was looked at
		}
		if reduce.LikeKey(l.text) {
			return true
		}
	}
	return false
}

// goesOn reports whether rows below those of s have to be read: the last lines may
// be of a key, or the last is cut.
func goesOn(s terminal.Screen, lines []line, to int) bool {
	if s.First+int64(len(s.Rows)) >= s.End || len(s.Rows) == 0 {
		return false
	}
	if to == len(lines) && s.Rows[len(s.Rows)-1].Soft {
		return true
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if reduce.LikeKey(lines[i].text) {
			return true
		}
		if i < to && len(lines)-i > 2 {
			return false
		}
	}
	return false
}

// joinFull adds the secrets that go on from a row that is full in the next one:
// full-screen programs, line editors and pagers wrap text themselves.
func joinFull(rows []terminal.Row, first int64, columns int, all []line, from, to int, found [][]reduce.Span) {
	full := func(i int) bool {
		if i+1 >= len(all) || i < 0 {
			return false
		}
		text := rows[all[i+1].row-1-first].Text
		return len(text) >= columns && utf8.RuneCountInString(text) >= columns && columns > 0
	}
	for i := from; i < to; i++ {
		begin, end := i, i+1
		for n := 0; n < wrapRows && full(begin-1); n++ {
			begin--
		}
		for n := 0; n < wrapRows && full(end-1); n++ {
			end++
		}
		if end == begin+1 {
			continue
		}
		var b strings.Builder
		for _, l := range all[begin:end] {
			b.WriteString(l.text)
		}
		spans := reduce.Secrets([]string{b.String()}, 0, 1, false)[0]
		at := 0
		for k := begin; k < end; k++ {
			if k >= from && k < to {
				for _, s := range clip(spans, at, at+len(all[k].text)) {
					found[k-from] = reduce.Join(found[k-from], s)
				}
			}
			at += len(all[k].text)
		}
		i = max(i, end-1)
	}
}

// clip is what of spans is inside from and to, counted from there.
func clip(spans []reduce.Span, from, to int) []reduce.Span {
	if from == 0 && (len(spans) == 0 || spans[len(spans)-1].To <= to) {
		return spans
	}
	var inside []reduce.Span
	for _, s := range spans {
		if s.From < to && s.To > from {
			inside = append(inside, reduce.Span{From: max(s.From, from) - from, To: min(s.To, to) - from})
		}
	}
	return inside
}

// marked is a line with its secrets marked.
func (l line) marked() string { return l.part(0, len(l.text)) }

// part is bytes of a line, with secrets marked. One that goes on behind them is
// marked where it begins, and shows nowhere else.
func (l line) part(from, to int) string {
	if len(l.secrets) == 0 {
		return l.text[from:to]
	}
	var b strings.Builder
	at := from
	for _, s := range l.secrets {
		if s.To <= from || s.From >= to {
			continue
		}
		if s.From >= from {
			b.WriteString(l.text[at:s.From])
			b.WriteString(reduce.Secret)
		}
		at = min(s.To, to)
	}
	b.WriteString(l.text[at:to])
	return b.String()
}

// upTo is the line up to a byte.
func (l line) upTo(end int) line {
	l.text, l.secrets = l.text[:end], clip(l.secrets, 0, end)
	return l
}
