package tmux

import (
	"strconv"
	"strings"
)

// version is what differs between versions of tmux. This file alone knows it.
type version struct {
	text string
	n    int // 303 for 3.3a; what has no number counts as newest
}

// least is the oldest version that works: it has hexadecimal send-keys, pane
// options and respawn-pane -e.
const least = 300

// parseVersion reads what `tmux -V` or #{version} says: "tmux 3.3a", "3.4-rc",
// "next-3.8", "openbsd-7.4", "master".
func parseVersion(text string) version {
	v := version{text: strings.TrimPrefix(strings.TrimSpace(text), "tmux "), n: 9999}
	number := strings.TrimPrefix(v.text, "next-")
	major, rest, ok := strings.Cut(number, ".")
	minor := rest
	for i, c := range rest {
		if c < '0' || c > '9' {
			minor = rest[:i]
			break
		}
	}
	a, err := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if ok && err == nil && err2 == nil && a < 90 && b < 100 {
		v.n = a*100 + b
	}
	return v
}

// old reports whether the version is too old.
func (v version) old() bool { return v.n < least }

// attach is the command that attaches a connection. Before 3.2 there are no
// flags for it: a control client then takes no part in sizing as long as it
// does not say its size, and cannot be paused.
func (v version) attach(session string, listens bool) []string {
	args := []string{"attach-session", "-E", "-t", session}
	if v.n < 302 {
		return args
	}
	flags := "ignore-size,no-output"
	if listens {
		flags = "ignore-size,pause-after=1"
	}
	return append(args, "-f", flags)
}

// settle is what a connection that only takes commands says first.
func (v version) settle() []string {
	if v.n < 302 {
		return []string{"refresh-client -F no-output"}
	}
	return nil
}

// quietDeath has tmux write nothing of its own into a dead pane. Before 3.3 it
// always does.
func (v version) quietDeath(at string) string {
	if v.n < 303 {
		return ""
	}
	return " ; set-option -p " + at + " remain-on-exit-format ''"
}

// marksOwn: every answer to a command of this connection is marked as such.
// Before 3.2 those of commands inside if-shell are not.
func (v version) marksOwn() bool { return v.n >= 302 }

// freezes: before 3.2 a pane in copy mode is neither read nor written.
func (v version) freezes() bool { return v.n < 302 }

// flags are the arguments of every connection: UTF-8 whatever the locale, and
// never a server of our own making.
func (v version) flags() []string {
	if v.n < 302 {
		return []string{"-u", "-C"}
	}
	return []string{"-u", "-N", "-C"}
}

// resumes is the command that has a paused pane's output told again.
func resumes(pane string) string { return "refresh-client -A " + quote(pane+":continue") }
