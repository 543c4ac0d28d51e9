package pilot

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"termpilot/terminal/terminaltest"
)

// TestReadersSeeEveryCharacterOnce lets a program print at random, in whole and
// broken lines, while readers with limits of their own read on, the window
// changes its width, and the scrollback is cleared behind them.
func TestReadersSeeEveryCharacterOnce(t *testing.T) { // READ-3, READ-4
	for seed := range uint64(60) {
		on(t, terminaltest.Options{Rows: 6, Columns: 30}, func(b bench) {
			r := rand.New(rand.NewPCG(seed, 7))
			b.f.Print(b.sid(), "\n")
			start := b.read(ReadRequest{}).Cursor
			type reader struct {
				cursor string
				text   strings.Builder
				req    ReadRequest
			}
			readers := []*reader{
				{cursor: start, req: ReadRequest{Source: SourceSince}},
				{cursor: start, req: ReadRequest{Source: SourceSince, MaxLines: 3}},
				{cursor: start, req: ReadRequest{Source: SourceSince, MaxChars: 150}},
			}
			readOn := func(one *reader) {
				for {
					one.req.Cursor = one.cursor
					got := b.read(one.req)
					if got.TruncatedHead {
						b.t.Fatalf("seed %d: lines are said to be gone", seed)
					}
					one.text.WriteString(got.Content)
					one.cursor = got.Cursor
					if got.Omitted.Lines == 0 {
						return
					}
				}
			}
			var printed strings.Builder
			n := 0
			for range 40 {
				switch r.IntN(8) {
				case 0:
					readOn(readers[r.IntN(len(readers))])
				case 1:
					b.f.SetSize(b.sid(), 20+r.IntN(60), 4+r.IntN(10))
				default:
					text := ""
					for range r.IntN(6) {
						n++
						text += fmt.Sprintf("<%d%s>", n, strings.Repeat("-", r.IntN(70)))
						if r.IntN(3) > 0 {
							text += "\n"
						}
					}
					b.f.Print(b.sid(), text)
					printed.WriteString(text)
				}
			}
			flat := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
			for i, one := range readers {
				readOn(one)
				if got, want := flat(one.text.String()), flat(printed.String()); got != want {
					b.t.Fatalf("seed %d, reader %d:\ngot  %q\nwant %q", seed, i, got, want)
				}
			}
		})
	}
}

// TestPagesOfAnyOutputMakeItWhole prints at random and reads the output back
// with random limits.
func TestPagesOfAnyOutputMakeItWhole(t *testing.T) { // READ-6, READ-9
	for seed := range uint64(60) {
		on(t, terminaltest.Options{Rows: 6, Columns: 30}, func(b bench) {
			r := rand.New(rand.NewPCG(seed, 8))
			var text strings.Builder
			for n := range r.IntN(300) {
				fmt.Fprintf(&text, "<%d%s>%s", n, strings.Repeat("=", r.IntN(120)), strings.Repeat("\n", r.IntN(3)))
			}
			b.f.On("make", terminaltest.Prints(text.String(), 0))
			res := b.run("make")
			b.run("echo noise")
			var got strings.Builder
			req := ReadRequest{Source: SourceCommand, RunID: res.RunID, MaxLines: 1 + r.IntN(40), MaxChars: 40 + r.IntN(2000)}
			for range 5000 {
				page := b.read(req)
				if page.LineCount > req.MaxLines || len([]rune(page.Content)) > req.MaxChars || page.TruncatedHead {
					b.t.Fatalf("seed %d: %d lines and %d characters for %+v", seed, page.LineCount, len(page.Content), req)
				}
				got.WriteString(page.Content)
				if page.Omitted.Lines == 0 {
					break
				}
				req.Cursor = page.Cursor
			}
			if got, want := strings.ReplaceAll(got.String(), "\n", ""), strings.ReplaceAll(text.String(), "\n", ""); got != want {
				b.t.Fatalf("seed %d:\ngot  %q\nwant %q", seed, got, want)
			}
		})
	}
}
