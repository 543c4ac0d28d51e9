package reduce

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBadInputGivesABoundedAnswer(t *testing.T) { // REDUCE-17
	noise := make([]byte, 1<<16)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.UintN(256))
	}
	colours := "\x1b[1m\x1b[31merror\x1b[0m: \x1b]8;;http://h/\x1b\\text\x1b]8;;\x1b\\\x1b[K\r\n"
	for name, text := range map[string]string{
		"binary":       string(noise),
		"a long line":  strings.Repeat("x", 20<<20),
		"bad UTF-8":    strings.Repeat("a\xff\xfe\xc3(\n", 3000),
		"half a log":   "\tat java.base/java.lang.Thread.run(Thread.java:840)\n... 3 more\n-- FAIL: T",
		"localised":    strings.Repeat("Auf Branch main\n\tgeändert:       src/ä.go\n日本語の行です。\n", 400),
		"colours":      strings.Repeat(colours, 900),
		"Windows":      strings.Repeat("a\r\nb\r\n", 900),
		"only returns": strings.Repeat("50%\r", 30000),
		"deep JSON":    strings.Repeat("[", 100000) + "\n\n\n\n" + strings.Repeat("]", 100000),
		"nothing":      "",
	} {
		commands := []string{""}
		for i := range reducers {
			if !tried(len(name) + i) {
				continue
			}
			first, _, _ := strings.Cut(reducers[i].names, ", ")
			commands = append(commands, first)
		}
		for _, command := range commands {
			if len(text) > 1<<20 && command != "" && command != "git diff" {
				continue
			}
			got := Output(command, text, Options{Mask: true})
			if !utf8.ValidString(got.Text) || chars(got.Text) > defaultChars || countLines(got.Text) > defaultLines || strings.ContainsAny(got.Text, "\x1b\r\x00") {
				t.Errorf("%s by %q: %d characters, %d lines: %.200q", name, command, chars(got.Text), countLines(got.Text), got.Text)
			}
		}
	}
	text := strings.Repeat("Auf Branch main\n\tgeändert:       src/ä.go\n日本語の行です。\n", 4)
	if got := Output("git status", text, Options{}).Text; !strings.Contains(got, "geändert") || !strings.Contains(got, "日本語の行です。") {
		t.Errorf("other scripts: %q", got)
	}
}

func TestAWindowKeepsBothEndsOfAnyText(t *testing.T) { // REDUCE-18
	var w Window
	line := strings.Repeat("0123456789", 10) + "\n"
	const lines = 500_000 // 50 MB
	for range lines {
		_, _ = w.Write([]byte(line))
	}
	_, _ = w.Write([]byte("the end\n"))
	text, skipped, seam := w.Text()
	if cap(w.head)+cap(w.tail) > 40<<20 || len(text) > 16<<20 {
		t.Errorf("%d bytes are kept, %d in room", len(text), cap(w.head)+cap(w.tail))
	}
	if n := countLines(text); n+skipped != lines+1 || !strings.HasSuffix(text, line+"the end\n") || text[seam-1] != '\n' {
		t.Errorf("%d lines and %d skipped make %d, want %d", n, skipped, n+skipped, lines+1)
	}
	got := Output("", text, Options{Skipped: skipped, Seam: seam})
	if got.Lines != lines+1 || !strings.HasSuffix(got.Text, "the end") {
		t.Errorf("%d lines: %q", got.Lines, got.Text)
	}
	w = Window{}
	for range 200 { // one line of 200 MB
		_, _ = w.Write([]byte(strings.Repeat("y", 1<<20)))
	}
	text, skipped, _ = w.Text()
	if skipped == 0 || len(text) > 16<<20 || cap(w.head)+cap(w.tail) > 40<<20 {
		t.Errorf("one long line: %d bytes, %d skipped", len(text), skipped)
	}
}
