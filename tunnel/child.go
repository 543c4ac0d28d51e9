package tunnel

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"termpilot/process"
)

const (
	// pollTime is how long one long poll lasts. tunnel-client tells of a poll when
	// it has returned, so its word is at most this old.
	pollTime = 10 * time.Second
	// endPatience is how long tunnel-client may take to end when it is asked to.
	endPatience = 8 * time.Second
	// maxCalls is how many calls tunnel-client passes on at once. With its own
	// measure of ten, ten commands that run for a minute would hold up a look at
	// the screen.
	maxCalls = 32
	// socketVariable names the MCP socket for the child: a path in a flag would be
	// cut at its commas.
	socketVariable = "TERMPILOT_MCP_SOCKET"
)

// arguments are what tunnel-client is started with: flags alone, which stand
// above its environment and its files. No secret is among them.
func arguments(c Config, f files) []string {
	return []string{
		"run",
		"--control-plane.base-url", c.BaseURL,
		"--control-plane.tunnel-id", c.TunnelID,
		"--control-plane.api-key", "env:" + DefaultKeyVariable,
		"--control-plane.poll-timeout", pollTime.String(),
		"--mcp.max-concurrent-requests", strconv.Itoa(maxCalls),
		"--mcp.server-url", "channel=main,url=http://localhost/mcp,unix-socket=env:" + socketVariable,
		"--health.unix-socket", f.health,
		"--pid.file", f.pid,
		"--log.format", "json",
		"--log.level", "info",
	}
}

// kept are the variables of the user's that the child needs beside those of the
// network. Whatever else is there could override a flag's meaning or leak.
var kept = []string{"HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// network is what an environment says of how the network is reached. A relative
// path is made absolute: neither the supervisor nor the child runs here.
func network(getenv func(string) string) []string {
	var env []string
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy"} {
		value := getenv(name)
		if value == "" {
			continue
		}
		if path, err := filepath.Abs(value); err == nil && name == "SSL_CERT_FILE" {
			value = path
		}
		env = append(env, name+"="+value)
	}
	return env
}

// noCodex is what tunnel-client starts in place of Codex's app server, which it
// otherwise looks for at every start: through the user's login zsh, with its
// whole environment, the key in it, and, where there is no codex, hundreds of
// times a second for 20 s (seen with 0.0.13-dev). This one has no environment,
// says nothing, and ends when tunnel-client does, which holds its input.
const noCodex = "-i tail -n 0"

// environment is the child's.
func environment(f files, key Secret, getenv func(string) string) []string {
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin",
		DefaultKeyVariable + "=" + key.value,
		socketVariable + "=" + f.mcp,
		"TUNNEL_CLIENT_STATE_DIR=" + f.state, "TUNNEL_CLIENT_PROFILE_DIR=" + f.state,
		"XDG_CONFIG_HOME=" + f.state, "CODEX_HOME=" + f.state,
		"TUNNEL_CLIENT_CODEX_APP_SERVER_CMD=env", "TUNNEL_CLIENT_CODEX_APP_SERVER_ARGS=" + noCodex,
	}
	for _, name := range kept {
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	direct := "localhost,127.0.0.1,::1"
	for _, entry := range network(getenv) {
		if name, value, _ := strings.Cut(entry, "="); strings.EqualFold(name, "NO_PROXY") {
			direct += "," + value
			continue
		}
		if file, ok := strings.CutPrefix(entry, "SSL_CERT_FILE="); ok {
			env = append(env, "CA_BUNDLE="+file) // not every system's verifier looks at the other
		}
		env = append(env, entry)
	}
	return append(env, "NO_PROXY="+direct, "no_proxy="+direct)
}

// child is a running tunnel-client.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	end  string        // how; set before done is closed
}

// start runs tunnel-client. It is told to end when the supervisor dies; where
// the system cannot do that, the next supervisor ends what is left behind.
func start(c Config, f files, key Secret, getenv func(string) string, out *listener) (*child, error) {
	cmd := exec.Command(c.Client, arguments(c, f)...)
	cmd.Env = environment(f, key, getenv)
	cmd.Dir = f.folder
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second // a grandchild may keep the pipe
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	began := make(chan error, 1)
	k := &child{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(k.done)
		err := process.StartTied(cmd, syscall.SIGTERM)
		if began <- err; err != nil {
			return
		}
		k.end = describeEnd(cmd.Wait())
	}()
	if err := <-began; err != nil {
		<-k.done
		return nil, err
	}
	return k, nil
}

func describeEnd(err error) string {
	if err == nil {
		return "it ended with status 0"
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return "it was ended by " + ws.Signal().String()
		}
		return "it ended with status " + strconv.Itoa(exit.ExitCode())
	}
	return err.Error()
}

// stop asks the child to end, and makes it end when it does not.
func (k *child) stop() {
	_ = k.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case <-k.done:
		return
	case <-time.After(endPatience):
	}
	_ = k.cmd.Process.Kill()
	<-k.done
}

// endOrphan ends a tunnel-client that a supervisor which was killed has left
// behind: two of them on one tunnel would share its calls. It is ours when its
// number stands in our file and our health socket among its arguments. The
// caller holds the lock.
func endOrphan(ctx context.Context, f files) (pid int, err error) {
	pid, started := orphan(f)
	if pid == 0 {
		return 0, nil
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !process.Alive(pid, started) {
			break
		}
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return pid, err
		}
		if gone(ctx, pid, started, endPatience) {
			break
		}
	}
	_ = os.Remove(f.pid)
	return pid, nil
}

// orphan returns the process that the pid file names, if that is ours; 0 if not.
func orphan(f files) (pid int, started time.Time) {
	data, err := readCapped(f.pid, 64)
	if err != nil {
		return 0, time.Time{}
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 1 {
		return 0, time.Time{}
	}
	p, err := process.Lookup(pid)
	if err != nil || p.State == process.Zombie || !isClient(p.Argv, f) {
		return 0, time.Time{}
	}
	return pid, p.Start
}

func isClient(argv []string, f files) bool {
	for i, word := range argv {
		if word == "--health.unix-socket" && i+1 < len(argv) && argv[i+1] == f.health {
			return true
		}
	}
	return false
}

// gone waits until a process has ended.
func gone(ctx context.Context, pid int, started time.Time, patience time.Duration) bool {
	for end := time.Now().Add(patience); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) { // an end of another's child comes without an event
		if !process.Alive(pid, started) {
			return true
		}
	}
	return false
}

// sameURL reports whether two base URLs are one place.
func sameURL(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Scheme == y.Scheme && x.Host == y.Host && strings.Trim(x.Path, "/") == strings.Trim(y.Path, "/")
}
