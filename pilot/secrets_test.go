package pilot

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"termpilot/terminal/terminaltest"
)

// madeKey is a block that looks like a private key, and is none; body are its lines.
func madeKey(r *rand.Rand, label string, rows, width int) (lines, body []string) {
	for i := range rows {
		b := make([]byte, width)
		for n := range b {
			b[n] = byte(r.UintN(256))
		}
		line := base64.StdEncoding.EncodeToString(b)[:width]
		if i == rows-1 {
			line = line[:1+r.IntN(width)]
		}
		body = append(body, line)
	}
	lines = append([]string{"-----BEGIN " + label + "-----"}, body...)
	return append(lines, "-----END "+label+"-----"), body
}

// leak is a part of a key that shows.
func leak(shown string, body []string) string {
	const part = 10 // characters that are no chance
	for _, line := range body {
		for i := 0; i+part <= len(line); i++ {
			if strings.Contains(shown, line[i:i+part]) {
				return line[i : i+part]
			}
		}
	}
	return ""
}

func FuzzAKeyNeverShows(f *testing.F) { // READ-16
	for i := range uint64(60) {
		f.Add(i, uint8(i), uint8(i/5), uint8(3*i), uint8(7*i), uint8(i), uint8(i/3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, source, size, lines, chars, around, way uint8) {
		r := rand.New(rand.NewPCG(seed, 2))
		block, body := madeKey(r, []string{"PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"}[r.IntN(3)], 3+r.IntN(40), 40+r.IntN(40))
		for i, line := range block {
			switch way % 5 {
			case 1:
				block[i] = "    " + line
			case 2:
				block[i] = fmt.Sprintf("%6d\t%s", i, line)
			case 3:
				block[i] = "> " + line
			}
		}
		text := strings.Join(block, "\n")
		if way%5 == 4 {
			text = `{"type": "made up", "private_key": "` + strings.Join(block, `\n`) + `\n", "more": "x"}`
		}
		noise := func(n int) (text string) {
			for i := range n {
				text += fmt.Sprintf("line %d says nothing\n", i)
			}
			return text
		}
		o := terminaltest.Options{Rows: 3 + int(size)%20, Columns: []int{80, 64, 33, 200, 21}[size%5], Scrollback: 2000}
		if way/5%2 == 1 { // it is being printed
			begin := strings.Index(text, "-----BEGIN ") + 50
			text = text[:begin+r.IntN(len(text)-begin)]
		}
		text = noise(int(around)%70) + text + "\n" + noise(int(around/2)%70)
		onWith(t, o, Options{}, func(b bench) {
			b.f.On("show", func(p *terminaltest.Program) int {
				p.Print(text)
				return 0
			})
			start := b.read(ReadRequest{}).Cursor
			res := b.run("show")
			line := body[r.IntN(len(body))]
			from := r.IntN(len(line))
			pattern := line[from:min(len(line), from+1+r.IntN(9))]
			req := ReadRequest{
				Source: []Source{SourceScreen, SourceAll, SourceHistory, SourceSince, SourceCommand}[source%5],
				Reduce: source/5%2 == 1, MaxLines: int(lines), MaxChars: int(chars),
			}
			if source/10%2 == 1 {
				req.Pattern, req.Context = pattern, int(lines)%4
			}
			if req.Source == SourceSince {
				req.Cursor = start
			}
			shown := res.Output
			for page, n := b.read(req), 0; n < 30; n++ {
				shown += "\n" + page.Content
				if got := strings.Count(page.Content, "***"); got != page.Masked && (chars == 0 || chars > 100) {
					b.t.Fatalf("%+v: %d of %d masked in\n%s", req, page.Masked, got, page.Content)
				}
				if page.Omitted.HowToGet == "" {
					break
				}
				page = b.again(page.Omitted.HowToGet)
			}
			waited := b.wait(WaitRequest{Until: UntilText, Pattern: pattern, Timeout: time.Second}).Sessions[0]
			if text := leak(shown+"\n"+waited.Text, body); text != "" {
				b.t.Fatalf("%+v, pattern %q: %q shows in\n%s\n%q", req, pattern, text, shown, waited.Text)
			}
		})
	})
}

// keyRow is what a line of a key may be, made up.
const keyRow = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDm4de0Up1Xa0aB"

func TestALineOfAKeyIsMaskedWhereverItIsPicked(t *testing.T) { // READ-16
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(keyRow+"\n", 40)
	for name, c := range map[string]struct {
		printed string
		req     ReadRequest
		want    string
		masked  int
	}{
		"a match":               {key + "-----END PRIVATE KEY-----\n", ReadRequest{Source: SourceAll, Pattern: "MIIE", MaxLines: 1}, "***", 1},
		"lines around a match":  {"some\n" + key + "-----END PRIVATE KEY-----\nneedle\n", ReadRequest{Source: SourceAll, Pattern: "needle", Context: 2}, "***\n-----END PRIVATE KEY-----\nneedle\n$ ", 1},
		"a screen":              {key, ReadRequest{}, strings.Repeat("***\n", 7) + "$ ", 7},
		"a page":                {key, ReadRequest{Source: SourceAll, MaxLines: 3}, "***\n***\n$ ", 2},
		"after other marks":     {key + "-----END PRIVATE KEY-----\n", ReadRequest{Source: SourceAll, Pattern: "-----|" + keyRow + "$|\\$ $", Regex: true, MaxLines: 3}, "***\n-----END PRIVATE KEY-----\n$ ", 1},
		"a wrapped token":       {"x API_TOKEN=" + strings.Repeat("s3", 60) + " y\n", ReadRequest{}, "$ tell\nx API_TOKEN=***\n*** y\n$ ", 2},
		"a token above":         {"x API_TOKEN=" + strings.Repeat("s3", 60) + " y\n1\n2\n3\n4\n5\n6\n", ReadRequest{}, "*** y\n1\n2\n3\n4\n5\n6\n$ ", 1},
		"a token over two rows": {strings.Repeat("x", 61) + " API_TOKEN=s3s3s3s3\ns3s3 y\n", ReadRequest{}, "$ tell\n" + strings.Repeat("x", 61) + " API_TOKEN=***\n*** y\n$ ", 2},
		"no key":                {strings.Repeat(keyRow+"\n", 40), ReadRequest{Source: SourceAll, Pattern: "MIIE", MaxLines: 1}, keyRow, 0},
		"no key on a screen":    {strings.Repeat(keyRow+"\n", 40), ReadRequest{}, strings.Repeat(keyRow+"\n", 7) + "$ ", 0},
		"a mark and no key":     {"-----BEGIN PRIVATE KEY-----\n$ ls\n2 " + keyRow + "\n", ReadRequest{Source: SourceAll, Pattern: "BEGIN|MIIE", Regex: true}, "-----BEGIN PRIVATE KEY-----\n--\n2 " + keyRow, 0},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, terminaltest.Options{Rows: 8, Columns: 80}, func(b bench) {
				b.f.On("tell", terminaltest.Prints(c.printed, 0))
				b.run("tell")
				if got := b.read(c.req); got.Content != c.want || got.Masked != c.masked {
					b.t.Errorf("%d masked, want %d:\n got %q\nwant %q", got.Masked, c.masked, got.Content, c.want)
				}
			})
		})
	}
}

func TestAKeyIsKnownWithoutItsBeginning(t *testing.T) { // READ-16
	on(t, terminaltest.Options{Rows: 8}, func(b bench) {
		b.f.Print(b.sid(), "-----BEGIN PRIVATE KEY-----\n"+strings.TrimSuffix(strings.Repeat(keyRow+"\n", 40), "\n"))
		b.f.ClearScrollback(b.sid())
		if got := b.read(ReadRequest{}); strings.Contains(got.Content, "MII") || got.Masked != 8 {
			b.t.Errorf("%d masked: %q", got.Masked, got.Content)
		}
		if got := b.wait(WaitRequest{Until: UntilText, Pattern: "MII"}).Sessions[0]; got.Text != "***" {
			b.t.Errorf("%q", got.Text)
		}
		b.f.Print(b.sid(), "\nit was none")
		if got := b.read(ReadRequest{}); got.Masked != 0 || !strings.Contains(got.Content, keyRow) {
			b.t.Errorf("%d masked: %q", got.Masked, got.Content)
		}
	})
}

func TestAFullScreenProgramWrapsASecret(t *testing.T) { // READ-16
	on(t, terminaltest.Options{Rows: 8, Columns: 40}, func(b bench) {
		b.f.On("vim", func(p *terminaltest.Program) int {
			p.FullScreen(true)
			p.Print("\x1b[HAPI_TOKEN=" + strings.Repeat("s3", 15) + "\x1b[2;1Hs3s3s3 more\x1b[4;1Hlast")
			p.ReadKey()
			return 0
		})
		b.run("vim")
		if got := b.read(ReadRequest{}); got.Content != "API_TOKEN=***\n*** more\n\nlast" || got.Masked != 2 {
			b.t.Errorf("%d masked: %q", got.Masked, got.Content)
		}
	})
}
