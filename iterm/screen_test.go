package iterm

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// tall is a world whose session 1 has kept 30 of 40 rows, "row 10" to "row 39".
func tall() *world {
	w := newWorld(1)
	s := w.sessions[0]
	s.lines, s.overflow, s.cursor = nil, 10, [2]int64{80, 39}
	for i := 10; i < 40; i++ {
		s.lines = append(s.lines, line(fmt.Sprintf("row %d", i)))
	}
	s.lines[5].Continuation = api.LineContents_CONTINUATION_SOFT_EOL.Enum()
	return w
}

func TestRangesArePlacedByAbsoluteRows(t *testing.T) { // ITERM-22, ITERM-23
	c := newFakeServer(t, tall()).client(Options{})
	span := func(r1 int64, c1 int, r2 int64, c2 int) terminal.Range {
		return terminal.Range{Kind: terminal.Cells, Span: terminal.Span{
			Start: terminal.Point{Row: r1, Column: c1}, End: terminal.Point{Row: r2, Column: c2},
		}}
	}
	for _, x := range []struct {
		want  terminal.Range
		first int64
		n     int
		text  string // of the first row
	}{
		{terminal.Range{}, 16, 24, "row 16"},
		{terminal.Range{Kind: terminal.Tail, Count: 3}, 37, 3, "row 37"},
		{terminal.Range{Kind: terminal.Tail, Count: 99}, 10, 30, "row 10"},
		{terminal.Range{Kind: terminal.Tail, Count: 1 << 40}, 10, 30, "row 10"},
		{terminal.Range{Kind: terminal.Rows, First: 12, Count: 5}, 12, 5, "row 12"},
		{terminal.Range{Kind: terminal.Rows, First: 5, Count: 8}, 10, 3, "row 10"},
		{terminal.Range{Kind: terminal.Rows, First: 38, Count: 8}, 38, 2, "row 38"},
		{terminal.Range{Kind: terminal.Rows, First: 0, Count: math.MaxInt}, 10, 30, "row 10"},
		{terminal.Range{Kind: terminal.Rows, First: math.MaxInt64 - 1, Count: 8}, 0, 0, ""},
		{terminal.Range{Kind: terminal.Rows, First: math.MinInt64, Count: 8}, 0, 0, ""},
		{terminal.Range{Kind: terminal.Rows, First: 0, Count: 3}, 0, 0, ""},
		{span(12, 1, 12, 3), 12, 1, "ow"},
		{span(12, 4, 14, 0), 12, 2, "12"},
		{span(12, 80, 14, 1), 13, 2, "row 13"}, // column 80 is behind the last cell
		{span(12, 2, 12, 2), 0, 0, ""},
		{span(0, 0, math.MaxInt64, 0), 10, 30, "row 10"},
	} {
		got, err := c.Screen(t.Context(), sid(1), x.want)
		if err != nil {
			t.Fatalf("%+v: %v", x.want, err)
		}
		if len(got.Rows) != x.n || x.n > 0 && (got.First != x.first || got.Rows[0].Text != x.text) {
			t.Errorf("%+v: %d rows from %d: %+v", x.want, len(got.Rows), got.First, got.Rows)
		}
		if got.Oldest != 10 || got.Top != 16 || got.End != 40 || got.Columns != 80 || got.Cursor != (terminal.Point{Row: 39, Column: 80}) {
			t.Errorf("%+v: %+v", x.want, got)
		}
	}
	soft, err := c.Screen(t.Context(), sid(1), span(15, 0, 15, 3))
	if err != nil || soft.Rows[0] != (terminal.Row{Text: "row"}) {
		t.Errorf("a cut row: %+v, %v", soft.Rows, err)
	}
	if whole, err := c.Screen(t.Context(), sid(1), span(15, 0, 16, 3)); err != nil || !whole.Rows[0].Soft {
		t.Errorf("a row that goes on: %+v, %v", whole.Rows, err)
	}
	for _, bad := range []terminal.Range{{Kind: terminal.Tail, Count: -1}, {Kind: 9}} {
		_, err := c.Screen(t.Context(), sid(1), bad)
		wantCode(t, err, fault.InvalidArgument)
	}
}

func TestRowsThatScrollAwayDuringAReadKeepTheirNumbers(t *testing.T) { // ITERM-22
	for _, want := range []terminal.Range{
		{},
		{Kind: terminal.Tail, Count: 5},
		{Kind: terminal.Rows, First: 11, Count: 4},
		{Kind: terminal.Rows, First: 35, Count: 100},
		{Kind: terminal.Rows, First: 5, Count: 100},
		{Kind: terminal.Cells, Span: terminal.Span{Start: terminal.Point{Row: 30}, End: terminal.Point{Row: 70}}},
	} {
		w := tall()
		s := newFakeServer(t, w)
		moves := 0
		s.handle = func(_ *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetGetBufferRequest() == nil || moves == 3 {
				return false
			}
			moves++ // between the two answers, three rows come and three are lost
			w.mu.Lock()
			x := w.sessions[0]
			for range 3 {
				x.lines = append(x.lines[1:], line(fmt.Sprintf("row %d", x.overflow+30)))
				x.overflow++
			}
			w.mu.Unlock()
			return false
		}
		got, err := s.client(Options{}).Screen(t.Context(), sid(1), want)
		if err != nil || len(got.Rows) == 0 {
			t.Fatalf("%+v: %+v, %v", want, got, err)
		}
		for i, row := range got.Rows {
			if text := fmt.Sprintf("row %d", got.First+int64(i)); row.Text != text {
				t.Errorf("%+v: row %d is %q", want, got.First+int64(i), row.Text)
				break
			}
		}
		if got.End < got.First+int64(len(got.Rows)) || got.Oldest > got.First || got.Top > got.End {
			t.Errorf("%+v: oldest %d, first %d, top %d, end %d", want, got.Oldest, got.First, got.Top, got.End)
		}
	}
}

func TestAScreenThatCannotBeReadIsAnError(t *testing.T) { // ITERM-5, ITERM-35
	w := tall()
	s := newFakeServer(t, w)
	c := s.client(Options{})
	_, err := c.Screen(t.Context(), sid(2), terminal.Range{})
	wantCode(t, err, fault.SessionNotFound)
	var property string
	s.handle = func(fc *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetGetPropertyRequest() == nil {
			return false
		}
		fc.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_GetPropertyResponse{
			GetPropertyResponse: &api.GetPropertyResponse{JsonValue: proto.String(property)},
		}})
		return true
	}
	const whole = `{"overflow":1,"history":2,"grid":3}`
	for _, property = range []string{
		"", "null", "[]", "{}", `{"overflow":1,"grid":3}`, strings.Replace(whole, "1", "-1", 1), strings.Replace(whole, "2", "9223372036854775807", 1),
		strings.Replace(whole, "3", `"x"`, 1), strings.Replace(whole, "1", "null", 1),
	} {
		_, err := c.Screen(t.Context(), sid(1), terminal.Range{})
		wantCode(t, err, fault.Protocol)
	}
	property = whole
	if _, err := c.Screen(t.Context(), sid(1), terminal.Range{}); err != nil {
		t.Error(err)
	}
}
