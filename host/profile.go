package host

import (
	"bufio"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// profile is a named way to start a session.
type profile struct {
	Name  string
	Shell string // path of the shell
}

// defaultProfile is the profile that starts the user's login shell.
const defaultProfile = "Default"

// guid is the profile's identifier on the API: always the same for a name.
func (p profile) guid() string {
	return strings.ToUpper(uuid.NewSHA1(uuid.NameSpaceURL, []byte("termpilot:profile:"+p.Name)).String())
}

// shellNames are the programs that count as shells wherever they are found.
var shellNames = []string{"bash", "zsh", "fish", "sh", "dash", "ksh", "tcsh", "csh", "nu", "xonsh", "elvish", "pwsh"}

// profiles lists what can be started: the login shell as Default, then each
// installed shell by its name. They are looked up anew each time, so that a
// shell installed under a running host is found. /etc/shells tells the path
// where PATH has none.
func profiles(env []string) []profile {
	login := loginShell(env)
	list := []profile{{Name: defaultProfile, Shell: login}}
	add := func(path string) {
		name := filepath.Base(path)
		known := func(p profile) bool { return p.Name == name }
		if slices.Contains(shellNames, name) && !slices.ContainsFunc(list, known) && executable(path) {
			list = append(list, profile{Name: name, Shell: path})
		}
	}
	add(login)
	for _, name := range shellNames[:3] {
		for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
			if filepath.IsAbs(dir) {
				add(filepath.Join(dir, name))
			}
		}
	}
	for _, path := range listedShells() {
		add(path)
	}
	slices.SortStableFunc(list[1:], func(a, b profile) int {
		return slices.Index(shellNames, a.Name) - slices.Index(shellNames, b.Name)
	})
	return list
}

func findProfile(env []string, name string) (profile, bool) {
	if name == "" {
		name = defaultProfile
	}
	for _, p := range profiles(env) {
		if p.Name == name {
			return p, true
		}
	}
	return profile{}, false
}

// loginShell is SHELL when that is a shell on this machine, else the one in the
// user database, else /bin/sh.
func loginShell(env []string) string {
	for _, path := range []string{lookup(env, "SHELL"), shellOfUser()} {
		if filepath.IsAbs(path) && slices.Contains(shellNames, filepath.Base(path)) && executable(path) {
			return path
		}
	}
	return "/bin/sh"
}

func shellOfUser() string {
	if runtime.GOOS == "darwin" {
		return "/bin/zsh"
	}
	u, err := user.Current()
	if err != nil {
		return ""
	}
	for line := range lines("/etc/passwd") {
		fields := strings.Split(line, ":")
		if len(fields) == 7 && fields[2] == u.Uid {
			return fields[6]
		}
	}
	return ""
}

func listedShells() []string {
	var paths []string
	for line := range lines("/etc/shells") {
		if path := strings.TrimSpace(line); filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// lines yields the lines of a small system file, none if it cannot be read.
func lines(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		f, err := os.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		for s.Scan() {
			if !yield(s.Text()) {
				return
			}
		}
	}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
