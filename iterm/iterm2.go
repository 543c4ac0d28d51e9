package iterm

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"termpilot/fault"
	"termpilot/lazy"
	"termpilot/terminal"
)

// ITerm2 returns Options that reach iTerm2 as its own scripts do, from an
// environment: the socket of IT2_SUITE below HOME; the cookie of ITERM2_COOKIE
// and ITERM2_KEY once, then fresh ones by AppleScript, none where the file that
// switches authentication off is in place. iTerm2 is never started.
func ITerm2(getenv func(string) string) Options {
	k := &keyring{getenv: getenv, script: osascript, root: 0}
	return Options{
		Name: "iterm2",
		Dial: func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", k.socket())
		},
		Credentials: k.credentials,
		keys:        k,
	}
}

// keyring finds what lets a program in.
type keyring struct {
	getenv func(string) string
	script func(ctx context.Context, source string) (string, error)
	root   uint32 // who must own the file that switches authentication off

	mu    sync.Mutex
	spent string // the cookie of the environment that was used: it works once
}

// folder is where iTerm2 keeps what belongs to its API.
func (k *keyring) folder() string {
	suite := filepath.Base(k.getenv("IT2_SUITE"))
	if suite == "." || suite == ".." || suite == string(filepath.Separator) {
		suite = "iTerm2"
	}
	return filepath.Join(k.getenv("HOME"), "Library", "Application Support", suite)
}

func (k *keyring) socket() string { return filepath.Join(k.folder(), "private", "socket") }

func (k *keyring) credentials(ctx context.Context) (cookie, key string, err error) {
	if k.switchedOff() {
		return "", "", nil
	}
	k.mu.Lock()
	if given := k.getenv("ITERM2_COOKIE"); given != "" && given != k.spent {
		k.spent = given
		k.mu.Unlock()
		return given, k.getenv("ITERM2_KEY"), nil
	}
	k.mu.Unlock()
	answer, err := k.script(ctx, k.cookieScript())
	if err != nil {
		return "", "", err
	}
	words := strings.Fields(answer)
	if len(words) != 2 {
		return "", "", &fault.Error{
			Op: "authorise", Code: fault.Protocol, Detail: "iTerm2's answer is not a cookie and a key", Hint: "update iTerm2",
		}
	}
	return words[0], words[1], nil
}

// cookieScript asks for a cookie, but does not start iTerm2 by asking: what
// listens may be another program than the one that AppleScript would find.
func (k *keyring) cookieScript() string {
	app := k.application()
	return "if " + app + " is running then\n" +
		"tell " + app + ` to request cookie and key for app named "termpilot"` + "\n" +
		"else\n" +
		`error "not running" number -600` + "\n" +
		"end if"
}

// application is iTerm2 in AppleScript.
func (k *keyring) application() string {
	name := "iTerm2"
	if path := k.getenv("IT2_APP_PATH"); path != "" {
		name = path
	}
	return `application "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(terminal.OneLine(name, 1024)) + `"`
}

// switchedOff reports whether an administrator has allowed all programs. The
// file's content, which names its own path, and its owner prove that.
func (k *keyring) switchedOff() bool {
	path := filepath.Join(k.folder(), "disable-automation-auth")
	want := hex.EncodeToString([]byte(path)) + " 61DF88DC-3423-4823-B725-22570E01C027"
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(want)) {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid != k.root {
		return false
	}
	got, err := os.ReadFile(path)
	return err == nil && string(got) == want
}

// scriptNumber is the error number that osascript prints last.
var scriptNumber = lazy.Regexp(`\((-?\d+)\)\s*$`)

// osascript runs an AppleScript and returns what it prints.
func osascript(ctx context.Context, source string) (string, error) {
	cmd := exec.CommandContext(ctx, "/usr/bin/osascript", "-")
	cmd.Stdin = strings.NewReader(source)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		return string(out), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", &fault.Error{
			Op: "authorise", Code: fault.BackendUnavailable, Detail: "there is no AppleScript here to ask for a cookie",
			Hint: "set ITERM2_COOKIE and ITERM2_KEY", Err: err,
		}
	}
	number := 0
	if m := scriptNumber().FindSubmatch(stderr.Bytes()); m != nil {
		number, _ = strconv.Atoi(string(m[1]))
	}
	return "", scriptFault(number, err)
}

// scriptFault says what an AppleScript error number means for the request of a cookie.
func scriptFault(number int, err error) error {
	f := &fault.Error{Op: "authorise", Code: fault.BackendUnavailable, Err: err}
	switch number {
	case 1:
		f.Detail, f.Hint = "iTerm2's Python API is off", "enable it in Settings > General > Magic"
	case 2:
		f.Detail, f.Hint = "the user refused", "ask the user, then try again"
	case -1743:
		f.Detail = "this program may not control iTerm2"
		f.Hint = "allow it in System Settings > Privacy & Security > Automation"
	case -2740, -2741:
		f.Detail, f.Hint = "this iTerm2 is too old to give cookies", "update iTerm2"
	case -600, -1728:
		f.Detail, f.Hint = "iTerm2 is not running", "start iTerm2"
	default:
		f.Detail, f.Hint = "iTerm2 gave no cookie", "check Settings > General > Magic, then try again"
	}
	return f
}
