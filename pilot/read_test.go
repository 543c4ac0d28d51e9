package pilot

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/terminal/terminaltest"
)

func (b bench) read(req ReadRequest) ReadResult {
	b.t.Helper()
	req.SessionID = b.id
	res, err := b.Read(b.t.Context(), req)
	if err != nil {
		b.t.Fatalf("read %+v: %v", req, err)
	}
	if strings.ContainsFunc(res.Content, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r == 0x7f }) {
		b.t.Errorf("control characters in %q", res.Content) // READ-10
	}
	return res
}

// again makes the read_terminal call that how_to_get names.
func (b bench) again(how string) ReadResult {
	b.t.Helper()
	m := map[string]string{}
	for _, pair := range regexp.MustCompile(`(\w+)=(\S+)`).FindAllStringSubmatch(how, -1) {
		m[pair[1]] = pair[2]
	}
	pattern := ""
	if _, quoted, ok := strings.Cut(how, " pattern="); ok {
		quoted, _ = strconv.QuotedPrefix(quoted)
		pattern, _ = strconv.Unquote(quoted)
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	if m["session_id"] != b.id || !strings.HasPrefix(how, "read_terminal ") {
		b.t.Fatalf("how_to_get is %q", how)
	}
	return b.read(ReadRequest{
		Source: Source(m["source"]), RunID: m["run_id"], Cursor: m["cursor"], Reduce: m["reduce"] == "true",
		MaxLines: number(m["max_lines"]), MaxChars: number(m["max_chars"]),
		Pattern: pattern, Regex: m["regex"] == "true", Context: number(m["context"]),
	})
}

func TestScreenIsWhatShows(t *testing.T) { // READ-1
	on(t, terminaltest.Options{Columns: 20, Rows: 6}, func(b bench) {
		b.run("printf '" + strings.Repeat("x", 30) + "\\nend\\n'")
		got := b.read(ReadRequest{Reduce: true})
		if !strings.HasSuffix(got.Content, strings.Repeat("x", 30)+"\nend\n$") {
			b.t.Errorf("got %q", got.Content)
		}
		raw := b.read(ReadRequest{})
		if !strings.HasSuffix(raw.Content, "xxxxxxxxxx\nend\n$ ") || raw.LineCount != strings.Count(raw.Content, "\n")+1 {
			b.t.Errorf("got %+v", raw)
		}
		if raw.Rows != 6 || raw.Columns != 20 || raw.CursorColumn != 2 || raw.Readiness.State != Ready {
			b.t.Errorf("got %+v", raw)
		}
	})
}

func TestHistoryComesInPages(t *testing.T) { // READ-2
	on(t, terminaltest.Options{Rows: 10}, func(b bench) {
		b.run("seq 500")
		got := b.read(ReadRequest{Source: SourceAll, MaxLines: 50, Reduce: true})
		if !strings.HasSuffix(got.Content, "499\n500\n$") || got.LineCount != 50 || got.Omitted.Lines == 0 {
			b.t.Errorf("got %d lines, %+v", got.LineCount, got.Omitted)
		}
		all := got.Content
		for got.Omitted.Lines > 0 {
			got = b.again(got.Omitted.HowToGet)
			all = got.Content + "\n" + all
		}
		if want := "$ seq 500\n" + seq(1, 500) + "\n$"; all != want {
			b.t.Errorf("the pages make %q", all)
		}
		history := b.read(ReadRequest{Source: SourceHistory, MaxLines: 3})
		if history.Content != "489\n490\n491" {
			b.t.Errorf("got %q", history.Content)
		}
		b.f.DropHead(b.sid(), 100)
		got = b.read(ReadRequest{Source: SourceAll, MaxLines: MaxLines})
		if !got.TruncatedHead || strings.HasPrefix(got.Content, "$ seq") { // RUN-28
			b.t.Errorf("got %v %.30q", got.TruncatedHead, got.Content)
		}
	})
}

func TestPagesGoOnAboveALineThatIsLongerThanAPage(t *testing.T) { // READ-2, READ-9
	on(t, terminaltest.Options{Rows: 10, Columns: 40}, func(b bench) {
		var x strings.Builder
		for i := range 3000 {
			x.WriteString(strconv.Itoa(i) + ",")
		}
		b.run("seq 40")
		b.f.Print(b.sid(), x.String()+"\n")
		b.run("seq 20")
		var want string
		for _, req := range []ReadRequest{{MaxLines: MaxLines, MaxChars: MaxChars}, {MaxLines: 5}, {MaxLines: 7, MaxChars: 300}, {MaxLines: 5, Reduce: true}, {MaxChars: 90}} {
			req.Source = SourceAll
			page := b.read(req)
			all := page.Content
			for n := 0; page.Omitted.Lines > 0 && n < 2000; n++ {
				if page.Omitted.HowToGet == "" {
					b.t.Fatalf("%+v: no way to %d lines", req, page.Omitted.Lines)
				}
				before := page.Content
				page = b.again(page.Omitted.HowToGet)
				if req.Reduce && strings.HasSuffix(page.Content, before[max(0, len(before)-50):]) { // the same page, whole
					all = strings.TrimPrefix(all, before)
				}
				all = page.Content + all
			}
			all = strings.TrimRight(strings.ReplaceAll(all, "\n", ""), " ")
			if want == "" {
				want = all
			}
			if all != want || !strings.Contains(all, x.String()) || !strings.HasPrefix(all, "$ seq 401234") {
				b.t.Errorf("%+v: %d characters of %d", req, len(all), len(want))
			}
		}
	})
}

func TestALostCursorCountsWhatItDoesNotShow(t *testing.T) { // READ-3, READ-9
	on(t, terminaltest.Options{Rows: 10}, func(b bench) {
		cursor := b.read(ReadRequest{}).Cursor
		b.run("seq 500")
		b.f.DropHead(b.sid(), 200)
		for _, reduced := range []bool{true, false} {
			got := b.read(ReadRequest{Source: SourceSince, Cursor: cursor, MaxLines: 50, Reduce: reduced})
			if !got.TruncatedHead || !strings.HasSuffix(strings.TrimSpace(got.Content), "499\n500\n$") || got.Omitted.Lines < 250 {
				b.t.Errorf("got %v %d %.30q", got.TruncatedHead, got.Omitted.Lines, got.Content)
			}
			if page := b.again(got.Omitted.HowToGet); page.Omitted.Lines < 200 || !strings.Contains(page.Content, "500") {
				b.t.Errorf("got %d %.30q", page.Omitted.Lines, page.Content)
			}
		}
	})
}

// seq is the numbers from a to b, one a line.
func seq(a, b int) string {
	var s []string
	for ; a <= b; a++ {
		s = append(s, strconv.Itoa(a))
	}
	return strings.Join(s, "\n")
}

func TestSinceGivesWhatIsNewOnce(t *testing.T) { // READ-3
	on(t, terminaltest.Options{Rows: 8}, func(b bench) {
		one := b.read(ReadRequest{}).Cursor
		b.f.Print(b.sid(), "first\n")
		two := b.read(ReadRequest{Source: SourceSince, Cursor: one})
		if two.Content != "first" {
			b.t.Errorf("got %q", two.Content)
		}
		if again := b.read(ReadRequest{Source: SourceSince, Cursor: two.Cursor}); again.Content != "" {
			b.t.Errorf("got %q twice", again.Content)
		}
		b.f.Print(b.sid(), "se")
		three := b.read(ReadRequest{Source: SourceSince, Cursor: two.Cursor})
		b.f.Print(b.sid(), "cond\nthird\n")
		four := b.read(ReadRequest{Source: SourceSince, Cursor: three.Cursor})
		if three.Content+four.Content != "second\nthird" {
			b.t.Errorf("got %q and %q", three.Content, four.Content)
		}
		if other := b.read(ReadRequest{Source: SourceSince, Cursor: one}); other.Content != "first\nsecond\nthird" {
			b.t.Errorf("another reader got %q", other.Content)
		}
	})
}

func TestSinceKeepsUpWithALotOfOutput(t *testing.T) { // READ-3, READ-9
	on(t, terminaltest.Options{Rows: 8, Scrollback: 100000}, func(b bench) {
		start := b.read(ReadRequest{}).Cursor
		b.f.Print(b.sid(), "\n"+seq(1, 25000)+"\n")
		var got []string
		cursor := start
		for range 1000 {
			res := b.read(ReadRequest{Source: SourceSince, Cursor: cursor, MaxLines: MaxLines})
			if res.Content != "" {
				got = append(got, res.Content)
			}
			cursor = res.Cursor
			if res.Omitted.Lines == 0 {
				break
			}
			if res.Omitted.HowToGet == "" {
				b.t.Fatalf("no way to the rest: %+v", res.Omitted)
			}
		}
		if all := strings.Join(got, "\n"); all != seq(1, 25000) {
			b.t.Errorf("%d pages make %d bytes: %.40q … %q", len(got), len(all), all, all[max(0, len(all)-40):])
		}
		reduced := b.read(ReadRequest{Source: SourceSince, Cursor: start, Reduce: true})
		if reduced.LineCount > defaultLines || !strings.HasSuffix(reduced.Content, "25000") || reduced.Omitted.Lines < 24000 {
			b.t.Errorf("got %d lines, %+v", reduced.LineCount, reduced.Omitted)
		}
	})
}

func TestCursorsSurviveScrollingAndWidth(t *testing.T) { // READ-4
	on(t, terminaltest.Options{Rows: 8, Columns: 40}, func(b bench) {
		b.run("echo " + strings.Repeat("word ", 20))
		b.run("echo two")
		cursor := b.read(ReadRequest{}).Cursor
		b.f.Print(b.sid(), seq(1, 100)+"\n")
		for _, columns := range []int{40, 17, 93} {
			b.f.SetSize(b.sid(), columns, 8)
			if got := b.read(ReadRequest{Source: SourceSince, Cursor: cursor, MaxLines: 500}); got.Content != seq(1, 100) || got.TruncatedHead {
				b.t.Errorf("at %d columns: %v %q", columns, got.TruncatedHead, got.Content)
			}
		}
		b.f.SetSize(b.sid(), 40, 8)
		b.f.DropHead(b.sid(), 60)
		if got := b.read(ReadRequest{Source: SourceSince, Cursor: cursor}); !got.TruncatedHead || !strings.HasSuffix(got.Content, "100") {
			b.t.Errorf("got %v %q", got.TruncatedHead, got.Content)
		}
		b.f.ClearScrollback(b.sid())
		if got := b.read(ReadRequest{Source: SourceSince, Cursor: cursor}); !got.TruncatedHead {
			b.t.Errorf("got %v %q", got.TruncatedHead, got.Content)
		}
	})
}

func TestCursorSurvivesAClearedScrollback(t *testing.T) { // READ-4
	on(t, terminaltest.Options{Rows: 8}, func(b bench) {
		b.run("seq 50")
		cursor := b.read(ReadRequest{}).Cursor
		b.f.ClearScrollback(b.sid())
		b.f.Print(b.sid(), "new\n")
		if got := b.read(ReadRequest{Source: SourceSince, Cursor: cursor}); got.Content != "new" || got.TruncatedHead {
			b.t.Errorf("got %v %q", got.TruncatedHead, got.Content)
		}
	})
}

func TestForeignCursorsAreRefused(t *testing.T) { // READ-5
	on(t, terminaltest.Options{}, func(b bench) {
		good := b.read(ReadRequest{}).Cursor
		other := cursor{session: hash32("other"), row: 3, width: 80}.encode()
		flip := []byte(good)
		flip[5] ^= 1
		for _, text := range []string{"x", "!!", other, string(flip), good + "A", strings.Repeat("A", 500)} {
			if _, err := b.Read(b.t.Context(), ReadRequest{SessionID: b.id, Source: SourceSince, Cursor: text}); !errors.Is(err, fault.CursorInvalid) {
				b.t.Errorf("%.20q: got %v", text, err)
			}
		}
	})
}

func FuzzCursorsAreReadBackOrRefused(f *testing.F) {
	f.Add("", int64(3), uint16(4), uint16(80), uint64(5), uint32(6))
	f.Fuzz(func(t *testing.T, text string, row int64, off, width uint16, prev uint64, part uint32) { // READ-5
		if c, err := decodeCursor("s", text); err == nil && c.encode() != text {
			t.Errorf("%q is read as %+v", text, c)
		}
		if row < 0 {
			row = -(row + 1)
		}
		want := cursor{session: hash32("s"), row: row, off: int(off), width: int(width), before: int(off) % 4, prev: prev, part: part}
		if got, err := decodeCursor("s", want.encode()); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	})
}

func TestCommandOutputIsReadInPages(t *testing.T) { // READ-6, RUN-27
	on(t, terminaltest.Options{Rows: 8, Scrollback: 100000}, func(b bench) {
		res := b.run("seq 30000")
		if !strings.HasPrefix(res.Output, "1\n2\n") || !strings.HasSuffix(res.Output, "\n30000") || utf8.RuneCountInString(res.Output) > defaultChars {
			b.t.Errorf("got %.20q", res.Output)
		}
		shown := 0
		for line := range strings.SplitSeq(res.Output, "\n") {
			if !strings.Contains(line, "left out") {
				shown++
			}
		}
		if res.Omitted.Lines != 30000-shown {
			b.t.Errorf("%d shown, %d omitted", shown, res.Omitted.Lines)
		}
		b.f.Print(b.sid(), "noise\n")
		var pages []string
		for page := b.again(res.Omitted.HowToGet); ; page = b.again(page.Omitted.HowToGet) {
			pages = append(pages, page.Content)
			if page.LineCount > MaxLines || len(pages) > 100 {
				b.t.Fatalf("%d lines", page.LineCount)
			}
			if page.Omitted.Lines == 0 {
				break
			}
		}
		if all := strings.Join(pages, "\n"); all != seq(1, 30000) {
			b.t.Errorf("%d pages make %d bytes, %q at the end", len(pages), len(all), all[max(0, len(all)-30):])
		}
		short := b.run("printf 'no newline'")
		for _, reduce := range []bool{true, false} {
			for _, id := range []string{short.RunID, ""} {
				if got := b.read(ReadRequest{Source: SourceCommand, RunID: id, Reduce: reduce}); got.Content != "no newline" || got.Omitted.Lines != 0 {
					b.t.Errorf("got %q %+v", got.Content, got.Omitted)
				}
			}
		}
	})
}

func TestLostLinesAreTold(t *testing.T) { // RUN-28
	on(t, terminaltest.Options{Rows: 8, Scrollback: 2000}, func(b bench) {
		res := b.run("seq 5000")
		if !res.TruncatedHead || strings.HasPrefix(res.Output, "1\n") || !strings.HasSuffix(res.Output, "5000") || res.Omitted.Lines < 2900 {
			b.t.Errorf("got %v %.20q %+v", res.TruncatedHead, res.Output, res.Omitted)
		}
		page := b.read(ReadRequest{Source: SourceCommand, RunID: res.RunID})
		if !page.TruncatedHead {
			b.t.Error("the page does not say that its head is lost")
		}
		big := b.run("seq 25000") // too much for one call, too
		if !big.TruncatedHead || !strings.HasSuffix(big.Output, "25000") {
			b.t.Errorf("got %v %q", big.TruncatedHead, big.Output[len(big.Output)-20:])
		}
	})
}

func TestOneVeryLongLineIsCut(t *testing.T) { // READ-9, RUN-27
	on(t, terminaltest.Options{Scrollback: 100000}, func(b bench) {
		b.f.On("long", func(p *terminaltest.Program) int { p.Print(strings.Repeat("0123456789", 30000) + "END\n"); return 0 })
		res := b.run("long")
		if n := utf8.RuneCountInString(res.Output); n > defaultChars || !strings.HasSuffix(res.Output, "END") || res.Omitted.Lines == 0 {
			b.t.Errorf("%d characters, %q, %+v", n, res.Output[len(res.Output)-10:], res.Omitted)
		}
		text := ""
		for page := b.again(res.Omitted.HowToGet); ; page = b.again(page.Omitted.HowToGet) {
			text += page.Content
			if page.Omitted.Lines == 0 {
				break
			}
		}
		if text != strings.Repeat("0123456789", 30000)+"END" {
			b.t.Errorf("the pages make %d characters", len(text))
		}
	})
}

func TestLinesFoldedInHistoryAreHad(t *testing.T) { // READ-2, READ-9
	on(t, terminaltest.Options{Rows: 8}, func(b bench) {
		b.f.On("bars", terminaltest.Prints("get 10%\nget 20%\nget 30%\nget 40%\n"+strings.Repeat("y", 3000)+"\n", 0))
		b.run("bars")
		got := b.read(ReadRequest{Source: SourceAll, Reduce: true})
		if !strings.Contains(got.Content, "get 40% (×4)") || got.Omitted.Lines != 4 {
			b.t.Errorf("got %q, %+v", got.Content, got.Omitted)
		}
		if all := b.again(got.Omitted.HowToGet); !strings.Contains(all.Content, "get 20%\n") || all.Omitted.Lines != 0 {
			b.t.Errorf("got %q, %+v", all.Content, all.Omitted)
		}
		long := b.read(ReadRequest{Source: SourceAll, MaxChars: 1000})
		part := b.again(long.Omitted.HowToGet)
		if long.Omitted.Lines == 0 || !strings.HasPrefix(part.Content, "yyyy") && !strings.Contains(part.Content, "$") {
			b.t.Errorf("got %+v and %.40q", long.Omitted, part.Content)
		}
	})
}
