package shellint

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"termpilot/terminal"
	"termpilot/testneeds"
)

const testNonce = "Zq7canary0123456789"

// patience is how long a shell may take for one step on a slow machine.
const patience = 20 * time.Second

// session is a shell in a pseudo-terminal, with the smallest possible
// terminal: it collects the stream and feeds the marks in it to a Machine, the
// positions being offsets in the stream plus one.
type session struct {
	t    testing.TB
	home string
	dir  string // the session's folder
	cmd  *exec.Cmd
	tty  *os.File

	mu      sync.Mutex
	news    chan struct{} // closed and replaced whenever something came
	stream  []byte
	scanned int
	marks   []Mark
	changes []Change
	machine *Machine
	ended   bool
}

type setup struct {
	nonce   string            // "" is testNonce; "none" is no nonce
	files   map[string]string // in HOME
	env     []string
	folder  string // the beginning of the folder's name
	old     bool   // bash: as if it was older than 4.4
	rcfile  bool   // bash: as Apple's gets it
	install bool   // with Install done in HOME
	plain   bool   // the shell without our script
}

// eachShell runs a test in every shell that is installed.
func eachShell(t *testing.T, test func(t *testing.T, shell string)) {
	t.Helper()
	for _, s := range Shells() {
		t.Run(s.Name, func(t *testing.T) {
			testneeds.Program(t, s.Name)
			test(t, s.Name)
		})
	}
}

// start starts a shell in a HOME of its own.
func start(t testing.TB, shell string, with setup) *session {
	t.Helper()
	s := &session{t: t, home: t.TempDir(), news: make(chan struct{})}
	// Where this is missing, fish makes it in the background, past its own end.
	if err := os.MkdirAll(filepath.Join(s.home, ".local/share/fish/generated_completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range with.files {
		path := filepath.Join(s.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if with.install {
		if _, err := Install(shell, s.home); err != nil {
			t.Fatal(err)
		}
	}
	nonce := testNonce
	switch with.nonce {
	case "":
	case "none":
		nonce = ""
	default:
		nonce = with.nonce
	}
	path := testneeds.Program(t, shell)
	env := append([]string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "USER=tester", "SHELL=" + path,
	}, with.env...)
	argv := []string{path, "-l"}
	if with.install && shell == "bash" {
		argv = []string{path, "-i"} // .bashrc is read by bash itself
	}
	if !with.plain {
		s.dir = filepath.Join(t.TempDir(), with.folder+"session")
		if err := os.Mkdir(s.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		var ok bool
		var err error
		if argv, env, ok, err = Inject(path, s.dir, nonce, env); err != nil || !ok {
			t.Fatal(ok, err)
		}
	} else {
		if _, set := lookup(env, "TERM_PROGRAM"); !set {
			env = append(env, "TERM_PROGRAM="+HostProgram)
		}
	}
	if with.old {
		script := filepath.Join(s.dir, "termpilot.bash")
		text, err := os.ReadFile(script)
		if err != nil || !bytes.Contains(text, []byte("< 404")) {
			t.Fatal(err)
		}
		if err := os.WriteFile(script, bytes.Replace(text, []byte("< 404"), []byte("< 9900"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if with.rcfile {
		argv = []string{path, "--rcfile", filepath.Join(s.dir, "boot.bash")}
		env = without(env, "ENV")
	}
	s.machine = NewMachine(nonce)
	s.cmd = &exec.Cmd{Path: path, Args: argv, Env: env, Dir: s.home}
	file, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	s.tty = pollable(t, file)
	done := make(chan struct{})
	go s.read(done)
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_ = s.tty.Close()
		<-done
		if t.Failed() {
			t.Logf("stream: %q", s.stream[max(0, len(s.stream)-1500):])
		}
	})
	return s
}

// pollable returns the file such that Close ends a Read of it.
func pollable(t testing.TB, file *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	_ = file.Close()
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "pty")
}

func (s *session) read(done chan struct{}) {
	defer close(done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.stream = append(s.stream, buf[:n]...)
		s.scan()
		s.ended = err != nil
		close(s.news)
		s.news = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

var commandSequence = regexp.MustCompile(`\x1b\](\d+);([^\x07\x1b]*)(?:\x07|\x1b\\)`)

// scan feeds the complete marks that came.
func (s *session) scan() {
	for {
		at := commandSequence.FindSubmatchIndex(s.stream[s.scanned:])
		if at == nil {
			return
		}
		rest := s.stream[s.scanned:]
		number := 0
		for _, c := range rest[at[2]:at[3]] {
			number = number*10 + int(c-'0')
		}
		mark, ok := Parse(number, rest[at[4]:at[5]])
		position := uint64(s.scanned+at[0]) + 1
		s.scanned += at[1]
		if ok {
			s.marks = append(s.marks, mark)
			s.changes = append(s.changes, s.machine.Feed(mark, position)...)
		}
	}
}

// await waits until the condition holds, which is looked at under the lock whenever something came.
func (s *session) await(what string, condition func() bool) {
	s.t.Helper()
	if !s.within(patience, what, condition) {
		s.t.Fatalf("waited in vain for %s", what)
	}
}

func (s *session) within(limit time.Duration, what string, condition func() bool) bool {
	s.t.Helper()
	deadline := time.After(limit)
	for {
		s.mu.Lock()
		ok, ended, news := condition(), s.ended, s.news
		s.mu.Unlock()
		switch {
		case ok:
			return true
		case ended:
			s.t.Fatalf("the shell ended while waiting for %s", what)
		}
		select {
		case <-news:
		case <-deadline:
			return false
		}
	}
}

func (s *session) send(text string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// prompt waits until a prompt stands and returns it.
func (s *session) prompt() Prompt {
	s.t.Helper()
	var p Prompt
	s.await("a prompt", func() bool { p = s.machine.Last(); return p.State == terminal.Editing })
	return p
}

// last is the machine's last prompt, at a moment when the shell may print.
func (s *session) last() Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.Last()
}

// run types a line at a prompt and returns how its prompt ended, and what was
// printed between its marks, when the next prompt stands.
func (s *session) run(line string) (Prompt, string) {
	s.t.Helper()
	return s.keys(line + "\r")
}

func (s *session) keys(keys string) (Prompt, string) {
	s.t.Helper()
	id := s.prompt().ID
	s.send(keys)
	return s.after(id)
}

// interrupt presses Ctrl-C at a prompt until the shell reacts. All three shells
// may put off a Ctrl-C that comes while they handle the key before it until
// another key comes.
func (s *session) interrupt(id string) (Prompt, string) {
	s.t.Helper()
	for range 20 {
		s.send("\x03")
		if s.within(time.Second, "Ctrl-C", func() bool { p, _ := s.machine.Prompt(id); return p.State == terminal.Finished }) {
			break
		}
	}
	return s.after(id)
}

// after waits until the prompt has finished and the next one stands.
func (s *session) after(id string) (Prompt, string) {
	s.t.Helper()
	var p Prompt
	s.await("the end of "+id, func() bool {
		p, _ = s.machine.Prompt(id)
		last := s.machine.Last()
		return p.State == terminal.Finished && last.ID != id && last.State == terminal.Editing
	})
	return p, s.output(p)
}

// end waits until the shell has ended, and returns how.
func (s *session) end() error {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		s.t.Fatal("the shell does not end")
		return nil
	}
}

// output is what stands between the marks of a prompt, without control sequences.
func (s *session) output(p Prompt) string {
	if p.OutputStart == 0 || p.OutputEnd < p.OutputStart {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.strip(p, s.stream[p.OutputStart-1:p.OutputEnd-1])
}

var controls = regexp.MustCompile(`\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()].|[\x0e\x0f]`)

// strip cuts zsh's filler as a host would, and removes control sequences.
func (s *session) strip(p Prompt, raw []byte) string {
	text := string(controls.ReplaceAll(raw, nil))
	if p.HasEOL {
		if before, _, found := strings.Cut(text, p.EOL+strings.Repeat(" ", 80-len(p.EOL))); found {
			text = before
		}
	}
	return strings.TrimLeft(strings.ReplaceAll(text, "\r\n", "\n"), "\r")
}

func status(p Prompt) int {
	if p.Exit == nil {
		return -1
	}
	return *p.Exit
}

// visible is the stream without control sequences and carriage returns.
func (s *session) visible() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plainText()
}

// plainText is visible, for conditions, which hold the lock.
func (s *session) plainText() string {
	return strings.ReplaceAll(string(controls.ReplaceAll(bytes.Clone(s.stream), nil)), "\r", "")
}

// letters writes the 133 marks that came after the first n marks, as "A B C D;0".
func (s *session) letters(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, m := range s.marks[n:] {
		text := map[Kind]string{PromptStart: "A", PromptEnd: "B", OutputStart: "C", CommandEnd: "D"}[m.Kind]
		if m.Secondary {
			text += ";k=s"
		}
		if m.HasExit {
			text += ";" + strconv.Itoa(m.Exit)
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

// seen is how many marks came so far.
func (s *session) seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.marks)
}
