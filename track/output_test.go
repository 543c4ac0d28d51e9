package track

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"termpilot/terminal"
)

func TestWhatIsPaintedOverOlderTextIsToldOrSaidNotToBe(t *testing.T) { // MARK-29
	for name, c := range map[string]struct {
		command, want string
		strewn        bool
	}{
		"at home":                        {"\x1b[Hhello", "hello", false},
		"at home and a line":             {"\x1b[Hhi\r\n", "hi", false},
		"and back":                       {"\x1b7\x1b[Hhi\x1b8", "hi", false},
		"line by line, the rest erased":  {"\x1b[Ha\x1b[K\r\nb\x1b[K\r\n", "a\nb", false},
		"line by line, over the rest":    {"\x1b[Ha\r\nb\r\n", "", true},
		"with a gap":                     {"\x1b[H\x1b[Ka\x1b[5Gb", "a   b", false},
		"in two places":                  {"\x1b[Ha\x1b[2;3Hb", "", true},
		"on and on":                      {"\x1b[H10%\x1b[H20%\x1b[H100%", "100%", false},
		"above its own output":           {"one\r\n\x1b[Htwo\x1b[6;1H", "one\n", true},
		"down to where it began":         {"\x1b[H" + strings.Repeat("new\x1b[K\r\n", 5), strings.Repeat("new\n", 5), false},
		"down to where it began and on":  {"\x1b[H" + strings.Repeat("new\x1b[K\r\n", 9), strings.Repeat("new\n", 9), false},
		"nothing":                        {"", "", false},
		"nothing, the cursor moved":      {"\x1b[H", "", false},
		"left above what it printed":     {"a\r\nb\r\n\x1b[2A", "", true},
		"a wide character":               {"\x1b[H語", "語", false},
		"a cluster that becomes wide":    {"\x1b[H❤\ufe0f", "❤\ufe0f", false},
		"over a row that it inserted":    {"\x1b[H\x1b[Lhello", "hello", false},
		"over a row that it erased":      {"\x1b[H\x1b[2Khello", "hello", false},
		"scrolling back":                 {"\x1b[H\x1bMhello", "hello", false},
		"moving older text about":        {"\x1b[Hhi\x1b[P", "", true},
		"the row where it began deleted": {"\x1b[Mx\r\n", "", true},
		"a blank screen":                 {"\x1b[Hx\x1b[2J\x1b[Hnew\r\n", "new\n", false},
		"a blank screen, many lines":     {"\x1b[2J\x1b[H" + strings.Repeat("line\r\n", 10), strings.Repeat("line\n", 10), false},
		"left at the top of it":          {"\x1b[2J\x1b[Hnew\x1b[H", "", true},
		"a reset":                        {"\x1bcnew\r\n", "new\n", false},
		"on the alternate screen":        {"\x1b[?1049h\x1b[Hx\x1b[?1049l", "", false},
	} {
		s := newScreen("")
		s.draw("old one\r\nold two\r\nold three\r\n<A>$ <B>x\r\n<C>" + c.command)
		if p := s.Last(false); p.State != terminal.Running {
			t.Fatalf("%s: %+v", name, p)
		}
		s.draw("<D0>")
		p := s.Last(false)
		if got := s.output(p); got != c.want || p.Strewn != c.strewn || p.Silent == terminal.Yes && name != "nothing" && name != "on the alternate screen" {
			t.Errorf("%s: got %q of %+v, want %q", name, got, p, c.want)
		}
	}
}

func TestWithOldTextBelowToo(t *testing.T) { // MARK-29
	for name, c := range map[string]struct {
		command, want string
		strewn        bool
	}{
		"nothing":                {"", "", false},
		"a line":                 {"new\r\n", "new", false},
		"lines":                  {"new\r\nnew\r\nnew\r\n", "", true},
		"lines, the rest erased": {"new\x1b[K\r\nnew\x1b[K\r\n", "new\nnew", false},
		"all below erased":       {"\x1b[Jnew\r\nnew\r\n", "new\nnew", false},
		"on and on":              {strings.Repeat("new\x1b[K\r\n", 9), strings.Repeat("new\n", 9), false},
		"only line ends":         {"\r\n\r\n", "", false},
		"only further down":      {"\x1b[6;1Hnew", "", true},
	} {
		s := newScreen("")
		s.draw("\r\nold one\r\nold two\r\nold three\r\nold four\x1b[H<A>$ <B>x\x1b[K\x1b[2;1H\x1b[K<C>" + c.command + "<D0>")
		p := s.Last(false)
		if got := s.output(p); got != c.want || p.Strewn != c.strewn || p.Silent == terminal.Yes && name != "nothing" {
			t.Errorf("%s: got %q of %+v, want %q", name, got, p, c.want)
		}
	}
}

func TestTheFillerOfZshIsNoOutputOverOlderText(t *testing.T) { // MARK-27, MARK-29
	const end = "%                   \r \r\x1b]133;D;0;eol=JQ==\a\x1b[J<A>$ <B>"
	for command, want := range map[string]string{
		"\x1b[Hhello": "hello", "\x1b[Hhello\r\n": "hello", "\x1b[Hhello 100%": "hello 100%", "\x1b7\x1b[Hhi\x1b8": "hi", "abc": "abc", "": "",
	} {
		s := newScreen("")
		s.draw("old one\r\nold two\r\nold three\r\n<A>$ <B>x\r\n<C>" + command + end)
		if p := s.Prompt("s.p1", false); s.output(p) != want || p.Strewn {
			t.Errorf("%q: got %q of %+v", command, s.output(p), p)
		}
	}
}

func TestAPromptThatPaintsOverWhatWasPaintedLosesNothingOfIt(t *testing.T) { // MARK-29, RUN-42
	for command, want := range map[string]string{
		"\x1b[Hhello": "hello", "\x1b[Ha\x1b[K\r\nhello": "a\nhello", "\x1b[2;3Hhello": "hello", "one\r\nhello": "one\nhello",
	} {
		s := newScreen("")
		s.draw("old one\r\nold two\r\nold three\r\n<A>$ <B>x\r\n<C>" + command + "<D0>\r<A>zsh% <B>")
		if p := s.Prompt("s.p1", false); s.whole(p) != want || p.Strewn || p.Rest == "" {
			t.Errorf("%q: got %q of %+v", command, s.whole(p), p)
		}
	}
}

func TestOldTextIsNoPartOfACommandLine(t *testing.T) { // MARK-38
	for typed, want := range map[string]string{
		"x": "x", "echo": "echo", "echo a long line that wraps": "echo a long line that wraps", "": "",
		"ehco\b\b\bcho": "echo", "echo one\r\x1b[K$ ls": "ls", "echo\r$ ls -l": "ls -l",
	} {
		for _, old := range []string{"an old line that goes on\r\nanother old line\r\n", "an old line", "\r\nold"} {
			s := newScreen("")
			s.draw(old + "\x1b[H<A>$ <B>" + typed)
			s.draw("\r\n<C>")
			if got := s.Prompt("s.p1", false).Command; got != want {
				t.Errorf("%q over %q: got %q, want %q", typed, old, got, want)
			}
			s.draw("<D0>")
		}
	}
}

// digits counts what the command of TestNoOldTextIsOutput printed in a text, and
// letters what stood there before.
func digits(text string) (digits, letters int) {
	for _, r := range text {
		switch {
		case '0' <= r && r <= '9' || r == '語':
			digits++
		case 'a' <= r && r <= 'z':
			letters++
		}
	}
	return digits, letters
}

func TestNoOldTextIsOutputAndNoneOfItIsMissing(t *testing.T) { // MARK-29
	steps := []string{
		"1", "22", "333", "\r\n", "\r\n", "\n", "\r", "12345678901234567890123", "語", "\b", "\t", "1\x1b[b",
		"\x1b[H", "\x1b[2;3H", "\x1b[4;1H", "\x1b[6;19H", "\x1b[A", "\x1b[3A", "\x1b[B", "\x1b[C", "\x1b[2D", "\x1b7", "\x1b8",
		"\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[3J", "\x1b[2X",
		"\x1b[L", "\x1b[2L", "\x1b[M", "\x1b[2M", "\x1b[@", "\x1b[P", "\x1bM", "\x1b[S", "\x1b[T", "\x1b[4h", "\x1b[4l",
		"\x1b[2;4r", "\x1b[3;6r", "\x1b[1;5r", "\x1b[r", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?7l", "\x1b[?7h", "\x1bc",
		"\x1b[?2026h", "\x1b[?2026l", "narrow", "wide", "low", "high",
	}
	before := []string{"old\r\n", "an old line\r\n", "\r\n", "\x1b[H", "\x1b[3;1H", "\x1b[J", "an old line that goes on\r\n"}
	rapid.Check(t, func(t *rapid.T) {
		s := newScreen("")
		s.draw(strings.Join(rapid.SliceOfN(rapid.SampledFrom(before), 0, 8).Draw(t, "before"), ""))
		s.draw("\r\n<A>$ <B>x\r\n<C>")
		for _, step := range rapid.SliceOfN(rapid.SampledFrom(steps), 0, 10).Draw(t, "steps") {
			switch step {
			case "narrow":
				s.Resize(7, 6)
			case "wide":
				s.Resize(30, 6)
			case "low":
				s.Resize(20, 3)
			case "high":
				s.Resize(20, 9)
			default:
				s.draw(step)
			}
		}
		s.draw("\x1b[?1049l<D0>")
		p := s.Last(false)
		printed, old := digits(s.output(p))
		all, _ := digits(s.text())
		switch {
		case old > 0:
			t.Errorf("old text is told: %q of %+v", s.output(p), p)
		case p.Silent == terminal.Yes && all > 0, !p.Strewn && printed != all:
			t.Errorf("%d of %d are told: %q of %+v", printed, all, s.output(p), p)
		}
	})
}
