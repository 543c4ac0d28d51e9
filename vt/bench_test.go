package vt_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unicode/utf8"

	"termpilot/vt"
)

// plainStream is like a build log: words, no styles.
func plainStream(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		for range 4 + rnd.IntN(10) {
			word := [...]string{"error", "warning:", "linking", "vt/terminal.go:212", "ok", "termpilot/vt", "0.412s", "building", "--"}
			b.WriteString(word[rnd.IntN(len(word))])
			b.WriteByte(' ')
		}
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// colouredStream changes style at every word.
func colouredStream(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		for range 8 {
			switch rnd.IntN(3) {
			case 0:
				fmt.Fprintf(&b, "\x1b[1;%dmword\x1b[0m ", 30+rnd.IntN(8))
			case 1:
				fmt.Fprintf(&b, "\x1b[38;5;%dmtoken\x1b[39m ", rnd.IntN(256))
			default:
				fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dmrgb\x1b[m ", rnd.IntN(8)*30, 100, 200)
			}
		}
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// wideStream is Chinese and Japanese text with emoji.
func wideStream(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		for range 30 {
			switch rnd.IntN(12) {
			case 0:
				b.WriteString([...]string{"😀", "👍🏽", "🇫🇷", "❤️", "✅"}[rnd.IntN(5)])
			case 1:
				b.WriteRune('ぁ' + rune(rnd.IntN(80)))
			default:
				b.WriteRune('一' + rune(rnd.IntN(5000)))
			}
		}
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// motionStream is like a full-screen program: cursor addresses, short texts,
// erasures.
func motionStream(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[7m%08d\x1b[27m\x1b[K", 1+rnd.IntN(24), 1+rnd.IntN(70), rnd.IntN(1e8))
	}
	return b.Bytes()
}

func BenchmarkWrite(b *testing.B) {
	for _, s := range []struct {
		name string
		data []byte
	}{
		{"plain", plainStream(4 << 20)},
		{"coloured", colouredStream(4 << 20)},
		{"wide", wideStream(4 << 20)},
		{"motion", motionStream(4 << 20)},
	} {
		b.Run(s.name, func(b *testing.B) {
			term := vt.New(vt.Options{})
			feed := func() {
				for p := s.data; len(p) > 0; {
					n := min(len(p), 32<<10)
					term.Write(p[:n])
					p = p[n:]
				}
			}
			feed()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			best, scan := time.Hour, time.Hour
			for b.Loop() { // in turn, so that both see the same machine
				start := time.Now()
				feed()
				best = min(best, time.Since(start))
				scan = min(scan, scanTime(s.data))
			}
			runtime.ReadMemStats(&after)
			lines := float64(b.N * bytes.Count(s.data, []byte{'\n'}))
			b.ReportMetric(float64(len(s.data))/1e6/best.Seconds(), "MB/s")
			b.ReportMetric(best.Seconds()/scan.Seconds(), "×utf8-scan")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/max(lines, 1), "allocs/line")
		})
	}
}

// scanTime is how long it takes to decode the runes of data and no more: what
// every terminal must do at least.
func scanTime(data []byte) time.Duration {
	start := time.Now()
	var sum rune
	for p := data; len(p) > 0; {
		r, n := utf8.DecodeRune(p)
		sum += r
		p = p[n:]
	}
	runtime.KeepAlive(sum)
	return time.Since(start)
}

// fill makes a terminal with lines rows of scrollback.
func fill(lines int, line func(i int) string) *vt.Terminal {
	term := vt.New(vt.Options{Scrollback: lines})
	for i := range lines + 24 {
		fmt.Fprintf(term, "%s\r\n", line(i))
	}
	return term
}

func plainLine(i int) string {
	return fmt.Sprintf("%08d the quick brown fox jumps over the lazy dog, again and again", i)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkScrollbackMemory(b *testing.B) {
	for _, s := range []struct {
		name string
		line func(int) string
	}{
		{"plain", plainLine},
		{"full", func(i int) string { return fmt.Sprintf("%079d", i) }},
		{"coloured", func(i int) string {
			return fmt.Sprintf("\x1b[32m%08d\x1b[0m \x1b[1mthe\x1b[22m quick \x1b[38;5;%dmbrown fox\x1b[39m jumps over", i, i%256)
		}},
		{"wide", func(i int) string { return fmt.Sprintf("%08d 敏捷的棕色狐狸跳过了懒狗一次又一次", i) }},
	} {
		b.Run(s.name, func(b *testing.B) {
			var used uint64
			for b.Loop() {
				before := heap()
				term := fill(100_000, s.line)
				used = heap() - before
				runtime.KeepAlive(term)
			}
			text := 0
			for i := range 100_000 {
				text += len(s.line(i))
			}
			b.ReportMetric(float64(used)/1e6, "MB/100k-lines")
			b.ReportMetric(float64(used)/float64(text), "×text")
		})
	}
}

func BenchmarkResizeOf100kLines(b *testing.B) {
	for _, s := range []struct {
		name string
		line func(int) string
	}{
		{"plain", plainLine},
		{"wide", func(i int) string { return fmt.Sprintf("%08d 敏捷的棕色狐狸跳过了懒狗一次又一次", i) }},
	} {
		b.Run(s.name, func(b *testing.B) {
			term := fill(100_000, s.line)
			columns := 80
			for b.Loop() {
				columns = 200 - columns // 80, 120
				term.Resize(columns, 24)
				term.History()
			}
		})
	}
}
