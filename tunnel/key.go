package tunnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"termpilot/fault"
	"termpilot/lazy"
)

// DefaultKeyVariable is the variable that holds the runtime key when none is named.
const DefaultKeyVariable = "CONTROL_PLANE_API_KEY"

// Reference says where the runtime key is: env:NAME, file:/path, or on macOS
// keychain:SERVICE. It is not secret.
type Reference string

var variableShape = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// isVariable reports whether a word can be the name of a variable.
func isVariable(word string) bool { return len(word) <= 128 && variableShape().MatchString(word) }

// ParseReference reads a reference; a bare NAME is env:NAME and "" is the
// default variable. InvalidArgument for anything else, a key among it, which
// is not repeated in the error.
func ParseReference(said string) (Reference, error) {
	kind, rest, found := strings.Cut(said, ":")
	switch {
	case said == "":
		return "env:" + DefaultKeyVariable, nil
	case !found && isVariable(said) && !strings.HasPrefix(said, "sk"):
		return Reference("env:" + said), nil
	case kind == "env" && isVariable(rest), kind == "file" && filepath.IsAbs(rest), kind == "keychain" && rest != "" && !strings.ContainsAny(rest, "\n\x00"):
		return Reference(said), nil
	}
	return "", &fault.Error{
		Op: "runtime key", Code: fault.InvalidArgument, Detail: "that is no reference to a key",
		Hint: "use env:NAME, file:/absolute/path or, on macOS, keychain:SERVICE; never the key itself",
	}
}

// variable is the variable of an env: reference, or "".
func (r Reference) variable() string {
	if name, ok := strings.CutPrefix(string(r), "env:"); ok {
		return name
	}
	return ""
}

// Sources are where variables are looked for.
type Sources struct {
	Getenv func(string) string
	// EnvFile is a .env file that must be there; "" looks at Fallbacks in turn.
	EnvFile   string
	Fallbacks []string
}

// Resolve fetches the key, and tells in words where it was found. A variable of
// the process wins over one of a file. KeyMissing when there is none, KeyInvalid
// for what is no runtime key; neither tells the value.
func (r Reference) Resolve(ctx context.Context, s Sources) (key Secret, origin string, err error) {
	kind, name, _ := strings.Cut(string(r), ":")
	switch kind {
	case "env":
		return s.lookUp(name)
	case "file":
		origin = "the file " + name
		data, err := readCapped(name, 4<<10)
		if errors.Is(err, fs.ErrNotExist) {
			return Secret{}, "", keyMissing(origin+" is not there", "write the key into it, with mode 0600")
		}
		if err != nil {
			return Secret{}, "", keyMissing(origin+" cannot be read", "see that it is a small file of your own")
		}
		key, err = newSecret(strings.TrimRight(string(data), "\r\n"), origin)
		return key, origin, err
	default:
		origin = "the keychain item " + name
		value, err := keychain(ctx, name)
		if err != nil {
			return Secret{}, "", err
		}
		key, err = newSecret(value, origin)
		return key, origin, err
	}
}

func (s Sources) lookUp(name string) (Secret, string, error) {
	if value := s.Getenv(name); value != "" {
		origin := "the variable " + name
		key, err := newSecret(value, origin)
		return key, origin, err
	}
	paths := s.Fallbacks
	if s.EnvFile != "" {
		paths = []string{s.EnvFile}
	}
	for _, path := range paths {
		value, line, err := fromEnvFile(path, name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && s.EnvFile == "":
			continue
		case errors.Is(err, fs.ErrNotExist):
			return Secret{}, "", keyMissing(path+" is not there", "pass the path of your .env file as --env-file")
		case err != nil:
			return Secret{}, "", err
		case line == 0:
			continue
		}
		origin := fmt.Sprintf("%s, line %d", path, line)
		key, err := newSecret(value, origin)
		return key, origin, err
	}
	where := "the environment"
	if len(paths) > 0 {
		where += " or " + strings.Join(paths, ", ")
	}
	return Secret{}, "", keyMissing(name+" is not in "+where, "export "+name+", or write "+name+"=… into a .env file")
}

// fileOf returns the file that an origin which Resolve told is in, or "".
func fileOf(r Reference, origin string) string {
	if path, ok := strings.CutPrefix(string(r), "file:"); ok {
		return path
	}
	if line := strings.LastIndex(origin, ", line "); line >= 0 && r.variable() != "" {
		return origin[:line]
	}
	return ""
}

// exposed reports whether others may read a file.
func exposed(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o077 != 0
}

// readCapped reads a small regular file.
func readCapped(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not block the open
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is not a regular file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = errors.New("it is too large")
	}
	return data, err
}

// keychain asks macOS for a password of the login keychain. security(1) prints
// it on its standard output; nothing secret is in its arguments.
func keychain(ctx context.Context, service string) (string, error) {
	if runtime.GOOS != "darwin" {
		return "", &fault.Error{Op: "runtime key", Code: fault.Unsupported, Detail: "a keychain is on macOS alone", Hint: "use env:NAME or file:/path"}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // a person may have to allow it
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/bin/security", "find-generic-password", "-s", service, "-w").Output()
	if err != nil {
		return "", keyMissing("the keychain item "+service+" was not to be had", "add it with security add-generic-password -s "+service+" -a termpilot -w")
	}
	return strings.TrimRight(string(out), "\n"), nil
}
