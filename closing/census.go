package closing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termpilot/pilot"
	"termpilot/process"
	"termpilot/shellwords"
	"termpilot/terminal"
)

// census is who runs in a session.
type census struct {
	known    bool            // its processes are of this machine and could be read
	lost     string          // why those of this machine do not tell that this process is not among them; "" when they do
	hides    bool            // the system keeps other users' processes from us
	shell    process.Entry   // what the terminal started
	reader   process.Entry   // what reads the command line: shell, or the one that login(1) started
	work     []process.Entry // on the terminal, and neither its shell nor what only helps that
	helpers  []process.Entry
	detached []process.Entry // descendants that left the terminal: a close does not reach them
	orphans  []process.Entry // such as are nobody's children any more, known by their environment
	self     bool            // termpilot's caller or one of its parents is in it
	perhaps  bool            // and where its processes are not known: they may be
}

// helpers are programs that shells keep beside themselves for their prompts.
var helpers = []string{"gitstatusd", "starship", "direnv", "atuin", "powerline", "oh-my-posh", "kiro-cli-term", "figterm", "qterm", "carapace"}

// take counts the processes of a session.
func (c *Closer) take(table *process.Table, s pilot.Seen) census {
	own := table.Ancestors(os.Getpid())
	if !s.Local { // a pane of tmux -CC, of whatever machine
		return census{perhaps: inTmux(table, own)}
	}
	if s.ShellPID == 0 {
		return census{lost: "the terminal does not tell its shell's process, so termpilot may run in it"}
	}
	scope, err := table.Scope(s.ShellPID)
	if err != nil || len(own) == 0 {
		return census{lost: "its shell is not among the processes of this machine any more, or not yet"}
	}
	if device, err := c.machine.Device(s.TTY); err == nil && device != scope[0].TTY { // its number has gone to another one
		return census{lost: fmt.Sprintf("process %d, which the terminal tells as its shell, is not on its terminal", s.ShellPID)}
	}
	n := census{known: true, hides: table.Hides, shell: scope[0], reader: scope[0]}
	n.self = slices.Contains(own, n.shell.PID)
	switch {
	case n.shell.Name == "login": // login(1) starts the shell and waits for it
		for _, e := range scope[1:] {
			if e.PPID == n.shell.PID && isShell(e.Name) {
				n.reader = e
				break
			}
		}
	case !isShell(n.shell.Name): // the session was opened for a program, or its shell was replaced by one
		n.work = append(n.work, n.shell)
	}
	for _, e := range scope[1:] {
		switch {
		case slices.Contains(own, e.PID):
			n.self = true
		case e.State == process.Zombie, e.PID == n.reader.PID:
		case n.left(e):
			n.detached = append(n.detached, e)
		case n.helps(e):
			n.helpers = append(n.helpers, e)
		default:
			n.work = append(n.work, e)
		}
	}
	for i := 0; i < len(n.work); {
		if e := n.work[i]; c.serves(e, n, scope, s.TTY) {
			n.work, n.helpers = slices.Delete(n.work, i, i+1), append(n.helpers, e)
			i = 0 // it may have been what kept another one
			continue
		}
		i++
	}
	return n
}

// inTmux reports whether one of some processes is a tmux server.
func inTmux(table *process.Table, pids []int) bool {
	return slices.ContainsFunc(pids, func(pid int) bool {
		e, err := table.Of(pid)
		return err == nil && strings.HasPrefix(programName(e.Name), "tmux")
	})
}

// sessionVariables are those by which terminals name the session that they start
// a program in. Together they tell a session in tmux from the one around it.
var sessionVariables = []string{"TERMPILOT_SESSION_ID", "ITERM_SESSION_ID", "TMUX", "TMUX_PANE"}

// findOrphans finds, of all sessions at once, the processes that left their
// terminal and their parents, as a daemon does and what setsid(1) starts. Where
// the system does not tell the environment of processes there are none.
func (c *Closer) findOrphans(table *process.Table, verdicts []verdict) {
	by := map[string]*census{}
	counted := map[int]bool{}
	for i := range verdicts {
		n := &verdicts[i].census
		if !n.known {
			continue
		}
		for _, list := range [][]process.Entry{{n.shell, n.reader}, n.work, n.helpers, n.detached} {
			for _, e := range list {
				counted[e.PID] = true
			}
		}
		if name := c.sessionOf(n.shell.PID); name != "" {
			by[name] = n
		}
	}
	if len(by) == 0 {
		return
	}
	own := table.Ancestors(os.Getpid())
	for _, e := range table.Where(func(e process.Entry) bool {
		return e.TTY == 0 && e.PID > 1 && e.State != process.Zombie && !counted[e.PID] && !slices.Contains(own, e.PID)
	}) {
		if n := by[c.sessionOf(e.PID)]; n != nil && !e.Start.Before(n.shell.Start) {
			n.orphans = append(n.orphans, e)
		}
	}
}

// sessionOf is what a process's environment says of the session that it was
// started in, or "".
func (c *Closer) sessionOf(pid int) string {
	name := ""
	for _, variable := range sessionVariables {
		value, known := c.machine.Variable(pid, variable)
		if !known {
			return ""
		}
		name += value + "\x00"
	}
	if strings.Trim(name, "\x00") == "" {
		return ""
	}
	return name
}

// left reports whether a process has left the session's terminal.
func (n census) left(e process.Entry) bool {
	return e.SID != n.shell.SID && (n.shell.TTY == 0 || e.TTY != n.shell.TTY)
}

// helps reports whether a process only serves the shell: a prompt's helper, or
// termpilot's own in the background. The foreground is never a helper's.
func (n census) helps(e process.Entry) bool {
	if n.inFront(e) {
		return false
	}
	name := strings.ToLower(programName(e.Name))
	if slices.ContainsFunc(helpers, func(helper string) bool { return strings.HasPrefix(name, helper) }) {
		return true
	}
	return name == "termpilot" && e.PPID != n.shell.PID && e.PPID != n.reader.PID
}

// inFront reports whether a process is in the foreground and not with the shell.
func (n census) inFront(e process.Entry) bool {
	return e.PGID == e.Foreground && e.PGID != n.shell.PGID && e.PGID != n.reader.PGID
}

// serves reports whether a process is a worker that the shell itself started: the
// one that writes fish's completions when fish is new to its user, or one that is
// kept for the prompt, as powerlevel10k does: a copy of the shell in the
// background, which nothing in the session waits for, without the terminal among
// its files, and with no work below it. A job that a person left so has the
// terminal open.
func (c *Closer) serves(e process.Entry, n census, scope []process.Entry, tty string) bool {
	if programName(n.reader.Name) == "fish" && strings.HasPrefix(e.Name, "python") && !n.inFront(e) {
		p, err := c.machine.Lookup(e.PID)
		return err == nil && slices.ContainsFunc(p.Argv, func(word string) bool { return filepath.Base(word) == "create_manpage_completions.py" })
	}
	if tty == "" || e.PID == n.shell.PID || !isShell(n.reader.Name) || programName(e.Name) != programName(n.reader.Name) || n.inFront(e) || e.State == process.Stopped {
		return false
	}
	if slices.ContainsFunc(scope, func(p process.Entry) bool { return p.PID == e.PPID }) {
		return false
	}
	if slices.ContainsFunc(n.work, func(p process.Entry) bool { return p.PPID == e.PID }) {
		return false
	}
	files, err := c.machine.OpenFiles(e.PID)
	return err == nil && !slices.Contains(files, tty)
}

func isShell(name string) bool { return shellwords.IsShell(programName(name)) }

// programs names processes, and nothing that they were told.
func (n census) programs(list []process.Entry) []Program {
	out := []Program{}
	for _, e := range list {
		p := Program{PID: e.PID, Name: programName(e.Name), State: "background"}
		switch {
		case e.State == process.Stopped:
			p.State = "stopped"
		case n.left(e):
			p.State = "detached"
		case e.PGID == e.Foreground:
			p.State = "foreground"
		}
		out = append(out, p)
	}
	return out
}

func programName(name string) string {
	return terminal.OneLine(strings.TrimPrefix(filepath.Base(name), "-"), 64)
}

// forbids says why a session is left alone whatever force says: because termpilot
// runs in it, or because nothing tells that it does not. The code is "" when
// neither is so.
func (n census) forbids() (code, reason string) {
	switch {
	case n.self:
		return codeSelf, "termpilot, or what started it, runs in this session"
	case n.perhaps:
		return codeSelf, "termpilot runs in tmux, and this is a pane of tmux: it may be the same one"
	case n.lost != "":
		return codeChanged, n.lost
	}
	return "", ""
}

// news says what runs that was not counted before, or "". Such as have ended by
// themselves do not count.
func (n census) news(before census) string {
	switch {
	case n.known != before.known:
		return "its processes can be seen by now, or cannot any more"
	case n.known && !same(n.shell, before.shell):
		return "another program was started in place of its shell"
	}
	started := slices.DeleteFunc(slices.Clone(n.work), func(e process.Entry) bool {
		return slices.ContainsFunc(before.work, func(old process.Entry) bool { return same(e, old) })
	})
	if len(started) == 0 {
		return ""
	}
	return describe(started) + " was started meanwhile"
}

// same reports whether two entries are of one process.
func same(a, b process.Entry) bool { return a.PID == b.PID && a.Start.Equal(b.Start) }
