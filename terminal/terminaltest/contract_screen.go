package terminaltest

import (
	"fmt"
	"slices"
	"strings"

	"termpilot/terminal"
)

func (r *rig) read(id terminal.ID, want terminal.Range) terminal.Screen {
	r.Helper()
	s, err := r.b.Screen(r.ctx(), id, want)
	r.must(err)
	return s
}

func (r *rig) sized() {
	if r.can.FixedSize {
		r.Skip("the size of a session cannot be chosen here")
	}
}

func outputIsExact(r *rig) { // TERM-40
	s := r.open()
	for command, want := range map[string]string{
		"true":                                   "",
		"echo one":                               "one",
		"printf 'no end'":                        "no end",
		"printf 'a\\n\\n\\nb\\n'":                "a\n\n\nb",
		"seq 1 40":                               lines(1, 40),
		"printf '%%s' 0123456789012345678901234": "%s",
		"printf 'long 0123456789 0123456789 0123456789\\n'": "long 0123456789 0123456789 0123456789",
		"printf 'wide \\u65e5\\u672c\\u8a9e\\n'":            "wide 日本語",
		"printf '$ fake\\n> '":                              "$ fake\n> ",
	} {
		p := r.run(s.ID, command)
		if p.State != terminal.Finished {
			r.Errorf("%s: state %d", command, p.State)
		}
		if got := r.text(s.ID, p.Output); strings.TrimSuffix(got, "\n") != want {
			r.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

func paintedIsTold(r *rig) { // TERM-72, TERM-51
	s := r.open()
	r.run(s.ID, "seq 1 4")
	p := r.run(s.ID, `printf '\033[Hhello'`)
	got := r.text(s.ID, p.Output)
	if !p.Strewn && got != "hello" || strings.ContainsAny(got, "1234") || p.Silent == terminal.Yes {
		r.Errorf("got %q, strewn is %v, silent is %d", got, p.Strewn, p.Silent)
	}
}

func lines(from, to int) string {
	var list []string
	for ; from <= to; from++ {
		list = append(list, fmt.Sprint(from))
	}
	return strings.Join(list, "\n")
}

func visibleRange(r *rig) { // TERM-41
	s := r.open()
	r.run(s.ID, "seq 1 30")
	got := r.read(s.ID, terminal.Range{})
	info, _ := r.session(s.ID)
	if len(got.Rows) != info.Rows || got.First != got.Top || got.End != got.Top+int64(info.Rows) || got.Columns != info.Columns {
		r.Errorf("%d rows from %d, top %d, end %d, %d columns in a session of %dx%d",
			len(got.Rows), got.First, got.Top, got.End, got.Columns, info.Columns, info.Rows)
	}
	if c := got.Cursor; c.Row < got.Top || c.Row >= got.End || c.Column < 0 || c.Column > got.Columns {
		r.Errorf("cursor at %+v of rows %d to %d", c, got.Top, got.End)
	}
	if got.Oldest > got.Top || got.Alternate {
		r.Errorf("oldest %d, top %d, alternate %v", got.Oldest, got.Top, got.Alternate)
	}
	text := join(got.Rows)
	got.Rows[0].Text = "changed" // the answer is the caller's own
	if again := r.read(s.ID, terminal.Range{}); join(again.Rows) != text {
		r.Error("the next answer shows what was done to the last")
	}
}

func tailAndRows(r *rig) { // TERM-42
	s := r.open()
	r.run(s.ID, "seq 1 40")
	all := r.read(s.ID, terminal.Range{Kind: terminal.Rows, First: 0, Count: 1000})
	if all.First != all.Oldest || all.First+int64(len(all.Rows)) != all.End {
		r.Fatalf("all rows: %d from %d, oldest %d, end %d", len(all.Rows), all.First, all.Oldest, all.End)
	}
	for _, n := range []int{1, 7, 25} {
		tail := r.read(s.ID, terminal.Range{Kind: terminal.Tail, Count: n})
		if tail.First != tail.End-int64(n) || !slices.Equal(tail.Rows, all.Rows[len(all.Rows)-n:]) {
			r.Errorf("tail %d: %d rows from %d, end %d", n, len(tail.Rows), tail.First, tail.End)
		}
		part := r.read(s.ID, terminal.Range{Kind: terminal.Rows, First: all.First + 3, Count: n})
		if part.First != all.First+3 || !slices.Equal(part.Rows, all.Rows[3:3+n]) {
			r.Errorf("rows from 3, %d: %d rows from %d", n, len(part.Rows), part.First)
		}
	}
	for _, want := range []terminal.Range{
		{Kind: terminal.Rows, First: all.End, Count: 5},
		{Kind: terminal.Rows, First: all.End + 1000, Count: 5},
		{Kind: terminal.Rows, First: -10, Count: 5},
		{Kind: terminal.Cells},
	} {
		if got := r.read(s.ID, want); len(got.Rows) != 0 {
			r.Errorf("%+v: %d rows from %d", want, len(got.Rows), got.First)
		}
	}
	if got := r.read(s.ID, terminal.Range{Kind: terminal.Rows, First: all.End - 2, Count: 10}); len(got.Rows) != 2 {
		r.Errorf("rows over the end: %d", len(got.Rows))
	}
	if got := r.read(s.ID, terminal.Range{Kind: terminal.Tail, Count: 5000}); len(got.Rows) != len(all.Rows) {
		r.Errorf("a tail longer than what is kept: %d rows of %d", len(got.Rows), len(all.Rows))
	}
}

func wrapsAndWide(r *rig) { // TERM-43
	r.sized()
	s := r.open() // 20 columns
	p := r.run(s.ID, "printf '0123456789012345678\\u65e5x\\n12345678901234567890\\n'")
	got := r.read(s.ID, terminal.Range{Kind: terminal.Rows, First: p.Output.Start.Row, Count: 3})
	want := []terminal.Row{{Text: "0123456789012345678", Soft: true}, {Text: "日x"}, {Text: "12345678901234567890"}}
	if !slices.Equal(got.Rows, want) {
		r.Errorf("got %+v, want %+v", got.Rows, want)
	}
	p = r.run(s.ID, "printf 'e\\u0301 012345678901234567890123456789'")
	if got := r.text(s.ID, p.Output); got != "e\u0301 012345678901234567890123456789" {
		r.Errorf("got %q", got)
	}
}

func cellsCut(r *rig) { // TERM-44
	s := r.open()
	p := r.run(s.ID, "printf 'ab\\u65e5\\u672ccd\\nnext\\n'")
	row := p.Output.Start.Row
	for _, c := range []struct {
		from, to terminal.Point
		want     []string
	}{
		{terminal.Point{Row: row, Column: 1}, terminal.Point{Row: row, Column: 2}, []string{"b"}},
		{terminal.Point{Row: row, Column: 2}, terminal.Point{Row: row, Column: 4}, []string{"日"}},
		{terminal.Point{Row: row, Column: 2}, terminal.Point{Row: row, Column: 5}, []string{"日本"}},
		{terminal.Point{Row: row, Column: 3}, terminal.Point{Row: row, Column: 6}, []string{"本"}},
		{terminal.Point{Row: row, Column: 6}, terminal.Point{Row: row + 1, Column: 2}, []string{"cd", "ne"}},
		{terminal.Point{Row: row, Column: 7}, terminal.Point{Row: row + 1, Column: 0}, []string{"d"}},
		{terminal.Point{Row: row, Column: 7}, terminal.Point{Row: row, Column: 7}, nil},
		{terminal.Point{Row: row + 1, Column: 2}, terminal.Point{Row: row, Column: 7}, nil},
	} {
		got := r.read(s.ID, terminal.Range{Kind: terminal.Cells, Span: terminal.Span{Start: c.from, End: c.to}})
		var text []string
		for _, row := range got.Rows {
			text = append(text, row.Text)
		}
		if !slices.Equal(text, c.want) {
			r.Errorf("cells %+v to %+v: got %q, want %q", c.from, c.to, text, c.want)
		}
		if len(c.want) > 0 && got.First != c.from.Row {
			r.Errorf("cells from row %d: first is %d", c.from.Row, got.First)
		}
	}
}

func blanksStay(r *rig) { // TERM-45
	s := r.open()
	p := r.run(s.ID, "printf 'a\\033[5Cb  \\n  c\\033[3C\\n'")
	got := r.read(s.ID, terminal.Range{Kind: terminal.Rows, First: p.Output.Start.Row, Count: 2})
	want := []terminal.Row{{Text: "a     b  "}, {Text: "  c"}}
	if !slices.Equal(got.Rows, want) {
		r.Errorf("got %+v, want %+v", got.Rows, want)
	}
}

func rowsKeepNumbers(r *rig) { // TERM-46
	s := r.open()
	p := r.run(s.ID, "seq 1 5")
	row := p.Output.Start.Row + 2
	for range 3 {
		r.run(s.ID, "seq 100 150")
		got := r.read(s.ID, terminal.Range{Kind: terminal.Rows, First: row, Count: 1})
		if len(got.Rows) != 1 || got.Rows[0].Text != "3" {
			r.Fatalf("row %d is %+v, want \"3\"", row, got.Rows)
		}
		again, err := r.b.Prompt(r.ctx(), s.ID, p.ID)
		r.must(err)
		if again.Output != p.Output {
			r.Fatalf("the output of the first command moved from %+v to %+v", p.Output, again.Output)
		}
	}
}

func maxRows(r *rig) { // TERM-47
	if r.can.Scrollback < terminal.MaxRows {
		r.Skip("so many rows are not kept here")
	}
	s := r.open()
	r.run(s.ID, fmt.Sprintf("seq 1 %d", terminal.MaxRows+100))
	for _, want := range []terminal.Range{
		{Kind: terminal.Tail, Count: terminal.MaxRows + 7},
		{Kind: terminal.Rows, First: r.read(s.ID, terminal.Range{}).Oldest, Count: 1 << 30},
		{Kind: terminal.Cells, Span: terminal.Span{End: terminal.Point{Row: 1 << 40}}},
	} {
		got := r.read(s.ID, want)
		if len(got.Rows) != terminal.MaxRows {
			r.Errorf("%+v: %d rows", want, len(got.Rows))
		}
	}
}

func lostRows(r *rig) { // TERM-48
	if r.can.Scrollback == 0 {
		r.Skip("not known how many rows are kept")
	}
	s := r.open()
	p := r.run(s.ID, fmt.Sprintf("seq 1 %d", r.can.Scrollback+500))
	got := r.read(s.ID, terminal.Range{Kind: terminal.Rows, First: 0, Count: 10})
	if got.Oldest <= 0 || got.First != got.Oldest && len(got.Rows) > 0 {
		r.Fatalf("oldest %d, first %d with %d rows", got.Oldest, got.First, len(got.Rows))
	}
	if p.Output.Start.Row >= got.Oldest {
		r.Errorf("output starts at row %d, though rows before %d are lost", p.Output.Start.Row, got.Oldest)
	}
	got = r.read(s.ID, terminal.Range{Kind: terminal.Rows, First: got.Oldest, Count: 2})
	if len(got.Rows) != 2 || got.Rows[0].Text == "" {
		r.Fatalf("the oldest rows are %+v", got.Rows)
	}
	last := r.read(s.ID, terminal.Range{Kind: terminal.Rows, First: p.Output.End.Row - 1, Count: 1})
	if want := fmt.Sprint(r.can.Scrollback + 500); len(last.Rows) != 1 || last.Rows[0].Text != want {
		r.Errorf("the last row of output is %+v, want %q", last.Rows, want)
	}
}

func alternateScreen(r *rig) { // TERM-49
	s := r.open()
	r.begin(s.ID, "printf '\\033[?1049hfull'; read x; printf '\\033[?1049l'")
	is := func(want bool) func() bool {
		return func() bool {
			info, ok := r.session(s.ID)
			return ok && info.Alternate == want && r.read(s.ID, terminal.Range{}).Alternate == want
		}
	}
	r.eventually(s.ID, "the alternate screen shows", is(true))
	r.must(r.b.Send(r.ctx(), s.ID, []byte("\r")))
	r.eventually(s.ID, "the main screen shows", is(false))
}
