package iterm

import (
	"context"
	"encoding/json"
	"math"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// Screen reads rows in one round of two requests; a third goes with them while
// the session's size and mode are not known from notifications.
func (c *Client) Screen(ctx context.Context, id terminal.ID, want terminal.Range) (terminal.Screen, error) {
	const op = "screen"
	if !exact(id) {
		return terminal.Screen{}, unknown(op, id)
	}
	if detail := badRange(want); detail != "" {
		return terminal.Screen{}, &fault.Error{
			Op: op, Session: string(id), Code: fault.InvalidArgument, Detail: detail, Hint: "ask for a range of the documented kinds",
		}
	}
	var screen terminal.Screen
	err := c.read(ctx, op, id, func(l *link) error {
		var err error
		screen, err = l.screen(ctx, id, want)
		return err
	})
	return screen, err
}

func badRange(want terminal.Range) string {
	switch want.Kind {
	case terminal.Visible, terminal.Cells:
	case terminal.Tail, terminal.Rows:
		if want.Count < 0 {
			return "the count of rows is negative"
		}
	default:
		return "the kind of range is not known"
	}
	return ""
}

// lineNumbers is the value of the property number_of_lines.
type lineNumbers struct {
	Overflow int64 // rows that are no longer kept
	History  int64
	Grid     int64 // rows of the screen
}

func (n lineNumbers) top() int64 { return n.Overflow + n.History }
func (n lineNumbers) end() int64 { return n.top() + n.Grid }

func parseLineNumbers(text string) (n lineNumbers, ok bool) {
	const most = math.MaxInt64 / 4
	var told struct {
		Overflow *int64 `json:"overflow"`
		History  *int64 `json:"history"`
		Grid     *int64 `json:"grid"`
	}
	if json.Unmarshal([]byte(text), &told) != nil {
		return lineNumbers{}, false
	}
	for _, x := range []*int64{told.Overflow, told.History, told.Grid} {
		if x == nil || *x < 0 || *x > most {
			return lineNumbers{}, false
		}
	}
	return lineNumbers{Overflow: *told.Overflow, History: *told.History, Grid: *told.Grid}, true
}

// rowsWanted is the rows of a range: from a up to, not including, b.
func rowsWanted(want terminal.Range) (a, b int64) {
	const most = math.MaxInt64 / 4
	if want.Kind == terminal.Cells {
		if want.Span.Empty() {
			return 0, 0
		}
		a, b = want.Span.Start.Row, want.Span.End.Row
		if want.Span.End.Column > 0 {
			b++
		}
	} else {
		a = min(max(want.First, -most), most)
		b = a + int64(want.Count)
	}
	a = min(max(a, 0), most)
	return a, max(a, min(b, most))
}

// screen reads rows. The numbers are asked before the rows, so that they are
// never ahead of them.
func (l *link) screen(ctx context.Context, id terminal.ID, want terminal.Range) (terminal.Screen, error) {
	if want.Kind == terminal.Tail {
		want.First, want.Count = 0, min(want.Count, terminal.MaxRows)
	}
	a, past := rowsWanted(want)
	b := min(past, a+terminal.MaxRows)
	for attempt := 0; ; attempt++ {
		read, err := l.readRows(ctx, id, want, a, b)
		if err != nil {
			return terminal.Screen{}, err
		}
		placed := read.place(want.Kind, a, b)
		if attempt > 1 || placed && (b == past || read.numbers.Overflow <= a) {
			return read.screen(want), nil
		}
		// Either the range reaches past the end: then rows that came and went between
		// the two answers leave open which these are, but up to the end as it was
		// then, it can be told. Or the first MaxRows rows are no longer kept.
		a = max(a, read.numbers.Overflow)
		b = max(a, min(past, a+terminal.MaxRows, read.numbers.end()))
	}
}

// reading is the answers of one round.
type reading struct {
	numbers   lineNumbers
	lines     []*api.LineContents
	echo      *api.CoordRange
	cursor    *api.Coord
	first     int64
	columns   int
	alternate bool
}

func (l *link) readRows(ctx context.Context, id terminal.ID, want terminal.Range, a, b int64) (*reading, error) {
	numbers := askLineNumbers(id)
	calls := []*call{numbers, askBuffer(id, lineRange(want, a, b))}
	buffer := calls[1]
	read := &reading{}
	known := l.state.shape(id, read)
	var vars *call
	if !known {
		vars = l.fetch(id)
		calls = append(calls, vars)
	}
	if err := l.do(ctx, calls...); err != nil {
		return nil, err
	}
	r, err := answerOf(buffer, (*api.ServerOriginatedMessage).GetGetBufferResponse)
	if err != nil {
		if l.state.hasNoCells(id) {
			return nil, noCells()
		}
		return nil, err
	}
	switch r.GetStatus() {
	case api.GetBufferResponse_OK:
	case api.GetBufferResponse_SESSION_NOT_FOUND:
		return nil, errNotFound
	default:
		return nil, refusedBy("the rows", r.GetStatus())
	}
	read.lines, read.cursor = r.GetContents(), r.GetCursor()
	if want.Kind != terminal.Visible && int64(len(read.lines)) > b-a {
		return nil, violation("more rows are told than were asked for")
	}
	read.echo = r.GetWindowedCoordRange().GetCoordRange()
	property, err := answerOf(numbers, (*api.ServerOriginatedMessage).GetGetPropertyResponse)
	if err != nil {
		return nil, err
	}
	var ok bool
	if read.numbers, ok = parseLineNumbers(property.GetJsonValue()); !ok {
		if property.GetStatus() == api.GetPropertyResponse_INVALID_TARGET {
			return nil, errNotFound
		}
		return nil, violation("number_of_lines cannot be read")
	}
	if !known {
		v, err := vars.variables()
		if err != nil {
			return nil, err
		}
		read.alternate = truth(v[varAlternate])
		if read.columns == 0 {
			read.columns = number(v[varColumns])
		}
	}
	return read, nil
}

// lineRange is a range in the protocol's terms. Rows are always read whole and
// cut here: what the terminal says of the ends of partial rows is not exact.
func lineRange(want terminal.Range, a, b int64) *api.LineRange {
	switch want.Kind {
	case terminal.Visible:
		return &api.LineRange{ScreenContentsOnly: proto.Bool(true)}
	case terminal.Tail:
		return &api.LineRange{TrailingLines: proto.Int32(int32(want.Count))}
	}
	return &api.LineRange{WindowedCoordRange: &api.WindowedCoordRange{
		CoordRange: &api.CoordRange{
			Start: &api.Coord{X: proto.Int32(0), Y: proto.Int64(a)},
			End:   &api.Coord{X: proto.Int32(0), Y: proto.Int64(b)},
		},
		Columns: &api.Range{Location: proto.Int64(0), Length: proto.Int64(0)},
	}}
}

// shape tells what notifications have told of a session's screen; it is false
// when that is not all that is needed.
func (s *state) shape(id terminal.ID, read *reading) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	if r == nil {
		return false
	}
	x := r.session("", false)
	read.columns, read.alternate = x.Columns, x.Alternate
	return r.fetched && x.Columns > 0
}

// place finds the number of the first row; it is false when it cannot be told.
// The terminal answers with the range as it was asked, leaves out rows that are
// no longer kept, and stops at the end.
func (read *reading) place(kind terminal.RangeKind, a, b int64) bool {
	n := int64(len(read.lines))
	oldest, end := read.numbers.Overflow, read.numbers.end()
	switch {
	case kind == terminal.Visible || kind == terminal.Tail:
		if e := read.echo.GetEnd(); e != nil {
			end = max(e.GetY(), n)
			// The end is told with the rows themselves: it is the newer one.
			read.numbers.History = max(end-read.numbers.Grid-oldest, 0)
		}
		if kind == terminal.Visible && n > 0 {
			read.numbers.Grid = n
			read.numbers.History = max(end-n-oldest, 0)
		}
		read.first = end - n
		return true
	case b <= end:
		read.first = b - n
		return true
	}
	read.first = max(a, oldest)
	return n == 0
}

// screen makes the contract's view of a reading.
func (read *reading) screen(want terminal.Range) terminal.Screen {
	s := terminal.Screen{
		First: read.first, Oldest: read.numbers.Overflow, Top: read.numbers.top(), End: read.numbers.end(),
		Columns: read.columns, Alternate: read.alternate,
		Cursor: point(read.cursor),
	}
	if len(read.lines) == 0 {
		s.First = min(max(s.First, s.Oldest), s.End)
	}
	s.End = max(s.End, s.First+int64(len(read.lines)))
	s.Rows = make([]terminal.Row, 0, len(read.lines))
	for i, line := range read.lines {
		if want.Kind != terminal.Cells {
			s.Rows = append(s.Rows, rowOf(line, 0, toEnd))
			continue
		}
		from, to := cut(want.Span, read.first+int64(i))
		if i == 0 && from >= s.Columns && s.Columns > 0 {
			s.First++ // the span begins behind the last cell of its first row
			continue
		}
		row := rowOf(line, from, to)
		row.Soft = row.Soft && to == toEnd // otherwise what follows is outside the span
		s.Rows = append(s.Rows, row)
	}
	return s
}

// cut returns the columns of a span in one of its rows.
func cut(span terminal.Span, row int64) (from, to int) {
	from, to = 0, toEnd
	if row == span.Start.Row {
		from = span.Start.Column
	}
	if row == span.End.Row {
		to = span.End.Column
	}
	return from, to
}
