package shellint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"termpilot/fault"
)

// target follows the links of a start-up file to the file that is to be
// replaced. What is not the user's own regular file is refused; so is a link
// into nothing, because it is not known what should be there.
func target(op, path string) (string, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, storage(op, path, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return path, storage(op, path, err)
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || known && int(stat.Uid) != os.Getuid() {
		return path, &fault.Error{
			Op: op, Code: fault.Refused, Detail: real + " is not a regular file of this user",
			Hint: "add the output of `termpilot shell print` to your start-up file by hand",
		}
	}
	return real, nil
}

// Elsewhere returns the folder in which a person's shell looks for its start-up
// file when that is not where [Install] puts its block: ZDOTDIR of zsh, and
// XDG_CONFIG_HOME of fish. Otherwise it is "".
func Elsewhere(shell string, getenv func(string) string) string {
	var folder, usual string
	switch shell {
	case "zsh":
		folder, usual = getenv("ZDOTDIR"), getenv("HOME")
	case "fish":
		folder, usual = getenv("XDG_CONFIG_HOME"), filepath.Join(getenv("HOME"), ".config")
	}
	if !filepath.IsAbs(folder) || filepath.Clean(folder) == filepath.Clean(usual) {
		return ""
	}
	return folder
}
