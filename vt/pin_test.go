package vt_test

import (
	"fmt"
	"strings"
	"testing"

	"termpilot/vt"
)

// pinned runs s on a screen of 10x4 with 10 rows of scrollback, pins every OSC
// 1, and says where the pins are.
func pinned(t *testing.T, s string) string {
	t.Helper()
	var pins []vt.Pin
	var term *vt.Terminal
	term = vt.New(vt.Options{Columns: 10, Rows: 4, Scrollback: 10, OSC: func(int, []byte) { pins = append(pins, term.Pin()) }})
	term.Write([]byte(strings.ReplaceAll(s, "^", "\x1b]1;\a")))
	if err := vt.CheckInvariants(term); err != nil {
		t.Errorf("%q: %v", s, err)
	}
	var got []string
	for _, p := range pins {
		if row, column, ok := term.Locate(p); ok {
			got = append(got, fmt.Sprintf("%d,%d", row, column))
		} else {
			got = append(got, [...]string{"unknown", "alive", "scrolled", "erased"}[term.Fate(p)])
		}
	}
	return strings.Join(got, " ")
}

func TestPinsFollowTheirLines(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		// VT-60
		{"at the cursor", "ab^c", "0,2"},
		{"behind a full row", "0123456789^", "0,10"},
		{"scrolled into the scrollback", "a^\n\n\n\n\n", "0,1"},
		{"rows inserted above", "a\r\nb^\x1b[H\x1b[2L", "3,1"},
		{"rows deleted above", "a\r\nb\r\nc^\x1b[H\x1b[M", "1,1"},
		{"scrolled in a region", "a\r\nb\r\nc^\x1b[2;3r\x1b[S", "1,1"},
		{"reverse index", "a^\x1b[H\x1bM", "1,1"},
		{"the line is written over", "a^\rxyz", "0,1"},
		{"the line is erased", "a^\x1b[2K", "0,1"},
		{"the rows below the cursor are erased", "^a\r\nb^\x1b[1;5H\x1b[J", "0,0 1,1"},
		// VT-61
		{"dropped from the scrollback", "a^" + strings.Repeat("\n", 20), "scrolled"},
		{"its row was deleted", "a\r\nb^\x1b[M", "erased"},
		{"its row was pushed out", "a\r\nb\r\nc\r\nd^\x1b[H\x1b[L", "erased"},
		{"scrolled out of a region", "a\r\nb^\x1b[2;3r\x1b[S", "erased"},
		{"the screen was erased", "a^\r\nb^\x1b[H\x1b[2J", "erased erased"},
		{"the screen was erased from its first cell", "^a^\r\nb^\x1b[H\x1b[J", "0,0 erased erased"},
		{"a pin at the cursor outlives the erasure", "a\r\n^\x1b[2Jb", "1,0"},
		{"text behind such a pin", "a\r\n^\x1b[2J\n\nb", "1,0"},
		{"text before such a pin", "a\r\n^\x1b[2J\x1b[Hb", "erased"},
		{"text on both sides of it", "a\r\n^\x1b[2Jb\x1b[H語", "erased"},
		{"text before one of two", "a^b\x1b[D^\x1b[2J\rx\x1b[3;1Hy", "erased erased"},
		{"its row is in the scrollback", "^\x1b[2Ja\n\n\n\n\x1b[Hb", "0,0"},
		{"the scrollback was cleared", "a^\n\n\n\n\nb^\x1b[3J", "erased 3,2"},
		{"the terminal was reset", "a^\n\n\n\n\nb^\x1bc", "erased erased"},
		{"DECALN", "a^\x1b#8", "erased"},
		// VT-63
		{"the main screen is hidden", "a^\x1b[?1049h\x1b[2J", "0,1"},
		{"the alternate screen is shown", "\x1b[?1049h\x1b[2;2Ha^", "1,2"},
		{"the alternate screen is hidden", "\x1b[?1049h\x1b[2;2Ha^\x1b[?1049l", "alive"},
		{"the alternate screen is begun anew", "\x1b[?1049ha^\x1b[?1049l\x1b[?1049h", "erased"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := pinned(t, c.in); got != c.want {
				t.Errorf("%q: %s, want %s", c.in, got, c.want)
			}
		})
	}
}

func TestPinBeforePinsTheStartOfARowOfTheScreen(t *testing.T) { // VT-64
	term := vt.New(vt.Options{Columns: 10, Rows: 4, Scrollback: 10})
	term.Write([]byte("one\r\nab"))
	p := term.Pin()
	q := term.PinBefore(p)
	if row, column, ok := term.Locate(q); row != 1 || column != 0 || !ok || q == p {
		t.Error(row, column, ok)
	}
	term.Write([]byte(strings.Repeat("\r\n", 4)))
	if got := term.PinBefore(p); got != 0 {
		t.Error("in the scrollback:", got)
	}
	if row, column, ok := term.Locate(q); row != 1 || column != 0 || !ok {
		t.Error(row, column, ok)
	}
	if got := term.PinBefore(0); got != 0 {
		t.Error("of no pin:", got)
	}
}

func TestUnpinForgets(t *testing.T) { // VT-62
	term := vt.New(vt.Options{})
	p, q := term.Pin(), term.Pin()
	term.Unpin(p)
	term.Unpin(p)
	term.Unpin(0)
	if term.Fate(p) != vt.Unknown || term.Fate(q) != vt.Alive || p == q || p == 0 {
		t.Error(p, q, term.Fate(p), term.Fate(q))
	}
	if err := vt.CheckInvariants(term); err != nil {
		t.Error(err)
	}
}

func TestClearingTheScrollbackKeepsDropped(t *testing.T) { // VT-27
	term := vt.New(vt.Options{Columns: 10, Rows: 4, Scrollback: 10})
	term.Write([]byte(strings.Repeat("x\r\n", 30)))
	dropped := term.Dropped()
	if dropped != 17 || term.History() != 10 {
		t.Fatal(dropped, term.History())
	}
	term.Write([]byte("\x1b[3J"))
	if term.Dropped() != dropped || term.History() != 0 || term.Cursor().Row != dropped+3 {
		t.Error(term.Dropped(), term.History(), term.Cursor())
	}
	if got := screenText(term); got != "x|x|x" {
		t.Errorf("the screen shows %q", got)
	}
}

func TestResizeMovesRowsBetweenScreenAndScrollback(t *testing.T) { // VT-53
	for _, c := range []struct {
		in            string
		columns, rows int
		want          string
	}{
		{"1\r\n2\r\n3\r\n4\r\n5", 10, 2, "3 4|5 4,1"},
		{"1\r\n2\r\n3\r\n4\r\n5", 10, 6, "0 1|2|3|4|5 4,1"},
		{"1", 10, 2, "0 1 0,1"},
		{"1\r\n2\r\n3\r\n4\x1b[H", 10, 2, "0 1|2 0,0"},
		{"0123456789abc", 5, 4, "0 01234|56789|abc 2,3"},
		{"0123456789", 5, 4, "0 01234|56789 1,5"},
		{"0123456789", 20, 4, "0 0123456789 0,10"},
		{"0123456789abc\r\n", 20, 4, "0 0123456789abc 1,0"},
		{"日本語日本語", 5, 4, "0 日本|語日|本語 2,4"},
		{"\x1b[?1049h0123456789\r\nb\r\nc\r\nd", 5, 2, "0 c|d 1,1"},
		{"main\x1b[?1049h0123456789\x1b[?1049l", 3, 4, "0 mai|n 1,1"},
		{"1\r\n2\r\n3\r\n4\r\n5\x1b[?1049hx", 10, 6, "0 ||| x 3,2"},
	} {
		term := vt.New(vt.Options{Columns: 10, Rows: 4})
		term.Write([]byte(c.in))
		term.Resize(c.columns, c.rows)
		cursor := term.Cursor()
		if got := fmt.Sprintf("%d %s %d,%d", term.History(), screenText(term), cursor.Row, cursor.Column); got != c.want {
			t.Errorf("%q at %dx%d: %q, want %q", c.in, c.columns, c.rows, got, c.want)
		}
	}
	term := vt.New(vt.Options{})
	term.Resize(0, -5)
	if columns, rows := term.Size(); columns != 2 || rows != 1 {
		t.Error(columns, rows)
	}
	term.Resize(1<<30, 1<<30)
	if columns, rows := term.Size(); columns != 1000 || rows != 1000 {
		t.Error(columns, rows)
	}
}

func TestWhatWasReadDoesNotChange(t *testing.T) { // VT-72
	term := vt.New(vt.Options{Columns: 10, Rows: 2})
	term.Write([]byte("日本\r\nabc"))
	rows, text := term.Rows(0, 2), term.Text(0, 2)
	before := fmt.Sprint(rows, text)
	term.Write([]byte("\x1b[H\x1b[31mxyzxyzxyz\n\n\n\n\n"))
	term.Resize(5, 5)
	if after := fmt.Sprint(rows, text); after != before {
		t.Errorf("%s became %s", before, after)
	}
}

func TestReadingOutsideGivesWhatExists(t *testing.T) { // VT-73
	term := vt.New(vt.Options{Columns: 10, Rows: 2, Scrollback: 3})
	term.Write([]byte("0\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6"))
	for _, c := range []struct {
		first int64
		n     int
		want  string
	}{
		{0, 100, "2 3 4 5 6"},
		{0, 3, "2"},
		{-5, 3, ""},
		{4, 2, "4 5"},
		{6, 9, "6"},
		{7, 9, ""},
		{3, 0, ""},
		{3, -1, ""},
		{1 << 62, 1 << 62, ""},
		{5, 1<<63 - 1, "5 6"},
	} {
		var got []string
		for _, r := range term.Text(c.first, c.n) {
			got = append(got, r.Text)
		}
		if len(term.Rows(c.first, c.n)) != len(got) || strings.Join(got, " ") != c.want {
			t.Errorf("Text(%d, %d) = %q, want %q", c.first, c.n, got, c.want)
		}
	}
}

func TestGenerationChangesWithWhatIsSeen(t *testing.T) { // VT-29
	term := vt.New(vt.Options{Columns: 10, Rows: 3})
	for _, s := range []string{"a", "\r", "\x1b[31m\x1b[K", "\n", "\x1b[?25l", "\x1b]2;t\a", "\x1b[?1049h", "\x1b[2J", "\x1b[3 q", "\x1b[?1h", "\x1bc", "日", "\u0301"} {
		before := term.Generation()
		term.Write([]byte(s))
		if term.Generation() == before {
			t.Errorf("%q changes nothing", s)
		}
	}
	before := term.Generation()
	term.Write([]byte("\x1b[31m\x1b[c"))
	if term.Generation() != before {
		t.Error("what nobody sees changes the generation")
	}
}

func TestModesTellWhatTheProgramSet(t *testing.T) { // VT-34
	term := vt.New(vt.Options{})
	if got := term.Modes(); got != (vt.Modes{AutoWrap: true}) {
		t.Errorf("at first: %+v", got)
	}
	term.Write([]byte("\x1b[?1;5;6;1002;1004;1006;2004;2026h\x1b[4;20h\x1b[?7l\x1b=\x1b[?1049h\x1b[>3u"))
	want := vt.Modes{
		Alternate: true, ApplicationCursor: true, ApplicationKeypad: true, Origin: true, Insert: true, NewLine: true, ReverseScreen: true,
		BracketedPaste: true, FocusEvents: true, Mouse: vt.MouseButton, MouseSGR: true, Synchronized: true, KittyFlags: 3,
	}
	if got := term.Modes(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for s, want := range map[string]vt.Mouse{"\x1b[?9h": vt.MouseX10, "\x1b[?1000h": vt.MouseNormal, "\x1b[?1003h": vt.MouseAny, "\x1b[?1000l": vt.MouseOff} {
		term.Write([]byte(s))
		if got := term.Modes().Mouse; got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
	term.Write([]byte("\x1b[?2004s\x1b[?2004l\x1b[?2004r"))
	if !term.Modes().BracketedPaste {
		t.Error("XTRESTORE does not restore")
	}
}
