package track

import (
	"fmt"
	"strings"
	"testing"

	"termpilot/terminal"
	"termpilot/vt"
)

// screen is an emulator with a tracker, and what that told.
type screen struct {
	*vt.Terminal
	*Tracker
	told []terminal.EventKind
}

func newScreen(nonce string) *screen {
	s := &screen{}
	s.Terminal = vt.New(vt.Options{Columns: 20, Rows: 6, Scrollback: 10, OSC: func(command int, payload []byte) {
		for _, c := range s.OSC(command, payload) {
			s.told = append(s.told, c.Kind)
		}
	}})
	s.Tracker = New(s.Terminal, Options{Nonce: nonce, Session: "t.", Own: "s."})
	return s
}

// draw writes output in which <A>, <B>, <C>, <D1> and the like stand for marks.
func (s *screen) draw(output string) {
	for _, mark := range []string{"A", "B", "C", "D"} {
		output = strings.ReplaceAll(output, "<"+mark+">", "\x1b]133;"+mark+"\a")
	}
	for n := range 10 {
		output = strings.ReplaceAll(output, fmt.Sprintf("<D%d>", n), fmt.Sprintf("\x1b]133;D;%d\a", n))
	}
	_, _ = s.Write([]byte(output))
	s.Drawn()
}

// text is all that the emulator keeps.
func (s *screen) text() string {
	var b strings.Builder
	for _, r := range s.Terminal.Text(0, 1<<20) {
		b.WriteString(r.Text + "\n")
	}
	return b.String()
}

func (s *screen) output(p terminal.Prompt) string {
	var b strings.Builder
	rows := s.Rows(p.Output.Start.Row, int(p.Output.End.Row-p.Output.Start.Row)+1)
	for i, r := range rows {
		cells := r.Cells
		if i == len(rows)-1 {
			cells = cells[:min(p.Output.End.Column, len(cells))]
		}
		if i == 0 {
			cells = cells[min(p.Output.Start.Column, len(cells)):]
		}
		b.WriteString(vt.CellText(cells))
		if !r.Wrapped && i < len(rows)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestACommandHasItsPlace(t *testing.T) { // MARK-10
	s := newScreen("")
	s.draw("<A>$ <B>")
	at := s.Last(false)
	if at.State != terminal.Editing || at.Typed != terminal.No || at.Touched != terminal.No || at.ID != "s.p1" {
		t.Errorf("a fresh prompt: %+v", at)
	}
	s.Touch()
	s.draw("seq 2")
	if p := s.Last(false); p.Typed != terminal.Yes || p.Command != "seq 2" || p.Touched != terminal.Yes {
		t.Errorf("with text: %+v", p)
	}
	s.draw("\r\n<C>1\r\n2\r\n<D3><A>$ <B>")
	p := s.Prompt(at.ID, false)
	if p.State != terminal.Finished || p.Exit == nil || *p.Exit != 3 || p.Command != "seq 2" || s.output(p) != "1\n2\n" || p.Silent == terminal.Yes {
		t.Errorf("got %+v with %q", p, s.output(p))
	}
	want := fmt.Sprint([]terminal.EventKind{terminal.PromptShown, terminal.Started, terminal.Ended, terminal.PromptShown})
	if fmt.Sprint(s.told) != want {
		t.Errorf("told %v, want %s", s.told, want)
	}
	if p := s.Prompt("other.p1", false); p.State != terminal.Lost {
		t.Errorf("a prompt of another: %+v", p)
	}
}

func TestWhatAsksForFurtherLinesIsNoPartOfACommand(t *testing.T) { // MARK-28
	s := newScreen("")
	more := "\x1b]133;A;k=s\amore> \x1b]133;B;k=s\a"
	s.draw("<A>$ <B>echo 'one\r\n" + more + "two\r\n" + more + "three'")
	if p := s.Last(false); p.State != terminal.Continuation {
		t.Errorf("got %+v", p)
	}
	s.draw("\r\n<C>one\r\ntwo\r\nthree\r\n<D0>")
	if got, want := s.Last(false).Command, "echo 'one\ntwo\nthree'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, renumber := range map[string]func(){
		"its width": func() { s.Resize(16, 6) }, "a scrollback that is erased": func() { s.draw("\x1b[3J") },
	} {
		s.draw(strings.Repeat("line\r\n", 6) + "<A>$ <B>echo 'one\r\n" + more + "two'")
		renumber()
		s.draw("\r\n<C><D0>") // the places are known by the numbers of rows
		if got, want := s.Last(false).Command, "echo 'one\nmore> two'"; got != want {
			t.Errorf("after a change of %s: got %q, want %q", name, got, want)
		}
	}
}

func TestOnlyTheSecretCounts(t *testing.T) { // MARK-6
	s := newScreen("s3cret")
	s.draw("<A>$ <B>\x1b]133;A;n=wrong\a")
	if p := s.Last(false); p != (terminal.Prompt{}) || s.Seen() {
		t.Errorf("got %+v", p)
	}
}

func TestAnEmptyLineIsToldFromOneThatIsNot(t *testing.T) { // TERM-29
	s := newScreen("")
	s.draw("<A>$ <B>")
	s.Touch()
	if p := s.Last(true); p.Typed != terminal.Yes {
		t.Errorf("before the echo: %+v", p)
	}
	s.draw("abc\b\b\b")
	if p := s.Last(false); p.Typed != terminal.Yes {
		t.Errorf("with the cursor at the start: %+v", p)
	}
	s.draw("\x1b[K")
	if p := s.Last(false); p.Typed != terminal.No || p.Touched != terminal.Yes {
		t.Errorf("erased again: %+v", p)
	}
}

func TestAPlaceIsFollowed(t *testing.T) { // TERM-46, TERM-48
	for name, c := range map[string]struct{ after, want string }{
		"wrapped":     {"0123456789012345678901234\r\n", "0123456789012345678901234\n"},
		"cleared":     {"old\r\n\x1b[H\x1b[2J\x1b[3Jnew\r\n", "new\n"},
		"home last":   {"\x1b[2J\x1b[Hnew\r\n", "new\n"},
		"no home":     {"\x1b[2Jnew\r\n", "new\n"},
		"silent":      {"", ""},
		"no line end": {"abc", "abc"},
	} {
		s := newScreen("")
		s.draw("<A>$ <B>x\r\n<C>" + c.after + "<D0>")
		if p := s.Last(false); s.output(p) != c.want {
			t.Errorf("%s: got %q of %+v", name, s.output(p), p.Output)
		}
	}
	s := newScreen("")
	s.draw("<A>$ <B>x\r\n<C>" + strings.Repeat("line\r\n", 40) + "<D0>")
	if p := s.Last(false); p.Output.Start.Row >= s.Dropped() || p.Output.End.Row <= s.Dropped() {
		t.Errorf("an output whose head is lost: %+v, lost are %d rows", p.Output, s.Dropped())
	}
	s.Resize(10, 6)
	if p := s.Last(false); p.State != terminal.Finished {
		t.Errorf("after a change of the width: %+v", p)
	}
}

func TestTheFillerOfZshIsNotOutput(t *testing.T) { // MARK-27
	s := newScreen("")
	// zsh prints its mark, blanks to the end of the row, CR, a blank, CR.
	s.draw("<A>$ <B>x\r\n<C>abc%" + strings.Repeat(" ", 19) + "\r \r\x1b]133;D;0;eol=JQ==\a<A>$ <B>")
	if p := s.Prompt("s.p1", false); s.output(p) != "abc" {
		t.Errorf("got %q", s.output(p))
	}
}
