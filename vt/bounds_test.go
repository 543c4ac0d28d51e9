package vt_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"termpilot/vt"
)

// growth feeds a terminal with size bytes that make(i) makes, after as many
// that warm it up, and returns by how much the heap grew.
func growth(t *testing.T, o vt.Options, size int, make func(i int) string) int64 {
	t.Helper()
	term := vt.New(o)
	i := 0
	feed := func(size int) {
		for size > 0 {
			s := make(i)
			i++
			term.Write([]byte(s))
			size -= len(s)
		}
	}
	feed(size)
	before := heap()
	feed(4 * size)
	after := heap()
	if err := vt.CheckInvariants(term); err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(term)
	return int64(after) - int64(before)
}

func TestMemoryIsBounded(t *testing.T) { // VT-4
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name string
		make func(i int) string
	}{
		{"random combining marks", func(int) string {
			return string([]rune{'a' + rune(rnd.IntN(26)), 0x300 + rune(rnd.IntN(0x70)), 0x300 + rune(rnd.IntN(0x70)), 0x300 + rune(rnd.IntN(0x70))})
		}},
		{"endless marks on one character", func(int) string { return strings.Repeat("\u0301", 50) }},
		{"joiners", func(int) string { return "👩\u200d" }},
		{"new links", func(i int) string { return fmt.Sprintf("\x1b]8;;http://h/%d/%s\x1b\\x", i, strings.Repeat("x", 200)) }},
		{"underline colours", func(i int) string { return fmt.Sprintf("\x1b[58:2::%d:%d:%dmx", i>>16&255, i>>8&255, i&255) }},
		{"colours", func(i int) string { return fmt.Sprintf("\x1b[38:2::%d:%d:%dmx", i>>16&255, i>>8&255, i&255) }},
		{"titles", func(i int) string { return fmt.Sprintf("\x1b]2;%d%s\a\x1b[22t", i, strings.Repeat("t", 5000)) }},
		{"a string that never ends", func(i int) string { return "\x1b]2;" + strings.Repeat("x", 1<<20) }},
		{"a DCS that never ends", func(i int) string { return "\x1bP" + strings.Repeat("x", 1<<20) }},
		{"keyboard flags", func(i int) string { return "\x1b[>1u" }},
		{"queries", func(i int) string { return "\x1b[c\x1b[6n\x1b[>q" }},
		{"saved cursors", func(i int) string { return "\x1b7\x1b[?1049h\x1b7\x1b[?1049l" }},
		{"one line that never ends", func(i int) string { return "0123456789 \x1b[3" + fmt.Sprint(i%8) + "m" }},
		{"lines", func(i int) string { return fmt.Sprintf("line %d\r\n", i) }},
		{"empty lines", func(i int) string { return "\n\n\n\n\n\n\n\n" }},
		{"synchronized updates", func(i int) string { return "\x1b[?2026hx\x1b[?2026l\x1b[?2026h" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n := growth(t, vt.Options{ScrollbackBytes: 1 << 18}, 1<<19, c.make); n > 1<<20 {
				t.Errorf("%d bytes more", n)
			}
		})
	}
}

func TestPinsAreBounded(t *testing.T) { // VT-62
	var pins []vt.Pin
	var term *vt.Terminal
	term = vt.New(vt.Options{OSC: func(int, []byte) { pins = append(pins, term.Pin()) }})
	term.Write([]byte(strings.Repeat("\x1b]133;A\a", 10_000)))
	if got := term.Fate(pins[0]); got != vt.Unknown {
		t.Errorf("the oldest of 10000 pins is %v", got)
	}
	if got := term.Fate(pins[10_000-4096]); got != vt.Alive {
		t.Errorf("the 4096th from the end is %v", got)
	}
	if err := vt.CheckInvariants(term); err != nil {
		t.Error(err)
	}
}

// Each of these made one emulator or another hang.
func TestNoSequenceTakesLong(t *testing.T) { // VT-5
	for _, s := range []string{
		"x\x1b[999999999b", "\x1b[999999999S", "\x1b[999999999T", "\x1b[999999999L", "\x1b[999999999M", "\x1b[999999999@",
		"\x1b[999999999P", "\x1b[999999999X", "\x1b[999999999I", "\x1b[999999999Z", "\x1b[999999999A", "\x1b[999999999C",
		"\x1b[2J", "\x1b#8", "\x1b[3J", "\x1b[?1049h\x1b[?1049l", "\x1b[?2026h\x1b[?2026l", "\x1b[" + strings.Repeat("1;", 1000) + "m",
		"\x1bc", "é\u0301", "\x1b]8;;http://h\x1b\\x",
	} {
		term := vt.New(vt.Options{Columns: 200, Rows: 100, Scrollback: 1000})
		term.Write(bytes.Repeat([]byte("x"), 20_000))
		start := time.Now()
		n := 0
		for ; n < 200; n++ {
			term.Write([]byte(s))
		}
		// 200 screens of 20,000 cells take some 10 ms each way; the limit leaves room for a
		// loaded machine and is far below what a count of 999999999 takes.
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%q: %v for %d", s, took, n)
		}
	}
}

func TestScrollbackKeepsItsCaps(t *testing.T) { // VT-10
	term := vt.New(vt.Options{Columns: 80, Rows: 24, Scrollback: 1000})
	for i := range 5000 {
		fmt.Fprintf(term, "%d\r\n", i)
	}
	if got := term.History(); got != 1000 {
		t.Errorf("%d rows", got)
	}
	if got := term.Dropped(); got != 5000-23-1000 {
		t.Errorf("%d dropped", got)
	}
	if got := term.Text(term.Dropped(), 1)[0].Text; got != "3977" {
		t.Errorf("the first row is %q", got)
	}
	if got := term.Text(0, 3); len(got) != 0 {
		t.Errorf("dropped rows are read as %v", got)
	}
	term.Resize(3, 24) // rows become two
	if got := term.History(); got > 1000 {
		t.Errorf("%d rows after a resize", got)
	}
	for _, c := range []struct{ rows, want int }{{-1, 0}, {1, 1}, {0, 4977}} {
		term := vt.New(vt.Options{Scrollback: c.rows})
		for i := range 5000 {
			fmt.Fprintf(term, "%d\r\n", i)
		}
		if got := term.History(); got != c.want {
			t.Errorf("Scrollback %d keeps %d rows", c.rows, got)
		}
		if got := term.Dropped() + int64(term.History()); got != 4977 {
			t.Errorf("Scrollback %d counts %d rows", c.rows, got)
		}
	}
}

func TestScrollbackKeepsItsBytes(t *testing.T) { // VT-10
	const limit = 1 << 20
	before := heap()
	term := vt.New(vt.Options{Scrollback: 1_000_000, ScrollbackBytes: limit})
	for i := range 100_000 {
		fmt.Fprintf(term, "%070d\r\n", i)
	}
	if used := int64(heap()) - int64(before); used > limit+400_000 {
		t.Errorf("%d bytes", used)
	}
	if n := term.History(); n < 9_000 || n > 20_000 {
		t.Errorf("%d rows in %d bytes", n, limit)
	}
	if err := vt.CheckInvariants(term); err != nil {
		t.Error(err)
	}
}

func TestHundredThousandLinesTakeLittle(t *testing.T) { // VT-11
	before := heap()
	term := fill(100_000, plainLine)
	used := heap() - before
	if used > 10_000_000 {
		t.Errorf("%d bytes", used)
	}
	if term.History() != 100_000 {
		t.Errorf("%d rows", term.History())
	}
}

func TestPlainLinesAllocateNothing(t *testing.T) { // VT-12
	term := fill(1000, plainLine)
	line := []byte(plainLine(1) + "\r\n")
	const lines = 2000
	n := testing.AllocsPerRun(5, func() {
		for range lines {
			term.Write(line)
		}
	})
	if n > lines/100 {
		t.Errorf("%v allocations for %d lines", n, lines)
	}
}

func TestAResizeTouchesOnlyTheScreen(t *testing.T) { // VT-13
	small, large := fill(1000, plainLine), fill(100_000, plainLine)
	cost := func(term *vt.Terminal) float64 {
		columns := 80
		return testing.AllocsPerRun(10, func() {
			columns = 200 - columns
			term.Resize(columns, 24)
			term.History()
		})
	}
	if a, b := cost(small), cost(large); b > 2*a {
		t.Errorf("%v allocations with 1000 lines, %v with 100000", a, b)
	}
}

// FuzzMemoryIsBounded repeats an input and looks at what stays.
func FuzzMemoryIsBounded(f *testing.F) { // VT-4
	for seed := range uint64(10) {
		f.Add(makeStream(rand.New(rand.NewPCG(seed, 2)), 30))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || len(data) > 4096 {
			return
		}
		o := vt.Options{Columns: 20, Rows: 6, Scrollback: 100, ScrollbackBytes: 1 << 14}
		if n := growth(t, o, 1<<15, func(i int) string { return string(data) + fmt.Sprint(i) }); n > 1<<20 {
			t.Errorf("%d bytes more", n)
		}
	})
}
