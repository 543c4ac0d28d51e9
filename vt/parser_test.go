package vt_test

import (
	"fmt"
	"strings"
	"testing"

	"termpilot/vt"
)

// screenAfter is what a screen of 20x4 shows after s, and where the cursor is.
func screenAfter(s string) string {
	term := vt.New(vt.Options{Columns: 20, Rows: 4})
	term.Write([]byte(s))
	c := term.Cursor()
	return fmt.Sprintf("%s %d,%d", screenText(term), c.Row, c.Column)
}

func TestSequencesAreParsed(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		// VT-6
		{"a control inside a sequence takes effect at once", "ab\x1b[1\r;3HX", "abX 0,3"},
		{"a line feed inside a sequence", "ab\x1b[\n5GX", "ab|    X 1,5"},
		{"CAN aborts", "a\x1b[3\x18b", "ab 0,2"},
		{"SUB aborts", "a\x1b[3\x1ab", "ab 0,2"},
		{"CAN aborts a string", "a\x1b]2;t\x18b", "ab 0,2"},
		{"ESC begins anew", "a\x1b[3\x1b[5GX", "a   X 0,5"},
		{"DEL is ignored", "a\x7fb\x1b[\x7f5GX", "ab  X 0,5"},
		{"NUL is ignored", "a\x00b", "ab 0,2"},
		{"ESC and a final byte that means nothing", "a\x1bvb", "ab 0,2"},
		{"ESC with an intermediate that means nothing", "a\x1b%Gb", "ab 0,2"},
		{"ESC with two intermediates", "a\x1b((0lb", "alb 0,3"},
		// VT-7
		{"a private prefix in the wrong place", "a\x1b[3?5Gb", "ab 0,2"},
		{"a parameter behind an intermediate", "a\x1b[ 5qb", "ab 0,2"},
		{"two intermediates", "a\x1b[5 !qb", "ab 0,2"},
		{"an unknown sequence", "a\x1b[>5;6;7zb", "ab 0,2"},
		{"a huge parameter", "a\x1b[99999999999999999999Gb", "a                  b 0,20"},
		{"more parameters than are kept", "a\x1b[" + strings.Repeat("1;", 100) + "1mb", "ab 0,2"},
		{"parameters behind the last one kept do not count", "\x1b[2;5" + strings.Repeat(";", 40) + "9Ha", "|    a 1,5"},
		{"an empty parameter", "\x1b[;5Ha", "    a 0,5"},
		{"zero counts as one", "\x1b[0;0Ha\x1b[0Cb", "a b 0,3"},
		{"a colon where none belongs", "\x1b[2:5Ha", "|    a 1,5"},
		// VT-8
		{"broken UTF-8, one for each maximal subpart", "a\xe6\x97b\xff\xf0\x9f\x98c\xed\xa0\x80", "a�b��c��� 0,9"},
		{"a lead byte before ESC", "\xe4\x1b[31mx", "�x 0,2"},
		{"a lead byte before a control", "\xe4\r\xe4\nx", "�| x 1,2"},
		{"overlong", "\xc0\x80\xe0\x80\x80", "����� 0,5"},
		{"beyond Unicode", "\xf4\x90\x80\x80", "���� 0,4"},
		{"raw C1 bytes are no controls", "a\x9b5Gb\x85\x90c", "a�5Gb��c 0,8"},
		{"encoded C1 are", "a\u009b5Gb\u0085c", "a   b|c 1,1"},
		{"encoded C1 without meaning", "a\u0080\u0099b", "ab 0,2"},
		// VT-9
		{"text breaks off a sequence", "\x1b[3日x", "日x 0,3"},
		{"text breaks off an escape", "\x1b日x", "日x 0,3"},
		{"text breaks off an ignored sequence", "\x1b[3?日x", "日x 0,3"},
		// VT-15
		{"a string ended by ST", "a\x1b]2;t\x1b\\b", "ab 0,2"},
		{"a string ended by BEL", "a\x1b]2;t\ab", "ab 0,2"},
		{"a string ended by the next sequence", "a\x1b]2;t\x1b[5Gb", "a   b 0,5"},
		{"a string ended by encoded ST", "a\x1b]2;t\u009cb", "ab 0,2"},
		{"U+2733 holds the byte 9C and ends nothing", "a\x1b]0;✳ Claude Code\x1b\\b", "ab 0,2"},
		{"line feeds belong to a string", "a\x1b]2;t\r\nu\ab", "ab 0,2"},
		{"an encoded OSC", "a\u009d2;t\u009cb", "ab 0,2"},
		// VT-16
		{"DCS is swallowed", "a\x1bPq#0;2;0\a;0\x1b\\b", "ab 0,2"},
		{"APC, PM and SOS are swallowed", "a\x1b_Gi=1\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d", "abcd 0,4"},
		{"an over-long DCS is swallowed", "a\x1bPq" + strings.Repeat("~", 100_000) + "\x1b\\b", "ab 0,2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := screenAfter(c.in); got != c.want {
				t.Errorf("%q shows %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestScreenSequences(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		// VT-22
		{"a cluster takes the columns of its text", "👨‍👩‍👧x🇫🇷y❤️z❤w", "👨‍👩‍👧x🇫🇷y❤️z❤w 0,11"},
		{"a flag is two indicators, no more", "🇫🇷🇩🇪🇪x", "🇫🇷🇩🇪🇪x 0,7"},
		{"Hangul syllables are composed", "각x", "각x 0,3"},
		{"a mark joins across a control", "e\x1b[1m\u0301x", "e\u0301x 0,2"},
		{"a mark with nothing before it is dropped", "\u0301x", "x 0,1"},
		{"a mark behind a full row", strings.Repeat("x", 20) + "\u0301", strings.Repeat("x", 20) + "\u0301 0,20"},
		{"a selector widens no letter", "e\ufe0fx", "e\ufe0fx 0,2"},
		{"a keycap is wide", "1\ufe0f\u20e3x", "1\ufe0f\u20e3x 0,3"},
		{"a selector at the right edge moves the character down", "\x1b[19Cx\x1b[20G❤\ufe0fx", "|❤\ufe0fx 1,3"},
		{"writing over the left half leaves a blank", "日本\rx", "x 本 0,1"},
		{"writing over the right half leaves a blank", "日本\x1b[2Gx", " x本 0,2"},
		{"erasing a half leaves a blank", "日本\x1b[2G\x1b[X", "  本 0,1"},
		{"deleting a half leaves a blank", "日本\x1b[2G\x1b[P", " 本 0,1"},
		{"inserting between halves leaves blanks", "日本\x1b[2G\x1b[@", "   本 0,1"},
		{"inserting pushes half a character out", "\x1b[19G日\r\x1b[@", strings.Repeat(" ", 20) + " 0,0"},
		{"a wide character needs two columns without autowrap", "\x1b[?7l\x1b[20Gx日", strings.Repeat(" ", 19) + "x 0,20"},
		{"the twentieth mark does not fit a cell", "e" + strings.Repeat("\u0301", 60) + "x", "e" + strings.Repeat("\u0301", 31) + "x 0,2"},
		// VT-23
		{"1049 keeps the cursor and the screen", "main\x1b[?1049h\x1b[Halt\x1b[?1049lx", "mainx 0,5"},
		{"1047 keeps the screen alone", "main\x1b[?1047h\x1b[Halt\x1b[?1047lx", "maix 0,4"},
		{"47 shows what was there", "\x1b[?47h\x1b[Halt\x1b[?47l\x1b[?47h", "alt 0,3"},
		{"1047 begins empty", "\x1b[?1047h\x1b[Halt\x1b[?1047l\x1b[?1047h", " 0,3"},
		{"entering twice is entering once", "main\x1b[?1049h\x1b[?1049h\x1b[5;5H\x1b[?1049lx", "mainx 0,5"},
		{"the alternate screen has no scrollback", "\x1b[?1049h1\n2\n3\n4\n5\n6", "  3|   4|    5|     6 3,6"},
		// VT-24
		{"DECSC saves character sets", "\x1b(0\x1b7\x1b(Bq\x1b8q", "─ 0,1"},
		{"DECSC saves origin mode", "\x1b[2;3r\x1b[?6h\x1b7\x1b[?6l\x1b[H\x1b8\x1b[1;1Hx", "|x 1,1"},
		{"DECSC saves a pending wrap", strings.Repeat("x", 20) + "\x1b7\r\x1b8y", strings.Repeat("x", 20) + "|y 1,1"},
		{"each screen has its own", "ab\x1b7\x1b[?47h\x1b[3;3H\x1b7\x1b[?47l\x1b8x", "abx 0,3"},
		{"DECRC without DECSC goes home", "abc\x1b8x", "xbc 0,1"},
		// VT-25
		{"SO and SI choose between G0 and G1", "\x1b)0q\x0eq\x0fq", "q─q 0,3"},
		{"G2 and G3", "\x1b*0\x1bnq\x1b+B\x1boq", "─q 0,2"},
		{"line drawing is from 0x60 to 0x7e", "\x1b(0_`~", "_◆· 0,3"},
		{"tab stops", "\tx\x1b[3g\r\tx\x1b[5G\x1bH\r\ty", "    y   x          x 0,5"},
		{"tabs stop at the last column", "\t\t\t\t\tx", strings.Repeat(" ", 19) + "x 0,20"},
		{"a tab writes nothing", "abcdefghijk\r\tx", "abcdefghxjk 0,9"},
		{"CBT and CHT", "\x1b[2Ix\x1b[2Zy", "        y       x 0,9"},
		// VT-26
		{"EL behind a full row erases nothing", strings.Repeat("x", 20) + "\x1b[K", strings.Repeat("x", 20) + " 0,20"},
		{"ED behind a full row erases the rows below", strings.Repeat("x", 20) + "\r\ny\x1b[1;19Hxx\x1b[J", strings.Repeat("x", 20) + " 0,20"},
		// VT-28
		{"DECSTR ends modes and keeps the text", "ab\x1b[4h\x1b[?6h\x1b[2;3r\x1b(0\x1b[!pq", "ab|q 1,1"},
		{"RIS ends everything", "ab\x1b[4h\x1b[?6h\x1b[2;3r\x1b(0\x1b[3g\x1bcq\tx", "q       x 0,9"},
		// VT-35
		{"REP repeats a cluster", "👍🏽\x1b[2b", "👍🏽👍🏽👍🏽 0,6"},
		{"REP without a character", "\x1b[5bx", "x 0,1"},
		{"selective erasure is erasure", "abc\x1b[2G\x1b[?K\r\nd", "a|d 1,1"},
		{"insert mode", "abc\x1b[2G\x1b[4h日\x1b[4lx", "a日xc 0,4"},
		{"no autowrap", "\x1b[?7l" + strings.Repeat("x", 25) + "y", strings.Repeat("x", 19) + "y 0,20"},
		{"LNM", "\x1b[20hab\ncd", "ab|cd 1,2"},
		{"a region that is none", "\x1b[3;3r\x1b[9;2r\x1b[2;2Hx", "| x 1,2"},
		{"IL outside of the region does nothing", "a\r\nb\x1b[3;4r\x1b[1;1H\x1b[L", "a|b 0,0"},
		{"a background colour fills what is erased, and is no text", "\x1b[44m\x1b[2Jx", "x 0,1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := screenAfter(c.in); got != c.want {
				t.Errorf("%q shows %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestMidwayIsTrueUntilWhatWasBegunHasEnded(t *testing.T) { // VT-77
	for _, whole := range []string{"\x1b[31m", "\x1b(B", "\x1b]0;t\x07", "\x1b]0;t\x1b\\", "\x1bPq\x1b\\", "\u20ac"} {
		term := vt.New(vt.Options{})
		for i := range len(whole) {
			if term.Midway() != (i > 0) {
				t.Errorf("%q after %d bytes: %v", whole, i, i == 0)
			}
			_, _ = term.Write([]byte{whole[i]})
		}
		if term.Midway() {
			t.Errorf("%q is not over", whole)
		}
	}
}
