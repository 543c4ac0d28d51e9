package host

import (
	"path/filepath"
	"strings"
	"time"

	"termpilot/process"
	"termpilot/terminal"
)

const (
	// settled is how long after the last input a shell that printed nothing
	// counts as having dealt with it.
	settled = 300 * time.Millisecond
	// quiet is how long a shell that stands at its line editor without having
	// said that the command ended may take to say it.
	quiet = 500 * time.Millisecond
	// quietStart is the same for a shell that has shown no prompt yet: its
	// start-up files may take their time.
	quietStart = 2 * time.Second
)

// promptView is the session variable termpilot.prompt.
type promptView struct {
	ID      string `json:"id"`
	State   string `json:"state"`   // none, editing, continuation, running, finished
	Typed   *bool  `json:"typed"`   // the command line holds something; null when that cannot be told
	Touched bool   `json:"touched"` // something was sent since the prompt was shown
	Paste   bool   `json:"paste"`   // the program that reads takes bracketed pastes
	Silent  bool   `json:"silent"`  // the command has ended and printed nothing
	Cwd     string `json:"cwd"`     // as the shell told it with the prompt
	// Strewn names the prompts of which a part of the output stands in no place that
	// is told.
	Strewn []string `json:"strewn,omitempty"`
}

var stateNames = map[terminal.PromptState]string{
	terminal.NoPrompt: "none", terminal.Editing: "editing", terminal.Continuation: "continuation",
	terminal.Running: "running", terminal.Finished: "finished",
}

// promptFacts is what promptView tells, in a form that can be compared.
type promptFacts struct {
	id                     string
	state                  terminal.PromptState
	typed                  terminal.Known
	touched, paste, silent bool
	cwd                    string
	strewn                 string // ids, a blank between
}

// promptFacts looks at the last prompt. mu is held.
func (s *session) promptFacts() promptFacts {
	p := s.marks.machine.Last()
	f := promptFacts{id: p.ID, state: p.State, touched: s.marks.places.Touched(), paste: s.term.Modes().BracketedPaste, cwd: p.Cwd}
	switch {
	case p.ID == "":
	case p.State == terminal.Editing:
		f.typed = s.marks.places.Typed(p, f.touched && s.unread())
	case p.State == terminal.Continuation:
		f.typed = terminal.Yes
	default:
		f.typed = terminal.No
		if p.State == terminal.Finished {
			f.silent = s.marks.places.Output(p).Silent
		}
	}
	f.strewn = strings.Join(s.marks.places.Strewn(), " ")
	return f
}

// promptView tells the last prompt. mu is held.
func (s *session) promptView() promptView {
	f := s.promptFacts()
	v := promptView{State: stateNames[f.state], Touched: f.touched, Paste: f.paste, Silent: f.silent}
	if f.id == "" {
		return v
	}
	for _, id := range strings.Fields(f.strewn) {
		v.Strewn = append(v.Strewn, s.promptGUID(id))
	}
	v.ID, v.Cwd = s.promptGUID(f.id), clean(f.cwd)
	if f.typed != terminal.Unknown {
		v.Typed = ptr(f.typed == terminal.Yes)
	}
	return v
}

// unread reports whether what was sent may not have been answered yet. mu is held.
func (s *session) unread() bool {
	idle, last := s.input.idle()
	return !idle || last.After(s.lastOutput) && time.Since(last) < settled
}

// marksState is the session variable termpilot.marks. mu is held.
func (s *session) marksState() string {
	m := &s.marks
	switch {
	case m.lost:
		return "lost"
	case m.machine.Seen() && m.machine.Guarded() && m.machine.Last().ID != "":
		return "nonce"
	case m.machine.Seen() && !m.machine.Guarded():
		return "plain"
	case m.machine.Guarded():
		return "starting"
	}
	return "none"
}

// checkMarks finds out whether the shell has stopped sending marks, or never
// will send any: a command is said to run, but the shell is back at its line
// editor, or another program has taken the shell's place, and all is quiet. It
// is undone by the next mark of the shell's own. The caller holds no lock.
func (s *session) checkMarks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.marks
	if s.over || m.lost {
		return
	}
	switch {
	case !s.markDue():
		m.silent = time.Time{}
	case m.silent.IsZero(): // it may be about to print one: it has just come there
		m.silent = time.Now()
	case time.Since(m.silent) >= quiet:
		m.lost = true
		s.tellVariables()
	}
}

// markDue reports whether the shell, or what took its place, stands quietly at
// its line editor without having said so by a mark. mu is held.
func (s *session) markDue() bool {
	last, patience := s.marks.machine.Last(), quiet
	switch {
	case last.State == terminal.Running:
	case last.ID == "" && s.marks.machine.Guarded(): // a start-up file that runs another shell instead
		patience = quietStart
	default:
		return false
	}
	if idle, last := s.input.idle(); !idle || time.Since(last) < patience || time.Since(s.lastOutput) < patience {
		return false
	}
	if front, err := s.device.foreground(); err != nil || front != s.pid {
		return false
	}
	return s.replaced() || s.atLineEditor()
}

// atLineEditor reports whether the terminal is as a shell's line editor sets
// it. A builtin that reads a line leaves it canonical; one that reads keys
// (read -n) does not, but does not take bracketed pastes either, if the shell
// is one that does.
func (s *session) atLineEditor() bool {
	f, err := s.device.flags()
	if err != nil || f.echo || f.canonical {
		return false
	}
	return s.marks.places.Ready()
}

// replaced reports whether the session's process runs another program than the
// one that was started: exec sh. It goes by the name: a shell that was upgraded,
// or that a script of its name runs, is in another place, and is the same.
func (s *session) replaced() bool {
	now, err := process.Executable(s.pid)
	if err != nil {
		return false
	}
	name := filepath.Base(strings.TrimSuffix(now, " (deleted)")) // as Linux tells it
	started, err := filepath.EvalSymlinks(s.program.path)
	return err == nil && name != filepath.Base(started) && name != filepath.Base(s.program.path)
}
