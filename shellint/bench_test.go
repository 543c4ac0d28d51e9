package shellint

import (
	"bytes"
	"testing"
)

// One command from its last key to the next prompt, with our script and in
// the bare shell. The difference is what the marks cost a person.
func BenchmarkPrompt(b *testing.B) {
	for _, shell := range Shells() {
		b.Run(shell.Name+"/marks", func(b *testing.B) {
			s := start(b, shell.Name, setup{files: map[string]string{".zshrc": ""}})
			s.prompt()
			for b.Loop() {
				s.run("true")
			}
		})
		b.Run(shell.Name+"/bare", func(b *testing.B) {
			s := start(b, shell.Name, setup{plain: true, files: map[string]string{".zshrc": ""}})
			// zsh and fish turn bracketed paste on last of all, bash before its prompt.
			at := 0
			ready := func() bool {
				i := bytes.Index(s.stream[at:], []byte("\x1b[?2004h"))
				if i < 0 {
					return false
				}
				at += i + 8
				return true
			}
			s.await("a prompt", ready)
			for b.Loop() {
				s.send("true\r")
				s.await("a prompt", ready)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	payload := []byte("D;0;aid=12345.678-90;n=" + testNonce)
	b.ReportAllocs()
	for b.Loop() {
		Parse(133, payload)
	}
}

func BenchmarkForgedMark(b *testing.B) {
	m := NewMachine(testNonce)
	payload := []byte("D;0;aid=12345.678-90")
	b.ReportAllocs()
	for b.Loop() {
		mark, _ := Parse(133, payload)
		m.Feed(mark, 0)
	}
}
