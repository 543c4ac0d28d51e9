package shellint

import (
	"slices"
	"strings"
	"testing"

	"termpilot/terminal"
	"termpilot/testneeds"
)

// inPane starts a shell as in a pane of tmux.
func inPane(t *testing.T, shell string, with setup) *session {
	t.Helper()
	with.env = append(with.env, inTmux...)
	return start(t, shell, with)
}

// standing asks the line editor and returns what it tells.
func (s *session) standing() (told Mark) {
	s.t.Helper()
	n := s.seen()
	s.send(Question)
	s.await("the answer", func() bool {
		i := slices.IndexFunc(s.marks[n:], func(m Mark) bool { return m.Kind == Standing })
		if i >= 0 {
			told = s.marks[n+i]
		}
		return i >= 0
	})
	return told
}

// kept is what tmux would keep: the last directory.
func (s *session) kept() (m Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(s.marks) {
		if m.Kind == CurrentDir {
			return m
		}
	}
	return m
}

func TestTheDirectoryTellsTmuxHowTheShellStands(t *testing.T) { // MARK-50
	eachShell(t, func(t *testing.T, shell string) {
		s := inPane(t, shell, setup{})
		first := s.prompt()
		if got := s.kept(); got.AID != first.AID || got.Runs || !got.Tells || got.HasExit || got.Nonce != testNonce || got.Text != s.home {
			t.Errorf("at the first prompt: %+v", got)
		}
		ran, _ := s.run("sh -c 'exit 7'")
		next, _ := s.run("")
		for _, p := range []Prompt{next, s.prompt()} { // an empty line changes nothing of it
			if got := s.kept(); got.Runs || !got.HasExit || got.Exit != 7 || got.Before != ran.AID || p.AID == ran.AID {
				t.Errorf("at %s: %+v", p.AID, got)
			}
		}
		at := s.prompt()
		s.send("cat\r")
		s.await("the start", func() bool { p, _ := s.machine.Prompt(at.ID); return p.State == terminal.Running })
		s.await("the word of it", func() bool { return s.marks[len(s.marks)-1].Kind == CurrentDir })
		if got := s.kept(); got.AID != at.AID || !got.Runs || got.Text != s.home {
			t.Errorf("during a command: %+v", got)
		}
		s.interrupt(at.ID)

		elsewhere := start(t, shell, setup{})
		elsewhere.prompt()
		if got := elsewhere.kept(); got.AID != "" || got.Tells {
			t.Errorf("outside tmux: %+v", got)
		}
	})
}

func TestTheLineEditorTellsHowItsLineStands(t *testing.T) { // MARK-51
	eachShell(t, func(t *testing.T, shell string) {
		status, last, want := "$?", "$_", "x  y ztwo\n"
		if shell == "fish" {
			status, last, want = "$status", "ab", "x  y zab\n"
		}
		s := inPane(t, shell, setup{files: map[string]string{".zshrc": "bindkey -e\n"}})
		s.run("sh -c 'exit 3'")
		at := s.prompt()
		for range 2 {
			if got := s.standing(); got.Holds || got.Mode || got.AID != at.AID || got.Nonce != testNonce {
				t.Errorf("an empty line: %+v", got)
			}
		}
		if p, output := s.run("echo " + status); output != "3\n" || p.ID != at.ID {
			t.Errorf("the status is %q", output)
		}
		s.run("echo one two")
		s.prompt()
		s.send("echo 'x  y' " + last + "\x1b[D\x1b[D")
		if got := s.standing(); !got.Holds || got.Mode {
			t.Errorf("a line with text: %+v", got)
		}
		if _, output := s.keys("z\r"); output != want { // where the cursor stands, it goes
			t.Errorf("the line printed %q", output)
		}
		if _, output := s.run("history | grep -c '2025[7]z'"); output != "0\n" {
			t.Errorf("the history holds the key %q times", output)
		}
	})
}

func TestTheLineEditorTellsItsMode(t *testing.T) { // MARK-51
	eachShell(t, func(t *testing.T, shell string) {
		s := inPane(t, shell, setup{files: map[string]string{
			".bash_profile": "set -o vi\n", ".zshrc": "bindkey -v\n", ".config/fish/config.fish": "fish_vi_key_bindings\n",
		}})
		s.prompt()
		if got := s.standing(); got.Holds || got.Mode {
			t.Errorf("inserting: %+v", got)
		}
		s.send("echo a\x1b")
		for got := (Mark{}); !got.Mode; got = s.standing() { // the editor waits for more of what ESC may begin
			if got.Kind != 0 && !got.Holds {
				t.Fatalf("with text: %+v", got)
			}
		}
		if _, output := s.keys("rb\r"); !strings.HasSuffix(output, "b\n") || len(output) > 8 { // fish sets the cursor's shape
			t.Errorf("the line printed %q", output)
		}
	})
}

func TestNothingIsToldWhereNoPromptIsEdited(t *testing.T) { // MARK-52
	for shell, reads := range map[string]string{
		"bash": "read -rsn8 x; read -re y; echo", "zsh": "read -rsk8 x; vared -c y; echo", "fish": "read -n 2 x; read y; echo",
	} {
		t.Run(shell, func(t *testing.T) {
			s := inPane(t, shell, setup{files: map[string]string{".zshrc": ""}})
			at := s.prompt()
			n := s.seen()
			s.send(reads + "\r")
			s.await("the start", func() bool { p, _ := s.machine.Prompt(at.ID); return p.State == terminal.Running })
			s.send(Question + Question + "ok" + Question + "\r")
			s.after(at.ID)
			s.mu.Lock()
			defer s.mu.Unlock()
			if slices.ContainsFunc(s.marks[n:], func(m Mark) bool { return m.Kind == Standing }) {
				t.Error("a prompt was told while a command ran")
			}
		})
	}
}

func TestTheDirectoryTellsThatALineGoesOn(t *testing.T) { // MARK-50
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			s := inPane(t, shell, setup{files: map[string]string{".zshrc": ""}})
			at := s.prompt()
			s.send("echo 'a\r")
			s.await("the continuation", func() bool { return s.machine.Last().State == terminal.Continuation })
			if got := s.kept(); got.AID != at.AID || !got.Secondary || got.Runs || got.Tells {
				t.Errorf("got %+v", got)
			}
			s.send("b'\r")
			if p, output := s.after(at.ID); output != "a\nb\n" || p.ID != at.ID {
				t.Errorf("it printed %q", output)
			}
			if got := s.kept(); got.Secondary || !got.Tells {
				t.Errorf("at the next prompt: %+v", got)
			}
		})
	}
}

func TestAKeyThatWasTakenAsTextIsTakenOut(t *testing.T) { // MARK-53
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			s := inPane(t, shell, setup{files: map[string]string{".zshrc": "bindkey -e\n"}})
			s.prompt()
			s.send("echo ab\x02\x16" + Question) // quoted-insert takes the first byte
			if got := s.standing(); !got.Holds {
				t.Errorf("got %+v", got)
			}
			if _, output := s.keys("\r"); output != "ab\n" {
				t.Errorf("it printed %q", output)
			}
		})
	}
}

func TestAnOldBashDoesNotOfferToTell(t *testing.T) { // MARK-51
	s := inPane(t, "bash", setup{old: true})
	s.prompt()
	if got := s.kept(); got.Tells || got.AID != "" {
		t.Errorf("got %+v", got)
	}
}
