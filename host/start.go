package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"termpilot/fault"
	"termpilot/private"
)

const (
	// detachVariable tells Serve to start itself once more and return, so that
	// the host is nobody's child: what ends a client's process tree spares it.
	detachVariable = "TERMPILOT_HOST_DETACH"

	startPatience = 10 * time.Second
	maxLog        = 4 << 20
)

// Start makes sure that a host runs in the place of this process's environment,
// and returns its status. When none does, it starts exe with args (without
// args: "host", "serve"), which must call [Serve]: detached, in a session of
// its own, its words going to the log file. It returns when the host answers.
// Of many callers at once, in any number of processes, one starts it and all
// find it. Deadline when one listens but does not answer, BackendUnavailable, with the log's last line, when it does not come up.
func Start(ctx context.Context, exe string, args ...string) (Status, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	loc, err := Paths(os.Getenv)
	if err != nil {
		return Status{}, err
	}
	if status, err := inspect(ctx, loc); err == nil || errors.Is(err, fault.Deadline) {
		return status, err
	}
	for _, folder := range []string{loc.Home, loc.Folder} {
		if err := private.Folder(folder); err != nil {
			return Status{}, err
		}
	}
	starting := lockAt(filepath.Join(loc.Folder, "start.lock"))
	if _, err := starting.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return Status{}, unavailable("host start", "another process is starting it", err)
	}
	defer starting.Close()
	if status, err := inspect(ctx, loc); err == nil {
		return status, nil
	}
	if len(args) == 0 {
		args = []string{"host", "serve"}
	}
	if err := launch(ctx, loc, exe, args); err != nil {
		return Status{}, err
	}
	for {
		status, err := inspect(ctx, loc)
		if err == nil {
			return status, nil
		}
		select {
		case <-ctx.Done():
			return Status{}, unavailable("host start", "it did not come up; its log says: "+lastLine(loc.Log), err)
		case <-time.After(3 * time.Millisecond): // a socket appears without an event
		}
	}
}

// launch starts the host's first process, which starts the host and ends.
func launch(ctx context.Context, loc Location, exe string, args []string) error {
	log, err := os.OpenFile(loc.Log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return storage("host start", "the log file cannot be opened", err)
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = append(os.Environ(), detachVariable+"=1")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := unblocked(cmd.Run); err != nil {
		return unavailable("host start", "it did not start; its log says: "+lastLine(loc.Log), err)
	}
	return nil
}

// detach starts this program once more in a session of its own, keeping only
// its standard files, and returns.
func detach() error {
	keepNothingOpen()
	exe, err := os.Executable()
	if err != nil {
		return unavailable("host start", "the program cannot be found", err)
	}
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, detachVariable+"=") {
			env = append(env, entry)
		}
	}
	proc, err := os.StartProcess(exe, os.Args, &os.ProcAttr{
		Dir: "/", Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return unavailable("host start", "it did not start", err)
	}
	return proc.Release()
}

// keepNothingOpen keeps files that a careless parent left open from living on
// in the host: somebody may wait for their end.
func keepNothingOpen() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

func lastLine(path string) string {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || len(data) == 0 {
		return "nothing"
	}
	if err != nil {
		return err.Error()
	}
	data = data[max(0, len(data)-2000):]
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return clean(all[len(all)-1])
}
