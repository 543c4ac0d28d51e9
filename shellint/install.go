package shellint

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"termpilot/fault"
)

// The lines around our block in a start-up file. All between them is ours.
const (
	blockStart = "# >>> termpilot shell integration >>>"
	blockEnd   = "# <<< termpilot shell integration <<<"
)

// maxStartup is the largest start-up file, in bytes, that Install reads.
const maxStartup = 4 << 20

// Installation is what Install, Uninstall and Installed found or did.
type Installation struct {
	Shell   string `json:"shell"`
	File    string `json:"file"`    // the start-up file, links followed
	Script  string `json:"script"`  // the script that it reads
	Backup  string `json:"backup"`  // what File was before this call, if it was changed
	Present bool   `json:"present"` // File reads the script now
	Current bool   `json:"current"` // and the script is this version's
	Changed bool   `json:"changed"` // this call changed something
}

// startupFile is where a shell's block goes, below the home folder: the file
// that every interactive shell reads.
func startupFile(shell, home string) string {
	switch shell {
	case "zsh":
		return filepath.Join(home, ".zshrc")
	case "fish":
		return filepath.Join(home, ".config", "fish", "config.fish")
	}
	// Login shells, as macOS and tmux start them, read the first of these alone, and
	// .bashrc only when it says so; when it does not, it is the better place.
	for _, name := range []string{".bash_profile", ".bash_login", ".profile"} {
		text, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			continue
		}
		if bytes.Contains(text, []byte("bashrc")) {
			break
		}
		return filepath.Join(home, name)
	}
	return filepath.Join(home, ".bashrc")
}

func scriptFile(shell, home string) string {
	return filepath.Join(home, ".local", "share", "termpilot", "shell", "termpilot."+shell)
}

// Install makes a shell's interactive sessions print prompt marks: it writes
// the script below home, and puts one marked block that reads it at the end of
// the start-up file. A block that is there already is replaced, a second call
// changes nothing. Files are replaced whole; a symbolic link stays one, and
// the file behind it is replaced, provided it is the user's own. The start-up
// file's former text is kept beside it (Backup). There is no nonce.
func Install(shell, home string) (Installation, error) {
	in, text, err := look("shell install", shell, home)
	if err != nil {
		return in, err
	}
	script, err := Script(shell)
	if err != nil {
		return in, err
	}
	if err := os.MkdirAll(filepath.Dir(in.Script), 0o700); err != nil {
		return in, storage("shell install", in.Script, err)
	}
	if old, err := os.ReadFile(in.Script); err != nil || string(old) != script {
		if err := replace("shell install", in.Script, []byte(script), 0o600); err != nil {
			return in, err
		}
		in.Changed = true
	}
	without, _, err := cutBlock(text)
	if err != nil {
		return in, broken("shell install", in.File)
	}
	if without != "" && !strings.HasSuffix(without, "\n") {
		without += "\n"
	}
	if err := in.rewrite("shell install", text, without+block(shell)); err != nil {
		return in, err
	}
	in.Present, in.Current = true, true
	return in, nil
}

// Uninstall takes the block out of the start-up file and removes the script.
// All else in the file stays as it is.
func Uninstall(shell, home string) (Installation, error) {
	in, text, err := look("shell uninstall", shell, home)
	if err != nil {
		return in, err
	}
	without, found, err := cutBlock(text)
	if err != nil {
		return in, broken("shell uninstall", in.File)
	}
	if found {
		if err := in.rewrite("shell uninstall", text, without); err != nil {
			return in, err
		}
	}
	if err := os.Remove(in.Script); err == nil {
		in.Changed = true
		folder := filepath.Dir(in.Script)
		_ = errors.Join(os.Remove(folder), os.Remove(filepath.Dir(folder))) // they stay while another shell's script is in them
	} else if !errors.Is(err, fs.ErrNotExist) {
		return in, storage("shell uninstall", in.Script, err)
	}
	in.Present, in.Current = false, false
	return in, nil
}

// Installed tells whether Install was done, and by this version. It changes nothing.
func Installed(shell, home string) (Installation, error) {
	in, _, err := look("shell check", shell, home)
	return in, err
}

// look reads the start-up file and says what is installed.
func look(op, shell, home string) (in Installation, text string, err error) {
	if s, ok := shellOf(shell); !ok || s.Name != shell {
		return in, "", noScript(op, shell)
	}
	if !filepath.IsAbs(home) {
		return in, "", &fault.Error{Op: op, Code: fault.InvalidArgument, Detail: "the home folder is not known, or not an absolute path", Hint: "set HOME"}
	}
	in = Installation{Shell: shell, File: startupFile(shell, home), Script: scriptFile(shell, home)}
	if in.File, err = target(op, in.File); err != nil {
		return in, "", err
	}
	data, err := os.ReadFile(in.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return in, "", storage(op, in.File, err)
	}
	if len(data) > maxStartup {
		return in, "", &fault.Error{Op: op, Code: fault.TooLarge, Detail: in.File + " is no start-up file"}
	}
	text = string(data)
	_, in.Present, _ = cutBlock(text)
	if want, err := Script(shell); in.Present && err == nil {
		have, err := os.ReadFile(in.Script)
		in.Current = err == nil && string(have) == want && strings.Contains(text, block(shell))
	}
	return in, text, nil
}

// block is what Install puts into a start-up file.
func block(shell string) string {
	path := `"$HOME/.local/share/termpilot/shell/termpilot.` + shell + `"`
	line := "[ -r " + path + " ] && . " + path
	switch shell {
	case "bash": // other shells may read the file, too
		line = `[ -n "${BASH_VERSION-}" ] && ` + line
	case "fish":
		line = "test -r " + path + "; and source " + path
	}
	return blockStart + "\n" + line + "\n" + blockEnd + "\n"
}

var errHalfBlock = errors.New("the block has no end")

// cutBlock returns the text without our blocks, and whether there was one. A
// block without end is an error: what belongs to it is not known.
func cutBlock(text string) (without string, found bool, err error) {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		switch strings.TrimRight(line, "\r\n") {
		case blockStart:
			inside, found = true, true
			continue
		case blockEnd:
			if inside {
				inside = false
				continue
			}
		}
		if !inside {
			b.WriteString(line)
		}
	}
	if inside {
		return text, found, errHalfBlock
	}
	return b.String(), found, nil
}

// rewrite replaces the start-up file, when that changes it, and keeps the former text.
func (in *Installation) rewrite(op, old, text string) error {
	if text == old {
		return nil
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(in.File); err == nil {
		mode = info.Mode().Perm()
		in.Backup = in.File + ".termpilot-backup"
		if err := replace(op, in.Backup, []byte(old), mode); err != nil {
			return err
		}
	} else if err := os.MkdirAll(filepath.Dir(in.File), 0o755); err != nil {
		return storage(op, in.File, err)
	}
	in.Changed = true
	return replace(op, in.File, []byte(text), mode)
}

// replace writes a file whole: beside it, synced, then renamed over it.
func replace(op, path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".termpilot-*")
	if err != nil {
		return storage(op, path, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is gone when the rename was done
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return storage(op, path, err)
	}
	return nil
}

func broken(op, path string) error {
	return &fault.Error{
		Op: op, Code: fault.Refused, Detail: path + " has the first line of the block and not the last",
		Hint: "remove the lines of the block by hand",
	}
}

func storage(op, path string, err error) error {
	return &fault.Error{Op: op, Code: fault.Storage, Detail: path, Err: err}
}
