package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"termpilot/testneeds"
)

// The figures of the README, each beside something that does the same with
// less around it, in one run on one machine. A benchmark never fails for being
// slow.

// asker is the leanest stdio client: it writes a line and reads a line.
type asker struct {
	cmd *exec.Cmd
	out *bufio.Reader
	in  interface{ Write([]byte) (int, error) }
	end func()
}

func ask(b *testing.B, env []string, name string, args ...string) *asker {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = env
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return &asker{cmd, bufio.NewReaderSize(out, 1<<20), in, func() { in.Close(); _ = cmd.Wait() }}
}

func (a *asker) call(b *testing.B, line string) []byte {
	b.Helper()
	if _, err := a.in.Write([]byte(line + "\n")); err != nil {
		b.Fatal(err)
	}
	for {
		answer, err := a.out.ReadBytes('\n')
		if err != nil {
			b.Fatal(err)
		}
		if bytes.Contains(answer, []byte(`"id"`)) {
			return answer
		}
	}
}

const (
	hello     = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`
	ready     = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	listTools = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// firstAnswer starts a server and times it until tools/list is answered.
func firstAnswer(b *testing.B, env []string, name string, args ...string) (took time.Duration, rss float64) {
	b.Helper()
	began := time.Now()
	a := ask(b, env, name, args...)
	defer a.end()
	a.call(b, hello)
	if _, err := a.in.Write([]byte(ready + "\n")); err != nil {
		b.Fatal(err)
	}
	a.call(b, listTools)
	took = time.Since(began)
	return took, residentMiB(a.cmd.Process.Pid)
}

func residentMiB(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kib float64
	fmt.Sscan(rest, &kib)
	return kib / 1024
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkStart is from start to the answer of tools/list, beside a bare SDK server.
func BenchmarkStart(b *testing.B) {
	bare := filepath.Join(b.TempDir(), "hello")
	if out, err := exec.Command("go", "build", "-o", bare, "./testdata/hello").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	h := newHome(b)
	var ours, theirs []time.Duration
	var rss, bareRSS float64
	for b.Loop() {
		var t time.Duration
		t, rss = firstAnswer(b, h.env(), binary, "serve")
		ours = append(ours, t)
		t, bareRSS = firstAnswer(b, h.env(), bare)
		theirs = append(theirs, t)
	}
	b.ReportMetric(float64(median(ours).Microseconds())/1000, "ms/start")
	b.ReportMetric(float64(median(theirs).Microseconds())/1000, "ms/bare")
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "x-bare")
	b.ReportMetric(rss, "MiB")
	b.ReportMetric(bareRSS, "MiB-bare")
}

// bareShell is a shell with our script and nothing around it, yet to be started.
func bareShell(b *testing.B, h home, shell string) *exec.Cmd {
	b.Helper()
	script, err := exec.Command(binary, "shell", "print", shell).Output()
	if err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp(h.dir, "bare")
	if err != nil {
		b.Fatal(err)
	}
	rc := filepath.Join(dir, "rc")
	cmd := exec.Command("bash", "--noprofile", "--rcfile", rc, "-i")
	env := append(h.env(), "TERM=xterm-256color")
	switch shell {
	case "zsh":
		rc = filepath.Join(dir, ".zshrc")
		cmd, env = exec.Command("zsh", "-i"), append(env, "ZDOTDIR="+dir)
	case "fish":
		cmd = exec.Command("fish", "--no-config", "-i", "-C", "source "+rc)
	}
	if err := os.WriteFile(rc, script, 0o600); err != nil {
		b.Fatal(err)
	}
	cmd.Env = env
	return cmd
}

// barePTY is such a shell on a PTY of its own.
type barePTY struct {
	tty *os.File
	out *bufio.Reader
}

func startBare(b *testing.B, h home, shell string) *barePTY {
	b.Helper()
	cmd := bareShell(b, h, shell)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { tty.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p := &barePTY{tty, bufio.NewReader(tty)}
	p.until(b, "133;B")
	return p
}

func (p *barePTY) until(b *testing.B, mark string) {
	b.Helper()
	var seen []byte
	for {
		c, err := p.out.ReadByte()
		if err != nil {
			b.Fatal(err)
		}
		if seen = append(seen, c); bytes.HasSuffix(seen, []byte(mark)) {
			return
		}
	}
}

func (p *barePTY) run(b *testing.B, command string) {
	b.Helper()
	if _, err := p.tty.WriteString(command + "\r"); err != nil {
		b.Fatal(err)
	}
	p.until(b, "133;D")
	p.until(b, "133;B")
}

// startRelay is the way of a command through three processes that do nothing but
// hand it on: what is above it is ours. See testdata/relay.
func startRelay(b *testing.B, h home, shell string) *asker {
	b.Helper()
	dir, err := os.MkdirTemp(h.dir, "relay")
	if err != nil {
		b.Fatal(err)
	}
	relay, socket := filepath.Join(dir, "relay"), filepath.Join(dir, "s")
	if out, err := exec.Command("go", "build", "-o", relay, "./testdata/relay").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	inner := bareShell(b, h, shell)
	outer := ask(b, inner.Env, relay, append([]string{"host", socket}, inner.Args...)...)
	if line, err := outer.out.ReadString('\n'); line != "ready\n" {
		b.Fatalf("%q, %v", line, err)
	}
	b.Cleanup(outer.end)
	a := ask(b, h.env(), relay, "serve", socket)
	b.Cleanup(a.end)
	return a
}

func (a *asker) echo(b *testing.B, line string) {
	b.Helper()
	if _, err := a.in.Write([]byte(line + "\n")); err != nil {
		b.Fatal(err)
	}
	if answer, err := a.out.ReadString('\n'); answer != line+"\n" {
		b.Fatalf("%q, %v", answer, err)
	}
}

// BenchmarkRunTrue is `true` through MCP, beside typing it into the same shell
// over a bare PTY and reading its marks, and beside the same way through three
// processes that do nothing with it.
func BenchmarkRunTrue(b *testing.B) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		b.Run(shell, func(b *testing.B) {
			testneeds.Program(b, shell)
			runTrue(b, shell)
		})
	}
}

func runTrue(b *testing.B, shell string) {
	h := newHome(b)
	p := startBare(b, h, shell)
	a := ask(b, h.env(), binary, "serve")
	b.Cleanup(a.end)
	a.call(b, hello)
	id := sessionID(b, a.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_window","arguments":{"profile":%q}}}`, shell)))
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_command","arguments":{"session_id":%q,"command":"true"}}}`, id)
	way := startRelay(b, h, shell)
	var ours, theirs, floor []time.Duration
	for b.Loop() {
		began := time.Now()
		if answer := a.call(b, line); !bytes.Contains(answer, []byte(`"exit_code":0`)) {
			b.Fatalf("%s", answer)
		}
		ours = append(ours, time.Since(began))
		began = time.Now()
		p.run(b, "true")
		theirs = append(theirs, time.Since(began))
		began = time.Now()
		way.echo(b, "true")
		floor = append(floor, time.Since(began))
	}
	b.ReportMetric(float64(median(ours).Microseconds())/1000, "ms/run")
	b.ReportMetric(float64(median(theirs).Microseconds())/1000, "ms/bare")
	b.ReportMetric(float64(median(floor).Microseconds())/1000, "ms/relay")
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "x-bare")
}

func sessionID(b *testing.B, answer []byte) string {
	b.Helper()
	var m struct {
		Result struct {
			Structured struct {
				ID string `json:"session_id"`
			} `json:"structuredContent"`
		}
	}
	if err := json.Unmarshal(answer, &m); err != nil || m.Result.Structured.ID == "" {
		b.Fatalf("%v in %s", err, answer)
	}
	return m.Result.Structured.ID
}

// BenchmarkListTwoHundred is list_sessions with 200 sessions open, beside one.
func BenchmarkListTwoHundred(b *testing.B) {
	h := newHome(b)
	a := ask(b, h.env(), binary, "serve")
	b.Cleanup(a.end)
	a.call(b, hello)
	const list = `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_sessions","arguments":{}}}`
	open := func(n int) {
		for range n {
			sessionID(b, a.call(b, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_window","arguments":{"profile":"bash"}}}`))
		}
	}
	timed := func() time.Duration {
		var all []time.Duration
		for range 20 {
			began := time.Now()
			a.call(b, list)
			all = append(all, time.Since(began))
		}
		return median(all)
	}
	open(1)
	one := timed()
	open(199)
	var many []time.Duration
	for b.Loop() {
		many = append(many, timed())
	}
	b.ReportMetric(float64(median(many).Microseconds())/1000, "ms/list-200")
	b.ReportMetric(float64(one.Microseconds())/1000, "ms/list-1")
	b.ReportMetric(float64(median(many))/float64(one), "x-one")
}

// BenchmarkFiftyMegabytes is 50 MB of output through a session, beside the same
// command on a bare PTY whose output is thrown away; meanwhile another session
// is read, and the longest such read is told.
func BenchmarkFiftyMegabytes(b *testing.B) {
	const flood = "yes 0123456789abcdef | head -c 50000000"
	h := newHome(b)
	p := startBare(b, h, "bash")
	a := ask(b, h.env(), binary, "serve")
	b.Cleanup(a.end)
	reader := ask(b, h.env(), binary, "serve")
	b.Cleanup(reader.end)
	a.call(b, hello)
	reader.call(b, hello)
	open := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_window","arguments":{"profile":"bash"}}}`
	id, quiet := sessionID(b, a.call(b, open)), sessionID(b, a.call(b, open))
	host := hostPID(b, h)
	run := fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_command","arguments":{"session_id":%q,"command":%q,"timeout_seconds":50}}}`, id, flood)
	read := fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_terminal","arguments":{"session_id":%q}}}`, quiet)
	var ours, theirs, longest time.Duration
	before := residentMiB(host)
	peak := before
	n := 0
	for b.Loop() {
		n++
		done := make(chan time.Duration)
		go func() {
			began := time.Now()
			a.call(b, run)
			done <- time.Since(began)
		}()
	reading:
		for {
			began := time.Now()
			reader.call(b, read)
			longest = max(longest, time.Since(began))
			peak = max(peak, residentMiB(host))
			select {
			case d := <-done:
				ours += d
				break reading
			case <-time.After(10 * time.Millisecond):
			}
		}
		began := time.Now()
		p.run(b, flood)
		theirs += time.Since(began)
	}
	b.ReportMetric(50*float64(n)/ours.Seconds(), "MB/s")
	b.ReportMetric(50*float64(n)/theirs.Seconds(), "MB/s-bare")
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "x-bare")
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest-read")
	b.ReportMetric(peak-before, "MiB-grown")
	runtime.KeepAlive(p)
}

func hostPID(b *testing.B, h home) int {
	b.Helper()
	cmd := exec.Command(binary, "host", "status", "--json")
	cmd.Env = h.env()
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var status struct{ PID int }
	if err := json.Unmarshal(out, &status); err != nil {
		b.Fatal(err)
	}
	return status.PID
}
