package host

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"termpilot/fault"
)

// program is what runs in a session.
type program struct {
	path string
	argv []string
	env  []string
	dir  string
}

// start runs the program as the leader of a session of its own, with the
// terminal as its controlling terminal, every signal at its default and none
// blocked. The caller must hold sane signal dispositions; see ownSignals.
func (p program) start(tty *os.File) (*os.Process, error) {
	info, err := os.Stat(p.dir)
	if err != nil || !info.IsDir() {
		return nil, &fault.Error{
			Op: "open", Code: fault.InvalidArgument, Detail: "the working directory does not exist: " + p.dir,
			Hint: "give an existing folder as cwd", Err: err,
		}
	}
	attr := &os.ProcAttr{
		Dir:   p.dir,
		Env:   p.env,
		Files: []*os.File{tty, tty, tty},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0},
	}
	var proc *os.Process
	err = unblocked(func() (err error) {
		proc, err = os.StartProcess(p.path, p.argv, attr)
		return err
	})
	if err != nil {
		code := fault.Internal
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOEXEC) {
			code = fault.ShellNotFound
		}
		return nil, &fault.Error{
			Op: "open", Code: code, Detail: "the program cannot be started: " + p.path,
			Hint: "install it, or choose another profile or command", Err: err,
		}
	}
	return proc, nil
}

// findProgram returns the path of the program that a command names, as a shell
// with this environment would look it up.
func findProgram(name, dir string, env []string) (string, error) {
	missing := &fault.Error{
		Op: "open", Code: fault.ShellNotFound, Detail: "no such program: " + name,
		Hint: "install it, or choose another profile or command", Err: exec.ErrNotFound,
	}
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if !executable(name) {
			return "", missing
		}
		return name, nil
	}
	for _, folder := range filepath.SplitList(lookup(env, "PATH")) {
		if path := filepath.Join(folder, name); filepath.IsAbs(path) && executable(path) {
			return path, nil
		}
	}
	return "", missing
}

// ownSignals takes over the signals that a program must find at their default.
// A host that was started under nohup, or by a careless parent, has inherited
// some of them ignored, and ignoring survives exec. While the runtime has a
// handler for a signal, its children start with the default. The host itself
// ends only by what Serve's caller makes of SIGINT and SIGTERM.
// The returned function gives the signals back.
func ownSignals() (release func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught,
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGALRM, syscall.SIGTERM,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGTTIN,
		syscall.SIGTTOU, syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGVTALRM, syscall.SIGWINCH,
		syscall.SIGIO)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-caught:
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		signal.Stop(caught)
		close(done)
		wg.Wait()
	})
}
