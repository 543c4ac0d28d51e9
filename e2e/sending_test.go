package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/testneeds"
)

// What is typed arrives as it was meant, or is refused.

func TestSpecialCharactersArriveVerbatim(t *testing.T) { // B33
	s := open(t, "bash", "")
	s.expect("echo '${X}' \"$HOME\" \\\\ '\"' \\\"q\\\" 'it'\"'\"'s' \"a;b;\" `echo sub`",
		want{exit: code(0), output: `${X} ` + s.h.dir + ` \ " "q" it's a;b; sub`})
	s.expect("printf '%s\\n' 'one\ttab' '%s {}' '日本 ✳ 👨‍👩‍👧'", want{exit: code(0), output: "one     tab\n%s {}\n日本 ✳ 👨‍👩‍👧"})
}

func TestKeysAreKeysAndTextIsText(t *testing.T) { // B35
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		for _, text := range []string{"Enter", "C-c", "-n foo", "-l"} {
			s.text(text)
			s.until("text", text, soon)
			s.interrupt()
		}
		f := s.c.try("send_keys", with(s, map[string]any{"keys": []string{"enter", "nosuchkey"}}), nil)
		if f == nil || f.Code != "invalid_argument" || !strings.Contains(f.Message+f.Hint, "enter") {
			t.Errorf("an unknown key: %+v, want invalid_argument with the list", f)
		}
		f = s.c.try("send_text", with(s, map[string]any{"text": ""}), nil)
		if f == nil || f.Code != "invalid_argument" {
			t.Errorf("no text: %+v, want invalid_argument", f)
		}
		s.expect("echo ok", want{exit: code(0), output: "ok"})
		s.keys("up")
		s.keys("enter")
		for late := time.Now().Add(soon); strings.Count(s.read("all").Content, "\nok") < 2; { // the prompt of before may stand for a while
			if time.Now().After(late) {
				t.Fatalf("up and enter did not repeat the command:\n%s", s.read("all").Content)
			}
		}
	})
}

func TestCursorKeysAreThoseThatTheProgramAskedFor(t *testing.T) {
	s := open(t, "bash", "")
	for mode, bytes := range map[string]string{"h": "1b 4f 41 1b 4f 42", "l": "1b 5b 41 1b 5b 42"} { // set and reset mode; SS3 and CSI
		s.text(`stty raw -echo; printf '\033[?1%sready-%s' ` + mode + ` now; head -c 6 | od -An -tx1; stty sane; printf '\033[?1l'`)
		s.keys("enter")
		s.until("text", "ready-now", soon)
		s.keys("up", "down")
		s.until("prompt", "", soon)
		if all := s.read("screen").Content; !strings.Contains(all, bytes) {
			t.Errorf("mode %s: want %s in\n%s", mode, bytes, all)
		}
		s.expect("clear", want{exit: code(0)})
	}
}

func TestTabsAndHereDocumentsArriveAsTyped(t *testing.T) { // B36
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			testneeds.Program(t, shell)
			s := open(t, shell, "")
			s.expect("cat <<'EOF' | od -An -c | tr -s ' '\n\tfoo\nEOF\necho second", want{exit: code(0), output: ` \t f o o \n` + "\nsecond"})
		})
	}
}

func TestTabsBetweenWordsLoseNoWord(t *testing.T) {
	everyShell(t, func(t *testing.T, shell string) {
		h := newHome(t)
		c := serve(t, h)
		for range 3 { // also in a shell that has just started
			s := c.open(h, shell, nil)
			s.expect("echo\ta", want{exit: code(0), output: "a"})
			s.expect("echo 'b'\n\techo c", want{exit: code(0), output: "b\nc"})
			if shell != "fish" {
				s.expect("printf %s 'a\tb' | od -An -c | tr -d ' '", want{exit: code(0), output: `a\tb`})
				continue
			}
			if f := c.try("run_command", with(s, map[string]any{"command": "echo 'a\tb'"}), nil); f == nil || f.Code != "invalid_argument" {
				t.Errorf("a tab in quotes: got %+v", f)
			}
			s.expect("echo untouched", want{exit: code(0), output: "untouched"})
		}
	})
}

func TestALongCommandArrivesWhole(t *testing.T) {
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		text := strings.Repeat("0123456789abcde ", 1000) // 16,000 bytes of 16 KiB
		s.expect("printf %s '"+text+"' | wc -c | tr -d ' '", want{exit: code(0), output: "16000"})
		f := s.c.try("run_command", with(s, map[string]any{"command": strings.Repeat("x", 16<<10+1)}), nil)
		if f == nil {
			t.Error("a command over 16 KiB was taken")
		}
	})
}

func TestNothingIsTypedBeforeTheShellIsReady(t *testing.T) { // B39
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "sleep 2")
		s.expect("echo hello", want{exit: code(0), output: "hello"})
	})
	for shell, rc := range map[string]string{
		"bash": `read -p 'Update? [y/N] ' a; echo "answer=$a"`,
		"zsh":  `read "a?Update? [y/N] "; echo "answer=$a"`,
	} {
		t.Run(shell+" asks", func(t *testing.T) {
			t.Parallel()
			testneeds.Program(t, shell)
			s := open(t, shell, rc)
			f := s.c.try("run_command", with(s, map[string]any{"command": "echo hello", "timeout_seconds": 5}), nil)
			if f == nil || f.Code != "session_not_ready" {
				t.Fatalf("a shell that asks a question: %+v, want session_not_ready", f)
			}
			s.text("n")
			s.keys("enter")
			s.until("prompt", "", soon)
			if all := s.read("all").Content; !strings.Contains(all, "answer=n") {
				t.Errorf("the question swallowed something else:\n%s", all)
			}
			s.expect("echo hello", want{exit: code(0), output: "hello"})
		})
	}
}

func TestViCommandModeRunsTheCommandOrRefuses(t *testing.T) { // B41
	rcs := map[string]string{"bash": "set -o vi", "zsh": "bindkey -v", "fish": "fish_vi_key_bindings"}
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, rcs[shell])
		s.text("abc")
		s.until("text", "abc", soon)
		s.keys("escape")
		s.until("quiet", "", soon) // readline waits a while for what may follow an escape
		var r runResult
		if f := s.c.try("run_command", with(s, map[string]any{"command": "echo ok"}), &r); f == nil {
			s.compare("echo ok", r, want{exit: code(0), output: "ok"})
		} else if f.Code != "session_not_ready" {
			t.Errorf("refused as %s", f.Code)
		}
		s.interrupt()
		s.keys("escape") // an empty line, in command mode
		s.until("quiet", "", soon)
		if f := s.c.try("run_command", with(s, map[string]any{"command": "echo ok"}), &r); f == nil {
			s.compare("echo ok", r, want{exit: code(0), output: "ok"})
		} else if f.Code != "session_not_ready" {
			t.Errorf("refused as %s", f.Code)
		}
	})
}

func TestCarriageReturnsInACommandAreLineEnds(t *testing.T) { // B43
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		s.expect("echo one\r\necho two\r\n", want{exit: code(0), output: "one\ntwo"})
	})
}

func TestTextAtThePromptIsNeverRunAlong(t *testing.T) {
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		marker := filepath.Join(s.h.dir, "ran")
		s.text("touch " + marker + "; ")
		s.until("text", "touch", soon)
		f := s.c.try("run_command", with(s, map[string]any{"command": "echo x"}), nil)
		if f == nil || f.Code != "session_not_ready" {
			t.Errorf("typed text: %+v, want session_not_ready", f)
		}
		s.keys("home") // the cursor at the line's start makes the line no emptier
		f = s.c.try("run_command", with(s, map[string]any{"command": "echo x"}), nil)
		if f == nil || f.Code != "session_not_ready" {
			t.Errorf("typed text behind the cursor: %+v, want session_not_ready", f)
		}
		if _, err := os.Stat(marker); err == nil {
			t.Error("the typed text was run")
		}
	})
}

func TestControlCharactersInACommandAreRefused(t *testing.T) {
	s := open(t, "bash", "")
	for _, command := range []string{"echo a\x00b", "echo \x03", "echo \x1b[201~; id", "echo \x04"} {
		f := s.c.try("run_command", with(s, map[string]any{"command": command}), nil)
		if f == nil || f.Code != "invalid_argument" {
			t.Errorf("%q: %+v, want invalid_argument", command, f)
		}
	}
	s.expect("echo untouched", want{exit: code(0), output: "untouched"})
}

func TestAShellThatCannotBeStartedIsNamed(t *testing.T) {
	h := newHome(t)
	bin := filepath.Join(h.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "fish"), []byte("\x7fno program"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.extra = append(h.extra, "PATH="+bin+":"+os.Getenv("PATH"))
	c := serve(t, h)
	f := c.try("create_window", map[string]any{"profile": "fish"}, nil)
	if f == nil || f.Code != "shell_not_found" || !strings.Contains(f.Message, filepath.Join(bin, "fish")) || f.Hint == "" {
		t.Errorf("got %+v, want shell_not_found with the path and a hint", f)
	}
}

func TestUnknownSessionsAndWrongTypesAreNamed(t *testing.T) {
	h := newHome(t)
	c := serve(t, h)
	s := c.open(h, "bash", nil)
	for _, tc := range []struct {
		tool, code string
		args       map[string]any
	}{
		{"run_command", "session_not_found", map[string]any{"session_id": "nope", "command": "true"}},
		{"run_command", "session_not_found", map[string]any{"session_id": s.ID[:8], "command": "true"}},
		{"read_terminal", "session_not_found", map[string]any{"session_id": "nope"}},
		{"send_text", "session_not_found", map[string]any{"session_id": "nope", "text": "x"}},
		{"wait_session", "run_not_found", map[string]any{"run_id": "nope"}},
		{"run_command", "invalid_argument", map[string]any{"session_id": s.ID, "command": 5}},
		{"run_command", "invalid_argument", map[string]any{"session_id": s.ID}},
		{"read_terminal", "invalid_argument", map[string]any{"session_id": s.ID, "source": "moon"}},
		{"read_terminal", "cursor_invalid", map[string]any{"session_id": s.ID, "source": "since", "cursor": "rubbish"}},
		{"create_window", "profile_not_found", map[string]any{"profile": "no-such-shell"}},
		{"create_window", "invalid_argument", map[string]any{"cwd": filepath.Join(h.dir, "no-such-folder")}},
		{"create_window", "invalid_argument", map[string]any{"cwd": "relative"}},
		{"create_window", "invalid_argument", map[string]any{"env": map[string]any{"A=B": "c"}}},
		{"run_command", "command_blocked", map[string]any{"session_id": s.ID, "command": "rm -rf /"}},
	} {
		if f := c.try(tc.tool, tc.args, nil); f == nil || f.Code != tc.code || f.Hint == "" {
			t.Errorf("%s %v: %+v, want %s with a hint", tc.tool, tc.args, f, tc.code)
		}
	}
	s.expect("echo untouched", want{exit: code(0), output: "untouched"})
}
