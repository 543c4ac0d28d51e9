package terminaltest

import (
	"slices"
	"strings"

	"termpilot/terminal"
)

func enterIsNoCommand(r *rig) { // TERM-32
	s := r.open()
	w := r.watch(s.ID)
	before := w.prompt()
	r.run(s.ID, "(exit 9)")
	for range 3 {
		r.must(r.b.Send(r.ctx(), s.ID, []byte("\r")))
	}
	seen := map[string]bool{before.ID: true}
	for range 4 { // the one after (exit 9), and one for each Enter
		p := w.until(terminal.PromptShown).Prompt
		if seen[p.ID] {
			r.Errorf("prompt %q is shown twice", p.ID)
		}
		seen[p.ID] = true
	}
	if p := r.run(s.ID, "(exit 7)"); p.Exit == nil || *p.Exit != 7 {
		r.Errorf("after three times Enter: %+v", p)
	}
}

func refusedLine(r *rig) { // TERM-33
	s := r.open()
	w := r.watch(s.ID)
	first := w.prompt()
	r.must(r.b.Send(r.ctx(), s.ID, []byte(RefusedLine+"\r")))
	for {
		e, ok := w.next()
		if !ok {
			r.Fatal("the sequence ended")
		}
		if e.Kind == terminal.Started || e.Kind == terminal.Ended && e.Prompt.Exit != nil && *e.Prompt.Exit == 0 {
			r.Errorf("event %d with %+v for a line that never ran", e.Kind, e.Prompt)
		}
		if e.Kind == terminal.PromptShown {
			if e.Prompt.ID == first.ID {
				r.Errorf("the next prompt is %q again", first.ID)
			}
			break
		}
	}
	p, err := r.b.Prompt(r.ctx(), s.ID, first.ID)
	r.must(err)
	if p.State == terminal.Editing || p.State == terminal.Running {
		r.Errorf("the prompt of the line is in state %d", p.State)
	}
}

// RefusedLine is a line that an interactive bash throws away: "event not found".
const RefusedLine = `echo "a!nosuch"`

func linesAtOnce(r *rig) { // TERM-34
	s := r.open()
	w := r.watch(s.ID)
	w.prompt()
	exits := func(text string, n int) (got []int) {
		r.must(r.b.Send(r.ctx(), s.ID, []byte(text)))
		for range n {
			started := w.until(terminal.Started).Prompt
			ended := w.until(terminal.Ended).Prompt
			if started.ID != ended.ID || ended.Exit == nil {
				r.Fatalf("started %+v, ended %+v", started, ended)
			}
			got = append(got, *ended.Exit)
		}
		w.until(terminal.PromptShown)
		return got
	}
	if got, want := exits("true\rfalse\r(exit 3)\r", 3), []int{0, 1, 3}; !slices.Equal(got, want) {
		r.Errorf("typed at once: got %v, want %v", got, want)
	}
	p, err := r.b.Prompt(r.ctx(), s.ID, "")
	r.must(err)
	if p.Paste == terminal.Yes { // TERM-35
		if got, want := exits("\x1b[200~true\nfalse\n(exit 3)\x1b[201~\r", 1), []int{3}; !slices.Equal(got, want) {
			r.Errorf("pasted: got %v, want %v", got, want)
		}
	}
}

func ctrlC(r *rig) { // TERM-36
	s := r.open()
	w := r.watch(s.ID)
	w.prompt()
	// not a program: while bash starts one, it may keep a Ctrl-C to itself
	r.must(r.b.Send(r.ctx(), s.ID, []byte("printf 'now%s' reading; read x\r")))
	started := w.until(terminal.Started).Prompt
	r.shows(s.ID, "nowreading")
	r.must(r.b.Send(r.ctx(), s.ID, []byte("\x03")))
	ended := w.until(terminal.Ended).Prompt
	if ended.ID != started.ID || ended.Exit == nil || *ended.Exit != 130 {
		r.Errorf("got %+v", ended)
	}
	w.until(terminal.PromptShown)
	r.must(r.b.Send(r.ctx(), s.ID, []byte("half")))
	r.shows(s.ID, "half")
	r.must(r.b.Send(r.ctx(), s.ID, []byte("\x03")))
	if p := w.until(terminal.PromptShown).Prompt; p.Typed == terminal.Yes || p.Touched == terminal.Yes {
		r.Errorf("after Ctrl-C at the prompt: %+v", p)
	}
}

func forgedMarks(r *rig) { // TERM-37
	s := r.open()
	info, _ := r.session(s.ID)
	if info.Marks != terminal.MarksNonce {
		r.Skip("the marks of this backend are not proven")
	}
	w := r.watch(s.ID)
	w.prompt()
	for _, forged := range []string{
		`\033]133;D;7\007\033]133;A\007\033]133;B\007`, `\033]133;C\033\\\033]133;D;0\033\\`,
		`\033]633;D;7\007\033]633;A\007\033]633;B\007`, `\033]1337;ShellIntegrationVersion=99\007\033]133;A;aid=1\007`,
	} {
		r.must(r.b.Send(r.ctx(), s.ID, []byte("printf '"+forged+"'; (exit 4)\r")))
		var kinds []terminal.EventKind
		for len(kinds) == 0 || kinds[len(kinds)-1] != terminal.PromptShown {
			e, ok := w.next()
			if !ok {
				r.Fatal("the sequence ended")
			}
			kinds = append(kinds, e.Kind)
			if e.Kind == terminal.Ended && (e.Prompt.Exit == nil || *e.Prompt.Exit != 4) {
				r.Errorf("%s: ended with %+v", forged, e.Prompt)
			}
		}
		if want := []terminal.EventKind{terminal.Started, terminal.Ended, terminal.PromptShown}; !slices.Equal(kinds, want) {
			r.Errorf("%s: got the events %v, want %v", forged, kinds, want)
		}
	}
}

func outputIsTold(r *rig) { // TERM-38
	s := r.open()
	w := r.watch(s.ID)
	w.prompt()
	r.begin(s.ID, "read -s x; echo late; sleep 60")
	w.until(terminal.Started)
	w.mu.Lock()
	w.queue = nil
	w.mu.Unlock()
	r.must(r.b.Send(r.ctx(), s.ID, []byte("go\r"))) // which does not show
	r.eventually(s.ID, "an Output event", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.ContainsFunc(w.queue, func(e terminal.Event) bool { return e.Kind == terminal.Output })
	})
}

func jobIsTold(r *rig) { // TERM-14
	s := r.open()
	shell, _ := r.session(s.ID)
	if shell.ShellPID == 0 || shell.TTY == "" {
		if shell.Local {
			r.Errorf("a local session has shell %d on %q", shell.ShellPID, shell.TTY)
		}
		r.Skip("this backend does not know the processes")
	}
	r.begin(s.ID, "sleep 60")
	r.eventually(s.ID, "sleep is the job", func() bool {
		info, _ := r.session(s.ID)
		return info.Job == "sleep" && info.JobPID != 0 && info.JobPID != shell.ShellPID && info.ShellPID == shell.ShellPID
	})
	r.must(r.b.Send(r.ctx(), s.ID, []byte("\x03")))
	r.eventually(s.ID, "the shell is the job again", func() bool {
		info, _ := r.session(s.ID)
		return info.Job == shell.Job && info.JobPID == shell.ShellPID
	})
}

func titleAndFolder(r *rig) { // TERM-15
	s := r.open()
	r.begin(s.ID, `printf '\033]2;a\ttitle of\001one \302\205line\007'; read x`)
	r.eventually(s.ID, "a title", func() bool { info, _ := r.session(s.ID); return info.Title != "" })
	info, _ := r.session(s.ID)
	if strings.ContainsFunc(info.Title, func(c rune) bool { return c < 0x20 || c >= 0x7f && c < 0xa0 }) {
		r.Errorf("the title is %q", info.Title)
	}
	w := r.watch(s.ID)
	r.must(r.b.Send(r.ctx(), s.ID, []byte("\r")))
	w.until(terminal.PromptShown)
	r.run(s.ID, "cd /tmp")
	p, err := r.b.Prompt(r.ctx(), s.ID, "")
	r.must(err)
	if p.Cwd != "/tmp" && p.Cwd != "" {
		r.Errorf("after cd /tmp the prompt's folder is %q", p.Cwd)
	}
	if p.Cwd != "" {
		r.eventually(s.ID, "the session's folder is /tmp", func() bool { info, _ := r.session(s.ID); return info.Cwd == "/tmp" })
	}
}

func clearedHistory(r *rig) { // TERM-50
	s := r.open()
	r.run(s.ID, "seq 1 50")
	if before := r.read(s.ID, terminal.Range{}); before.Oldest == before.Top {
		r.Skip("there is no history here")
	}
	r.run(s.ID, `printf '\033[3J'`)
	after := r.read(s.ID, terminal.Range{})
	if after.Oldest != after.Top || len(after.Rows) != int(after.End-after.Top) {
		r.Errorf("oldest %d, top %d, end %d, %d rows", after.Oldest, after.Top, after.End, len(after.Rows))
	}
	p := r.run(s.ID, "seq 1 30")
	if got := strings.TrimSuffix(r.text(s.ID, p.Output), "\n"); got != lines(1, 30) {
		r.Errorf("the next output is %q", got)
	}
}
