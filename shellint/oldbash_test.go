package shellint

import (
	"testing"

	"termpilot/terminal"
)

// Bash before 4.4 has no PS0: the script's other way, run by a newer bash.
func TestOldBashTellsCommandsByTheDebugTrap(t *testing.T) { // MARK-26
	for _, c := range []struct{ name, rc string }{
		{"nothing", ""},
		{"DEBUG trap", "trap ': \"$_\"' DEBUG\n"},
		{"string", "PROMPT_COMMAND='history -a; true'\n"},
		{"prompt built anew", "PROMPT_COMMAND=_p; _p() { PS1='new> '; true; }\n"},
		{"nounset", "set -u\n"},
		{"extdebug", "shopt -s extdebug\n"},
		{"functrace", "set -o functrace\n"},
		{"aliases", "alias local=false builtin=false return=false trap=false\n"},
		{"no promptvars", "shopt -u promptvars\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, "bash", setup{old: true, files: map[string]string{".bash_profile": c.rc}})
			for range 3 {
				if p, output := s.run("sh -c 'exit 3'"); status(p) != 3 || p.Aborted || output != "" {
					t.Fatalf("got %d %q, aborted %v", status(p), output, p.Aborted)
				}
				if p, output := s.run("echo $?"); status(p) != 0 || output != "3\n" {
					t.Fatalf("the user's own status: got %d %q", status(p), output)
				}
				if p, _ := s.run("(exit 5)"); status(p) != 5 || p.Aborted {
					t.Fatalf("got %+v", p)
				}
				s.run("true a b c")
				if p, output := s.run("echo $_; false | true"); status(p) != 0 || output != "c\n" {
					t.Fatalf("got %d %q", status(p), output)
				}
				if p, _ := s.run(""); !p.Aborted || p.Exit != nil {
					t.Fatalf("an empty line: got %+v", p)
				}
				if p, _ := s.run(")"); !p.Aborted {
					t.Fatalf("a refused line: got %+v", p)
				}
				if p, _ := s.run("nosuch_cmd 2>/dev/null"); status(p) != 127 || p.Aborted {
					t.Fatalf("got %+v", p)
				}
			}
		})
	}
}

func TestOldBashRunsADebugTrapThatIsSetLater(t *testing.T) { // MARK-26
	s := start(t, "bash", setup{old: true})
	s.run("trap 'n=$((n+1))' DEBUG")
	for range 3 {
		if p, output := s.run("echo x; sh -c 'exit 4'"); status(p) != 4 || p.Aborted || output != "x\n" {
			t.Fatalf("got %+v %q", p, output)
		}
	}
	s.run("n=0")
	if _, output := s.run("echo $((n > 0))"); output != "1\n" {
		t.Errorf("got %q", output)
	}
	s.run("trap - DEBUG")
	if p, output := s.run("echo x"); status(p) != 0 || p.Aborted || output != "x\n" {
		t.Errorf("got %+v %q", p, output)
	}
}

func TestOldBashsDebugTrapIsOfTheUsersCommandsAlone(t *testing.T) { // MARK-26, MARK-36
	s := start(t, "bash", setup{old: true, files: map[string]string{".bash_profile": `
tick() { before=${timer-none}; : "${timer:=$SECONDS}"; }
tock() { took=$((SECONDS - timer)); unset timer; }
trap tick DEBUG
PROMPT_COMMAND=tock
`}})
	for range 4 {
		s.run("true")
		if _, output := s.run("echo $before"); output != "none\n" {
			t.Errorf("before a command the clock says %q", output)
		}
	}
	s.run("trap 'echo \"<$?,$_,${timer-none}>\"' DEBUG")
	for range 2 {
		s.run("sh -c 'exit 3'")
		if p, output := s.run("true a b"); status(p) != 0 || output != "<3,exit 3,none>\n" {
			t.Errorf("got %d %q", status(p), output)
		}
		if p, output := s.run("true"); status(p) != 0 || output != "<0,b,none>\n" {
			t.Errorf("got %d %q", status(p), output)
		}
	}
}

func TestOldBashsMarksKeepTheirOrderBehindAPipe(t *testing.T) { // MARK-26, MARK-20
	s := start(t, "bash", setup{old: true, files: map[string]string{".bash_profile": "exec > >(tee -a ~/log) 2>&1\n"}})
	for range 20 {
		p, output := s.run("echo one; echo two >&2; sh -c 'exit 4'")
		if status(p) != 4 || p.Aborted || output != "one\ntwo\n" {
			t.Fatalf("got %d %v %q", status(p), p.Aborted, output)
		}
	}
}

func TestOldBashTellsNoCommandWhereItsHooksRunTwice(t *testing.T) { // MARK-26, MARK-37
	s := start(t, "bash", setup{old: true})
	s.run(`OLD=$PROMPT_COMMAND; PROMPT_COMMAND='PS1="new> "; eval "$OLD"'`)
	for range 3 {
		if p, output := s.run("echo x; sh -c 'exit 3'"); status(p) != 3 || p.Aborted || output != "x\n" {
			t.Fatalf("got %+v %q", p, output)
		}
		if p := s.prompt(); p.State != terminal.Editing {
			t.Fatalf("got %+v", p)
		}
	}
}
