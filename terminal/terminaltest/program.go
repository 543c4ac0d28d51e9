package terminaltest

import (
	"cmp"
	"strings"
	"time"

	"termpilot/process"
	"termpilot/terminal"
)

// Program is a command while it runs. Its methods are called by the function
// that a test gave to [Fake.On], in that function's goroutine. Those that wait
// do not return when Ctrl-C or Ctrl-Z ends the program, or the session ends: the
// function is left by a panic which the shell catches, so that deferred calls run.
type Program struct {
	s    *session
	sh   *shell
	text string
	proc *proc
	deaf bool
}

// Command is what was typed.
func (p *Program) Command() string { return p.text }

// PID is the program's process, which leads the foreground group.
func (p *Program) PID() int { return p.proc.pid }

// Print writes to the terminal, where LF becomes CR LF. Escape sequences work;
// prompt marks count only where Options.Marks lets any program print them.
func (p *Program) Print(text string) { p.s.locked(func() { p.s.print(text) }) }

// ReadLine reads a line with echo. ok is false at the end of input (Ctrl-D).
func (p *Program) ReadLine() (line string, ok bool) {
	return p.readLine(process.TTY{Echo: true, Canonical: true})
}

// ReadPassword reads a line that does not show: echo off, canonical.
func (p *Program) ReadPassword() (line string, ok bool) {
	return p.readLine(process.TTY{Canonical: true})
}

func (p *Program) readLine(flags process.TTY) (line string, ok bool) {
	s := p.s
	s.locked(func() { s.flags, s.isig, s.reader = flags, true, p.proc })
	defer p.cooked()
	s.await(nil, nil, p, func() bool {
		for i, c := range s.in {
			if c == '\n' || c == 0x04 {
				line, ok = string(s.in[:i]), c == '\n' || i > 0
				s.in = s.in[i+1:]
				return true
			}
		}
		return false
	})
	return line, ok
}

// ReadKey reads one byte in raw mode (see Raw), which stays on.
func (p *Program) ReadKey() (key byte) {
	s := p.s
	p.Raw()
	s.locked(func() { s.reader = p.proc })
	s.await(nil, nil, p, func() bool {
		if len(s.in) == 0 {
			return false
		}
		key, s.in, s.reader = s.in[0], s.in[1:], nil
		return true
	})
	return key
}

// Raw takes away echo, whole lines and signals, as full-screen programs do:
// Ctrl-C is a byte. It lasts until the next ReadLine, FullScreen(false) or the
// program's end.
func (p *Program) Raw() {
	p.s.locked(func() { p.s.flags, p.s.isig = process.TTY{}, false })
}

func (p *Program) cooked() {
	p.s.f.mu.Lock()
	defer p.s.f.mu.Unlock()
	p.s.flags, p.s.isig, p.s.reader = process.TTY{Echo: true, Canonical: true}, true, nil
}

// Flags sets the terminal's flags until the program's next read or end.
func (p *Program) Flags(flags process.TTY) { p.s.locked(func() { p.s.flags = flags }) }

// Paste switches bracketed paste on or off, as programs do with DECSET 2004.
func (p *Program) Paste(on bool) { p.s.locked(func() { p.s.stream.paste = on }) }

// FullScreen shows or leaves the alternate screen, raw and with no signals.
func (p *Program) FullScreen(on bool) {
	p.s.locked(func() {
		p.s.grid.alternate(on)
		p.s.flags, p.s.isig = process.TTY{Echo: !on, Canonical: !on}, !on
		p.s.emit(terminal.Output, nil)
	})
}

// Sleep waits for a time.
func (p *Program) Sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	p.s.await(timer.C, nil, p, func() bool { return false })
}

// Wait waits until done is closed.
func (p *Program) Wait(done <-chan struct{}) {
	p.s.await(nil, done, p, func() bool { return false })
}

// IgnoreSignals makes Ctrl-C and Ctrl-Z do nothing from now on.
func (p *Program) IgnoreSignals() { p.s.locked(func() { p.deaf = true }) }

// Background leaves a child that stays on the terminal when the program has ended.
func (p *Program) Background(name string) (pid int) {
	p.s.locked(func() { pid = p.s.fork(name, p.sh.proc).pid })
	return pid
}

// Chdir changes the shell's folder.
func (p *Program) Chdir(dir string) { p.s.locked(func() { p.s.cwd = dir }) }

// Shell runs a nested shell until it exits, and returns its status. Without
// marks it shows its prompt in silence; with them it sends its own.
func (p *Program) Shell(name, prompt string, marked bool) int {
	s := p.s
	sh := &shell{s: s, proc: p.proc, marked: marked, prompt: cmp.Or(prompt, "$ "), more: "> "}
	s.locked(func() { p.proc.name = cmp.Or(name, s.f.o.Shell) })
	sh.loop()
	s.locked(func() { s.foreground = p.proc })
	return sh.last
}

// LoseMarks stops the shell's prompt marks for good, even that of the end of
// this command.
func (p *Program) LoseMarks() { p.s.locked(func() { p.sh.marked = false }) }

// ExitShell makes the shell exit with the status of this command.
func (p *Program) ExitShell() { p.sh.exited = true }

// EndSession ends the session from within, as a crash does. It does not return.
func (p *Program) EndSession(exit terminal.Exit) {
	p.s.f.mu.Lock()
	p.s.end(exit)
	p.s.f.mu.Unlock()
	panic(killed{})
}

// execute runs what was typed: one script for all of it, or the commands in it
// one after the other.
func (sh *shell) execute(text string) {
	if script := sh.script(text); script != nil {
		sh.last = sh.start(strings.TrimSpace(text), script)
		return
	}
	for _, c := range split(text) {
		if sh.exited || c.after == "&&" && sh.last != 0 || c.after == "||" && sh.last == 0 {
			continue
		}
		script := sh.script(c.text)
		if script == nil {
			script = builtin(c)
		}
		if c.background {
			sh.last = sh.job(c.text)
			continue
		}
		status := sh.start(c.text, script)
		sh.last = status
		if status == interrupted || status == suspended {
			return
		}
	}
}

// The statuses of a command that Ctrl-C or Ctrl-Z ended: 128 and the signal.
const (
	interrupted = 130
	suspended   = 148
)

func (sh *shell) script(text string) func(*Program) int {
	sh.s.f.mu.Lock()
	defer sh.s.f.mu.Unlock()
	return sh.s.f.scripts[strings.TrimSpace(text)]
}

// job is a command with & behind it: a process of its own that nobody waits for.
func (sh *shell) job(text string) int {
	sh.s.locked(func() {
		sh.jobs++
		pid := sh.s.fork(firstWord(text), sh.proc).pid
		sh.s.print("[" + itoa(sh.jobs) + "] " + itoa(pid) + "\n")
	})
	return 0
}

// start runs one program in the foreground and returns its status.
func (sh *shell) start(text string, script func(*Program) int) (status int) {
	s := sh.s
	p := &Program{s: s, sh: sh, text: text}
	s.locked(func() {
		p.proc = s.fork(firstWord(text), sh.proc)
		s.foreground = p.proc
	})
	defer func() {
		r := recover()
		sig, signalled := r.(signals)
		if r != nil && !signalled {
			panic(r)
		}
		s.f.mu.Lock()
		defer s.f.mu.Unlock()
		s.foreground, s.reader = sh.proc, nil
		switch {
		case signalled && sig.sig == 0x1a:
			p.proc.state = process.Stopped
			s.print("\n[1]+  Stopped                 " + text + "\n")
			status = suspended
		case signalled:
			s.print("\n")
			status = interrupted
			fallthrough
		default:
			s.reap(p.proc)
		}
		s.flags, s.isig = process.TTY{Echo: true, Canonical: true}, true
	}()
	return script(p) & 0xff
}

func firstWord(text string) string {
	for _, w := range strings.Fields(text) {
		if !strings.Contains(w, "=") {
			return strings.Trim(w, "()")
		}
	}
	return text
}
