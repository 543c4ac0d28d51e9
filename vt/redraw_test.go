package vt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termpilot/vt"
)

// shown is what a viewer sees: the screen, without the numbers of its rows.
func shown(term *vt.Terminal) everything {
	_, rows := term.Size()
	top := term.Dropped() + int64(term.History())
	e := everything{Rows: term.Rows(top, rows), Cursor: term.Cursor(), Modes: term.Modes(), Title: term.Title()}
	e.Cursor.Row -= top
	columns, _ := term.Size()
	for y, r := range e.Rows {
		if r.Wrapped && len(r.Cells) < columns {
			next := e.Rows[y+1].Cells // the wide character that made the row wrap may be overwritten
			if e.Rows[y].Wrapped = len(next) > 0 && next[0].Width == 2; e.Rows[y].Wrapped {
				continue
			}
			for n := len(r.Cells); n > 0 && r.Cells[n-1] == (vt.Cell{Width: 1}); n-- {
				e.Rows[y].Cells = r.Cells[:n-1]
			}
		}
	}
	if r := e.Rows[e.Cursor.Row].Cells; e.Cursor.Column == columns && (len(r) < columns || !r[columns-1].Written()) {
		e.Cursor.Column-- // a wrap that is pending behind nothing cannot be told
	}
	return e
}

func TestRedrawMakesAnotherTerminalLookTheSame(t *testing.T) { // VT-70
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 6))
		term := vt.New(vt.Options{Columns: 20, Rows: 6})
		term.Write(makeStream(rnd, 120))
		term.Write([]byte("\x18\x1b[?2026l")) // no sequence and no update is left open
		bytes := term.Redraw()
		viewer := vt.New(vt.Options{Columns: 20, Rows: 6})
		viewer.Write([]byte("what was there before\x1b[5;3r\x1b[?6h\x1b(0\x1b[?1049h\x1b[3g\x1b[4h\x1b[31m"))
		viewer.Write(bytes)
		if diff := cmp.Diff(shown(term), shown(viewer)); diff != "" {
			t.Fatalf("seed %d (-terminal +viewer):\n%s\n%q", seed, diff, bytes)
		}
		// The program goes on, and the viewer follows. What only the main screen
		// knows while the alternate one is shown is not told, nor a saved wrap whose
		// text is gone.
		more := string(makeStream(rnd, 60))
		for _, s := range []string{"\x1b[?1049l", "\x1b[?1047l", "\x1b[?47l", "\x1b[?47h", "\x1b[?1s", "\x1b[?1r", "\x1b[<u", "\x1b[23t", "\x1b8", "\x1b[?1048l"} {
			more = strings.ReplaceAll(more, s, "")
		}
		more = "a" + more // what REP repeats is not told
		term.Write([]byte(more + "\x18\x1b[?2026l"))
		viewer.Write([]byte(more + "\x18\x1b[?2026l"))
		if diff := cmp.Diff(shown(term), shown(viewer)); diff != "" {
			t.Fatalf("seed %d, after %q (-terminal +viewer):\n%s\n%q", seed, more, diff, bytes)
		}
	}
}

func TestRedrawIsBoundedByTheScreen(t *testing.T) { // VT-71
	term := vt.New(vt.Options{Columns: 80, Rows: 24})
	for i := range 20_000 {
		fmt.Fprintf(term, "\x1b]8;;http://h/%d\x1b\\\x1b[38;2;%d;%d;%dm\x1b[58;5;%dmx", i, i%256, i%7, i%11, i%256)
	}
	if n := len(term.Redraw()); n > 80*24*200 {
		t.Errorf("%d bytes", n)
	}
}

// checkRedraw paints what data left on a viewer that counts what reaches it.
func checkRedraw(t *testing.T, data []byte) {
	t.Helper()
	term := vt.New(vt.Options{Columns: 20, Rows: 6})
	term.Write(data)
	viewer := vt.New(vt.Options{
		Columns: 20, Rows: 6,
		Bell: func() { t.Errorf("%q rings at the viewer", data) },
		OSC: func(command int, payload []byte) {
			if command != 2 && command != 8 {
				t.Errorf("%q sends the viewer OSC %d %q", data, command, payload)
			}
		},
	})
	b := term.Redraw()
	viewer.Write(b)
	if r := viewer.Replies(); len(r) > 0 {
		t.Errorf("%q makes the viewer answer %q", data, r)
	}
	for _, c := range strings.ReplaceAll(string(b), "\x1b", "") {
		if c < 0x20 && c != 0 && c != 0x0e && c != 0x0f || c >= 0x7f && c < 0xa0 {
			t.Errorf("%q sends the viewer the control %q", data, c)
		}
	}
}

func FuzzRedrawOnlyPaints(f *testing.F) { // VT-74
	for seed := range uint64(20) {
		f.Add(makeStream(rand.New(rand.NewPCG(seed, 8)), 60))
	}
	for _, s := range []string{
		"\x1b]2;a\x1b]52;c;cm0=\a", "\x1b]8;;http://h\x07x\x1b]8;;\a", "\x1b]8;;\xc2\x9b5n\x1b\\x", "\x1b]2;\xc2\x9b5n\x1b\\",
		"\x1b]2;\xc2\xc2\x9b\x9b5n\x1b\\", "\xc2\x1b\x9b", "e\xcc\x81\xc2\x85",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(checkRedraw)
}
