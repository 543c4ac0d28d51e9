package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"termpilot/fault"
	"termpilot/host"
	"termpilot/shellint"
)

// place is where the integration of one shell lives.
type place struct {
	startup string // the person's file
	script  string // ours, read by the block in the person's file
}

// The block's first and last line. What stands between them is ours.
const (
	blockFirst = "# >>> termpilot >>>"
	blockLast  = "# <<< termpilot <<<"
)

// placeOf says where a shell's startup file is, as the shell itself would find it.
func (a *app) placeOf(shell string) (place, error) {
	where, err := host.Paths(a.getenv)
	if err != nil {
		return place{}, err
	}
	home := a.getenv("HOME")
	if !filepath.IsAbs(home) {
		return place{}, &fault.Error{
			Op: "shell", Code: fault.InvalidArgument, Detail: "no home folder is known",
			Hint: "set HOME to an absolute path",
		}
	}
	p := place{script: filepath.Join(where.Home, "shell", "termpilot."+shell)}
	switch shell {
	case "bash":
		p.startup = filepath.Join(home, ".bashrc")
		if runtime.GOOS == "darwin" { // where terminals start login shells
			p.startup = filepath.Join(home, ".bash_profile")
		}
	case "zsh":
		p.startup = filepath.Join(orElse(a.getenv("ZDOTDIR"), home), ".zshrc")
	case "fish":
		p.startup = filepath.Join(orElse(a.getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "fish", "config.fish")
	default:
		return place{}, &fault.Error{Op: "shell", Code: fault.ShellNotFound, Detail: shell + " is not integrated"}
	}
	return p, nil
}

func orElse(path, other string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return other
}

// block is what the startup file gets. It does nothing when the script is gone.
func (p place) block() string {
	name := quote(p.script)
	line := "[ -r " + name + " ] && . " + name
	if strings.HasSuffix(p.startup, ".fish") {
		line = "test -r " + name + "; and source " + name
	}
	return blockFirst + "\n" + line + "\n" + blockLast + "\n"
}

// edit replaces the startup file by what change makes of it, and reports
// whether that is something else. A link is followed, and the file keeps its mode.
func (p place) edit(change func(string) (string, error)) (bool, error) {
	path, err := filepath.EvalSymlinks(p.startup)
	if errors.Is(err, fs.ErrNotExist) {
		path = p.startup
	} else if err != nil {
		return false, err
	}
	mode := fs.FileMode(0o600)
	before, err := os.ReadFile(path)
	if err == nil {
		info, err := os.Stat(path)
		if err != nil {
			return false, err
		}
		mode = info.Mode().Perm()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	after, err := change(string(before))
	if err != nil || after == string(before) {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	return true, renameio.WriteFile(path, []byte(after), mode)
}

func (p place) state(shell string) (shellState, error) {
	s := shellState{Shell: shell, Startup: p.startup}
	s.Path, _ = exec.LookPath(shell) // "" is an answer
	startup, err := os.ReadFile(p.startup)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	script, err := os.ReadFile(p.script)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	want, err := shellint.Script(shell)
	if err != nil {
		return s, err
	}
	s.Installed = strings.Contains(string(startup), p.block()) && len(script) > 0
	s.Current = s.Installed && string(script) == want
	return s, nil
}

// withBlock appends the block to a startup file, on a line of its own.
func withBlock(text, block string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + block
}

// withoutBlock takes our block out of a startup file. A block without an end
// is not guessed at.
func withoutBlock(path, text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	is := func(want string) func(string) bool {
		return func(line string) bool { return strings.TrimRight(line, "\r\n") == want }
	}
	first := slices.IndexFunc(lines, is(blockFirst))
	if first < 0 {
		return text, nil
	}
	length := slices.IndexFunc(lines[first:], is(blockLast))
	if length < 0 {
		return "", &fault.Error{
			Op: "shell", Code: fault.Refused, Detail: fmt.Sprintf("%s has the line %q without its end", path, blockFirst),
			Hint: "mend that file by hand",
		}
	}
	return strings.Join(slices.Delete(lines, first, first+length+1), ""), nil
}
