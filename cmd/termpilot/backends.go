package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"termpilot/host"
	"termpilot/iterm"
	"termpilot/terminal"
	"termpilot/tmux"
)

// backendNames are the backends that can be asked for by name, in the order in
// which they are listed and tried: what a person looks at comes before the host,
// which is always to be had, and tmux opens sessions only when it is named.
var backendNames = []string{"iterm2", "host", "tmux"}

// auto stands for every backend that this machine may have.
const auto = "auto"

// wanted returns the names of the backends that are meant by what --backend
// says, each once, in the order of backendNames.
func wanted(said []string, goos string, getenv func(string) string) ([]string, error) {
	for _, name := range said {
		if name != auto && !slices.Contains(backendNames, name) {
			return nil, fmt.Errorf("--backend %s: only %s, %s", name, auto, strings.Join(backendNames, ", "))
		}
	}
	all := len(said) == 0 || slices.Contains(said, auto)
	var names []string
	for _, name := range backendNames {
		if slices.Contains(said, name) || all && (name != "iterm2" || mayHaveITerm2(goos, getenv)) {
			names = append(names, name)
		}
	}
	return names, nil
}

// mayHaveITerm2 reports whether iTerm2 itself may be there to be asked. With the
// host's own suite in the environment its socket is the host's, whose sessions
// would be listed twice.
func mayHaveITerm2(goos string, getenv func(string) string) bool {
	return goos == "darwin" && getenv("IT2_SUITE") != host.Suite
}

// backends makes a client of each backend. None connects before it is used.
func (a *app) backends(s settings, where host.Location, log *slog.Logger) ([]terminal.Backend, error) {
	names, err := wanted(s.backends, runtime.GOOS, a.getenv)
	if err != nil {
		return nil, usage(err)
	}
	var list []terminal.Backend
	for _, name := range names {
		switch name {
		case "iterm2":
			list = append(list, a.iterm2Backend(log))
		case "host":
			list = append(list, a.hostBackend(log))
		case "tmux":
			for _, socket := range s.tmuxSockets() {
				list = append(list, tmux.New(tmux.Options{Socket: socket, Dir: filepath.Join(where.Home, "tmux"), Log: log}))
			}
		}
	}
	return list, nil
}

// tmuxSockets are the tmux servers that are meant: the default one, unless others are named.
func (s settings) tmuxSockets() []string {
	if len(s.tmux) == 0 {
		return []string{""}
	}
	return s.tmux
}

// drop lets go of a backend's connection.
func drop(b terminal.Backend) {
	if c, ok := b.(interface{ Disconnect() error }); ok {
		_ = c.Disconnect()
	}
}

// iterm2Backend is the client of iTerm2, which is never started.
func (a *app) iterm2Backend(log *slog.Logger) *iterm.Client {
	o := iterm.ITerm2(a.getenv)
	o.Library, o.Log = "termpilot "+version(), log
	return iterm.New(o)
}

// hostBackend is the client of the host. Only opening a session starts a host.
func (a *app) hostBackend(log *slog.Logger) *iterm.Client {
	return iterm.New(iterm.Options{
		Name:    "host",
		Dial:    host.Dial,
		Start:   func(ctx context.Context) error { _, err := startHost(ctx); return err },
		Library: "termpilot " + version(),
		Log:     log,
	})
}
