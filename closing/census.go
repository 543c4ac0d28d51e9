package closing

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termpilot/pilot"
	"termpilot/process"
)

// census is who runs in a session.
type census struct {
	known    bool            // its processes are of this machine and could be read
	shell    process.Entry   // what the terminal started
	work     []process.Entry // on the terminal, and neither its shell nor what only helps that
	detached []process.Entry // descendants that left the terminal: a close does not reach them
	self     bool            // termpilot's caller or one of its parents is in it
}

// helpers are programs that shells keep beside themselves for their prompts.
var helpers = []string{"gitstatusd", "starship", "direnv", "atuin", "powerline", "oh-my-posh", "kiro-cli-term", "figterm", "qterm", "carapace"}

// take counts the processes of a session.
func (c *Closer) take(table *process.Table, s pilot.Seen) census {
	if !s.Local || s.ShellPID == 0 {
		return census{}
	}
	scope, err := table.Scope(s.ShellPID)
	if err != nil {
		return census{}
	}
	own := table.Ancestors(os.Getpid())
	n := census{known: true, shell: scope[0]}
	if slices.Contains(own, n.shell.PID) {
		n.self = true
	}
	var login process.Entry
	if n.shell.Name == "login" { // login(1) starts the shell and waits for it
		for _, e := range scope[1:] {
			if e.PPID == n.shell.PID {
				login = e
				break
			}
		}
	}
	for _, e := range scope[1:] {
		switch {
		case slices.Contains(own, e.PID):
			n.self = true
		case e.State == process.Zombie, e.PID == login.PID && isShell(e.Name):
		case e.SID != n.shell.SID && (n.shell.TTY == 0 || e.TTY != n.shell.TTY):
			n.detached = append(n.detached, e)
		case n.helps(e, login.PID):
		default:
			n.work = append(n.work, e)
		}
	}
	return n
}

// helps reports whether a process only serves the shell: a prompt's helper, or
// termpilot's own in the background. The foreground is never a helper's.
func (n census) helps(e process.Entry, login int) bool {
	if e.PGID == e.Foreground && e.PGID != n.shell.PGID {
		return false
	}
	name := strings.ToLower(filepath.Base(strings.TrimPrefix(e.Name, "-")))
	if slices.ContainsFunc(helpers, func(helper string) bool { return strings.HasPrefix(name, helper) }) {
		return true
	}
	parent := e.PPID == n.shell.PID || e.PPID == login
	return name == "termpilot" && !parent
}

// isShell reports whether a program is one that reads commands at a prompt.
func isShell(name string) bool {
	name = strings.TrimPrefix(name, "-")
	return slices.Contains([]string{"bash", "zsh", "fish", "sh", "dash", "ksh", "mksh", "tcsh", "csh", "nu", "xonsh", "pwsh", "elvish"}, name)
}

// programs names processes, and nothing that they were told.
func (n census) programs(list []process.Entry) []Program {
	out := []Program{}
	for _, e := range list {
		p := Program{PID: e.PID, Name: programName(e.Name), State: "background"}
		switch {
		case e.State == process.Stopped:
			p.State = "stopped"
		case e.SID != n.shell.SID && (n.shell.TTY == 0 || e.TTY != n.shell.TTY):
			p.State = "detached"
		case e.PGID == e.Foreground:
			p.State = "foreground"
		}
		out = append(out, p)
	}
	return out
}

func programName(name string) string {
	return pilotLine(strings.TrimPrefix(filepath.Base(name), "-"), 64)
}

// same reports whether two counts are of the same processes, but for such as have
// ended by themselves.
func (n census) grew(before census) bool {
	if n.known != before.known || n.known && (n.shell.PID != before.shell.PID || !n.shell.Start.Equal(before.shell.Start)) {
		return true
	}
	for _, e := range n.work {
		if !slices.ContainsFunc(before.work, func(old process.Entry) bool { return old.PID == e.PID && old.Start.Equal(e.Start) }) {
			return true
		}
	}
	return false
}
