package pilot

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal/terminaltest"
)

func TestASearchShowsWhatMatchesWithItsContext(t *testing.T) { // READ-12, READ-13
	on(t, terminaltest.Options{Rows: 10}, func(b bench) {
		b.run("seq 300")
		for _, c := range []struct {
			req   ReadRequest
			want  string
			found int
		}{
			{ReadRequest{Source: SourceAll, Pattern: "77"}, "77\n--\n177\n--\n277", 3},
			{ReadRequest{Source: SourceAll, Pattern: "77", Context: 1}, "76\n77\n78\n--\n176\n177\n178\n--\n276\n277\n278", 3},
			{ReadRequest{Source: SourceAll, Pattern: "^29[1-9]$", Regex: true, Context: 1}, "290\n" + seq(291, 300), 9},
			{ReadRequest{Source: SourceCommand, Pattern: "00"}, "100\n--\n200\n--\n300", 3},
			{ReadRequest{Source: SourceCommand, Pattern: "1", MaxLines: 3}, "1\n--\n10", 138},
			{ReadRequest{Source: SourceScreen, Pattern: "7"}, "297", 1},
			{ReadRequest{Source: SourceHistory, Pattern: "^29", Regex: true}, "29\n--\n290\n291", 3},
			{ReadRequest{Source: SourceAll, Pattern: "none such"}, "", 0},
		} {
			got := b.read(c.req)
			if got.Content != c.want || got.Matches != c.found {
				b.t.Errorf("%+v: %d matches, %q, want %d, %q", c.req, got.Matches, got.Content, c.found, c.want)
			}
		}
	})
}

func TestThePagesOfASearchShowEveryMatchOnce(t *testing.T) { // READ-13
	on(t, terminaltest.Options{Rows: 10}, func(b bench) {
		b.run("seq 2000")
		for _, req := range []ReadRequest{
			{Source: SourceAll, Pattern: "7", MaxLines: 30},
			{Source: SourceCommand, Pattern: "7", MaxLines: 7, Context: 1},
			{Source: SourceHistory, Pattern: "7[0-4]", Regex: true, MaxChars: 60},
			{Source: SourceAll, Pattern: "7", MaxLines: 9, Context: 3},
		} {
			seen := map[string]int{}
			page := b.read(req)
			total := page.Matches
			for n := 0; ; n++ {
				shown := 0
				for line := range strings.SplitSeq(page.Content, "\n") {
					if strings.Contains(line, "7") && req.Context == 0 {
						seen[line]++
						shown++
					}
				}
				if page.Omitted.Lines == 0 {
					break
				}
				if n > 1000 || page.Omitted.Lines >= page.Matches || page.LineCount > req.MaxLines && req.MaxLines > 0 {
					b.t.Fatalf("%+v: page %d: %d of %d left out, %d lines", req, n, page.Omitted.Lines, page.Matches, page.LineCount)
				}
				before := page.Matches - page.Omitted.Lines
				left := page.Omitted.Lines
				page = b.again(page.Omitted.HowToGet)
				if page.Matches != left {
					b.t.Fatalf("%+v: %d were left, and %d are found; %d were shown", req, left, page.Matches, before)
				}
			}
			for line, n := range seen {
				if n != 1 {
					b.t.Errorf("%+v: %q came %d times", req, line, n)
				}
			}
			if req.Context == 0 && len(seen) != total {
				b.t.Errorf("%+v: %d of %d came", req, len(seen), total)
			}
		}
	})
}

func TestASearchFindsWhatIsFarUpAndWrapped(t *testing.T) { // READ-14, READ-15
	on(t, terminaltest.Options{Rows: 10, Columns: 20, Scrollback: 60000}, func(b bench) {
		b.f.Print(b.sid(), strings.Repeat("x", 700)+" needle=one "+strings.Repeat("y", 700)+"\n")
		for i := range 300 {
			b.f.Print(b.sid(), strings.Repeat(fmt.Sprintf("%d and so on, over the edge of a row\n", i), 60))
		}
		b.f.Print(b.sid(), "API_TOKEN=abcdefgh needle=two over the edge\n")
		got := b.read(ReadRequest{Source: SourceAll, Pattern: "needle="})
		if got.Matches != 2 || !strings.Contains(got.Content, "x needle=one y") || len(got.Content) > 1200 || !strings.HasSuffix(got.Content, "API_TOKEN=*** needle=two over the edge") || got.Masked != 1 {
			b.t.Errorf("got %d matches, %d masked, %q", got.Matches, got.Masked, got.Content)
		}
		mark := got.Cursor
		b.f.Print(b.sid(), "one more needle=three\n")
		if got := b.read(ReadRequest{Source: SourceSince, Cursor: mark, Pattern: "needle="}); got.Matches != 1 || got.Content != "one more needle=three" {
			b.t.Errorf("since: %+v", got)
		}
	})
}

func TestALongLineIsMaskedBeforeItIsCut(t *testing.T) { // READ-10, READ-14, READ-15
	long := strings.Repeat("x", 300) + " API_TOKEN=" + strings.Repeat("s3", 80) + " needle " + strings.Repeat("y", 400)
	onWith(t, terminaltest.Options{Rows: 10}, Options{}, func(b bench) {
		b.f.Print(b.sid(), long+"\nurl https://me:s3s3s3@here needle\n")
		for pattern, count := range map[string]int{"needle": 2, "s3 needle": 1} {
			got := b.read(ReadRequest{Source: SourceAll, Pattern: pattern, Context: 1})
			if strings.Contains(got.Content, "s3") || !strings.Contains(got.Content, "API_TOKEN=*** needle y") || got.Matches != count || got.Masked != 2 {
				b.t.Errorf("%s: %d matches, %d masked, %q", pattern, got.Matches, got.Masked, got.Content)
			}
		}
	})
	onWith(t, terminaltest.Options{Rows: 10}, Options{NoMask: true}, func(b bench) {
		b.f.Print(b.sid(), long+"\n")
		if got := b.read(ReadRequest{Source: SourceAll, Pattern: "needle"}); !strings.Contains(got.Content, "s3 needle y") || got.Masked != 0 {
			b.t.Errorf("%d masked, %q", got.Masked, got.Content)
		}
	})
}

func TestASecretThatIsCutIsMaskedInAllParts(t *testing.T) { // READ-10, READ-15
	onWith(t, terminaltest.Options{Rows: 10, Columns: 40}, Options{}, func(b bench) {
		secret := "sk-" + strings.Repeat("s3", 60)
		b.f.On("tell", func(p *terminaltest.Program) int {
			p.Print("{\"a\":\"" + strings.Repeat("x", 80) + "\",\"key\":\"" + secret + "\",\"b\":\"" + strings.Repeat("y", 80) + "\"}\n")
			return 0
		})
		start := b.read(ReadRequest{}).Cursor
		res := b.run("tell")
		for chars := 31; chars < 240; chars += 4 {
			for _, req := range []ReadRequest{
				{Source: SourceCommand, RunID: res.RunID, MaxChars: chars},
				{Source: SourceSince, Cursor: start, MaxChars: chars},
				{Source: SourceAll, MaxChars: chars},
			} {
				all, masked, ends := "", 0, 0
				for page := b.read(req); ; page = b.again(page.Omitted.HowToGet) {
					all, masked = all+page.Content+"\n", masked+page.Masked
					if ends++; page.Omitted.HowToGet == "" || ends > 100 {
						break
					}
				}
				if joined := strings.ReplaceAll(all, "\n", ""); strings.Contains(joined, "s3") || masked != 1 && req.Source != SourceAll || req.Source == SourceCommand && !strings.Contains(joined, `x","key":"***","b":"y`) {
					b.t.Fatalf("%+v: %d masked, %q", req, masked, all)
				}
			}
		}
	})
}

func TestASecretThatGrowsAfterACursorIsMasked(t *testing.T) { // READ-10
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.On("slow", func(p *terminaltest.Program) int {
			p.Print("API_TOKEN=s3s3s")
			p.Sleep(time.Second)
			p.Print("3s3s3s3 over\n")
			return 0
		})
		start := b.read(ReadRequest{}).Cursor
		b.f.Type(b.sid(), "slow\r")
		b.settle()
		first := b.read(ReadRequest{Source: SourceSince, Cursor: start, Reduce: true})
		time.Sleep(2 * time.Second) // in the bubble
		for _, reduce := range []bool{true, false} {
			if got := b.read(ReadRequest{Source: SourceSince, Cursor: first.Cursor, Reduce: reduce}); strings.Contains(got.Content, "s3") || !strings.HasPrefix(got.Content, " over\n") {
				b.t.Errorf("%q, then %q", first.Content, got.Content)
			}
		}
	})
}

func TestABadSearchIsRefused(t *testing.T) { // READ-7
	on(t, terminaltest.Options{}, func(b bench) {
		for _, req := range []ReadRequest{
			{Pattern: "(", Regex: true},
			{Pattern: strings.Repeat("x", MaxPattern+1)},
			{Pattern: "\xff"},
			{Pattern: "x", Context: MaxContext + 1},
			{Pattern: "x", Context: -1},
			{Regex: true},
			{Context: 1},
		} {
			req.SessionID = b.id
			if _, err := b.Read(b.t.Context(), req); !errors.Is(err, fault.InvalidArgument) {
				b.t.Errorf("%+v: %v", req, err)
			}
		}
	})
}
