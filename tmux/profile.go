package tmux

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// defaultProfile is the profile that starts tmux's default-shell.
const defaultProfile = "Default"

// shellNames are the shells that are profiles of their own where they are installed.
var shellNames = []string{"bash", "zsh", "fish", "sh", "dash", "ksh"}

// Profiles lists the default shell as Default, then each installed shell by name,
// while a server runs.
func (b *Backend) Profiles(ctx context.Context) ([]string, error) {
	const op = "profiles"
	if ctx.Err() != nil {
		return nil, b.explain(op, "", errSilent)
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	if _, err := b.reach(ctx, false); err != nil {
		return nil, b.explain(op, "", err)
	}
	names := []string{defaultProfile}
	for _, name := range shellNames {
		if b.shell(name) != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// shell finds an installed shell: on PATH, else in /etc/shells.
func (b *Backend) shell(name string) string {
	if !slices.Contains(shellNames, name) {
		return ""
	}
	for _, dir := range pathOf(b.o.Env) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	f, err := os.Open("/etc/shells")
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		path := strings.TrimSpace(s.Text())
		if filepath.IsAbs(path) && filepath.Base(path) == name {
			if found, err := exec.LookPath(path); err == nil {
				return found
			}
		}
	}
	return ""
}
