package terminaltest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"termpilot/process"
	"termpilot/terminal"
)

// session is one scripted terminal. Everything in it is guarded by the fake's
// lock; its one goroutine runs the shell and whatever the shell runs.
type session struct {
	f  *Fake
	id terminal.ID

	window, tab, profile, name, title, tty string
	cwd                                    string
	env                                    map[string]string
	command                                string

	grid   *grid
	stream *stream

	in     []byte // typed, not read yet
	sent   [][]byte
	flags  process.TTY
	isig   bool          // Ctrl-C and Ctrl-Z are signals
	signal byte          // one that waits for the foreground program: 3 or 26
	wake   chan struct{} // closed and replaced when input or a signal comes
	editor *editor       // the line editor that reads, if one does

	procs      []*proc // of this tty
	shell      *proc   // the first
	foreground *proc
	reader     *proc // the program that is blocked reading the terminal

	prompts []*prompt
	latest  *prompt // the last one shown
	made    int
	marks   terminal.Marks

	watchers map[*terminal.EventQueue]bool
	exit     *terminal.Exit

	broadcast, resists bool
	pretendGroup       int
	pretendFlags       *process.TTY
	freeze             *string // the line editor takes nothing in that begins so
}

// prompt is one prompt and the command typed at it.
type prompt struct {
	id         string
	state      terminal.PromptState
	marks      terminal.Marks
	command    string
	touched    bool
	exit       *int
	cwd        string
	line       terminal.Point // where the command line begins
	start, end terminal.Point // of the output
}

func newSession(f *Fake, n int, spec terminal.OpenSpec) *session {
	s := &session{
		f: f, id: terminal.ID(fmt.Sprintf("fake-%d", n)),
		name: spec.Name, tty: fmt.Sprintf("/dev/pts/fake%d", n),
		cwd: cmp.Or(spec.Cwd, "/home/user"), env: map[string]string{}, command: spec.Command,
		flags: process.TTY{Echo: true, Canonical: true}, isig: true,
		wake: make(chan struct{}), watchers: map[*terminal.EventQueue]bool{}, marks: f.o.Marks,
	}
	for k, v := range spec.Env {
		s.env[k] = v
	}
	s.grid = newGrid(cmp.Or(spec.Columns, f.o.Columns), cmp.Or(spec.Rows, f.o.Rows), f.o.Scrollback)
	s.grid.move = s.moved
	s.stream = &stream{grid: s.grid, osc: s.osc}
	s.shell = s.fork(f.o.Shell, nil)
	s.foreground = s.shell
	return s
}

// moved carries every kept position along when rows change their numbers.
func (s *session) moved(to func(terminal.Point) terminal.Point) {
	for _, p := range s.prompts {
		p.line, p.start, p.end = to(p.line), to(p.start), to(p.end)
	}
}

func (s *session) info() terminal.Session {
	job := s.foreground
	if s.pretendGroup != 0 {
		job = &proc{name: "other", pid: s.pretendGroup}
	}
	return terminal.Session{
		ID: s.id, Backend: s.f.o.Name, Window: s.window, Tab: s.tab,
		Name: s.name, Title: s.title, Profile: s.profile, Current: s.f.current == s.id,
		Job: job.name, JobPID: job.pid, ShellPID: s.shell.pid, TTY: s.tty, Local: !s.f.o.Remote,
		Cwd: s.cwd, Host: "fake", User: "user",
		Rows: s.grid.height, Columns: s.grid.width, Alternate: s.grid.onAlt,
		Marks: s.marks,
	}
}

// view is a prompt as callers see it now.
func (s *session) view(p *prompt) terminal.Prompt {
	v := terminal.Prompt{
		ID: p.id, State: p.state, Marks: p.marks, Command: p.command, Exit: p.exit, Cwd: p.cwd,
		Touched: terminal.KnownOf(p.touched), Paste: terminal.KnownOf(s.stream.paste),
	}
	if p.exit != nil {
		code := *p.exit
		v.Exit = &code
	}
	switch p.state {
	case terminal.Editing, terminal.Continuation:
		typed := ""
		if s.editor != nil && s.editor.prompt == p {
			typed = s.editor.before + string(s.editor.line)
		}
		v.Typed = terminal.KnownOf(typed != "" || s.freeze != nil && len(s.in) > 0)
		if s.f.o.TypedUnknown {
			v.Typed = terminal.Unknown
		} else {
			v.Command = typed
		}
	case terminal.Running:
		v.Output = terminal.Span{Start: p.start, End: s.grid.cursor()}
	case terminal.Finished:
		v.Output = terminal.Span{Start: p.start, End: p.end}
		v.Strewn = v.Output.End.Row < v.Output.Start.Row // the cursor was moved up: all that is known here
		v.Silent = terminal.KnownOf(v.Output.Empty() && !v.Strewn)
	}
	return v
}

// present is the last prompt, or the zero Prompt.
func (s *session) present() terminal.Prompt {
	if s.latest == nil {
		return terminal.Prompt{}
	}
	return s.view(s.latest)
}

// show makes a prompt stand at the cursor (mark B).
func (s *session) show() *prompt {
	if last := s.latest; last != nil && last.state <= terminal.Continuation {
		last.state = terminal.Finished
		last.start, last.end = s.grid.cursor(), s.grid.cursor()
		s.emit(terminal.Aborted, last)
	}
	s.made++
	p := &prompt{
		id: fmt.Sprintf("%s-p%d", s.id, s.made), state: terminal.Editing,
		marks: s.marks, cwd: s.cwd, line: s.grid.cursor(),
	}
	s.prompts = append(s.prompts, p)
	if extra := len(s.prompts) - s.f.o.KeepPrompts; extra > 0 {
		s.prompts = s.prompts[extra:]
	}
	s.latest = p
	return p
}

// started is mark C: the command of p begins at the cursor.
func (s *session) started(p *prompt) {
	if p.state >= terminal.Running {
		return
	}
	p.command = strings.TrimRight(s.grid.between(p.line, s.grid.cursor()), "\n")
	p.state, p.start = terminal.Running, s.grid.cursor()
	s.emit(terminal.Started, p)
}

// finished is mark D: the command of p has ended with a status.
func (s *session) finished(p *prompt, code int) {
	if p.state != terminal.Running {
		return
	}
	p.state, p.end, p.exit = terminal.Finished, s.grid.cursor(), &code
	s.emit(terminal.Ended, p)
}

// osc takes an OSC that a program printed. Prompt marks of programs count only
// where nothing tells them from the shell's own.
func (s *session) osc(text string) {
	command, rest, _ := strings.Cut(text, ";")
	switch {
	case command == "0" || command == "2":
		s.title = terminal.OneLine(rest, 0)
	case command == "133" && s.marks == terminal.MarksPlain && rest != "":
		s.forged(rest)
	}
}

func (s *session) forged(mark string) {
	last := s.latest
	switch mark[0] {
	case 'B':
		s.emit(terminal.PromptShown, s.show())
	case 'C':
		if last != nil {
			s.started(last)
		}
	case 'D':
		fields := strings.Split(mark, ";")
		code := 0
		if len(fields) > 1 {
			code, _ = strconv.Atoi(fields[1])
		}
		if last != nil {
			s.finished(last, code)
		}
	}
}

// print writes what a program printed, as a tty does: LF becomes CR LF.
func (s *session) print(text string) {
	if text == "" {
		return
	}
	s.stream.write([]byte(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")))
	s.emit(terminal.Output, nil)
}

// receive is the terminal device: signals, echo and the reader's queue.
func (s *session) receive(text []byte) {
	if s.latest != nil {
		s.latest.touched = true
	}
	for _, c := range text {
		switch {
		case s.isig && (c == 0x03 || c == 0x1a && s.editor == nil):
			s.in = nil
			if s.flags.Echo {
				s.print("^" + string(rune(c+'@')))
			}
			s.signal = c
		case s.flags.Canonical:
			s.cook(c)
		default:
			s.in = append(s.in, c)
		}
		s.edit()
	}
	s.poke()
}

// cook is the canonical line discipline: ICRNL, VERASE, ECHO.
func (s *session) cook(c byte) {
	switch c {
	case '\r':
		c = '\n'
	case 0x7f:
		if n := len(s.in); n > 0 && s.in[n-1] != '\n' {
			s.in = s.in[:n-1]
			if s.flags.Echo {
				s.print("\b \b")
			}
		}
		return
	}
	s.in = append(s.in, c)
	if !s.flags.Echo || c == 0x04 {
		return
	}
	if c < 0x20 && c != '\n' && c != '\t' {
		s.print("^" + string(rune(c+'@')))
		return
	}
	s.stream.write(crlf(c))
	s.emit(terminal.Output, nil)
}

func crlf(c byte) []byte {
	if c == '\n' {
		return []byte("\r\n")
	}
	return []byte{c}
}

// poke wakes whatever waits for input, a signal or the end.
func (s *session) poke() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// end ends the session, once.
func (s *session) end(exit terminal.Exit) {
	if s.exit != nil {
		return
	}
	exit.At = time.Now()
	s.exit = &exit
	f := s.f
	for i, id := range f.order {
		if id == s.id {
			f.order = append(f.order[:i:i], f.order[i+1:]...)
			break
		}
	}
	if f.current == s.id {
		f.current = ""
	}
	f.ended = append(f.ended, s.id)
	if extra := len(f.ended) - f.o.KeepEnded; extra > 0 {
		for _, id := range f.ended[:extra] {
			delete(f.sessions, id)
		}
		f.ended = f.ended[extra:]
	}
	s.procs = nil
	e := terminal.Event{Kind: terminal.Gone, Prompt: s.present(), Exit: exit}
	for q := range s.watchers {
		q.Push(e)
	}
	s.watchers = map[*terminal.EventQueue]bool{}
	s.poke()
}
