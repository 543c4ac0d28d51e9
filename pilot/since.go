package pilot

import (
	"context"
	"strings"
	"unicode/utf8"

	"termpilot/terminal"
)

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
		if at, ok := r.insideLine(); ok {
			return at, nil
		}
		if i, off, ok := r.from.in(r.lines, r.shot.Columns); ok {
			return found{i, off, true}, nil
		}
	}
	if err := r.ask(ctx, terminal.Range{Kind: terminal.Tail, Count: terminal.MaxRows}); err != nil {
		return found{}, err
	}
	if r.from.row < r.shot.Oldest && (r.from.width == r.shot.Columns || r.from.before == 0) {
		return found{}, nil // dropped: what looks like it is something else
	}
	i, off, ok := r.from.in(r.lines, r.shot.Columns)
	return found{i, off, ok}, nil
}

// insideLine finds a place that is the beginning of a row inside a line. It is
// known by its number alone, like that of a line of which none before is known.
func (r *reading) insideLine() (found, bool) {
	if r.from.width != r.shot.Columns || r.from.before > 0 || r.from.off > 0 {
		return found{}, false
	}
	for i, l := range r.lines {
		if i+1 < len(r.lines) && r.lines[i+1].row <= r.from.row || l.row >= r.from.row {
			continue
		}
		off := 0
		for n := l.row; n < r.from.row && int(n-r.shot.First) < len(r.shot.Rows); n++ {
			off += utf8.RuneCountInString(r.shot.Rows[n-r.shot.First].Text)
		}
		return found{i, off, true}, true
	}
	return found{}, false
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
		return r.newest(ctx)
	}
	if !r.req.Reduce {
		return r.forward(ctx, at, r.shot.End, SourceSince)
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
	if err := r.find(ctx, start.line, len(r.lines)); err != nil {
		return err
	}
	head := ""
	if start.off > 0 {
		l := r.lines[start.line]
		if at := offset(l.text, start.off); at < len(l.text) {
			head = l.part(at, len(l.text)) + "\n"
		}
		start.line++
	}
	r.text = strings.TrimSuffix(head+textOf(r.lines, start.line), "\n")
	r.more = r.call("source=since cursor=" + r.req.Cursor + " reduce=false")
	r.limit()
	if r.omitted == 0 {
		r.more = ""
	}
	return nil
}

// newest shows the last lines, when nothing is known of what was read before.
func (r *reading) newest(ctx context.Context) error {
	from, dropped, err := r.takeBackward(ctx, found{line: lastText(r.lines)})
	if err != nil {
		return err
	}
	r.head = true
	r.omitted = dropped + int(max(0, from.row-r.shot.Oldest))
	if r.omitted > 0 {
		r.more = r.call("source=all reduce=false" + r.limits())
	}
	return nil
}

// sinceFullScreen is the whole screen of a full-screen program if it has
// changed. The place in the text below it is kept.
func (r *reading) sinceFullScreen(ctx context.Context) error {
	if err := r.ask(ctx, terminal.Range{Kind: terminal.Visible}); err != nil {
		return err
	}
	next := r.from
	next.screen = r.trace()
	r.next = &next
	if next.screen == r.from.screen {
		return nil
	}
	return r.show(ctx)
}
