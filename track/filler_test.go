package track

import (
	"strings"
	"testing"
	"unicode/utf8"

	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/vt"
)

func TestTheFillerIsFoundAtEveryColumnAndForEveryMark(t *testing.T) { // MARK-27
	const columns = 20
	for _, eol := range []string{"%", "#", "##", "<no newline>", "⏎", "日", ""} {
		width := utf8.RuneCountInString(eol) + strings.Count(eol, "日")
		for n := range 3 * columns {
			for _, last := range []string{"", "x", "%", eol} {
				for _, pad := range []string{"", " ", "   "} {
					term := vt.New(vt.Options{Columns: columns, Rows: 9})
					s := NewPlaces(term, shellint.NewMachine(""))
					output := "$ c\r\n" + strings.Repeat("x", n) + last + pad
					_, _ = term.Write([]byte(output))
					want := s.cursor()
					// As zsh prints it when the terminal wraps late.
					_, _ = term.Write([]byte(eol + strings.Repeat(" ", columns-width) + "\r" + strings.Repeat(" ", width) + "\r"))
					got := s.cursor()
					got.Column -= s.filler(eol)
					if got.Column < 0 {
						got.Column += columns
						got.Row--
					}
					if want.Column == columns { // the end of a row is the start of the next
						want = terminal.Point{Row: want.Row + 1}
					}
					if got != want && !(eol == "日" && want.Column == columns-1) { // a wide mark leaves a gap there
						t.Errorf("mark %q after %q: got %+v, want %+v", eol, output, got, want)
					}
				}
			}
		}
	}
}
