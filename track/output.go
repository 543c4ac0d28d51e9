package track

import (
	"slices"

	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

// Output is what is known of where the output of a command stands.
type Output struct {
	Span   terminal.Span // the cells that the command printed so far
	Known  bool          // whether it is known where they begin
	Silent bool          // the command has ended, and is known to have printed nothing
	// Strewn is set when the command printed in other places than Span, or it is
	// not known where: over older text here and there, or behind the place where it
	// left the cursor, which the next prompt covers.
	Strewn bool
}

// painted is where the output of a command stands, when that is not from its
// start mark to its end mark.
type painted struct {
	from, to vt.Pin // instead of the marks; 0 for the mark
	strewn   bool
	nowhere  bool // what stands between the marks is older
	lost     bool // nothing is known any more
}

// mostStrewn is how many of the commands of which the output is strewn are told by
// Strewn. Of older ones it is not known where it stands.
const mostStrewn = 16

// Output returns where a command that runs, or has ended, printed. What it
// painted over older text is told where nothing else stands between.
func (s *Places) Output(p shellint.Prompt) Output {
	at := s.painted[p.OutputStart]
	if p.State == terminal.Running {
		pin := s.pins[p.OutputStart]
		if traced, ok := s.term.Traced(pin); ok && !traced.Hidden {
			at = s.survey(pin, traced, false)
		}
	}
	start, ok := s.Locate(p.OutputStart)
	if at.from != 0 {
		start, ok = s.pinned(at.from)
	}
	if !ok || at.lost {
		return Output{Strewn: p.OutputStart != 0}
	}
	out := Output{Span: terminal.Span{Start: start, End: start}, Known: true, Strewn: at.strewn}
	end, told := s.cursor(), true
	if p.State == terminal.Finished {
		end, told = s.outputEnd(p.OutputEnd)
		out.Silent = told && end == start && at == painted{} && s.rests[p.OutputEnd] == ""
	}
	if at.to != 0 {
		if to, ok := s.pinned(at.to); ok && (!told || later(end, to) == end) {
			end, told = to, true
		}
	}
	if told && !at.nowhere {
		out.Span.End = later(start, end)
	}
	return out
}

// settle notes where the output of a command that ends now stands. The cursor is
// at the end mark.
func (s *Places) settle(p shellint.Prompt) {
	pin := s.pins[p.OutputStart]
	traced, ok := s.term.Traced(pin)
	if !ok {
		return
	}
	var at painted
	if !traced.Hidden {
		at = s.survey(pin, traced, true)
	}
	s.endTrace(pin, at)
	if at == (painted{}) {
		return
	}
	s.painted[p.OutputStart] = at
	if at.strewn {
		s.strewn = append(s.strewn, p)
	}
	if len(s.strewn) > mostStrewn {
		oldest := s.strewn[0].OutputStart
		s.forgetPainted(oldest)
		s.painted[oldest] = painted{strewn: true, lost: true}
	}
}

// endTrace ends a trace, and gives up its pins but those of keep.
func (s *Places) endTrace(pin vt.Pin, keep painted) {
	traced, _ := s.term.Traced(pin)
	s.term.EndTrace(pin)
	for _, v := range append(traced.Over, vt.Stretch{From: traced.Anew}) {
		for _, pin := range []vt.Pin{v.From, v.To} {
			if pin != keep.from && pin != keep.to {
				s.term.Unpin(pin)
			}
		}
	}
}

// Strewn returns the ids of the prompts of which it is known where a part of the
// output stands, and that it is no more than a part: oldest first, 17 at most.
func (s *Places) Strewn() (ids []string) {
	for _, p := range s.strewn {
		ids = append(ids, p.ID)
	}
	if p := s.machine.Last(); p.State == terminal.Running && s.Output(p).Strewn {
		ids = append(ids, p.ID)
	}
	return ids
}

func (s *Places) forgetPainted(handle uint64) {
	if at, ok := s.painted[handle]; ok {
		s.term.Unpin(at.from)
		s.term.Unpin(at.to)
		delete(s.painted, handle)
		s.strewn = slices.DeleteFunc(s.strewn, func(p shellint.Prompt) bool { return p.OutputStart == handle })
	}
}

// survey finds out where the output of a command stands that began at a pin.
// over says that it has ended, at the cursor.
func (s *Places) survey(pin vt.Pin, traced vt.Traced, over bool) (at painted) {
	begin, ok := s.pinned(pin)
	if !ok && traced.Anew != 0 {
		at.from = traced.Anew
		begin, ok = s.pinned(at.from)
	}
	if !ok {
		return painted{strewn: true, nowhere: true}
	}
	_, rows := s.term.Size()
	top := s.term.Dropped() + int64(s.term.History())
	below, cursor := terminal.Point{Row: top + int64(rows)}, s.cursor()
	flow := later(begin, terminal.Point{Row: traced.Flow})
	at.nowhere = begin != flow && s.filled(begin, later(begin, cursor))
	at.strewn = traced.Apart || over && s.filled(later(cursor, flow), below)

	var one *terminal.Span
	var pins vt.Stretch
	for _, v := range traced.Over {
		from, begins := s.pinned(v.From)
		to, ends := s.pinned(v.To)
		switch behind := over && s.filled(later(from, cursor), to); {
		case !begins, !ends, behind:
			at.strewn = true
		case over && later(from, cursor) == from: // zsh's filler
		case one != nil:
			at.strewn = true
		default:
			one, pins = &terminal.Span{Start: from, End: to}, v
		}
	}
	if at.strewn || one == nil && begin == flow {
		return at // all of it in the flow, as a rule
	}
	switch flows := begin.Row < top || s.filled(flow, below); {
	case one == nil:
		at.strewn = flows // older text stands before it
	case !flows:
		at.from, at.to, at.nowhere = pins.From, pins.To, false
	case s.filled(one.End, flow):
		at.strewn = true
	default:
		at.from, at.nowhere = pins.From, false
	}
	return at
}

// filled reports whether anything but blanks stands from one place to another.
func (s *Places) filled(from, to terminal.Point) bool {
	top := s.term.Dropped() + int64(s.term.History())
	if above := min(to.Row, top) - from.Row; above > 0 { // rows of the scrollback
		if above > mostText {
			return true
		}
		for i, r := range s.term.Rows(from.Row, int(above)) {
			cells := r.Cells
			if i == 0 {
				cells = cells[min(from.Column, len(cells)):]
			}
			if !blank(cells) {
				return true
			}
		}
		from = terminal.Point{Row: from.Row + above}
	}
	return s.term.Stands(from.Row, from.Column, to.Row, to.Column)
}

// ownCells are those of the cursor's row that the command, or the filler behind it,
// has written: all of them, but where it paints over older text.
func (s *Places) ownCells(cells []vt.Cell, row int64) []vt.Cell {
	traced, _ := s.term.Traced(s.pins[s.machine.Last().OutputStart])
	for _, v := range traced.Over {
		if to, ok := s.pinned(v.To); ok && to.Row == row {
			return cells[:min(to.Column, len(cells))]
		}
	}
	return cells
}
