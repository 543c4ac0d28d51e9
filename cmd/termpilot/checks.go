package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"termpilot/doctor"
	"termpilot/fault"
	"termpilot/host"
	"termpilot/iterm"
	"termpilot/pilot"
	"termpilot/shellwords"
	"termpilot/terminal"
	"termpilot/tmux"
	"termpilot/tunnel"
)

// checks are the questions about this installation's health, layer by layer from
// ChatGPT's side to the shells. None of them starts or changes anything. With ask
// macOS may ask its user whether this program may control iTerm2.
func (d *deck) checks(getenv func(string) string, v tunnel.Viewpoint, ask bool) []doctor.Check {
	v.Place, v.Version = tunnel.Place{Home: d.where.Home, Sockets: d.where.Folder}, version()
	list := append(tunnel.Checks(v), []doctor.Check{
		{ID: "home.private", Run: func(context.Context) doctor.Result { return checkHome(d.where.Home) }},
		{ID: "host.running", Run: checkHost},
	}...)
	for _, b := range d.backends {
		switch b := b.(type) {
		case *iterm.Client:
			list = append(list, b.Checks(ask)...)
		case *tmux.Backend:
			list = append(list, b.Checks()...)
		}
	}
	return append(list, []doctor.Check{
		{ID: "shells.installed", Run: func(context.Context) doctor.Result { return checkShells(getenv) }},
		{ID: "sessions.marks", Run: func(ctx context.Context) doctor.Result { return checkSessions(ctx, d.pilot, d.backends) }},
	}...)
}

// checkSessions says in which sessions no command could be run for want of
// prompt marks. Those of iTerm2 are left to iterm2.shells: listing them may open
// a dialog, and nobody asked for one.
func checkSessions(ctx context.Context, p *pilot.Pilot, backends []terminal.Backend) doctor.Result {
	var names []string
	for _, b := range backends {
		if name := b.Name(); name != "iterm2" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var sessions []pilot.SessionInfo
	var ill []string
	for _, name := range names {
		listing, err := p.Sessions(ctx, name)
		if err != nil {
			return doctor.Result{State: doctor.Unknown, Summary: "the sessions could not be listed", Evidence: err.Error(), Next: fault.HintOf(err)}
		}
		if b, is := silent(listing.Backends); is {
			ill = append(ill, b.Name+": "+b.Reason)
		}
		sessions = append(sessions, listing.Sessions...)
	}
	var without []string
	for _, s := range sessions {
		if s.Readiness.State == pilot.NoIntegration {
			without = append(without, s.SessionID+" ("+s.Readiness.Reason+")")
		}
	}
	switch {
	case len(without) > 0:
	case len(ill) > 0:
		return doctor.Result{State: doctor.Unknown, Summary: "not all sessions could be listed", Evidence: strings.Join(ill, "; "), Next: "mend that first"}
	case len(sessions) == 0:
		return doctor.Result{State: doctor.Skipped, Summary: "no session lives whose shell could be looked at"}
	default:
		return doctor.Result{
			State: doctor.Pass, Summary: "no session's shell lacks prompt marks",
			Evidence: plural(len(sessions), "session") + " looked at",
		}
	}
	return doctor.Result{
		State: doctor.Warn, Summary: fmt.Sprintf("%d of %s have no prompt marks, so that no command can be run there", len(without), plural(len(sessions), "session")),
		Evidence: strings.Join(without, ", "), Next: "run termpilot shell install SHELL once, and open a new shell in them",
	}
}

// checkHome says whether termpilot's home can be used, and by nobody else.
func checkHome(home string) doctor.Result {
	r := doctor.Result{State: doctor.Pass, Summary: "termpilot's folder is private", Evidence: home}
	info, err := os.Stat(home)
	switch {
	case os.IsNotExist(err):
		r.Summary = "termpilot's folder is not there yet; it is made when it is needed"
	case err != nil:
		r.State, r.Summary, r.Evidence = doctor.Fail, "termpilot's folder cannot be looked at", err.Error()
		r.Next = "mend the permissions of " + home
	case !info.IsDir():
		r.State, r.Summary, r.Next = doctor.Fail, "termpilot's folder is not a folder", "move "+home+" away"
	case info.Mode().Perm()&0o077 != 0:
		r.State, r.Summary = doctor.Warn, "others can look into termpilot's folder"
		r.Evidence = fmt.Sprintf("%s has mode %03o", home, info.Mode().Perm())
		r.Next = "chmod 700 " + shellwords.Quote(home)
	}
	return r
}

// checkHost says whether the host answers, and is of this version.
func checkHost(ctx context.Context) doctor.Result {
	status, err := host.Inspect(ctx)
	switch {
	case errors.Is(err, fault.BackendUnavailable):
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Err != nil { // nothing is wrong, and no code says so
			err = f.Err
		}
		return doctor.Result{State: doctor.Pass, Summary: "the host is not running; it starts when a session is opened", Evidence: err.Error()}
	case err != nil:
		return doctor.Result{State: doctor.Fail, Summary: "the host does not answer as it should", Evidence: err.Error(), Next: fault.HintOf(err)}
	case status.Version != version():
		return doctor.Result{
			State: doctor.Warn, Summary: "the host is of another version",
			Evidence: fmt.Sprintf("host %s, this program %s", status.Version, version()),
			Next:     "run termpilot host stop when its sessions can end",
		}
	}
	return doctor.Result{
		State: doctor.Pass, Summary: "the host runs",
		Evidence: fmt.Sprintf("process %d, %s, socket %s", status.PID, plural(status.Sessions, "session"), status.Socket),
	}
}

// checkShells says which of the integrated shells are there.
func checkShells(getenv func(string) string) doctor.Result {
	found := installedShells(getenv)
	if len(found) == 0 {
		return doctor.Result{
			State: doctor.Fail, Summary: "no shell with prompt marks is installed",
			Evidence: "bash, zsh and fish are not on PATH", Next: "install one of bash, zsh and fish",
		}
	}
	return doctor.Result{State: doctor.Pass, Summary: "shells with prompt marks are installed", Evidence: strings.Join(found, ", ")}
}
