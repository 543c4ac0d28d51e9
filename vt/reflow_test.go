package vt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"termpilot/vt"
)

// logical joins the rows of a terminal to lines, as a reader does.
func logical(term *vt.Terminal) []string {
	_, rows := term.Size()
	var lines []string
	var b strings.Builder
	for _, r := range term.Text(term.Dropped(), term.History()+rows) {
		b.WriteString(r.Text)
		if !r.Wrapped {
			lines = append(lines, b.String())
			b.Reset()
		}
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// randomLine is n characters of various widths.
func randomLine(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		switch rnd.IntN(8) {
		case 0:
			b.WriteString("日")
		case 1:
			b.WriteString([...]string{"👨‍👩‍👧", "🇫🇷", "❤️", "e\u0301"}[rnd.IntN(4)])
		default:
			b.WriteByte(byte('a' + rnd.IntN(26)))
		}
	}
	return b.String()
}

func TestResizingKeepsEveryLine(t *testing.T) { // VT-50
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		term := vt.New(vt.Options{Columns: 20, Rows: 8, Scrollback: 100_000})
		var want []string
		for i := range 60 {
			line := fmt.Sprintf("%d:%s", i, randomLine(rnd, rnd.IntN(70)))
			if i == 30 {
				line += strings.Repeat(randomLine(rnd, 10), 1500) // longer than a segment
			}
			want = append(want, line)
			fmt.Fprintf(term, "\x1b[3%dm%s\r\n", i%8, line)
			if rnd.IntN(9) == 0 {
				term.Resize(2+rnd.IntN(60), 1+rnd.IntN(12))
			}
		}
		for range 12 {
			term.Resize(2+rnd.IntN(100), 1+rnd.IntN(20))
			if err := vt.CheckInvariants(term); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got := logical(term)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				for i := range want {
					if i >= len(got) || got[i] != want[i] {
						t.Fatalf("seed %d: line %d of %d (want %d) differs:\n%.200q\n%.200q", seed, i, len(got), len(want), got[min(i, len(got)-1)], want[i])
					}
				}
			}
		}
	}
}

func TestWrittenBlanksAtTheEndOfALineAreKept(t *testing.T) { // VT-20
	term := vt.New(vt.Options{Columns: 10, Rows: 2})
	term.Write([]byte("a  \r\nb\r\n\r\n\r\n"))
	for _, columns := range []int{10, 2, 30} {
		term.Resize(columns, 2)
		if got := logical(term); got[0] != "a  " || got[1] != "b" {
			t.Errorf("at %d columns: %q", columns, got)
		}
	}
}

func TestNeverWrittenCellsAreToldFromBlanks(t *testing.T) { // VT-20
	for _, scroll := range []string{"", "\r\n\r\n\r\n"} {
		term := vt.New(vt.Options{Columns: 20, Rows: 2})
		term.Write([]byte("a\x1b[3C \x1b[2Cb  \x1b[5C" + scroll))
		r := term.Rows(0, 1)[0]
		var got strings.Builder
		for _, c := range r.Cells {
			switch {
			case !c.Written():
				got.WriteByte('.')
			default:
				got.WriteString(c.Text)
			}
		}
		if want := "a... ..b  "; got.String() != want {
			t.Errorf("%q, want %q", got.String(), want)
		}
	}
}

func TestAWideCharacterThatMovesDownLeavesNoBlank(t *testing.T) { // VT-51
	term := vt.New(vt.Options{Columns: 80, Rows: 24})
	fmt.Fprintf(term, "%079d日x\n", 1)
	want := strings.Repeat("0", 78) + "1日x"
	for _, columns := range []int{80, 81, 79, 3, 200, 80} {
		term.Resize(columns, 24)
		if got := logical(term)[0]; got != want {
			t.Errorf("at %d columns: %q", columns, got)
		}
	}
}

func TestAFullRowThatEndsWithALineFeedIsALineOfItsOwn(t *testing.T) { // VT-52
	term := vt.New(vt.Options{Columns: 5, Rows: 4})
	term.Write([]byte("abcde\r\nfghijk"))
	got := term.Text(0, 4)
	if got[0].Wrapped || !got[1].Wrapped || got[2].Wrapped {
		t.Errorf("%v", got)
	}
}

func TestErasingTheStartOfARowCutsItFromTheRowBefore(t *testing.T) { // VT-52
	for _, erase := range []string{"\x1b[2K", "\x1b[1K", "\r\x1b[K", "\x1b[2J", "\x1b[M"} {
		term := vt.New(vt.Options{Columns: 5, Rows: 4})
		term.Write([]byte("abcdefg" + erase))
		if term.Text(0, 1)[0].Wrapped {
			t.Errorf("%q leaves the rows joined", erase)
		}
	}
}

// A pin is on the letter whose number it has, wherever the letter goes.
func TestPinsStayOnTheirTextThroughResizes(t *testing.T) { // VT-60
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		var pins []vt.Pin
		var term *vt.Terminal
		term = vt.New(vt.Options{Columns: 20, Rows: 8, OSC: func(int, []byte) { pins = append(pins, term.Pin()) }})
		for range 40 {
			fmt.Fprintf(term, "%s\x1b]133;A\a%s%s\r\n", randomLine(rnd, rnd.IntN(40)), string(rune('Α'+len(pins))), randomLine(rnd, rnd.IntN(40)))
			if rnd.IntN(9) == 0 {
				term.Resize(2+rnd.IntN(60), 1+rnd.IntN(12))
			}
		}
		for range 10 {
			for i, p := range pins {
				row, column, ok := term.Locate(p)
				if !ok {
					t.Fatalf("seed %d: pin %d is %v", seed, i, term.Fate(p))
				}
				r := term.Rows(row, 1)[0]
				if columns, _ := term.Size(); column == columns && r.Wrapped { // the wrap came after the pin
					r, column = term.Rows(row+1, 1)[0], 0
				}
				if column >= len(r.Cells) || r.Cells[column].Text != string(rune('Α'+i)) {
					t.Fatalf("seed %d: pin %d is at %d,%d, which is %v", seed, i, row, column, r)
				}
			}
			term.Resize(2+rnd.IntN(100), 1+rnd.IntN(20))
		}
	}
}
