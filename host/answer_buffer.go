package host

import (
	"strings"
	"unicode/utf16"

	"termpilot/iterm/api"
	"termpilot/terminal"
	"termpilot/vt"
)

const (
	maxTrailing   = 1_000_000 // as the API's own server
	maxBufferRows = 200_000   // most rows of one answer
	rowsAtOnce    = 256       // whose cells are unpacked
)

// getBuffer reads rows: the screen, the last n, or a window of coordinates. A
// bad range gets an answer without a body, as from the API's own server.
func getBuffer(c *client, in *api.GetBufferRequest) (*api.GetBufferResponse, error) {
	s, ok := c.host.readable(in.GetSession())
	if !ok {
		return &api.GetBufferResponse{Status: api.GetBufferResponse_SESSION_NOT_FOUND.Enum()}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.window(in.GetLineRange())
	if !ok {
		return nil, nil
	}
	out := &api.GetBufferResponse{
		Status: api.GetBufferResponse_OK.Enum(), Cursor: coord(s.cursor()), WindowedCoordRange: w,
	}
	out.Contents = s.contents(w, in.GetIncludeStyles())
	return out, nil
}

// window turns a line range into coordinates. mu is held.
func (s *session) window(r *api.LineRange) (*api.WindowedCoordRange, bool) {
	_, height := s.term.Size()
	dropped := s.term.Dropped()
	end := dropped + int64(s.term.History()+height)
	whole := func(first int64) *api.WindowedCoordRange {
		return &api.WindowedCoordRange{
			CoordRange: coordRange(terminal.Span{Start: terminal.Point{Row: first}, End: terminal.Point{Row: end}}),
			Columns:    &api.Range{Location: ptr(int64(0)), Length: ptr(int64(0))},
		}
	}
	if w := r.GetWindowedCoordRange(); w != nil {
		start := w.GetCoordRange().GetStart()
		return w, start.GetX() >= 0 && w.GetColumns().GetLocation() >= 0 && w.GetColumns().GetLength() >= 0
	}
	switch {
	case r == nil || (r.ScreenContentsOnly != nil) == (r.TrailingLines != nil):
		return nil, false
	case r.ScreenContentsOnly != nil:
		return whole(end - int64(height)), true
	default:
		n := min(max(int64(r.GetTrailingLines()), 0), maxTrailing)
		return whole(max(end-n, dropped)), true
	}
}

// contents are the rows of a window. Rows that are gone are left out; rows
// past the end do not exist. mu is held.
func (s *session) contents(w *api.WindowedCoordRange, styles bool) []*api.LineContents {
	start, end := w.GetCoordRange().GetStart(), w.GetCoordRange().GetEnd()
	first := max(start.GetY(), s.term.Dropped())
	past := end.GetY()
	if end.GetX() > 0 {
		past++ // a part of the last row, too
	}
	_, height := s.term.Size()
	past = min(past, s.term.Dropped()+int64(s.term.History()+height), first+maxBufferRows)
	if past <= first {
		return nil
	}
	list := make([]*api.LineContents, 0, past-first)
	var rows []vt.Row
	for y := first; y < past; y++ {
		if len(rows) == 0 { // cells take fifty times as much as what is told of them
			if rows = s.term.Rows(y, int(min(past-y, rowsAtOnce))); len(rows) == 0 {
				break
			}
		}
		cells, soft := rows[0].Cells, rows[0].Wrapped
		rows = rows[1:]
		if limit := int(end.GetX()); y == end.GetY() {
			if limit > 0 && limit <= len(cells) {
				// As the API's own server: a row without blanks at its end goes on, it says.
				cells, soft = cells[:limit], true
			}
		}
		left := 0
		if y == start.GetY() {
			left = int(start.GetX())
		}
		if at, length := int(w.GetColumns().GetLocation()), int(w.GetColumns().GetLength()); length > 0 {
			cells, soft = columnsOf(cells, at, length)
			left = max(left-at, 0)
		}
		cells = cells[min(left, len(cells)):]
		list = append(list, lineContents(cells, soft, styles))
	}
	return list
}

// columnsOf cuts a window of columns out of a row. Blanks at its end count as
// empty, and a row with any is said to end there.
func columnsOf(cells []vt.Cell, at, length int) ([]vt.Cell, bool) {
	cells = cells[min(at, len(cells)):]
	full := len(cells) >= length
	cells = cells[:min(length, len(cells))]
	n := len(cells)
	for n > 0 && (cells[n-1].Text == " " || !cells[n-1].Written()) {
		n--
	}
	return cells[:n], full && n == length
}

// lineContents tells a row: its text, and how many UTF-16 units each cell
// takes of it. The right half of a wide character takes none; a cell that was
// never written is a NUL.
func lineContents(cells []vt.Cell, soft, styles bool) *api.LineContents {
	line := &api.LineContents{Continuation: api.LineContents_CONTINUATION_HARD_EOL.Enum()}
	if soft {
		line.Continuation = api.LineContents_CONTINUATION_SOFT_EOL.Enum()
	}
	var text strings.Builder
	text.Grow(len(cells))
	var last *api.CodePointsPerCell
	for _, c := range cells {
		units := int32(1)
		switch {
		case c.Width == 0:
			units = 0
		case c.Text == "":
			text.WriteByte(0)
		default:
			text.WriteString(c.Text)
			units = utf16Length(c.Text)
		}
		if last != nil && *last.NumCodePoints == units {
			*last.Repeats++
			continue
		}
		last = &api.CodePointsPerCell{NumCodePoints: ptr(units), Repeats: ptr(int32(1))}
		line.CodePointsPerCell = append(line.CodePointsPerCell, last)
	}
	line.Text = ptr(text.String())
	if styles {
		line.Style = stylesOf(cells)
	}
	return line
}

func utf16Length(text string) int32 {
	if len(text) == 1 {
		return 1
	}
	n := int32(0)
	for _, r := range text {
		n += int32(utf16.RuneLen(r))
	}
	return n
}

// stylesOf tells the styles of cells, run by run.
func stylesOf(cells []vt.Cell) []*api.CellStyle {
	var list []*api.CellStyle
	for i, c := range cells {
		if i > 0 && c.Style == cells[i-1].Style {
			*list[len(list)-1].Repeats++
			continue
		}
		list = append(list, cellStyle(c.Style))
	}
	return list
}

func cellStyle(s vt.Style) *api.CellStyle {
	has := func(a vt.Attributes) *bool { return ptr(s.Attributes&a != 0) }
	out := &api.CellStyle{
		Bold: has(vt.Bold), Faint: has(vt.Faint), Italic: has(vt.Italic), Blink: has(vt.Blink),
		Underline: ptr(s.Underline != vt.NoUnderline), Strikethrough: has(vt.Strike), Invisible: has(vt.Hidden),
		Inverse: has(vt.Inverse), Guarded: ptr(false), Image: api.ImagePlaceholderType_NONE.Enum(), Repeats: ptr(uint32(1)),
	}
	if n, ok := s.Foreground.Index(); ok {
		out.FgColor = &api.CellStyle_FgStandard{FgStandard: uint32(n)}
	} else if r, g, b, ok := s.Foreground.RGB(); ok {
		out.FgColor = &api.CellStyle_FgRgb{FgRgb: rgb(r, g, b)}
	} else {
		out.FgColor = &api.CellStyle_FgAlternate{FgAlternate: api.AlternateColor_DEFAULT}
	}
	if n, ok := s.Background.Index(); ok {
		out.BgColor = &api.CellStyle_BgStandard{BgStandard: uint32(n)}
	} else if r, g, b, ok := s.Background.RGB(); ok {
		out.BgColor = &api.CellStyle_BgRgb{BgRgb: rgb(r, g, b)}
	} else {
		out.BgColor = &api.CellStyle_BgAlternate{BgAlternate: api.AlternateColor_DEFAULT}
	}
	if r, g, b, ok := s.UnderlineColor.RGB(); ok {
		out.UnderlineColor = rgb(r, g, b)
	}
	if s.Link != "" {
		out.Url = &api.URL{Url: ptr(s.Link)}
	}
	return out
}

func rgb(r, g, b uint8) *api.RGBColor {
	return &api.RGBColor{Red: ptr(uint32(r)), Green: ptr(uint32(g)), Blue: ptr(uint32(b))}
}
