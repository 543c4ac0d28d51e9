package shellint

import (
	"strings"
	"testing"

	"termpilot/terminal"
	"termpilot/testneeds"
)

// What the shells print in each situation, beginning at a standing prompt.
// Other marks between A and B of the same prompt are redraws.
func TestShellsPrintTheirMarks(t *testing.T) { // MARK-21
	const paste = "\x1b[200~false\necho b\necho c\x1b[201~\r"
	for _, c := range []struct{ name, keys, bash, zsh, fish string }{
		{"a command that fails", "false\r", "C D;1 A B", "C D;1 A B", "C D;1 A B"},
		{"an empty line", "\r", "D A B", "D A B", "D A B"},
		{"a line of blanks", "   \r", "D A B", "D A B", "D A B"},
		{"a refused line", "end )\r", "D;2 A B", "D;1 A B", "D A B"},
		{"several commands on one line", "false; true\r", "C D;0 A B", "C D;0 A B", "C D;0 A B"},
		{"a paste of three lines", paste, "C D;0 A B", "C D;0 A B", "C D;0 A B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachShell(t, func(t *testing.T, shell string) {
				s := start(t, shell, setup{})
				id := s.prompt().ID
				n := s.seen()
				s.send(c.keys)
				s.after(id)
				want := map[string]string{"bash": c.bash, "zsh": c.zsh, "fish": c.fish}[shell]
				if got := settled(s.letters(n)); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

// settled leaves out prompts that were painted again.
func settled(letters string) string {
	for {
		next := strings.NewReplacer("A B A B", "A B", "B B", "B").Replace(letters)
		next = strings.TrimPrefix(next, "A B ")
		next = strings.TrimPrefix(next, "B ")
		if next == letters {
			return letters
		}
		letters = next
	}
}

func TestTheFirstPromptHasNoEndBeforeIt(t *testing.T) { // MARK-21
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{})
		if p := s.prompt(); p.ID != "p1" || p.Exit != nil {
			t.Errorf("got %+v", p)
		}
		if got := settled("A B " + s.letters(0)); got != "" && got != "A B" {
			t.Errorf("got %q", got)
		}
	})
}

func TestCtrlCLeavesThePrompt(t *testing.T) { // MARK-12
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{})
		id := s.prompt().ID
		s.send("echo hal")
		s.await("the echo", func() bool { return strings.Contains(string(s.stream), "hal") })
		p, _ := s.interrupt(id)
		want := map[string]int{"bash": 130, "zsh": 130, "fish": -1}[shell]
		if !p.Aborted || status(p) != want {
			t.Errorf("got %+v", p)
		}
		if p, output := s.run("echo ok"); output != "ok\n" || status(p) != 0 {
			t.Errorf("afterwards got %q %d", output, status(p))
		}
	})
}

// fish 4 empties the line, and paints no prompt by itself.
func TestCtrlCThatOnlyEmptiesTheLineLeavesThePrompt(t *testing.T) { // MARK-12, MARK-21
	testneeds.Program(t, "fish")
	s := start(t, "fish", setup{files: map[string]string{".config/fish/config.fish": `bind \cc 'commandline -r ""; emit fish_cancel'` + "\n"}})
	id := s.prompt().ID
	s.send("echo hal")
	s.await("the echo", func() bool { return strings.Contains(string(s.stream), "hal") })
	if p, _ := s.interrupt(id); !p.Aborted || p.Exit != nil {
		t.Errorf("got %+v", p)
	}
	if p, output := s.run("echo ok"); output != "ok\n" || status(p) != 0 {
		t.Errorf("afterwards got %q %d", output, status(p))
	}
}

func TestARefusedLineIsNoCommand(t *testing.T) { // MARK-12
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{})
		s.run("true")
		p, _ := s.run("end )")
		if !p.Aborted || p.Exit != nil && *p.Exit == 0 {
			t.Errorf("got %+v", p)
		}
		if shell == "bash" {
			if p, _ := s.run(`echo "a!b"`); !p.Aborted || p.Exit != nil {
				t.Errorf("got %+v", p)
			}
		}
	})
}

func TestContinuationPromptsBelongToTheirCommand(t *testing.T) { // MARK-13
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			s := start(t, shell, setup{})
			s.run("PS2='>> '")
			id := s.prompt().ID
			s.send("for i in 1 2; do\r")
			s.await("a continuation prompt", func() bool { return s.machine.Last().State == terminal.Continuation })
			s.send("echo x$i\rdone\r")
			p, output := s.after(id)
			if output != "x1\nx2\n" || status(p) != 0 || p.Aborted {
				t.Errorf("got %q %+v", output, p)
			}

			id = s.prompt().ID
			s.send("echo 'abc\r")
			s.await("a continuation prompt", func() bool { return s.machine.Last().State == terminal.Continuation })
			if p, _ := s.interrupt(id); !p.Aborted || p.Exit == nil || status(p) != 130 && status(p) != 1 {
				t.Errorf("got %+v", p) // zsh says 1 or 130, by when the key comes
			}
			if _, output := s.run("echo ok"); output != "ok\n" {
				t.Errorf("got %q", output)
			}
		})
	}
}

func TestLinesTypedAtOnceAreCommandsOfTheirOwn(t *testing.T) { // MARK-22
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{})
		s.prompt()
		s.send("echo one\rfalse\recho three\r")
		s.await("three ends", func() bool {
			ends := 0
			for _, c := range s.changes {
				if c.Kind == terminal.Ended {
					ends++
				}
			}
			return ends == 3 && s.machine.Last().State == terminal.Editing
		})
		var codes []int
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, p := range s.machine.Prompts() {
			codes = append(codes, status(p))
		}
		if len(codes) != 4 || codes[0] != 0 || codes[1] != 1 || codes[2] != 0 {
			t.Errorf("got %v", codes)
		}
	})
}

func TestTheShellTellsTheDirectory(t *testing.T) { // MARK-23
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{})
		if got := s.prompt().Cwd; got != s.home {
			t.Errorf("got %q, want %q", got, s.home)
		}
		const odd = "a b%20#?;é日$(x)"
		s.run("mkdir -p '" + odd + "'")
		s.run("cd '" + odd + "'")
		if got := s.prompt().Cwd; got != s.home+"/"+odd {
			t.Errorf("got %q", got)
		}
	})
}

func TestZshAndFishTellTheCommandLine(t *testing.T) { // MARK-24
	for _, shell := range []string{"zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			s := start(t, shell, setup{})
			for _, line := range []string{"echo '100% ;a=b é日'", "echo \"a\\tb\" # x"} {
				if p, _ := s.run(line); p.Command != line {
					t.Errorf("got %q, want %q", p.Command, line)
				}
			}
			if p, _ := s.keys("\x1b[200~echo 1\necho '2;'\x1b[201~\r"); p.Command != "echo 1\necho '2;'" {
				t.Errorf("got %q", p.Command)
			}
			long := "echo " + strings.Repeat("x", 15000)
			if p, output := s.keys("\x1b[200~" + long + "\x1b[201~\r"); p.Command != long || len(output) < 15000 {
				t.Errorf("got %d bytes of command, %d of output", len(p.Command), len(output))
			}
		})
	}
}

func TestStatusIsTheCommandsWhateverHooksRun(t *testing.T) { // MARK-25
	for _, c := range []struct{ name, shell, file, rc string }{
		{"string", "bash", ".bash_profile", "PROMPT_COMMAND='history -a; true'"},
		{"string with semicolon", "bash", ".bash_profile", "PROMPT_COMMAND='true;'"},
		{"array", "bash", ".bash_profile", "PROMPT_COMMAND=(true 'history -a')"},
		{"DEBUG trap", "bash", ".bash_profile", "trap 'X=1' DEBUG"},
		{"prompt built anew", "bash", ".bash_profile", "PROMPT_COMMAND=_p; _p() { local s=$?; PS1=\"[$s] \\w \\$ \"; true; }"},
		{"status in the prompt", "bash", ".bash_profile", "PS1='$?> '"},
		{"output of a hook", "bash", ".bash_profile", "PROMPT_COMMAND='echo hook'"},
		{"extdebug", "bash", ".bash_profile", "shopt -s extdebug"},
		{"vi", "bash", ".bash_profile", "set -o vi"},
		{"nounset", "bash", ".bash_profile", "set -u"},
		{"no promptvars", "bash", ".bash_profile", "shopt -u promptvars"},
		{"IFS", "bash", ".bash_profile", "IFS=1"},
		{"aliases", "bash", ".bash_profile", "alias local=false builtin=false return=false"},
		{"another integration", "bash", ".bash_profile", `PS1='\[\e]133;A\a\]$ \[\e]133;B\a\]'; PROMPT_COMMAND='printf "\e]133;D;%s\a" 77'`},
		{"precmd", "zsh", ".zshrc", "precmd() { true }"},
		{"precmd_functions", "zsh", ".zshrc", "f() { PROMPT='%~ %? > '; true }; precmd_functions+=(f)"},
		{"precmd_functions first", "zsh", ".zshrc", "f() { PROMPT='%~ %? > '; true }; precmd_functions=(f $precmd_functions)"},
		{"another integration", "zsh", ".zshrc", `precmd() { print -n '\e]133;D;77\a' }; PS1=$'%{\e]133;A\a%}$ %{\e]133;B\a%}'`},
		{"DEBUG trap", "zsh", ".zshrc", "trap 'X=1' DEBUG"},
		{"ZERR trap", "zsh", ".zshrc", "TRAPZERR() { print zerr >/dev/null }"},
		{"options", "zsh", ".zshrc", "setopt ksh_arrays sh_word_split no_unset prompt_subst no_clobber glob_subst err_return"},
		{"vi", "zsh", ".zshrc", "bindkey -v"},
		{"no prompt_percent", "zsh", ".zshrc", "unsetopt prompt_percent"},
		{"aliases", "zsh", ".zshrc", "alias builtin=false local=false; alias -g C='| wc'"},
		{"aliases first", "zsh", ".zshenv", "alias builtin=false local=false; alias -g C='| wc' D='| wc'"},
		{"options first", "zsh", ".zshenv", "setopt sh_glob csh_junkie_quotes posix_builtins no_unset ksh_arrays err_return"},
		{"emulation first", "zsh", ".zshenv", "emulate sh"},
		{"transient", "zsh", ".zshrc", "zle-line-finish() { PROMPT='» '; RPROMPT=''; zle reset-prompt }; zle -N zle-line-finish; precmd() { PROMPT=$'\\n%~\\n❯ ' }"},
		{"right prompt", "zsh", ".zshrc", "RPROMPT='[%*]'"},
		{"postexec", "fish", ".config/fish/config.fish", "function f --on-event fish_postexec; true; end; function g --on-event fish_prompt; true; end"},
		{"vi", "fish", ".config/fish/config.fish", "fish_vi_key_bindings"},
		{"prompt", "fish", ".config/fish/config.fish", "function fish_prompt; set -l s $status; echo -n \"$s> \"; true; end"},
		{"native marks", "fish", ".config/fish/config.fish", `function f --on-event fish_prompt; printf '\e]133;A;click_events=1\a'; end; function g --on-event fish_preexec; printf '\e]133;C;cmdline_url=x\a'; end; function h --on-event fish_postexec; printf '\e]133;D;77\a'; end`},
	} {
		t.Run(c.shell+" "+c.name, func(t *testing.T) {
			s := start(t, c.shell, setup{files: map[string]string{c.file: c.rc + "\n"}})
			three, show := "(exit 3)", "echo $?"
			if c.shell == "fish" {
				three, show = "sh -c 'exit 3'", "echo $status"
			}
			for range 4 {
				if p, output := s.run(three); status(p) != 3 || p.Aborted || output != "" {
					t.Fatalf("got %d %q, aborted %v", status(p), output, p.Aborted)
				}
				if p, output := s.run(show); status(p) != 0 || output != "3\n" {
					t.Fatalf("the user's own status: got %d %q", status(p), output)
				}
				if p, output := s.run("printf abc"); status(p) != 0 || output != "abc" {
					t.Fatalf("got %d %q", status(p), output)
				}
			}
		})
	}
}

func TestZshTellsItsMarkOfAMissingLineEnd(t *testing.T) { // MARK-27
	for _, c := range []struct{ name, rc, eol string }{
		{"default", "", "#%"}, // # for the superuser
		{"none", "PROMPT_EOL_MARK=''", ""},
		{"own", "PROMPT_EOL_MARK='%F{red}<日%%>%f'", "<日%>"},
		{"off", "unsetopt prompt_sp", "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, "zsh", setup{files: map[string]string{".zshrc": c.rc + "\n"}})
			p, _ := s.run("printf abc")
			switch {
			case p.HasEOL != (c.eol != "-"):
				t.Errorf("got %+v", p)
			case p.HasEOL && p.EOL != c.eol && (c.name != "default" || p.EOL != "#" && p.EOL != "%"):
				t.Errorf("got %q, want %q", p.EOL, c.eol)
			}
		})
	}
	for _, shell := range []string{"bash", "fish"} {
		s := start(t, shell, setup{})
		if p, output := s.run("printf abc"); p.HasEOL || output != "abc" {
			t.Errorf("%s: got %+v %q", shell, p, output)
		}
	}
}
