package vt_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termpilot/vt"
)

// everything is all that a reader can learn of a terminal.
type everything struct {
	Rows    []vt.Row
	Text    []vt.TextRow
	Cursor  vt.Cursor
	Modes   vt.Modes
	Title   string
	Dropped int64
	History int
	Pins    []string
	Replies string
}

func look(term *vt.Terminal, pins []vt.Pin) everything {
	_, rows := term.Size()
	n := term.History() + rows
	e := everything{
		Rows:    term.Rows(term.Dropped(), n),
		Text:    term.Text(term.Dropped(), n),
		Cursor:  term.Cursor(),
		Modes:   term.Modes(),
		Title:   term.Title(),
		Dropped: term.Dropped(),
		History: term.History(),
	}
	for _, p := range pins {
		row, column, ok := term.Locate(p)
		e.Pins = append(e.Pins, fmt.Sprint(row, column, ok, term.Fate(p), noted(term, p)))
	}
	return e
}

// pieces are what the random streams are made of.
var pieces = []string{
	"a", "hello ", "words that go on ", "\r\n", "\n", "\r", "\t", "\b", "\a", "\x0e", "\x0f", "\x1b(0", "\x1b(B", "\x1b)0",
	"日", "本語", "😀", "👨‍👩‍👧", "❤️", "é", "e\u0301", "\u0301", "\u200d", "🇫🇷", "가", "ᄀ", "ᅡ", "\ufe0f", "👍🏽",
	"\xe6", "\x97", "\xff", "\xf0\x9f", "\x9b", "\xc2\x9b", "\xc2", "\x80",
	"\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1b\\", "\x1b", "\x18", "\x1a", "\x7f", "\x00",
	"\x1b[H", "\x1b[%d;%dH", "\x1b[%dA", "\x1b[%dB", "\x1b[%dC", "\x1b[%dD", "\x1b[%dG", "\x1b[%dd", "\x1b[%dE", "\x1b[%dF",
	"\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[3J", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[%dX", "\x1b[%d@", "\x1b[%dP",
	"\x1b[%dL", "\x1b[%dM", "\x1b[%dS", "\x1b[%dT", "\x1b[%db", "\x1bM", "\x1bD", "\x1bE", "\x1b7", "\x1b8", "\x1b#8", "\x1bH",
	"\x1b[%d;%dr", "\x1b[r", "\x1b[?6h", "\x1b[?6l", "\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l", "\x1b[20h", "\x1b[20l",
	"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?1047h", "\x1b[?1047l", "\x1b[?1048h", "\x1b[?1048l",
	"\x1b[?2026h", "\x1b[?2026l", "\x1b[?25l", "\x1b[?25h", "\x1b[?1h", "\x1b[?2004h", "\x1b[?1003h", "\x1b[?1s", "\x1b[?1r",
	"\x1b[31m", "\x1b[1;4:3;48;5;%dm", "\x1b[38;2;1;2;3m", "\x1b[58;5;%dm", "\x1b[0m", "\x1b[m", "\x1b[44m",
	"\x1b]8;;http://h/%d\x1b\\", "\x1b]8;;\x1b\\", "\x1b]0;title %d\a", "\x1b]133;A\a", "\x1b]7;file://h/\x1b\\", "\x1b]10;?\a",
	"\x1b[6n", "\x1b[c", "\x1b[?u", "\x1b[>%du", "\x1b[<u", "\x1bP$qm\x1b\\", "\x1b[22t", "\x1b[23t", "\x1b[!p", "\x1b[%d q",
	"\x1b[Z", "\x1b[I", "\x1b[g", "\x1b[3g", "0123456789012345678901234567890123456789", "\x1bc",
}

// makeStream makes n pieces.
func makeStream(rnd *rand.Rand, n int) []byte {
	var b strings.Builder
	for range n {
		i := rnd.IntN(len(pieces))
		if i == len(pieces)-1 && rnd.IntN(20) > 0 { // few full resets
			i = 2
		}
		p := pieces[i]
		for strings.Contains(p, "%d") {
			p = strings.Replace(p, "%d", fmt.Sprint(rnd.IntN(14)), 1)
		}
		b.WriteString(p)
	}
	return []byte(b.String())
}

// play writes data in pieces whose sizes cut gives, to a terminal that pins
// every OSC 133.
func play(data []byte, columns, rows int, cut func() int) everything {
	var pins []vt.Pin
	var term *vt.Terminal
	var replies []byte
	term = vt.New(vt.Options{Columns: columns, Rows: rows, Scrollback: 60, OSC: func(command int, _ []byte) {
		if command == 133 {
			pins = append(pins, term.Pin())
			term.Trace(pins[len(pins)-1])
		}
	}})
	for len(data) > 0 {
		n := min(len(data), max(1, cut()))
		term.Write(data[:n])
		replies = append(replies, term.Replies()...)
		data = data[n:]
	}
	e := look(term, pins)
	e.Replies = string(replies)
	return e
}

// sameSplit compares what a stream makes in one write and in pieces.
func sameSplit(t *testing.T, data []byte, cut func() int) {
	t.Helper()
	whole, split := play(data, 20, 6, func() int { return len(data) }), play(data, 20, 6, cut)
	if !reflect.DeepEqual(whole, split) {
		t.Fatalf("(-whole +split):\n%s\n%q", cmp.Diff(whole, split), data)
	}
}

func TestScreenIsIndependentOfSplitting(t *testing.T) { // VT-2
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		data := makeStream(rnd, 150)
		sameSplit(t, data, func() int { return 1 })
		sameSplit(t, data, func() int { return rnd.IntN(9) })
	}
}

func FuzzScreenIsIndependentOfSplitting(f *testing.F) { // VT-2
	for seed := range uint64(20) {
		f.Add(makeStream(rand.New(rand.NewPCG(seed, 1)), 40), seed)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if len(data) > 512 {
			return // how many replies wait depends on when they are fetched
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		sameSplit(t, data, func() int { return rnd.IntN(9) })
	})
}

// resizeStorm writes data with resizes in between, taken from seed, and checks
// the terminal after each.
func resizeStorm(t *testing.T, data []byte, seed uint64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 3))
	var term *vt.Terminal
	term = vt.New(vt.Options{Columns: 20, Rows: 6, Scrollback: 1 + rnd.IntN(80), ScrollbackBytes: 1 << uint(10+rnd.IntN(10)), OSC: func(int, []byte) {
		p := term.Pin()
		if term.Trace(p); rnd.IntN(4) == 0 {
			term.EndTrace(p)
		}
	}})
	for step := 0; len(data) > 0; step++ {
		n := min(len(data), 1+rnd.IntN(60))
		term.Write(data[:n])
		if rnd.IntN(3) == 0 {
			term.Resize(1+rnd.IntN(40), 1+rnd.IntN(12))
		}
		if rnd.IntN(8) == 0 {
			term.Release()
		}
		if err := vt.CheckInvariants(term); err != nil {
			t.Fatalf("seed %d, step %d: %v\n%q", seed, step, err, data[:n])
		}
		look(term, nil)
		data = data[n:]
	}
}

func TestResizeStormsKeepInvariants(t *testing.T) { // VT-3
	for seed := range uint64(400) {
		resizeStorm(t, makeStream(rand.New(rand.NewPCG(seed, 2)), 200), seed)
	}
}

func FuzzResizeStormsKeepInvariants(f *testing.F) { // VT-3
	for seed := range uint64(20) {
		f.Add(makeStream(rand.New(rand.NewPCG(seed, 2)), 40), seed)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) { resizeStorm(t, data, seed) })
}

// FuzzRepliesHoldNoTextOfTheProgram strips the printable text of a stream down
// to a canary and looks for it in the replies.
func FuzzRepliesHoldNoTextOfTheProgram(f *testing.F) { // VT-40
	for seed := range uint64(20) {
		f.Add(makeStream(rand.New(rand.NewPCG(seed, 2)), 40))
	}
	for _, s := range []string{
		"\x1b]2;QZJX\a\x1b[21t\x1b[20t", "\x1bP$qQZJX\x1b\\", "\x1bP+q515a4a58\x1b\\", "\x1b]4;QZJX;?\a", "\x1b]10;QZJX\a\x1b]10;?\a",
		"\x05", "\x1b]1337;ReportVariable=QZJX\a", "\x1b]50;?\a", "\x1b[?QZJXn", "\x1bZ",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkReplies(t, data)
	})
}

// checkReplies holds every reply against the forms that replies have.
func checkReplies(t *testing.T, data []byte) {
	t.Helper()
	term := vt.New(vt.Options{Columns: 20, Rows: 6, Version: "1"})
	term.Write(data)
	left := string(term.Replies())
	if len(left) > 4096 {
		t.Fatalf("%d bytes of replies", len(left))
	}
	for left != "" {
		n := len(replyForm.FindString(left))
		if n == 0 {
			t.Fatalf("reply %.80q has no known form", left)
		}
		left = left[n:]
	}
}
