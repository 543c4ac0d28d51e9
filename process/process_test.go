package process

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"termpilot/testneeds"
)

// testPatience is the longest that a test waits for a process to do its thing.
const testPatience = 20 * time.Second

// person is a shell on a pseudoterminal, and the hands that type into it.
type person struct {
	*testing.T
	master *os.File
	tty    string
	shell  int
	out    chan string // lines that were printed
}

// sit starts an interactive bash that knows job control.
func sit(t *testing.T) *person {
	t.Helper()
	bash := testneeds.Program(t, "bash")
	cmd := exec.Command(bash, "--norc", "--noprofile", "-i")
	cmd.Env = append(os.Environ(), "PS1=$ ", "TERM=dumb", "HISTFILE=")
	cmd.Dir = t.TempDir()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	master = pollable(t, master)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &person{T: t, master: master, tty: slave.Name(), shell: cmd.Process.Pid, out: make(chan string, 1000)}
	slave.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(p.out)
		lines := bufio.NewScanner(master)
		for lines.Scan() {
			p.out <- strings.TrimSpace(lines.Text())
		}
	}()
	t.Cleanup(func() {
		scope, _ := snapshot(t).Scope(p.shell) // at once, since the shell's end frees the terminal
		for _, q := range scope {
			_ = syscall.Kill(q.PID, syscall.SIGKILL)
		}
		master.Close()
		_ = cmd.Wait()
		for range p.out {
		}
		<-done
	})
	return p
}

func snapshot(t *testing.T) *Table {
	t.Helper()
	table, err := Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// pollable returns the same terminal as a file whose Close ends a Read that waits.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		err = syscall.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

func (p *person) types(text string) {
	p.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		p.Fatal(err)
	}
}

// reads waits for a line that matches, and returns its first group.
func (p *person) reads(pattern string) string {
	p.Helper()
	re, timeout := regexp.MustCompile(pattern), time.After(testPatience)
	for {
		select {
		case line := <-p.out:
			if m := re.FindStringSubmatch(line); m != nil {
				return m[len(m)-1]
			}
		case <-timeout:
			p.Fatalf("no line matches %s", pattern)
		}
	}
}

// sees looks until something is so.
func (p *person) sees(what string, so func() bool) {
	p.Helper()
	timeout, tick := time.After(testPatience), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-timeout:
			p.Fatalf("never seen: %s", what)
		}
	}
}

func (p *person) foreground(name string) (pid int) {
	p.Helper()
	p.sees(name+" in the foreground", func() bool {
		group, err := Foreground(p.shell)
		if err != nil {
			p.Fatal(err)
		}
		got, err := Name(group)
		pid = group
		// Both ways to ask agree, once the fork has become the program.
		front, of, failed := Front(p.shell)
		return err == nil && got == name && failed == nil && front == group && of == name
	})
	return pid
}

func TestForegroundFollowsTheJobs(t *testing.T) {
	p := sit(t)
	if got := p.foreground("bash"); got != p.shell {
		t.Errorf("the shell is %d, the foreground %d", p.shell, got)
	}
	p.types("sleep 1000\r")
	job := p.foreground("sleep")
	if job == p.shell {
		t.Error("the job has the shell's group")
	}
	var q Process
	p.sees("the job's command line", func() bool { // exec(2) sets it after the name
		var err error
		if q, err = Lookup(job); err != nil {
			t.Fatal(err)
		}
		return len(q.Argv) > 0
	})
	if q.PID != job || q.PGID != job || q.PPID != p.shell || q.State != Running || !slices.Equal(q.Argv, []string{"sleep", "1000"}) {
		t.Errorf("got %+v", q)
	}
	if ago := time.Since(q.Start); ago < -time.Second || ago > 2*testPatience {
		t.Errorf("started %v ago", ago)
	}
	p.types("\x1a")
	p.foreground("bash")
	p.sees("the job stopped", func() bool { q, _ := Lookup(job); return q.State == Stopped })
	p.types("fg\r")
	p.foreground("sleep")
	p.sees("the job continued", func() bool { q, _ := Lookup(job); return q.State == Running }) // the shell gives it the terminal first
	again, err := Lookup(job)
	if err != nil || !again.Start.Equal(q.Start) || again.State != Running {
		t.Errorf("the continued job is %+v (%v), was %+v", again, err, q)
	}
	p.types("\x03")
	p.foreground("bash")
	if _, err := Lookup(job); !errors.Is(err, ErrGone) {
		t.Errorf("the interrupted job: %v", err)
	}
}

func TestTheTerminalOfAProcessHasAllThatRunsOnIt(t *testing.T) {
	p := sit(t)
	p.foreground("bash")
	p.types("sleep 1001 & sleep 1002 & setsid sh -c 'echo sid=$$; exec sleep 1003' &\r")
	apart, _ := strconv.Atoi(p.reads(`sid=(\d+)`))
	t.Cleanup(func() { _ = syscall.Kill(apart, syscall.SIGKILL) })
	if _, err := Foreground(apart); !errors.Is(err, ErrNoTTY) {
		t.Errorf("the child in its own session: %v", err)
	}
	table := snapshot(t)
	names := func(list []Entry) string {
		var names []string
		for _, e := range list {
			names = append(names, e.Name)
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	p.sees("both jobs", func() bool {
		table = snapshot(t)
		return names(table.Where(func(e Entry) bool { return e.PPID == p.shell })) == "sleep sleep"
	})
	shell, err := table.Of(p.shell)
	if err != nil {
		t.Fatal(err)
	}
	for what, of := range map[string]func(Entry) bool{
		"on its terminal": func(e Entry) bool { return e.TTY == shell.TTY },
		"in its session":  func(e Entry) bool { return e.SID == p.shell },
	} {
		list := table.Where(of)
		if names(list) != "bash sleep sleep" || slices.ContainsFunc(list, func(e Entry) bool { return e.PID == apart }) {
			t.Errorf("%s: %+v", what, list)
		}
	}
}

func TestFlagsTellAPasswordFromALineAndAnEditor(t *testing.T) {
	p := sit(t)
	flags := func(what string, want TTY) {
		t.Helper()
		p.sees(what, func() bool {
			got, err := Flags(p.tty)
			if err != nil {
				t.Fatal(err)
			}
			return got == want
		})
	}
	flags("the line editor", TTY{})
	p.types("cat\r")
	flags("a program that reads lines", TTY{Echo: true, Canonical: true})
	p.types("\x04")
	flags("the line editor again", TTY{})
	p.types("read -s password\r")
	flags("a password", TTY{Canonical: true})
	p.types("x\r")
	flags("the line editor after the password", TTY{})
	p.types("stty raw -echo; sleep 1000\r")
	p.foreground("sleep")
	flags("a raw terminal", TTY{})
}

func TestReadsFindsTheProgramThatWaitsForInput(t *testing.T) {
	p := sit(t)
	p.foreground("bash")
	p.types("cat\r")
	cat := p.foreground("cat")
	if _, known := Reads(cat, p.tty); !known {
		t.Skip("this system does not tell")
	}
	p.sees("cat reads", func() bool { reads, known := Reads(cat, p.tty); return reads && known })
	p.types("\x04")
	p.foreground("bash")
	p.types("cat < /dev/tty\r")
	cat = p.foreground("cat")
	p.sees("cat reads /dev/tty", func() bool { reads, known := Reads(cat, p.tty); return reads && known })
	p.types("\x04")
	p.foreground("bash")
	p.types("sleep 1000 | cat\r")
	job := p.foreground("sleep")
	p.sees("cat in the group", func() bool {
		job := snapshot(t).Where(func(e Entry) bool { return e.PPID == p.shell })
		return len(job) == 2 && !slices.ContainsFunc(job, func(e Entry) bool { return e.Name == "bash" }) // the fork has become the program
	})
	if reads, known := Reads(job, p.tty); reads || !known {
		t.Errorf("a cat that reads a pipe: %v, known %v", reads, known)
	}
	if reads, known := Reads(cat, "/dev/null"); reads {
		t.Errorf("of another terminal: %v, known %v", reads, known)
	}
}

func TestAZombieIsNotTakenForALiveProcess(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	p := &person{T: t}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	p.sees("the zombie", func() bool { q, err := Lookup(pid); return err == nil && q.State == Zombie })
	q, err := Lookup(pid)
	if err != nil || q.Argv != nil || q.Name != "sleep" {
		t.Errorf("got %+v (%v)", q, err)
	}
	_ = cmd.Wait()
	if _, err := Lookup(pid); !errors.Is(err, ErrGone) {
		t.Errorf("after it was collected: %v", err)
	}
}

func TestAnUglyNameAndALongCommandLineAreRead(t *testing.T) {
	dir := t.TempDir()
	sleep, _ := filepath.EvalSymlinks(testneeds.Program(t, "sleep"))
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	ugly := filepath.Join(dir, "a) S 1 (b c")
	if err := os.WriteFile(ugly, program, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(ugly, slices.Repeat([]string{"1000"}, 30000)...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Skip(err) // the files of a temporary folder may not be run
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	var q Process
	(&person{T: t}).sees("the command line", func() bool { // exec(2) sets it after the name
		q, err = Lookup(cmd.Process.Pid)
		return err != nil || len(q.Argv) > 0
	})
	if err != nil {
		t.Fatal(err)
	}
	size := len(strings.Join(q.Argv, " "))
	if q.Name != "a) S 1 (b c" || q.PPID != os.Getpid() || q.Cwd != dir || size > MaxArgv || size < MaxArgv-10 {
		t.Errorf("got name %q, parent %d, folder %q, %d bytes of command line", q.Name, q.PPID, q.Cwd, size)
	}
}

func TestWhatIsNoTerminalIsSaidToBeNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "pts/0", file, "/dev/null", "/dev/nosuch", "/dev/../etc/passwd", "/dev", "\x00"} {
		if _, err := Flags(path); path != "\x00" && !errors.Is(err, ErrNoTTY) {
			t.Errorf("flags of %q: %v", path, err)
		}
	}
	for _, pid := range []int{0, -1, 1 << 30, 1 << 40} {
		if _, err := Lookup(pid); !errors.Is(err, ErrGone) {
			t.Errorf("process %d: %v", pid, err)
		}
		if _, err := Foreground(pid); !errors.Is(err, ErrGone) {
			t.Errorf("foreground of %d: %v", pid, err)
		}
		if _, _, err := Front(pid); !errors.Is(err, ErrGone) {
			t.Errorf("front of %d: %v", pid, err)
		}
		if _, err := Name(pid); !errors.Is(err, ErrGone) {
			t.Errorf("name of %d: %v", pid, err)
		}
	}
}

func TestThisProcessKnowsItself(t *testing.T) {
	q, err := Lookup(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := os.Getwd()
	if q.PID != os.Getpid() || q.PPID != os.Getppid() || q.PGID != syscall.Getpgrp() || q.Cwd != dir || !slices.Equal(q.Argv, os.Args) {
		t.Errorf("got %+v", q)
	}
}

func BenchmarkForeground(b *testing.B) {
	for b.Loop() {
		_, _ = Foreground(os.Getpid())
	}
}

func BenchmarkFront(b *testing.B) {
	for b.Loop() {
		_, _, _ = Front(os.Getpid())
	}
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		_, _ = Lookup(os.Getpid())
	}
}

func BenchmarkName(b *testing.B) {
	for b.Loop() {
		_, _ = Name(os.Getpid())
	}
}

func BenchmarkReads(b *testing.B) {
	for b.Loop() {
		_, _ = Reads(syscall.Getpgrp(), "/dev/ptmx")
	}
}

func TestAProcessIsKnownByWhatItWasStartedWith(t *testing.T) {
	value := strconv.Itoa(os.Getpid())
	cmd := exec.Command(testneeds.Program(t, "sleep"), "60")
	cmd.Env = append(os.Environ(), "PROCESS_TEST="+value)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	path, err := Executable(cmd.Process.Pid)
	if runtime.GOOS == "darwin" {
		if err == nil {
			t.Errorf("got %q: this system tells it after all", path)
		}
		return
	}
	if filepath.Base(path) == filepath.Base(os.Args[0]) || !filepath.IsAbs(path) || err != nil {
		t.Errorf("its program: %q, %v", path, err)
	}
	got, known := Variable(cmd.Process.Pid, "PROCESS_TEST")
	for end := time.Now().Add(testPatience); !known && time.Now().Before(end); { // exec returns before it has one
		got, known = Variable(cmd.Process.Pid, "PROCESS_TEST")
	}
	if got != value || !known {
		t.Errorf("its variable: %q, known %v", got, known)
	}
	if got, known := Variable(cmd.Process.Pid, "PROCESS_TES"); got != "" || !known {
		t.Errorf("another variable: %q, known %v", got, known)
	}
	if _, err := Executable(1 << 30); !errors.Is(err, ErrGone) {
		t.Errorf("of no process: %v", err)
	}
}
