package tunnel

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Command returns how this program is started as a supervisor that reads the
// key from a file descriptor, and is told in words where the key was found: the
// executable and its arguments.
type Command func(keyFD int, keyFrom string) []string

// launch starts the supervisor as nobody's child, hands it the key through a
// pipe, and returns when it answers. One that does not, or that nobody waits for
// any more, is ended.
func launch(ctx context.Context, f files, command, env []string, key Secret) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	said, err := os.OpenFile(f.launched, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return &fault.Error{Op: "tunnel setup", Code: fault.Storage, Detail: "the log cannot be made", Hint: "see that there is room", Err: err}
	}
	defer said.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = env
	cmd.Dir = "/"
	cmd.Stdin = bytes.NewReader([]byte(key.value + "\n"))
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return &fault.Error{Op: "tunnel setup", Code: fault.Internal, Detail: "the supervisor does not start", Hint: "see whether this program's file is still there", Err: err}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it outlives this process, unless it fails
	}()
	for {
		if _, err := put(ctx, f.control, question{Op: opStatus}); err == nil {
			return nil
		}
		select {
		case <-ended:
			return &fault.Error{
				Op: "tunnel setup", Code: fault.Internal, Detail: "the supervisor ended at once: " + lastLine(f.launched, key),
				Hint: "see " + f.launched,
			}
		case <-ctx.Done():
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
			select {
			case <-ended:
			case <-time.After(letGo):
				_ = cmd.Process.Kill()
				<-ended
			}
			return &fault.Error{Op: "tunnel setup", Code: fault.Deadline, Detail: "the supervisor does not answer", Hint: "see " + f.launched}
		case <-time.After(10 * time.Millisecond): // a socket appears without an event
		}
	}
}

func lastLine(path string, key Secret) string {
	data, err := readCapped(path, 1<<20)
	if err != nil || len(data) == 0 {
		return "it said nothing"
	}
	all := strings.Split(strings.TrimSpace(key.redactor(os.Getenv).Replace(string(data))), "\n")
	return terminal.OneLine(all[len(all)-1], 500)
}

// Replace runs a supervisor in place of this process, without the variables that
// [Secrets] names: what a process was started with shows for as long as it
// lives, so they cannot just be unset. It returns only when that fails.
func Replace(c Config, command Command, key Secret, keyFrom string) error {
	hand, err := pipeWith(key)
	if err != nil {
		return err
	}
	words := command(hand, keyFrom)
	return syscall.Exec(words[0], words, scrub(os.Environ(), c.Key.variable()))
}

// pipeWith returns a descriptor that the key can be read from, and that a
// program which takes this one's place inherits.
func pipeWith(key Secret) (int, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	_, err = w.WriteString(key.value + "\n") // a pipe holds much more than a key
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return 0, err
	}
	return syscall.Dup(int(r.Fd())) // a duplicate is not closed on exec
}

// ReadKey reads the key that [Setup] or [Replace] hands to a supervisor.
func ReadKey(in io.Reader) (Secret, error) {
	data, err := io.ReadAll(io.LimitReader(in, 4<<10))
	if err != nil {
		return Secret{}, keyMissing("the key did not come", "start the supervisor with termpilot chatgpt setup")
	}
	return newSecret(strings.TrimRight(string(data), "\r\n"), "what setup handed over")
}
