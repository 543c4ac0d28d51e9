package shellint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/terminal"
	"termpilot/testneeds"
)

func TestErrexitEndsTheShellAsItWouldWithoutUs(t *testing.T) { // MARK-35
	eachShell(t, func(t *testing.T, shell string) {
		if shell == "fish" {
			t.Skip("fish has no errexit")
		}
		s := start(t, shell, setup{})
		s.run("set -e")
		for _, line := range []string{"true", "! true", "false || true", "false && true", "if false; then :; fi"} {
			if p, _ := s.run(line); p.Aborted {
				t.Fatalf("%s: %+v", line, p)
			}
		}
		s.prompt()
		s.send("false\r")
		if err := s.end(); err == nil || err.Error() != "exit status 1" {
			t.Errorf("got %v", err)
		}
	})
}

func TestExitTellsItsStatus(t *testing.T) { // MARK-35
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{files: map[string]string{".bash_profile": "trap 'echo bye >~/bye' EXIT", ".bash_logout": "echo out >~/out"}})
		s.run("true")
		s.prompt()
		s.send("exit 42\r")
		if err := s.end(); err == nil || err.Error() != "exit status 42" {
			t.Errorf("got %v", err)
		}
		if shell == "bash" {
			for _, name := range []string{"bye", "out"} {
				if _, err := os.Stat(filepath.Join(s.home, name)); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

func TestTrapsOfTheUserRunAsTheyWould(t *testing.T) { // MARK-36
	s := start(t, "bash", setup{files: map[string]string{".bash_profile": `
trap 'n=$((n+1))' ERR
trap 'r=$((r+1))' RETURN
`}})
	s.run("n=0 r=0")
	s.run("true")
	s.run("false")
	s.run("(exit 3)")
	if _, output := s.run("echo $n $r"); output != "2 0\n" {
		t.Errorf("got %q", output)
	}
	s.run("trap 'echo dbg:$BASH_COMMAND' DEBUG")
	p, output := s.run("echo one; (exit 4)")
	if status(p) != 4 || output != "dbg:echo one\none\ndbg:( exit 4 )\n" {
		t.Errorf("got %d %q", status(p), output)
	}
	if _, output := s.run("trap -p DEBUG"); output != "dbg:trap -p DEBUG\ntrap -- 'echo dbg:$BASH_COMMAND' DEBUG\n" {
		t.Errorf("got %q", output)
	}
}

// What keeps a log of the session puts a pipe before the terminal.
func TestMarksKeepTheirOrderBehindAPipe(t *testing.T) { // MARK-25, MARK-20
	s := start(t, "bash", setup{files: map[string]string{".bash_profile": "exec > >(tee -a ~/log) 2>&1\n"}})
	for range 20 {
		p, output := s.run("echo one; echo two >&2; (exit 4)")
		if status(p) != 4 || p.Aborted || output != "one\ntwo\n" {
			t.Fatalf("got %d %v %q", status(p), p.Aborted, output)
		}
	}
}

func TestAFunctionNamedReturnHidesNoStatus(t *testing.T) { // MARK-25
	s := start(t, "bash", setup{files: map[string]string{".bash_profile": "return() { echo no; }\nalias if='echo no'\n"}})
	for range 3 {
		if p, output := s.run("(exit 5)"); status(p) != 5 || output != "" {
			t.Errorf("got %d %q", status(p), output)
		}
	}
}

// Those who time commands by a DEBUG trap stop the clock in PROMPT_COMMAND; a
// hook of ours behind theirs would start it again.
func TestACommandTimerGoesRight(t *testing.T) { // MARK-36
	s := start(t, "bash", setup{files: map[string]string{".bash_profile": `
tick() { : "${timer:=$SECONDS}"; }
tock() { took=$((SECONDS - timer)); unset timer; }
trap tick DEBUG
PROMPT_COMMAND=tock
`}})
	for range 4 {
		s.run("true")
	}
	if _, output := s.run("echo ${timer+running}"); output != "running\n" {
		t.Errorf("got %q", output)
	}
	s.prompt()
	// The clock stands still at the prompt: PROMPT_COMMAND ends with tock.
	if _, output := s.run(`[[ "${PROMPT_COMMAND[*]}" == *tock ]]; echo $?`); output != "0\n" {
		t.Errorf("got %q", output)
	}
}

func TestXtraceShowsNothingOfOursInOutput(t *testing.T) { // MARK-36
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			s := start(t, shell, setup{})
			s.run("set -x")
			if _, output := s.run("echo one"); strings.Contains(output, "termpilot") || !strings.HasSuffix(output, "one\n") {
				t.Errorf("got %q", output)
			}
		})
	}
}

func TestAPromptThatIsBuiltAnewKeepsItsMarks(t *testing.T) { // MARK-37
	for name, line := range map[string]string{
		"bash string":         `PROMPT_COMMAND="_p;$PROMPT_COMMAND"; _p() { PS1='new> '; }`,
		"bash string last":    `PROMPT_COMMAND="$PROMPT_COMMAND; _p"; _p() { PS1='new> '; }`,
		"bash array":          `PROMPT_COMMAND+=(_p); _p() { PS1='new> '; }`,
		"bash array first":    `PROMPT_COMMAND=(_p "${PROMPT_COMMAND[@]}"); _p() { PS1='new> '; }`,
		"bash eval":           `OLD=$PROMPT_COMMAND; PROMPT_COMMAND='PS1="new> "; eval "$OLD"'`,
		"bash plain":          `PS1='new> '`,
		"bash around":         `PS1="new> $PS1"`,
		"bash saved":          `old=$PS1; PS1="(venv) $PS1"; PS1=$old; PS1="new> $PS1"`,
		"bash unset":          `unset PS1; PS1='new> '`,
		"bash PS0":            `PS0='new> '; PS1='new> '`,
		"zsh array":           `precmd_functions+=(_p); _p() { PS1='new> ' }`,
		"zsh array first":     `precmd_functions=(_p $precmd_functions); _p() { PS1='new> ' }`,
		"zsh function":        `precmd() { PS1='new> ' }`,
		"zsh plain":           `PS1='new> '`,
		"zsh around":          `PS1="new> $PS1"`,
		"zsh around each":     `precmd() { PS1="new> ${PS1#new> }" }`,
		"zsh preexec emptied": `preexec_functions=(); PS1='new> '`,
		"fish":                `function fish_prompt; echo -n 'new> '; end`,
	} {
		t.Run(name, func(t *testing.T) {
			shell, _, _ := strings.Cut(name, " ")
			s := start(t, shell, setup{})
			id := s.prompt().ID
			s.send(line + "\r")
			s.await("the end", func() bool { p, _ := s.machine.Prompt(id); return p.State == terminal.Finished })
			if name == "bash array" || name == "bash string last" {
				// What was put behind our hook just now runs once before the hook knows.
				s.send("\r")
			}
			s.await("a prompt", func() bool { return s.machine.Last().ID != id })
			three := map[string]string{"bash": "(exit 3)", "zsh": "(exit 3)", "fish": "sh -c 'exit 3'"}[shell]
			for range 4 {
				p, output := s.run(three)
				if p.Aborted || output != "" && name != "bash PS0" || p.Exit != nil && *p.Exit != 3 {
					t.Fatalf("got %+v %q", p, output)
				}
			}
			if p, _ := s.run(three); status(p) != 3 {
				t.Errorf("got %+v", p)
			}
			s.mu.Lock()
			last := s.machine.Last()
			text := string(controls.ReplaceAll(s.stream[last.Start-1:last.CommandStart-1], nil))
			s.mu.Unlock()
			if !strings.HasSuffix(strings.TrimLeft(text, "\r"), "new> ") && !strings.HasPrefix(strings.TrimLeft(text, "\r"), "new> ") {
				t.Errorf("got the prompt %q", text)
			}
		})
	}
}

func TestARedrawnPromptIsTheSamePrompt(t *testing.T) { // MARK-14
	s := start(t, "zsh", setup{files: map[string]string{".zshrc": "RPROMPT='[%*]'; TMOUT=1; TRAPALRM() { zle && zle reset-prompt }\n"}})
	id := s.prompt().ID
	s.send("sleep 0")
	n := s.seen()
	s.await("three redraws", func() bool { return len(s.marks) >= n+6 })
	if p := s.prompt(); p.ID != id || p.State != terminal.Editing {
		t.Errorf("got %+v", p)
	}
	s.mu.Lock() // it draws again all the time
	if later := s.changes[1:]; len(later) > 0 {
		t.Errorf("got %v", told(later))
	}
	s.mu.Unlock()
	if p, output := s.keys("; printf abc; false\r"); p.ID != id || status(p) != 1 || output != "abc" {
		t.Errorf("got %+v %q", p, output)
	}
}

func TestCtrlLKeepsThePrompt(t *testing.T) { // MARK-14
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{})
		id := s.prompt().ID
		n := s.seen()
		s.send("\x0c")
		s.await("a redraw", func() bool { return len(s.marks) > n })
		if p := s.prompt(); p.ID != id {
			t.Errorf("got %+v", p)
		}
		if p, output := s.run("echo x"); p.ID != id || output != "x\n" {
			t.Errorf("got %+v %q", p, output)
		}
	})
}

func TestMarksStopWhenTheirHooksAreTakenAway(t *testing.T) { // MARK-17
	for shell, line := range map[string]string{"bash": "unset PROMPT_COMMAND", "zsh": "precmd_functions=()"} {
		t.Run(shell, func(t *testing.T) {
			s := start(t, shell, setup{})
			id := s.prompt().ID
			s.send(line + "\r")
			s.await("the command", func() bool { return s.machine.Last().State == terminal.Running })
			s.send("(exit 9); echo li'ne'\r")
			s.await("output", func() bool {
				return strings.Contains(string(s.stream), "\nline") || strings.Contains(string(s.stream), "\rline")
			})
			s.mu.Lock()
			defer s.mu.Unlock()
			p, _ := s.machine.Prompt(id)
			if p.Exit != nil {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func TestZshComesBackAfterItsHooksWereTakenAway(t *testing.T) { // MARK-17
	s := start(t, "zsh", setup{})
	id := s.prompt().ID
	s.send("precmd_functions=()\r(exit 9)\r")
	if p, _ := s.after(id); p.Exit != nil || p.Aborted {
		t.Errorf("got %+v", p)
	}
	if p, output := s.run("echo x; (exit 4)"); status(p) != 4 || output != "x\n" {
		t.Errorf("got %+v %q", p, output)
	}
}

func TestAShellWithoutOurSecretInsideStaysACommand(t *testing.T) { // MARK-15, MARK-6
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{})
		id := s.prompt().ID
		script, err := Script("bash")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(s.home, "inner")
		if err := os.WriteFile(path, []byte("PS1='inner$ '\n"+script), 0o600); err != nil {
			t.Fatal(err)
		}
		testneeds.Program(t, "bash")
		n := s.seen()
		s.send("env TERM_PROGRAM=other bash --rcfile " + path + " -i\r")
		s.await("the inner prompt", func() bool { return len(s.marks) >= n+3 && s.marks[len(s.marks)-1].Kind == PromptEnd })
		s.send("false\r")
		s.await("the inner end", func() bool { return len(s.marks) >= n+6 && s.marks[len(s.marks)-1].Kind == PromptEnd })
		if p := s.last(); p.ID != id || p.State != terminal.Running {
			t.Errorf("got %+v", p)
		}
		s.send("exit 5\r")
		if p, _ := s.after(id); status(p) != 5 {
			t.Errorf("got %+v", p)
		}
	})
}

func TestNestedShellsWithoutSecretsAreToldApart(t *testing.T) { // MARK-15
	s := start(t, "bash", setup{nonce: "none"})
	script, err := Script("bash")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.home, "inner")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	outer := s.prompt().ID
	s.send("env TERM_PROGRAM=other bash --rcfile " + path + " -i\r")
	s.await("the inner prompt", func() bool { p := s.machine.Last(); return p.ID != outer && p.State == terminal.Editing })
	if p, output := s.run("echo in; (exit 4)"); status(p) != 4 || output != "in\n" {
		t.Errorf("got %+v %q", p, output)
	}
	s.prompt()
	s.send("exit 6\r")
	if p, _ := s.after(outer); status(p) != 6 {
		t.Errorf("got %+v", p)
	}
	if p, _ := s.run("(exit 7)"); status(p) != 7 {
		t.Errorf("got %+v", p)
	}
}

func TestASlowStartIsNoPrompt(t *testing.T) { // MARK-11
	files := map[string]map[string]string{
		"bash": {".bash_profile": "sleep 0.5\n"}, "zsh": {".zshrc": "sleep 0.5\n"}, "fish": {".config/fish/config.fish": "sleep 0.5\n"},
	}
	eachShell(t, func(t *testing.T, shell string) {
		began := time.Now()
		s := start(t, shell, setup{files: files[shell]})
		p, output := s.run("echo first; sh -c 'exit 1'")
		if status(p) != 1 || output != "first\n" || time.Since(began) < 400*time.Millisecond {
			t.Errorf("got %+v %q after %v", p, output, time.Since(began))
		}
	})
}

func TestZshsOptionsStayAndLoseNoHook(t *testing.T) { // MARK-25, MARK-30
	const options = "shglob cshjunkiequotes ksharrays aliases nounset warnnestedvar warncreateglobal"
	s := start(t, "zsh", setup{files: map[string]string{
		".zshenv": "one() { : }\ntwo() { : }\nprecmd_functions=(one two)\npreexec_functions=(one two)\nsetopt " + options + "\n",
		".zshrc":  "",
	}})
	s.run("true")
	want := "on\n" + strings.Repeat("on\n", strings.Count(options, " "))
	if _, output := s.run("for o in " + options + "; do [[ -o $o ]] && echo on; done"); output != want {
		t.Errorf("got %q, want %q", output, want)
	}
	for _, hooks := range []string{"precmd_functions", "preexec_functions"} {
		if _, output := s.run("emulate zsh -c 'print ${" + hooks + ":#__*}'"); output != "one two\n" {
			t.Errorf("%s: %q", hooks, output)
		}
	}
	if text := s.visible(); strings.Contains(text, "__termpilot_") {
		t.Errorf("got %q", text)
	}
}
