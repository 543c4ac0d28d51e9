package shellint

import (
	"embed"
	"path/filepath"
	"strings"

	"termpilot/fault"
)

//go:embed scripts
var scripts embed.FS

// Shell is a shell that termpilot has a script for.
type Shell struct {
	Name string // "bash", "zsh" or "fish"
}

// Shells lists the shells that termpilot integrates.
func Shells() []Shell { return []Shell{{"bash"}, {"zsh"}, {"fish"}} }

// shellOf returns the shell that runs from path, by the name of the file. A
// version in the name does not matter.
func shellOf(path string) (Shell, bool) {
	name := strings.TrimRight(filepath.Base(path), "0123456789.-")
	for _, s := range Shells() {
		if s.Name == name {
			return s, true
		}
	}
	return Shell{}, false
}

// Script returns the integration script of a shell, by its name: what `shell
// print` shows and `shell install` puts in place. It carries no nonce, and does
// nothing in termpilot's own host or where the terminal brings marks itself.
func Script(shell string) (string, error) {
	if s, ok := shellOf(shell); !ok || s.Name != shell {
		return "", noScript("shell script", shell)
	}
	return asset("termpilot." + shell)
}

func noScript(op, shell string) error {
	return &fault.Error{
		Op: op, Code: fault.InvalidArgument, Detail: "no integration for the shell " + clean(limited(shell, maxField), ""),
		Hint: "use bash, zsh or fish",
	}
}

func asset(name string) (string, error) {
	text, err := scripts.ReadFile("scripts/" + name)
	if err != nil {
		return "", &fault.Error{Op: "shell script", Code: fault.Internal, Err: err}
	}
	return string(text), nil
}
