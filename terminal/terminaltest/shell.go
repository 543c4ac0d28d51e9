package terminaltest

import (
	"strings"
	"time"
	"unicode/utf8"

	"termpilot/process"
	"termpilot/terminal"
)

// shell is one shell of a session: the first, or one nested in it.
type shell struct {
	s       *session
	proc    *proc
	marked  bool
	prompt  string
	more    string // the continuation prompt
	current *prompt
	last    int // status of the last command
	exited  bool
	jobs    int
}

// What ends a script from outside: thrown through the test's own function by
// whatever it calls, and caught where the program was started.
type (
	killed  struct{}           // the session is over
	signals struct{ sig byte } // Ctrl-C or Ctrl-Z
)

// run is the session's goroutine: the first shell, then the end of the session.
func (s *session) run() {
	defer func() {
		if r := recover(); r != nil {
			if _, over := r.(killed); !over {
				panic(r)
			}
		}
	}()
	sh := &shell{s: s, proc: s.shell, marked: s.marks != terminal.MarksNone, prompt: s.f.o.Prompt, more: "> "}
	if s.f.o.Shell == "fish" {
		sh.more = "  " // it has no continuation prompt, and indents
	}
	if s.f.o.Start > 0 {
		s.await(time.NewTimer(s.f.o.Start).C, nil, nil, func() bool { return false })
	}
	if s.command != "" {
		sh.execute(s.command)
	} else {
		sh.loop()
	}
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	code := sh.last
	s.end(terminal.Exit{Code: &code})
}

// loop reads and runs commands until the shell exits.
func (sh *shell) loop() {
	for !sh.exited {
		switch e := sh.read(); e.outcome {
		case hungup:
			sh.s.locked(func() { sh.s.print("exit\n") })
			return
		case accepted:
			sh.execute(e.text)
		}
	}
}

// read shows a prompt and edits a command line. The marks are D, A, B.
func (sh *shell) read() *editor {
	s := sh.s
	s.f.mu.Lock()
	s.foreground = sh.proc
	s.flags, s.isig = process.TTY{}, true
	s.signal = 0
	if sh.marked && sh.current != nil {
		s.finished(sh.current, sh.last)
	}
	s.print(sh.prompt)
	s.stream.paste = !s.f.o.NoPaste
	e := &editor{s: s, sh: sh}
	if sh.marked {
		sh.current = s.show()
		e.prompt = sh.current
		s.emit(terminal.PromptShown, sh.current)
	} else if sh.proc == s.shell && s.marks == terminal.MarksNonce {
		s.marks = terminal.MarksLost // the host sees its shell read without a mark
	}
	s.editor = e
	s.edit()
	s.f.mu.Unlock()
	s.await(nil, nil, nil, func() bool { return e.outcome != reading })
	return e
}

// begin is mark C.
func (sh *shell) begin() {
	if sh.marked {
		sh.s.started(sh.current)
	}
}

// leave is what the shell does when its line editor has ended, before it runs
// anything: it gives the terminal back as programs want it, and sends mark C
// where it does.
func (sh *shell) leave(e *editor) {
	s := sh.s
	s.editor = nil
	s.stream.paste = false
	s.flags = process.TTY{Echo: true, Canonical: true}
	fish := s.f.o.Shell == "fish"
	refusal, refuses := s.f.refused[strings.TrimSpace(e.text)]
	switch {
	case e.outcome == hungup:
	case e.outcome == aborted: // bash and zsh send C and D;130, fish only D
		s.print("\n")
		if !fish {
			sh.begin()
			sh.last = 130
		}
	case refuses: // by the parser or history expansion: D without C, but zsh sends C and D;1
		if s.f.o.Shell == "zsh" {
			sh.begin()
			sh.last = 1
		}
		s.print(refusal + "\n")
		e.outcome = rejected
	case strings.TrimSpace(e.text) == "": // C and D with the old status, fish only D
		if !fish {
			sh.begin()
		}
		e.outcome = rejected
	default:
		sh.begin()
	}
	rest := s.in
	s.in = nil
	for _, c := range rest {
		s.cook(c)
	}
}

// locked runs f under the fake's lock, unless the session is over.
func (s *session) locked(f func()) {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	if s.exit != nil {
		panic(killed{})
	}
	f()
}

// await blocks until done, looked at under the lock whenever something came, or
// until the timer or a channel fires. A signal for sig, the program that waits,
// is thrown; so is the end of the session.
func (s *session) await(timer <-chan time.Time, also <-chan struct{}, sig *Program, done func() bool) {
	for {
		s.f.mu.Lock()
		over, ready, wake := s.exit != nil, done(), s.wake
		var signal byte
		if sig != nil && s.signal != 0 && !over {
			signal, s.signal = s.signal, 0
			if sig.deaf {
				signal = 0
			}
		}
		s.f.mu.Unlock()
		switch {
		case over:
			panic(killed{})
		case signal != 0:
			panic(signals{signal})
		case ready:
			return
		}
		select {
		case <-wake:
		case <-timer:
			return
		case <-also:
			return
		}
	}
}

// incomplete reports whether the shell would ask for more lines: an open quote,
// a backslash at the end, a here-document, an open for, if, brace or bracket.
func (sh *shell) incomplete(text string) bool {
	if more := sh.s.f.more; more != nil && more(text) {
		return true
	}
	var quote rune
	depth, escaped := 0, false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '(' || r == '{':
			depth++
		case r == ')' || r == '}':
			depth--
		}
	}
	if escaped || quote != 0 || depth > 0 {
		return true
	}
	if _, doc, ok := strings.Cut(text, "<<"); ok {
		head, body, _ := strings.Cut(doc, "\n")
		word := strings.Trim(strings.Fields(strings.TrimPrefix(head, "-") + " EOF")[0], `'"`)
		return !strings.Contains("\n"+body+"\n", "\n"+word+"\n")
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;", r) }) {
		switch word {
		case "for", "while", "if", "case":
			depth++
		case "done", "fi", "esac":
			depth--
		}
	}
	return depth > 0
}

// runeLen is the length of the character at the start of p; 0 when it is cut.
func runeLen(p []byte) int {
	if !utf8.FullRune(p) {
		return 0
	}
	_, n := utf8.DecodeRune(p)
	return n
}
