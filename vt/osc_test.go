package vt_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"termpilot/vt"
)

func TestOSCIsCalledAtItsPlaceInTheStream(t *testing.T) { // VT-14
	var got []string
	var term *vt.Terminal
	term = vt.New(vt.Options{Columns: 20, Rows: 4, OSC: func(command int, payload []byte) {
		got = append(got, fmt.Sprintf("%d %q %s %d", command, payload, screenText(term), term.Cursor().Column))
	}})
	term.Write([]byte("a\x1b]133;A\abc\x1b]7;file://h/\x1b\\d\x1b]1337;X=\r\n;\a\x1b]2\a\x1b]10;?\a"))
	want := []string{`133 "A" a 1`, `7 "file://h/" abc 3`, `1337 "X=\r\n;" abcd 4`, `2 "" abcd 4`, `10 "?" abcd 4`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSomeOSCAreNotPassedOn(t *testing.T) { // VT-14
	for _, s := range []string{
		"\x1b]52;c;?\a", "\x1b]52;c;cm0=\a", "\x1b]\a", "\x1b];x\a", "\x1b]Lfile\a", "\x1b]133x;A\a", "\x1b]1234567;A\a",
		"\x1b]133;A\x18", "\x1b]133;A\x1a", "\x1b]133;" + strings.Repeat("x", 300_000) + "\a", "\x1bP133;A\x1b\\", "\x1b_133;A\x1b\\",
	} {
		term := vt.New(vt.Options{OSC: func(command int, payload []byte) { t.Errorf("%.40q is passed on: %d %.20q", s, command, payload) }})
		term.Write([]byte(s))
	}
}

func TestAPayloadMayBeLong(t *testing.T) { // VT-14
	n := 0
	term := vt.New(vt.Options{OSC: func(_ int, payload []byte) { n = len(payload) }})
	term.Write([]byte("\x1b]633;E;" + strings.Repeat("x", 200_000) + "\a"))
	if n != 200_002 {
		t.Errorf("%d bytes", n)
	}
}

func TestBellRings(t *testing.T) { // VT-14
	n := 0
	term := vt.New(vt.Options{Bell: func() { n++ }})
	term.Write([]byte("\a\x1b]2;t\a\x1b[\a5G"))
	if n != 2 {
		t.Errorf("%d rings", n)
	}
}

func TestTitlesAreOneCleanLine(t *testing.T) { // VT-17
	for _, c := range []struct{ in, want string }{
		{"\x1b]0;both\a", "both"},
		{"\x1b]2;title\x1b\\", "title"},
		{"\x1b]1;icon\a", ""},
		{"\x1b]0;✳ Claude Code\x1b\\", "✳ Claude Code"},
		{"\x1b]2;a\r\nb\tc\u0085d\u2028e\u202ef\a", "abcdef"},
		{"\x1b]2;a\xffb\xe6\x97\a", "ab"},
		{"\x1b]2;👨‍👩‍👧\a", "👨‍👩‍👧"},
		{"\x1b]2;one\a\x1b]2;\a", ""},
		{"\x1b]2;one\a\x1b[22t\x1b]2;two\a\x1b[23t", "one"},
		{"\x1b]2;one\a\x1b[22;0t\x1b]2;two\a\x1b[23;0t\x1b[23t", "one"},
	} {
		term := vt.New(vt.Options{})
		term.Write([]byte(c.in))
		if got := term.Title(); got != c.want {
			t.Errorf("%q makes %q, want %q", c.in, got, c.want)
		}
	}
	term := vt.New(vt.Options{})
	term.Write([]byte("\x1b]2;" + strings.Repeat("日", 5000) + "\a"))
	if got := term.Title(); len(got) != 1023 || !utf8.ValidString(got) {
		t.Errorf("%d bytes of title", len(got))
	}
}

func TestLinksAreKeptWithTheirText(t *testing.T) { // VT-18
	term := vt.New(vt.Options{Columns: 20, Rows: 3})
	term.Write([]byte("\x1b]8;id=1;http://h/a;b?c\x1b\\in\x1b[1mk\x1b[0m\x1b]8;;\x1b\\ out " +
		"\x1b]8;;http://h/\x01\x1b\\x\x1b]8;;http://h/é\x1b\\y\x1b]8;;h p\x1b\\z\x1b]8;;" + strings.Repeat("x", 2084) + "\x1b\\w"))
	check := func(where string) {
		t.Helper()
		r := term.Rows(0, 1)[0]
		for i, c := range r.Cells {
			want := ""
			if i < 3 {
				want = "http://h/a;b?c"
			}
			if c.Style.Link != want {
				t.Errorf("%s: cell %d (%q) links to %.30q", where, i, c.Text, c.Style.Link)
			}
		}
	}
	check("on the screen")
	term.Write([]byte("\r\n\n\n\n"))
	check("in the scrollback")
	term.Resize(30, 10)
	check("after a resize")
}

func TestStylesAreKept(t *testing.T) { // VT-19
	type style = vt.Style
	for _, c := range []struct {
		in   string
		want style
	}{
		{"\x1b[1;2;3;5;7;8;9;53m", style{Attributes: vt.Bold | vt.Faint | vt.Italic | vt.Blink | vt.Inverse | vt.Hidden | vt.Strike | vt.Overline}},
		{"\x1b[1;2;3;5;7;8;9;53m\x1b[22;23;25;27;28;29;55m", style{}},
		{"\x1b[1;31m\x1b[m", style{}},
		{"\x1b[5m\x1b[26m", style{Attributes: vt.Blink}},
		{"\x1b[4m", style{Underline: vt.SingleUnderline}},
		{"\x1b[4:3m", style{Underline: vt.CurlyUnderline}},
		{"\x1b[4:9m", style{Underline: vt.DashedUnderline}},
		{"\x1b[4:3m\x1b[4:0m", style{}},
		{"\x1b[21m", style{Underline: vt.DoubleUnderline}},
		{"\x1b[4m\x1b[24m", style{}},
		{"\x1b[31;42m", style{Foreground: vt.Indexed(1), Background: vt.Indexed(2)}},
		{"\x1b[91;102m", style{Foreground: vt.Indexed(9), Background: vt.Indexed(10)}},
		{"\x1b[31;42m\x1b[39;49m", style{}},
		{"\x1b[38;5;200;48;5;100m", style{Foreground: vt.Indexed(200), Background: vt.Indexed(100)}},
		{"\x1b[38;2;1;2;3;1m", style{Foreground: vt.RGB(1, 2, 3), Attributes: vt.Bold}},
		{"\x1b[38:2:1:2:3;1m", style{Foreground: vt.RGB(1, 2, 3), Attributes: vt.Bold}},
		{"\x1b[38:2::1:2:3;1m", style{Foreground: vt.RGB(1, 2, 3), Attributes: vt.Bold}},
		{"\x1b[48:5:7;3m", style{Background: vt.Indexed(7), Attributes: vt.Italic}},
		{"\x1b[38;2;999;2;3m", style{Foreground: vt.RGB(255, 2, 3)}},
		{"\x1b[58:2::1:2:3m", style{UnderlineColor: vt.RGB(1, 2, 3)}},
		{"\x1b[58;5;9m", style{UnderlineColor: vt.Indexed(9)}},
		{"\x1b[58;5;9m\x1b[59m", style{}},
		{"\x1b[38;5m", style{}},
		{"\x1b[38m", style{}},
		{"\x1b[38;7;1m", style{}},
		{"\x1b[10;99;1m", style{Attributes: vt.Bold}},
		{"\x1b[>4;1m", style{}},
	} {
		term := vt.New(vt.Options{Columns: 20, Rows: 2})
		term.Write([]byte(c.in + "x\x1b[0m"))
		for _, where := range []string{"screen", "scrollback", "resize"} {
			if got := term.Rows(0, 1)[0].Cells[0].Style; got != c.want {
				t.Errorf("%q in the %s: %+v, want %+v", c.in, where, got, c.want)
			}
			if where == "screen" {
				term.Write([]byte("\r\n\n\n"))
			} else {
				term.Resize(25, 6)
			}
		}
	}
}

func TestColorsTellWhatTheyAre(t *testing.T) { // VT-19
	if _, ok := vt.Color(0).Index(); ok {
		t.Error("the default colour is of the palette")
	}
	if n, ok := vt.Indexed(7).Index(); n != 7 || !ok {
		t.Error(n, ok)
	}
	if _, ok := vt.RGB(0, 0, 7).Index(); ok {
		t.Error("a direct colour is of the palette")
	}
	if r, g, b, ok := vt.RGB(1, 2, 3).RGB(); r != 1 || g != 2 || b != 3 || !ok {
		t.Error(r, g, b, ok)
	}
	if _, _, _, ok := vt.Indexed(7).RGB(); ok {
		t.Error("a palette colour is direct")
	}
}
