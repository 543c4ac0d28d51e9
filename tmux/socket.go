package tmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// socketPath is where a server's socket is (tmux(1), -L and -S).
func socketPath(name string, env []string) string {
	if strings.Contains(name, "/") {
		return name
	}
	if name == "" {
		name = "default"
	}
	dir := variable(env, "TMUX_TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, serverFolder(), name)
}

// serverFolder is how the folder of a user's named servers is called.
func serverFolder() string { return "tmux-" + strconv.Itoa(os.Getuid()) }

// variable returns a variable of an environment; the last one of a name counts.
func variable(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// pathOf lists the absolute folders of PATH.
func pathOf(env []string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(variable(env, "PATH")) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// environment is that of the tmux processes that we run: without TMUX, which
// would forbid them to attach, and without what termpilot itself was given.
func environment(env []string) []string {
	var out []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		own := name != "TERMPILOT_HOME" && strings.HasPrefix(name, "TERMPILOT_")
		switch {
		case own, name == "TMUX", name == "TMUX_PANE", strings.HasPrefix(name, "CONTROL_PLANE_"),
			strings.HasPrefix(name, "TUNNEL_CLIENT_"), strings.HasPrefix(name, "TUNNEL_MCP_"), strings.HasPrefix(name, "ITERM2_"):
		default:
			out = append(out, entry)
		}
	}
	if variable(out, "TERM") == "" {
		out = append(out, "TERM=dumb")
	}
	return out
}

// little is the environment of a connection: what tmux itself looks at. The
// sessions get none of it, and each variable is a message to the server.
func little(env []string) []string {
	var out []string
	for _, entry := range environment(env) {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case name == "HOME", name == "PATH", name == "TERM", name == "TMUX_TMPDIR", name == "LANG", strings.HasPrefix(name, "LC_"):
			out = append(out, entry)
		}
	}
	return out
}

// errAlien is a socket that is not for us.
var errAlien = errors.New("the socket belongs to another user")

// running reports whether a server listens: nil, or why not. It says nothing to it.
func running(ctx context.Context, socket string) error {
	info, err := os.Stat(socket)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%w: %w", errAlien, err)
		}
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Getuid() && os.Getuid() != 0 {
		return errAlien
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is not a socket", socket)
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%w: %w", errAlien, err)
		}
		return err
	}
	return c.Close()
}
