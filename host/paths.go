package host

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"

	"termpilot/fault"
)

// Location is where a host lives on disk.
type Location struct {
	Home   string // termpilot's state folder
	Folder string // private folder (0700) of the sockets and the lock
	Socket string // the iTerm2 API (0600)
	Attach string // attaching, status and stop (0600)
	Suite  string // the iTerm2 API again, where programs made for iTerm2 look with IT2_SUITE=termpilot (0600)
	Lock   string // held by the running host for as long as it lives
	Log    string // what the detached host says
}

// longestPath leaves room below sun_path: 104 bytes on macOS, 108 on Linux.
const longestPath = 99

// Paths says where the host of an environment lives. Home is TERMPILOT_HOME,
// else termpilot in the user's state folder (XDG_STATE_HOME, ~/.local/state,
// on macOS ~/Library/Application Support). The sockets are in host/ below it;
// without TERMPILOT_HOME in XDG_RUNTIME_DIR/termpilot where that is set; and
// when a path would be too long for a socket, in a folder below /tmp that is
// named after the user and the place it stands for. Nothing is created.
// InvalidArgument for a TERMPILOT_HOME that is not absolute.
func Paths(getenv func(string) string) (Location, error) {
	own, err := userHome(getenv)
	if err != nil && getenv("TERMPILOT_HOME") == "" {
		return Location{}, err
	}
	home, err := stateFolder(getenv, own)
	if err != nil {
		return Location{}, err
	}
	folder := filepath.Join(home, "host")
	if run := getenv("XDG_RUNTIME_DIR"); getenv("TERMPILOT_HOME") == "" && filepath.IsAbs(run) {
		folder = filepath.Join(run, "termpilot")
	}
	if len(filepath.Join(folder, "attach.sock")) > longestPath {
		sum := sha256.Sum256([]byte(folder))
		folder = "/tmp/termpilot-" + strconv.Itoa(os.Getuid()) + "-" + hex.EncodeToString(sum[:8])
	}
	return Location{
		Home:   home,
		Folder: folder,
		Socket: filepath.Join(folder, "api.sock"),
		Attach: filepath.Join(folder, "attach.sock"),
		Suite:  filepath.Join(own, "Library", "Application Support", Suite, "private", "socket"),
		Lock:   filepath.Join(folder, "lock"),
		Log:    filepath.Join(home, "host.log"),
	}, nil
}

func stateFolder(getenv func(string) string, home string) (string, error) {
	if own := getenv("TERMPILOT_HOME"); own != "" {
		if !filepath.IsAbs(own) {
			return "", &fault.Error{
				Op: "host paths", Code: fault.InvalidArgument, Detail: "TERMPILOT_HOME is not an absolute path",
				Hint: "set TERMPILOT_HOME to an absolute path",
			}
		}
		return filepath.Clean(own), nil
	}
	if state := getenv("XDG_STATE_HOME"); filepath.IsAbs(state) && runtime.GOOS != "darwin" {
		return filepath.Join(state, "termpilot"), nil
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "termpilot"), nil
	}
	return filepath.Join(home, ".local", "state", "termpilot"), nil
}

// userHome is HOME, else what the user database says.
func userHome(getenv func(string) string) (string, error) {
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Clean(home), nil
	}
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return "", &fault.Error{
			Op: "host paths", Code: fault.InvalidArgument, Detail: "no home folder is known",
			Hint: "set HOME or TERMPILOT_HOME", Err: err,
		}
	}
	return u.HomeDir, nil
}
