package pilot

import (
	"slices"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/process"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

// atPrompt is the facts of a proven, empty prompt.
func atPrompt(marks terminal.Marks) facts {
	return facts{
		marks: marks, broadcast: terminal.No, front: frontShell, name: "bash", echo: terminal.No, canonical: terminal.No,
		prompt: terminal.Prompt{ID: "p", State: terminal.Editing, Marks: marks, Typed: terminal.No},
	}
}

func TestGateSaysWhatASessionDoes(t *testing.T) {
	nonce, plain := terminal.MarksNonce, terminal.MarksPlain
	state := func(s terminal.PromptState) func(*facts) { return func(f *facts) { f.prompt.State = s } }
	in := func(kind front, name string) func(*facts) { return func(f *facts) { f.front, f.name = kind, name } }
	cooked := func(f *facts) { f.echo, f.canonical = terminal.Yes, terminal.Yes }
	secret := func(f *facts) { f.echo, f.canonical = terminal.No, terminal.Yes }
	unknownTTY := func(f *facts) { f.echo, f.canonical = terminal.Unknown, terminal.Unknown }
	full := func(f *facts) { f.alternate = true }
	reads := func(f *facts) { f.reads = terminal.Yes }
	paste := func(f *facts) { f.prompt.Paste = terminal.Yes }
	for _, c := range []struct {
		name     string
		marks    terminal.Marks
		change   []func(*facts)
		want     ReadyState
		evidence string
		reason   string
	}{
		{"proven prompt", nonce, nil, Ready, "marks nonce foreground tty", ""},                                                                // GATE-1, GATE-10
		{"plain prompt", plain, nil, Ready, "marks foreground tty", ""},                                                                       // GATE-2
		{"plain prompt in ssh", plain, []func(*facts){in(frontCarrier, "ssh")}, Ready, "marks foreground: ssh tty", "ssh"},                    // GATE-2
		{"plain prompt of a nested shell", plain, []func(*facts){in(frontNested, "zsh")}, Ready, "marks foreground: zsh tty", ""},             // GATE-2
		{"plain prompt, unknown tty", plain, []func(*facts){unknownTTY}, Ready, "marks foreground", ""},                                       // GATE-10
		{"plain prompt in line mode", plain, []func(*facts){cooked}, Unverified, "marks foreground", "line mode"},                             // GATE-2
		{"plain prompt, unknown front", plain, []func(*facts){in(frontUnknown, "")}, Unverified, "marks tty", ""},                             // GATE-2
		{"plain prompt, vim in front", plain, []func(*facts){in(frontOther, "vim")}, Unverified, "marks tty", "vim"},                          // GATE-5
		{"proven prompt without line editor", nonce, []func(*facts){cooked}, Ready, "marks nonce foreground", ""},                             // GATE-2
		{"proven prompt, fzf in front", nonce, []func(*facts){in(frontOther, "fzf")}, BusyState, "marks nonce tty", "fzf"},                    // GATE-5
		{"proven prompt, unknown front", nonce, []func(*facts){in(frontUnknown, "")}, Ready, "marks nonce tty", ""},                           // GATE-2
		{"password at a prompt", nonce, []func(*facts){secret}, Password, "marks nonce foreground", ""},                                       // GATE-3
		{"password while running", plain, []func(*facts){secret, state(terminal.Running), in(frontOther, "sudo")}, Password, "marks", "sudo"}, // GATE-3
		{"typed text", nonce, []func(*facts){func(f *facts) { f.prompt.Typed = terminal.Yes }}, TypedText, "marks nonce foreground tty", ""},  // GATE-4
		{"typed, by its text", plain, []func(*facts){func(f *facts) { f.prompt.Command = "ls" }}, TypedText, "marks foreground tty", ""},      // GATE-4
		{"typed unknown", nonce, []func(*facts){func(f *facts) { f.prompt.Typed = 0 }}, Unverified, "marks nonce foreground tty", "empty"},    // GATE-4
		{"continuation", nonce, []func(*facts){state(terminal.Continuation)}, Continuation, "marks nonce foreground tty", ""},                 // GATE-4
		{"no marks", terminal.MarksNone, []func(*facts){state(terminal.NoPrompt)}, NoIntegration, "foreground tty", ""},                       // GATE-6
		{"lost marks", terminal.MarksLost, nil, NoIntegration, "foreground tty", "lost"},                                                      // GATE-6
		{"lost while running", nonce, []func(*facts){state(terminal.Running), paste}, NoIntegration, "marks nonce foreground tty", "lost"},    // GATE-6
		{"a command of its own", terminal.MarksNone, []func(*facts){state(terminal.NoPrompt), cooked, in(frontOther, "make")}, BusyState, "", "make"},
		{"a session for a command", terminal.MarksNone, []func(*facts){state(terminal.NoPrompt), cooked, in(frontShell, "sleep")}, BusyState, "", "sleep"},            // GATE-8
		{"a session for a reader", terminal.MarksNone, []func(*facts){state(terminal.NoPrompt), cooked, reads, in(frontShell, "cat")}, WaitingInput, "", "cat"},       // GATE-8
		{"a session for an editor", terminal.MarksNone, []func(*facts){state(terminal.NoPrompt), full, in(frontShell, "vim")}, FullScreen, "tty", "vim"},              // GATE-8
		{"a session for a shell", terminal.MarksNone, []func(*facts){state(terminal.NoPrompt), in(frontShell, "fish")}, NoIntegration, "foreground tty", "no prompt"}, // GATE-6
		{"a REPL of its own", terminal.MarksNone, []func(*facts){state(terminal.NoPrompt), in(frontOther, "python3")}, WaitingInput, "tty", "python3"},
		{"starting", terminal.MarksUnknown, []func(*facts){state(terminal.NoPrompt), cooked}, Starting, "foreground", "first looked"},                                           // GATE-7
		{"a program of its start-up, or of before", terminal.MarksUnknown, []func(*facts){state(terminal.NoPrompt), cooked, in(frontOther, "make")}, Starting, "", "make runs"}, // GATE-7
		{"a line is read, and no prompt was seen", terminal.MarksUnknown, []func(*facts){state(terminal.NoPrompt)}, Unverified, "foreground tty", "Enter"},                      // GATE-12
		{"start-up asks", terminal.MarksUnknown, []func(*facts){state(terminal.NoPrompt), cooked, reads}, WaitingInput, "foreground", ""},                                       // GATE-7
		{"sleep runs", nonce, []func(*facts){state(terminal.Running), cooked, in(frontOther, "sleep")}, BusyState, "marks nonce", "sleep"},                                      // GATE-8
		{"cat reads", nonce, []func(*facts){state(terminal.Running), cooked, reads, in(frontOther, "cat")}, WaitingInput, "marks nonce", "cat"},
		{"python reads", nonce, []func(*facts){state(terminal.Running), in(frontOther, "python3")}, WaitingInput, "marks nonce tty", "python3"},
		{"shell without marks inside", nonce, []func(*facts){state(terminal.Running), in(frontNested, "sh")}, WaitingInput, "marks nonce foreground: sh tty", "marks"},
		{"read -k in the shell", nonce, []func(*facts){state(terminal.Running)}, WaitingInput, "marks nonce foreground tty", ""},
		{"vim", nonce, []func(*facts){state(terminal.Running), full, in(frontOther, "vim")}, FullScreen, "marks nonce tty", "vim"}, // GATE-8
		{"full screen without marks", terminal.MarksNone, []func(*facts){state(terminal.NoPrompt), full, in(frontOther, "htop")}, FullScreen, "tty", "htop"},
		{"alternate screen left on", nonce, []func(*facts){full}, Ready, "marks nonce foreground tty", ""},
		{"between end and prompt", nonce, []func(*facts){state(terminal.Finished), cooked}, BusyState, "marks nonce foreground", ""},
		{"between end and prompt, fish", nonce, []func(*facts){state(terminal.Finished), in(frontShell, "fish")}, BusyState, "marks nonce foreground tty", ""},
		{"back at a line without a prompt", nonce, []func(*facts){state(terminal.Finished)}, NoIntegration, "marks nonce foreground tty", "lost"}, // GATE-6
		{"prompt not kept", nonce, []func(*facts){state(terminal.Lost)}, UnknownState, "marks nonce foreground tty", ""},
		{"broadcast", nonce, []func(*facts){func(f *facts) { f.broadcast = terminal.Yes }}, Unverified, "marks nonce foreground tty", "other sessions"},        // GATE-11
		{"broadcast unknown", nonce, []func(*facts){func(f *facts) { f.broadcast = terminal.Unknown }}, Unverified, "marks nonce foreground tty", "not known"}, // GATE-11
		{"ended", nonce, []func(*facts){func(f *facts) { f.ended, f.exit.Signal = true, "SIGHUP" }}, EndedState, "", "SIGHUP"},                                 // GATE-9
		{"marks of unknown origin", terminal.MarksUnknown, nil, Unverified, "foreground tty", ""},
	} {
		f := atPrompt(c.marks)
		for _, change := range c.change {
			change(&f)
		}
		got := judge(f)
		if got.State != c.want || strings.Join(got.Evidence, " ") != c.evidence || !strings.Contains(got.Reason, c.reason) || got.Reason == "" {
			t.Errorf("%s: got %s %q (%s), want %s %q (%s)", c.name, got.State, got.Evidence, got.Reason, c.want, c.evidence, c.reason)
		}
	}
}

// TestGateOpensOnlyAtAProvenEmptyPrompt tries every combination of facts.
func TestGateOpensOnlyAtAProvenEmptyPrompt(t *testing.T) { // GATE-1, GATE-2, GATE-3, GATE-5
	known := []terminal.Known{terminal.Unknown, terminal.No, terminal.Yes}
	combinations(func(pick func(n int) int) {
		f := facts{
			ended: pick(2) == 1, marks: terminal.Marks(pick(5)), alternate: pick(2) == 1, broadcast: known[pick(3)],
			front: front(pick(5)), echo: known[pick(3)], canonical: known[pick(3)],
			prompt: terminal.Prompt{
				State: terminal.PromptState(pick(6)), Marks: terminal.Marks(pick(5)), Typed: known[pick(3)], Command: []string{"", "x"}[pick(2)],
			},
		}
		got := judge(f)
		if got.Reason == "" || got.Evidence == nil {
			t.Fatalf("%+v: no reason or evidence", f)
		}
		if got.State != Ready {
			return
		}
		m := f.marksOf()
		sound := !f.ended && f.broadcast == terminal.No && f.prompt.State == terminal.Editing && f.prompt.Typed == terminal.No && f.prompt.Command == "" &&
			(f.canonical != terminal.Yes || f.echo != terminal.No) && f.front != frontOther
		switch m {
		case terminal.MarksNonce:
			sound = sound && (f.front == frontShell || f.front == frontUnknown)
		case terminal.MarksPlain:
			sound = sound && f.front != frontUnknown && f.canonical != terminal.Yes
		default:
			sound = false
		}
		if !sound {
			t.Fatalf("the gate opens for %+v", f)
		}
	})
}

// combinations calls f once for every sequence of picks that it can make.
func combinations(f func(pick func(n int) int)) {
	var picks, sizes []int
	for {
		at := 0
		f(func(n int) int {
			if at == len(picks) {
				picks, sizes = append(picks, 0), append(sizes, n)
			}
			at++
			return picks[at-1]
		})
		for len(picks) > 0 && picks[len(picks)-1] == sizes[len(picks)-1]-1 {
			picks, sizes = picks[:len(picks)-1], sizes[:len(picks)-1]
		}
		if len(picks) == 0 {
			return
		}
		picks[len(picks)-1]++
	}
}

func TestRunIsRefusedWhereTheGateIsShut(t *testing.T) { // RUN-3
	type setup func(b bench)
	for name, c := range map[string]struct {
		o    terminaltest.Options
		set  setup
		code fault.Code
		say  string
	}{
		"typed text":     {set: func(b bench) { b.f.Type(b.sid(), "rm x") }, code: fault.NotReady, say: "text"}, // RUN-12
		"continuation":   {set: func(b bench) { b.f.Type(b.sid(), "echo 'a\r") }, code: fault.NotReady, say: "unfinished"},
		"running":        {set: func(b bench) { b.f.Type(b.sid(), "sleep 600\r") }, code: fault.NotReady, say: "sleep runs"},
		"reads":          {set: func(b bench) { b.f.Type(b.sid(), "cat\r") }, code: fault.NotReady, say: "cat reads"},
		"no marks":       {o: terminaltest.Options{Marks: terminal.MarksNone}, code: fault.NoIntegration},
		"typed unknown":  {o: terminaltest.Options{TypedUnknown: true}, code: fault.Unverified},
		"broadcast":      {set: func(b bench) { b.f.SetBroadcast(b.sid(), true) }, code: fault.Unverified, say: "other sessions"}, // GATE-11
		"another front":  {set: func(b bench) { b.f.PretendForeground(b.sid(), 99999) }, code: fault.NotReady},
		"password flags": {set: func(b bench) { b.f.PretendFlags(b.sid(), &process.TTY{Canonical: true}) }, code: fault.NotReady, say: "password"},
		"plain marks, line mode": {
			o: terminaltest.Options{Marks: terminal.MarksPlain}, code: fault.Unverified,
			set: func(b bench) { b.f.PretendFlags(b.sid(), &process.TTY{Canonical: true, Echo: true}) },
		},
		"ended": {set: func(b bench) { b.f.Type(b.sid(), "exit 3\r") }, code: fault.SessionEnded, say: "code 3"}, // RUN-19
	} {
		t.Run(name, func(t *testing.T) {
			on(t, c.o, func(b bench) {
				if c.set != nil {
					c.set(b)
				}
				b.settle()
				err := b.runErr(RunRequest{Command: "echo hi"})
				if fault.CodeOf(err) != c.code || fault.HintOf(err) == "" || !strings.Contains(err.Error(), c.say) {
					b.t.Errorf("got %v (hint %q), want %s", err, fault.HintOf(err), c.code)
				}
				if sent := b.f.Sent(b.sid()); len(sent) != 0 {
					b.t.Errorf("sent %q", sent)
				}
			})
		})
	}
}

func TestForgedMarksDoNotOpenTheGate(t *testing.T) { // GATE-2, RUN-9
	forged := "\x1b]133;D;0\a\x1b]133;A\a\x1b]133;B\a"
	for _, marks := range []terminal.Marks{terminal.MarksNonce, terminal.MarksPlain} {
		on(t, terminaltest.Options{Marks: marks}, func(b bench) {
			b.f.On("forge", func(p *terminaltest.Program) int { p.Print(forged); p.ReadLine(); return 0 })
			b.f.Type(b.sid(), "forge\r")
			b.settle()
			err := b.runErr(RunRequest{Command: "echo hi"})
			if code := fault.CodeOf(err); code != fault.Unverified && code != fault.NotReady {
				b.t.Errorf("got %v", err)
			}
			if sent := b.f.Sent(b.sid()); len(sent) != 0 {
				b.t.Errorf("typed %q into a program", sent)
			}
		})
	}
}

func TestGateWaitsForAShellThatStarts(t *testing.T) { // RUN-4
	synctestRun(t, func(t *testing.T) {
		f := terminaltest.NewFake(t, terminaltest.Options{Start: 2e9, Marks: terminal.MarksNonce})
		p, _ := New(Options{Backends: []terminal.Backend{f}, Processes: fakeProcesses{f: f}})
		s, err := f.Open(t.Context(), terminal.OpenSpec{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.Run(t.Context(), RunRequest{SessionID: string(s.ID), Command: "echo first; false"})
		if err != nil {
			t.Fatal(err)
		}
		bench{t: t}.want(res, Completed, 1, "first")
		if n := len(f.Sent(s.ID)); n != 1 {
			t.Errorf("%d writes", n)
		}
		f.Shutdown()
	})
}

func TestEvidenceNamesTheChecksThatHeld(t *testing.T) { // GATE-10
	on(t, terminaltest.Options{}, func(b bench) {
		if got := b.run("true").Evidence; !slices.Equal(got, []string{"marks", "nonce", "foreground", "tty", "text"}) {
			b.t.Errorf("got %q", got)
		}
	})
}
