package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"termpilot/vt"
)

func TestThePassthroughDoesNotDependOnHowOutputIsCut(t *testing.T) { // HOST-64
	const stream = "a\x1b[31mb\x1b[cc\x1b]0;title\x07d\x1b]52;c;eA==\x1b\\e\x1b[?25lf\x1bPq\x1b\\g\x1b]8;;http://h\x1b\\h\x1b[>4;1mi\x1b(0j\x1b[5nk\x1b[1;2Rl\x1b[18tm\x1b[22;0tn\x1b_x\x1b\\o\x18p"
	const want = "a\x1b[31mbc\x1b]0;title\x07de\x1b[?25lfg\x1b]8;;http://h\x1b\\h\x1b[>4;1mi\x1b(0jk\x1b[1;2Rlm\x1b[22;0tno\x18p"
	for size := 1; size <= len(stream); size++ {
		var p passthrough
		var got []byte
		for rest := []byte(stream); len(rest) > 0; {
			n := min(size, len(rest))
			got = p.pass(got, rest[:n])
			rest = rest[n:]
		}
		if string(got) != want {
			t.Fatalf("in pieces of %d:\n got %q\nwant %q", size, got, want)
		}
	}
}

func FuzzThePassthroughKeepsNothingForEverAndLetsNoQueryThrough(f *testing.F) { // HOST-64
	f.Add([]byte("\x1b[c\x1b]52;c;?\x07text"))
	f.Add([]byte("\x1b]0;t\x1b[c"))
	f.Add([]byte("\u009bc\x1b[\x05c\x1b]0;\x05\x07"))
	f.Fuzz(func(t *testing.T, output []byte) {
		var whole, cut passthrough
		all := whole.pass(nil, output)
		var pieces []byte
		for _, b := range output {
			pieces = cut.pass(pieces, []byte{b})
		}
		if !bytes.Equal(all, pieces) {
			t.Fatalf("whole %q, cut %q", all, pieces)
		}
		if cap(whole.held) > 4*maxHeld {
			t.Fatalf("holds %d bytes", cap(whole.held))
		}
		for _, query := range []string{"\x1b[c", "\x1b[6n", "\x1b]52;", "\x1bZ", "\x05", "\u009bc"} {
			if bytes.Contains(all, []byte(query)) {
				t.Fatalf("%q went through in %q", query, all)
			}
		}
	})
}

func TestNoQueryOfAnyTerminalPasses(t *testing.T) { // HOST-64
	for name, query := range map[string]string{
		"DA1": "\x1b[0c", "DA2": "\x1b[>c", "DA3": "\x1b[=c", "DSR": "\x1b[5n", "DSR of DEC": "\x1b[?996n", "DECREQTPARM": "\x1b[1x",
		"window size": "\x1b[14;2t", "with zeros before it": "\x1b[018t", "with a sub-parameter": "\x1b[18:0t",
		"DECRQCRA": "\x1b[1;1;1;1;2;2*y", "DECRQPSR": "\x1b[1$w", "DECRQTSR": "\x1b[2$u", "DECRQUPSS": "\x1b[&u",
		"DECRQDE": "\x1b[\"v", "DECRQLP": "\x1b['|", "DECRQM": "\x1b[?1$p", "DECSR": "\x1b[1+p", "XTVERSION": "\x1b[>0q",
		"XTREPORTCOLORS": "\x1b[#R", "XTREPORTSGR": "\x1b[1;1;2;2#|", "XTTITLEPOS": "\x1b[#S", "XTQMODKEYS": "\x1b[?4m",
		"XTQFMTKEYS": "\x1b[?4g", "XTSMGRAPHICS": "\x1b[?1;1;0S", "kitty's keyboard": "\x1b[?u", "kitty's cursors": "\x1b[> q",
		"printing": "\x1b[5i", "DECID": "\x1bZ", "ENQ": "\x05", "controls of one byte": "\x1b G",
		"DEL in an escape": "\x1b\x7f[6n", "DEL in a sequence": "\x1b[\x7f6n", "colour": "\x1b]011;?\x07", "clipboard": "\x1b]052;c;?\x07",
		"in a string that BEL does not end": "\x1bPx\x07\x1b_y\x07z\x1b\\",
	} {
		var p passthrough
		if got := p.pass(nil, []byte(query)); len(got) > 0 {
			t.Errorf("%s: %q went through", name, got)
		}
	}
}

func FuzzAPersonSeesWhatTheEmulatorShows(f *testing.F) { // HOST-64
	for _, output := range []string{
		"\x1b\x7f[31mred", "\x1bPabc\x07hidden\x1b\\x", "\x1b]0;t\u009cshown", "\x1b]00;t\ashown", "\x1b]0;t\x1b[1mbold",
		"\x1b[?25l\x1b[3;4Hx\x1b]8;;http://h\x1b\\h\x1b]8;;\x07", "\x1b(0lqk\x1b(B\u20ac\u0300e", "a\tb\x1bH\x1b[g\x1b#8\x1bc\x1bM\x1bD\x1bE\x1b7\x1b8",
		"\x1b[2;5r\x1b[4h\x1b[?6h\x1b[3@\x1b[2L\x1b[3b\x1b[!p\x1b[3 q\x1b[22t\x1b[?2J\x1b[>1u\x1b[?1s\x1b[?1r",
	} {
		f.Add([]byte(output))
	}
	look := func(terminal *vt.Terminal) string {
		var b strings.Builder
		for _, r := range terminal.Rows(terminal.Dropped(), 1000) {
			for _, c := range r.Cells {
				c.Style.Link = "" // terminals differ in what they take for a link
				fmt.Fprintf(&b, "%q%v ", c.Text, c.Style)
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%v %v %q", terminal.Cursor(), terminal.Modes(), terminal.Title())
		return b.String()
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		if !utf8.Valid(output) || len(output) > 4096 {
			return
		}
		ours, theirs := vt.New(vt.Options{Columns: 20, Rows: 6}), vt.New(vt.Options{Columns: 20, Rows: 6})
		var p passthrough
		passed := p.pass(nil, output)
		_, _ = ours.Write(output)
		_, _ = theirs.Write(passed)
		if a, b := look(ours), look(theirs); a != b && !ours.Midway() {
			t.Fatalf("%q passes as %q\nthe emulator shows\n%s\nthe person sees\n%s", output, passed, a, b)
		}
		if got := theirs.Replies(); len(got) > 0 {
			t.Fatalf("%q passes as %q, and is answered: %q", output, passed, got)
		}
	})
}
