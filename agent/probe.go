package agent

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// probe asks an installed program questions before it is launched.
type probe struct {
	binary string
	cwd    string
	env    []string
	model  string // the one that will be asked for; "" is the default
}

// maxAnswer is the most bytes of what a program answers that are kept.
const maxAnswer = 1 << 20

// run runs the program and returns what it printed, both streams, without escape sequences.
func (p probe) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.cwd, p.env, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what it starts ends with it, and no terminal stops it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out capped
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well; something that it, or anybody, was starting meanwhile has a copy of the output's end
	}
	text := plain(out.String())
	line := filepath.Base(p.binary) + " " + strings.Join(args, " ")
	switch {
	case ctx.Err() != nil:
		err = &fault.Error{
			Op: "launch", Code: fault.Deadline, Detail: line + " gave no answer in time, and nothing was launched",
			Hint: "run it by hand to see what it waits for", Err: context.Cause(ctx),
		}
	case err != nil:
		err = &fault.Error{
			Op: "launch", Code: fault.AgentMissing, Detail: line + " does not work: " + terminal.OneLine(text, 200),
			Hint: "run it by hand to see what is wrong", Err: err,
		}
	}
	return text, err
}

// capped keeps the first maxAnswer bytes.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := maxAnswer - c.Len(); room > 0 {
		c.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// plain takes colours out of what a program printed.
func plain(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		before, rest, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			break
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
		text = rest[end+1:]
	}
	return b.String()
}

// locate finds a vendor's program: where a variable of ours says, on PATH, or
// where it is usually installed.
func (v *vendor) locate(getenv func(string) string) (string, error) {
	variable := "TERMPILOT_" + strings.ToUpper(v.name) + "_BIN"
	if said := getenv(variable); said != "" {
		if filepath.IsAbs(said) && runnable(said) {
			return said, nil
		}
		return "", refused("launch", "", fault.AgentMissing, variable+" is not the absolute path of a program that can be run", "correct or unset it")
	}
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if path := filepath.Join(dir, v.programs[0]); filepath.IsAbs(dir) && runnable(path) {
			return path, nil
		}
	}
	for _, place := range v.places {
		if path := filepath.Join(home(getenv), place); runnable(path) {
			return path, nil
		}
	}
	return "", refused("launch", "", fault.AgentMissing, v.title+" is not installed: there is no "+v.programs[0]+" on PATH", "install it, or name it in "+variable)
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// checkCwd returns the folder in which an agent is to work.
func checkCwd(cwd string) (string, error) {
	if cwd == "" {
		own, err := os.Getwd()
		if err != nil {
			err = &fault.Error{Op: "launch", Code: fault.InvalidArgument, Detail: "the folder of this process is gone", Hint: "pass cwd", Err: err}
		}
		return own, err
	}
	info, err := os.Stat(cwd)
	switch {
	case !filepath.IsAbs(cwd):
		return "", refused("launch", "", fault.InvalidArgument, "cwd is not an absolute path", "pass an absolute path")
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
		return "", refused("launch", "", fault.InvalidArgument, "cwd is no folder that exists", "pass a folder that exists")
	case err != nil:
		return "", &fault.Error{Op: "launch", Code: fault.InvalidArgument, Detail: "cwd cannot be looked at", Hint: "pass another folder", Err: err}
	}
	return filepath.Clean(cwd), nil
}
