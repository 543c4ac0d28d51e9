package track

import (
	"strings"
	"unicode/utf8"

	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

// cutFiller notes how much before the place of an end mark is zsh's, not the
// command's.
func (s *Places) cutFiller(mark shellint.Mark) {
	if !mark.HasEOL {
		return
	}
	n := s.filler(mark.EOL)
	if n == 0 && mark.Hooked {
		n = s.hookedFiller(mark.EOL)
	}
	if n > 0 {
		s.cuts[s.next] = n
	}
}

// outputEnd is the place of an end mark, less the filler that zsh printed there.
func (s *Places) outputEnd(handle uint64) (terminal.Point, bool) {
	at, ok := s.Locate(handle)
	if !ok {
		return at, false
	}
	// The filler may have been wrapped anew since, so it is followed row by row.
	for left := s.cuts[handle]; left > 0; {
		if left <= at.Column {
			at.Column -= left
			break
		}
		left -= at.Column
		above := s.term.Rows(at.Row-1, 1)
		if at.Row <= s.term.Dropped() || len(above) == 0 {
			break
		}
		at = terminal.Point{Row: at.Row - 1, Column: len(above[0].Cells)}
	}
	return at, true
}

// filler returns how many cells before the cursor are zsh's PROMPT_SP: its
// end-of-line text and blanks, printed so that the prompt begins in a fresh
// row. zsh prints the text, columns less its width blanks, CR, as many blanks
// as the text is wide, CR. So when output ended in column k of the row above,
// the text begins there and exactly the first k cells of this row were
// written; and when a whole row was written here, nothing is above.
func (s *Places) filler(eol string) int {
	cursor := s.cursor()
	if cursor.Column != 0 || cursor.Row <= s.term.Dropped() {
		return 0
	}
	rows := s.term.Rows(cursor.Row-1, 2)
	columns, _ := s.term.Size()
	if len(rows) != 2 || !rows[0].Wrapped {
		return 0
	}
	above, below := rows[0].Cells, s.ownCells(rows[1].Cells, cursor.Row)
	n := len(below)
	if n >= columns || len(above) < columns || !blank(below) {
		return 0
	}
	least := n
	if n <= utf8.RuneCountInString(eol)*2 { // the blanks that wiped the text hide how many came before
		least = 1
	}
	printed := eol + strings.Repeat(" ", columns)
	for k := n; k >= least; k-- {
		if strings.HasPrefix(printed, vt.CellText(above[k:])) {
			return columns - k
		}
	}
	return 0
}

// maxHooked is how many rows a function named precmd may have printed.
const maxHooked = 16

// hookedFiller returns how many cells before the cursor are zsh's filler and
// what a function named precmd printed behind it, on top of the blanks that the
// filler left in its last row. When that row is covered it is 0: rather too
// much output than too little.
func (s *Places) hookedFiller(eol string) int {
	if eol == "" {
		return 0
	}
	cursor := s.cursor()
	columns, _ := s.term.Size()
	start, _ := s.Locate(s.machine.Last().OutputStart)
	first := max(cursor.Row-maxHooked, start.Row, s.term.Dropped())
	rows := s.term.Rows(first, int(cursor.Row-first)+1)
	printed := eol + strings.Repeat(" ", columns)
	cut := cursor.Column
	for i := len(rows) - 1; i >= 0; i-- {
		cells := rows[i].Cells
		if i < len(rows)-1 {
			cut += len(cells)
		}
		covered := len(cells) == columns
		if covered && !rows[i].Wrapped && blank(cells[columns-1:]) { // the filler began in this row
			for k := columns - 1; k > 0; k-- {
				if strings.HasPrefix(printed, vt.CellText(cells[k:])) {
					return cut - k // and what came after it was erased
				}
			}
			return cut
		}
		if i > 0 && rows[i-1].Wrapped && len(rows[i-1].Cells) == columns {
			above := rows[i-1].Cells
			for k := min(len(cells), columns-1); k > 0; k-- {
				if tail := vt.CellText(above[k:]); strings.HasPrefix(printed, tail) && (!covered || strings.HasPrefix(tail, eol+" ")) {
					return cut + columns - k
				}
			}
		}
		if covered {
			return 0
		}
	}
	return 0
}
