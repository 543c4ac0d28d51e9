package iterm

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

// line makes LineContents of a text and pairs of (code units, repeats).
func line(text string, runs ...int32) *api.LineContents {
	l := &api.LineContents{Text: proto.String(text)}
	for i := 0; i+1 < len(runs); i += 2 {
		l.CodePointsPerCell = append(l.CodePointsPerCell, &api.CodePointsPerCell{
			NumCodePoints: proto.Int32(runs[i]), Repeats: proto.Int32(runs[i+1]),
		})
	}
	return l
}

func TestCellsBecomeText(t *testing.T) { // ITERM-20, ITERM-21
	const family = "👨\u200d👩\u200d👧" // 8 code units: three of two, two joiners
	for _, c := range []struct {
		name     string
		line     *api.LineContents
		from, to int
		want     string
	}{
		{"plain", line("hello", 1, 5), 0, toEnd, "hello"},
		{"plain without runs", line("hello"), 0, toEnd, "hello"},
		{"empty", line(""), 0, toEnd, ""},
		{"written blanks stay", line("a   ", 1, 4), 0, toEnd, "a   "},
		{"never-written cells inside are blanks", line("a\x00\x00b", 1, 4), 0, toEnd, "a  b"},
		{"never-written cells at the end go", line("a\x00\x00", 1, 3), 0, toEnd, "a"},
		{"written blanks before never-written ones stay", line("a \x00", 1, 3), 0, toEnd, "a "},
		{"cut", line("hello", 1, 5), 1, 3, "el"},
		{"cut past the end", line("hello", 1, 5), 3, 99, "lo"},
		{"cut that ends in never-written cells", line("a\x00\x00b", 1, 4), 0, 3, "a"},
		{"wide", line("漢字", 1, 1, 0, 1, 1, 1, 0, 1), 0, toEnd, "漢字"},
		{"wide, cut between", line("漢字", 1, 1, 0, 1, 1, 1, 0, 1), 2, 4, "字"},
		{"wide, cut through the second", line("漢字", 1, 1, 0, 1, 1, 1, 0, 1), 0, 3, "漢字"},
		{"wide, from the middle of the first", line("漢字", 1, 1, 0, 1, 1, 1, 0, 1), 1, 4, "字"},
		{"astral counts two units", line("a😀b", 1, 1, 2, 1, 0, 1, 1, 1), 0, toEnd, "a😀b"},
		{"astral, cut after", line("a😀b", 1, 1, 2, 1, 0, 1, 1, 1), 3, 4, "b"},
		{"astral counted as one, as no server should", line("😀b", 1, 1, 1, 1, 1, 1), 0, toEnd, "😀b"},
		{"a family in one cell", line(family+"x", 8, 1, 0, 1, 1, 1), 0, toEnd, family + "x"},
		{"a family, cut after", line(family+"x", 8, 1, 0, 1, 1, 1), 2, 3, "x"},
		{"combining marks belong to their base", line("e\u0301\u0323x", 3, 1, 1, 1), 0, 1, "e\u0301\u0323"},
		{"a keycap is wide although it begins with a digit", line("1\ufe0f\u20e3x", 3, 1, 0, 1, 1, 1), 0, toEnd, "1\ufe0f\u20e3x"},
		{"a tab is the blanks it skips", line("a\tb", 1, 1, 0, 6, 1, 1, 1, 1), 0, toEnd, "a       b"},
		{"a tab at the end goes", line("a\t", 1, 1, 0, 6, 1, 1), 0, toEnd, "a"},
		{"a picture is blank", line("ab", 1, 1, 0, 3, 1, 1), 0, toEnd, "a   b"},
		{"controls are blanks", line("a\x1b[m\u009bb", 1, 6), 0, toEnd, "a [m b"},
		{"invalid UTF-8 is replaced", line("a\xff\xfeb", 1, 4), 0, toEnd, "a\ufffd\ufffdb"},
		{"text that no run covers", line("abc", 1, 1), 0, toEnd, "abc"},
		{"runs past the text", line("ab", 1, 9), 0, toEnd, "ab"},
		{"negative runs", line("ab", -3, 2, 1, -9), 0, toEnd, "  ab"},
		{"a repeat that no row has", line("ab", 0, math.MaxInt32, 1, 1), 0, toEnd, ""},
	} {
		if got := textOf(c.line, c.from, c.to); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRunsWithoutARepeatAreOneCell(t *testing.T) { // ITERM-20
	l := &api.LineContents{Text: proto.String("漢x"), CodePointsPerCell: []*api.CodePointsPerCell{{}, {NumCodePoints: proto.Int32(0)}, {}}}
	if got, want := textOf(l, 2, 3), "x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzARowIsPrintableTextOfBoundedLength(f *testing.F) {
	f.Add("a😀b\x00c", int32(2), int32(1), int32(0), int32(3), 0, 80)
	f.Add("\xf0\x9f", int32(-1), int32(math.MaxInt32), int32(1), int32(1), 3, 2)
	f.Fuzz(func(t *testing.T, text string, n1, r1, n2, r2 int32, from, to int) {
		got := textOf(line(text, n1, r1, n2, r2), from, to)
		if !utf8.ValidString(got) || strings.IndexFunc(got, isControl) >= 0 {
			t.Fatalf("%q is not printable", got)
		}
		if len(got) > maxCells+3*len(text) {
			t.Fatalf("%d bytes of a text of %d", len(got), len(text))
		}
	})
}
