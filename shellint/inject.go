package shellint

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"termpilot/fault"
)

// HostProgram is what TERM_PROGRAM holds in the shells of termpilot's host. A
// script installed in a start-up file does nothing there.
const HostProgram = "termpilot"

// Inject says how to start a shell as an interactive login shell with our
// script, so that it reads the start-up files that it would read otherwise:
// run shellPath with argv and envOut. No file of the user's is touched.
//
// dir is a folder of the session's own that exists, belongs to the caller and
// has mode 0700; Inject writes into it, and it must stay for as long as the
// shell starts. It must not be used for two shells. nonce consists of ASCII
// letters and digits; it stands in one file of dir, which the script reads and
// removes before any file of the user's runs, and nowhere in argv or envOut.
//
// ok is false when the shell is none that termpilot integrates, or its
// environment asks for a mode (POSIXLY_CORRECT) in which it cannot be: start it
// in the caller's own way then.
func Inject(shellPath, dir, nonce string, env []string) (argv, envOut []string, ok bool, err error) {
	shell, ok := shellOf(shellPath)
	if !ok {
		return nil, nil, false, nil
	}
	if !plain(nonce) || len(nonce) > maxField {
		return nil, nil, false, &fault.Error{Op: "start shell", Code: fault.InvalidArgument, Detail: "the nonce is not letters and digits"}
	}
	if err := private(dir); err != nil {
		return nil, nil, false, err
	}
	files := map[string]string{"termpilot." + shell.Name: "", "nonce": nonce + "\n"}
	envOut = without(env, "TERMPILOT_INJECT", "TERMPILOT_ENV", "TERMPILOT_ZDOTDIR", "TERM_PROGRAM")
	envOut = append(envOut, "TERM_PROGRAM="+HostProgram)
	switch shell.Name {
	case "bash":
		if _, posix := lookup(env, "POSIXLY_CORRECT"); posix {
			return nil, nil, false, nil
		}
		files["boot.bash"] = ""
		argv, envOut = injectBash(shellPath, dir, envOut)
	case "zsh":
		// zsh reads $ZDOTDIR/.zshenv before anything else of the user's.
		files[".zshenv"] = ""
		if v, set := lookup(env, "ZDOTDIR"); set {
			envOut = append(envOut, "TERMPILOT_ZDOTDIR="+v)
		}
		envOut = append(without(envOut, "ZDOTDIR"), "ZDOTDIR="+dir)
		argv = []string{shellPath, "-l"}
	case "fish":
		files["boot.fish"] = ""
		// fish runs this after its start-up files. A block keeps the local variables out of its global scope.
		argv = []string{shellPath, "-l", "-C", "begin; source " + fishQuote(filepath.Join(dir, "boot.fish")) + "; end"}
	}
	for name, text := range files {
		if err := place(dir, name, text); err != nil {
			return nil, nil, false, err
		}
	}
	return argv, envOut, true, nil
}

// injectBash uses posix mode, in which an interactive bash reads $ENV and
// nothing else; boot.bash leaves that mode at once and reads what a login
// shell reads. Apple's bash 3.2 does not read $ENV: it gets an rcfile, and so
// does not know that it is a login shell.
func injectBash(shellPath, dir string, env []string) (argv, envOut []string) {
	if runtime.GOOS == "darwin" && shellPath == "/bin/bash" {
		return []string{shellPath, "--rcfile", filepath.Join(dir, "boot.bash")}, append(env, "TERMPILOT_INJECT="+dir)
	}
	if v, set := lookup(env, "ENV"); set {
		env = append(without(env, "ENV"), "TERMPILOT_ENV="+v)
	}
	// bash expands $ENV, once: so no character of dir is special.
	return []string{shellPath, "--posix", "-l"}, append(env, "TERMPILOT_INJECT="+dir, "ENV=${TERMPILOT_INJECT}/boot.bash")
}

// place writes one file of ours, with the text of our script when text is "".
func place(dir, name, text string) error {
	if text == "" {
		source := name
		if name == ".zshenv" {
			source = "boot.zsh"
		}
		var err error
		if text, err = asset(source); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		return &fault.Error{
			Op: "start shell", Code: fault.Storage, Detail: "the shell's script could not be written",
			Hint: "make room on the disk, or mend the permissions of termpilot's folder", Err: err,
		}
	}
	return nil
}

// private refuses a folder in which others could read the nonce or replace a script.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return &fault.Error{Op: "start shell", Code: fault.Storage, Detail: "the session's folder cannot be read", Err: err}
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || known && int(stat.Uid) != os.Getuid() || !filepath.IsAbs(dir) {
		return &fault.Error{Op: "start shell", Code: fault.InvalidArgument, Detail: "the session's folder is not a private folder of this user"}
	}
	return nil
}

func plain(s string) bool {
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return true
}

// lookup finds a variable; the last one of a name counts, as for exec.
func lookup(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}

func without(env []string, names ...string) []string {
	out := make([]string, 0, len(env)+4)
next:
	for _, entry := range env {
		for _, name := range names {
			if strings.HasPrefix(entry, name+"=") {
				continue next
			}
		}
		out = append(out, entry)
	}
	return out
}

// fishQuote quotes for fish: only \ and ' are special between single quotes.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
