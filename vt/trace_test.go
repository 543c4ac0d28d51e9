package vt_test

import (
	"fmt"
	"strings"
	"testing"

	"termpilot/vt"
)

// traced runs s on a screen of 10x6 that holds "old one", "old two" and the
// cursor below them, traces from there on, and says what was noted.
func traced(t *testing.T, s string) string {
	t.Helper()
	term := vt.New(vt.Options{Columns: 10, Rows: 6, Scrollback: 10})
	begin, s, _ := strings.Cut(s, "^")
	term.Write([]byte("old one\r\nold two\r\n" + begin))
	p := term.Pin()
	term.Trace(p)
	for _, part := range strings.Split(s, "~") {
		term.Write([]byte(part))
		if err := vt.CheckInvariants(term); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if part != s {
			term.Resize(7, 6)
		}
	}
	return noted(term, p)
}

// noted says what was traced from a pin on.
func noted(term *vt.Terminal, p vt.Pin) string {
	told, ok := term.Traced(p)
	if !ok {
		return "not traced"
	}
	got := fmt.Sprint("flow ", told.Flow)
	if told.Hidden {
		got = "hidden"
	}
	for _, v := range told.Over {
		row, column, _ := term.Locate(v.From)
		endRow, endColumn, _ := term.Locate(v.To)
		got += fmt.Sprintf(" %d,%d-%d,%d", row, column, endRow, endColumn)
	}
	if told.Apart {
		got += " apart"
	}
	if row, column, ok := term.Locate(told.Anew); ok {
		got += fmt.Sprintf(" anew %d,%d", row, column)
	}
	return got
}

func TestWhatIsWrittenOverOlderTextIsTraced(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		// VT-65
		{"nothing", "^", "flow 2"},
		{"in the flow", "^new\r\nnew", "flow 2"},
		{"at home", "^\x1b[Hnew", "flow 2 0,0-0,3"},
		{"through the end of a row", "^\x1b[H\x1b[2K0123456789abc", "flow 2 0,0-1,3"},
		{"line by line", "^\x1b[Ha\x1b[K\r\nb", "flow 2 0,0-1,1"},
		{"older text between", "^\x1b[Ha\r\nb", "flow 2 0,0-0,1 1,0-1,1"},
		{"in three places", "^\x1b[Ha\x1b[1;5Hb\r\nc", "flow 2 0,0-0,1 0,4-0,5 apart"},
		{"wide", "^\x1b[H語", "flow 2 0,0-0,2"},
		{"over itself", "^\x1b[Habc\rx", "flow 2 0,0-0,3"},
		{"a row inserted above", "^\x1b[H\x1b[Lnew", "flow 3 0,0-0,3"},
		{"characters moved", "^\x1b[H\x1b[P", "flow 2 apart"},
		{"a mark on an older character", "^\x1b[1;2H\u0301", "flow 2 apart"},
		{"a mark on a character of its own", "^\x1b[Ho\u0301", "flow 2 0,0-0,1"},
		{"characters moved in the flow", "^new\r\x1b[P\x1b[@", "flow 2"},
		{"older text below", "\x1b[H^a\x1b[K\r\nb", "flow 2 0,0-1,1"},
		{"older text down to the last row", "\x1b[6;1Hold\x1b[4;1H^a", "flow 6 3,0-3,1"},
		{"on the alternate screen", "^\x1b[?1049h\x1b[Hnew", "hidden"},
		{"after the alternate screen", "^\x1b[?1049h\x1b[Hnew\x1b[?1049l", "flow 2"},
		// VT-66
		{"scrolled", "^\x1b[Hnew\x1b[6;1H\n\n", "flow 2 0,0-0,3"},
		{"scrolled away", "^" + strings.Repeat("\n", 40), "flow 0"},
		{"rows deleted above", "^\x1b[H\x1b[Mnew", "flow 1 0,0-0,3"},
		{"in a region", "^\x1b[3;6r\x1b[6;1H\n\n\nnew", "flow 2"},
		{"the screen erased", "^\x1b[Hx\x1b[2J\x1b[Hnew\n\n\n\n\n\n", "flow 0 anew 0,0"},
		{"the scrollback erased", "^\n\n\n\n\n\n\n\n\x1b[3Jnew", "flow 0 anew 0,0"},
		{"reset", "^\n\n\n\n\n\n\n\n\x1bcnew", "flow 0 anew 0,0"},
		{"resized", "^~\x1b[Hnew", "flow 2 0,0-0,3"},
		{"resized between", "^\x1b[Hnew~", "flow 2 0,0-0,3 apart"},
		{"resized, with the beginning scrolled away", "^\n\n\n\n\n\n~\x1b[Hnew", "flow 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := traced(t, c.in); got != c.want {
				t.Errorf("%q: %s, want %s", c.in, got, c.want)
			}
		})
	}
}

func TestATraceIsBounded(t *testing.T) { // VT-65, VT-62
	term := vt.New(vt.Options{Columns: 10, Rows: 6})
	var pins []vt.Pin
	for range 20 {
		pins = append(pins, term.Pin())
		term.Trace(pins[len(pins)-1])
	}
	if _, ok := term.Traced(pins[0]); ok {
		t.Error("the first of 20 is still traced")
	}
	term.Write([]byte("x\x1b[Hy"))
	for range 5000 {
		term.Pin()
	}
	term.Write([]byte("\x1b[Hyy\x1b[2J\x1b[3J\x1b[Hz"))
	if _, ok := term.Traced(pins[19]); !ok {
		t.Error("the last one is not traced any more")
	}
	term.EndTrace(pins[19])
	if _, ok := term.Traced(pins[19]); ok {
		t.Error("a trace that was ended goes on")
	}
	if err := vt.CheckInvariants(term); err != nil {
		t.Error(err)
	}
}
