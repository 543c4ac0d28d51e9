package terminaltest

import (
	"bytes"
	"strings"

	"termpilot/terminal"
)

// editor is a shell's line editor while it reads one command. It takes the
// bytes of the session's queue as they come, under the fake's lock, so that what
// is typed shows and counts at once.
type editor struct {
	s       *session
	sh      *shell
	prompt  *prompt // nil: the shell sends no marks
	before  string  // the lines accepted so far of an unfinished command
	line    []rune
	pasting bool
	outcome outcome
	text    string // the command, when accepted
}

type outcome uint8

const (
	reading outcome = iota
	accepted
	aborted  // Ctrl-C
	hungup   // Ctrl-D on an empty line
	rejected // the shell will not run it, or there is nothing to run
)

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// edit lets the line editor that reads, if any, consume the queue.
func (s *session) edit() {
	e := s.editor
	if e == nil {
		return
	}
	for e.outcome == reading {
		if s.freeze != nil && !e.pasting && bytes.HasPrefix(s.in, []byte(*s.freeze)) {
			return
		}
		if s.signal == 0x03 {
			s.signal = 0
			s.print("^C")
			e.outcome = aborted
			break
		}
		n := e.take(s.in)
		if n == 0 {
			return
		}
		s.in = s.in[n:]
	}
	e.sh.leave(e)
}

// take consumes one key or paste of p; 0 when it is not whole.
func (e *editor) take(p []byte) int {
	if len(p) == 0 {
		return 0
	}
	if e.pasting {
		i := bytes.Index(p, pasteEnd)
		if i < 0 {
			return 0
		}
		e.pasting = false
		e.insert(strings.ReplaceAll(string(p[:i]), "\r", "\n"))
		return i + len(pasteEnd)
	}
	if p[0] == 0x1b {
		return e.escape(p)
	}
	switch c := p[0]; c {
	case '\r', '\n':
		e.accept()
	case 0x04:
		if len(e.line) == 0 && e.before == "" {
			e.outcome = hungup
		}
	case 0x7f, '\b':
		if n := len(e.line); n > 0 {
			e.erase(1)
		}
	case 0x15: // Ctrl-U
		e.erase(len(e.line))
	case 0x17: // Ctrl-W
		text := strings.TrimRight(string(e.line), " ")
		e.erase(len(e.line) - len([]rune(text[:strings.LastIndexByte(text, ' ')+1])))
	default:
		if c < 0x20 { // Tab completes nothing; other keys move, or do nothing
			return 1
		}
		n := runeLen(p)
		if n > 0 {
			e.insert(string(p[:n]))
		}
		return n
	}
	return 1
}

func (e *editor) escape(p []byte) int {
	if bytes.HasPrefix(p, pasteStart) && e.s.stream.paste {
		e.pasting = true
		return len(pasteStart)
	}
	if bytes.HasPrefix(pasteStart, p) {
		return 0
	}
	if p[1] != '[' && p[1] != 'O' {
		return 2
	}
	for i := 2; i < len(p); i++ {
		if p[i] >= 0x40 && p[i] <= 0x7e {
			return i + 1
		}
	}
	return 0
}

func (e *editor) insert(text string) {
	e.line = append(e.line, []rune(text)...)
	e.s.print(text)
}

func (e *editor) erase(n int) {
	for range n {
		last := e.line[len(e.line)-1]
		e.line = e.line[:len(e.line)-1]
		if last == '\n' {
			continue // a real editor paints the rows anew; nobody looks at these here
		}
		w := runeWidth(last)
		e.s.print(strings.Repeat("\b", w) + strings.Repeat(" ", w) + strings.Repeat("\b", w))
	}
}

// accept ends the line: the command is whole, or the shell asks for more.
func (e *editor) accept() {
	s := e.s
	text := e.before + string(e.line)
	s.print("\n")
	if !e.sh.incomplete(text) {
		e.text, e.outcome = text, accepted
		return
	}
	e.before, e.line = text+"\n", nil
	s.print(e.sh.more)
	if e.prompt == nil || s.f.o.Shell == "fish" { // fish marks nothing here
		return
	}
	e.prompt.state = terminal.Continuation
	s.emit(terminal.Continued, e.prompt)
}
