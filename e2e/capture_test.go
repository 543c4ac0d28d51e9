package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// What a command printed, exactly.

func TestOutputIsExactlyWhatWasPrinted(t *testing.T) { // B23 B25 B27 B30 B31 B32
	cases := []struct{ name, command, output string }{
		{"no final newline", `printf abc`, "abc"},
		{"a real percent sign", `printf 'abc%%'`, "abc%"},
		{"only a percent sign", `printf '%%'`, "%"},
		{"backspaces", `printf 'abc\b\bX\n'`, "aXc"},
		{"carriage return", `printf 'abc\rX\n'`, "Xbc"},
		{"split and broken UTF-8", `printf '\xe6\x97'; sleep .3; printf '\xa5\xff\n'`, "日\uFFFD"},
		{"wrapped digits", `printf '%0100d|\n' 7`, strings.Repeat("0", 99) + "7|"},
		{"wrapped wide", `printf '%079d日x\n' 1`, strings.Repeat("0", 78) + "1日x"},
		{"blanks at the end", `printf 'a  \nb\n'`, "a  \nb"},
		{"exactly the width", `printf '%080d\nx\n' 1`, strings.Repeat("0", 79) + "1\nx"},
		{"the width and no newline", `printf '%080d' 1`, strings.Repeat("0", 79) + "1"},
		{"blank lines", `printf '\n\na\n\n'`, "\n\na\n"},
		{"colours", `printf '\033[31mred\033[0m\n'`, "red"},
		{"links", `printf '\033]8;;http://h/\007txt\033]8;;\007\n'`, "txt"},
		{"line drawing", `printf '\033(0lqk\033(B\n'`, "┌─┐"},
		{"nothing", `true`, ""},
	}
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		for _, tc := range cases {
			t.Run(tc.name, func(t *testing.T) {
				if shell == "fish" && strings.Contains(tc.command, "sleep .3") {
					tc.command = strings.ReplaceAll(tc.command, "sleep .3", "sleep 0.3")
				}
				r := s.run(tc.command)
				got := strings.TrimSuffix(r.Output, "\n")
				if r.Output == tc.output {
					got = r.Output
				}
				if r.Status != "completed" || got != tc.output {
					t.Errorf("%s: %s: status %s, output %q, want %q", shell, tc.command, r.Status, r.Output, tc.output)
				}
			})
		}
	})
}

// bash takes the column in which its prompt begins for the first one. What of a
// long line is left in a wrong place is no output of its command.
func TestALineThatBeganBehindOutputLeavesNothingInTheNext(t *testing.T) { // B23, MARK-20
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		for _, column := range []int{7, 60} {
			for length := 64; length < 84; length++ {
				s.expect(fmt.Sprintf("printf %s", strings.Repeat("a", column)), want{exit: code(0), output: strings.Repeat("a", column)})
				command := `printf 'x\ny\n'; : 日本`
				command += strings.Repeat("b", length-len(command))
				s.expect(command, want{exit: code(0), output: "x\ny"})
			}
		}
	})
}

// zsh without prompt_sp begins its prompt at the start of the row in which a
// command ended, and so does bash when it draws the line anew.
func TestWhatAPromptPaintsOverIsNoLessOutput(t *testing.T) { // B23, RUN-42, ITERM-97
	outputs := []string{"abc", "one\nabc", "one\n\n" + strings.Repeat("x", 80), strings.Repeat("y", 200), "日"}
	check := func(s *session, want string, ran runResult) {
		t.Helper()
		for _, r := range []runResult{ran, s.wait(ran.RunID, soon)} {
			if r.Status != "completed" || r.Output != want {
				t.Errorf("%s: got %s %q, want %q", s.shell, r.Status, r.Output, want)
			}
		}
		for _, reduce := range []bool{true, false} {
			var got readResult
			s.c.call("read_terminal", with(s, map[string]any{"source": "command", "run_id": ran.RunID, "reduce": reduce}), &got)
			if got.Content != want {
				t.Errorf("%s: read_terminal with reduce=%v: got %q, want %q", s.shell, reduce, got.Content, want)
			}
		}
		var got readResult
		last := want[strings.LastIndexByte(want, '\n')+1:]
		s.c.call("read_terminal", with(s, map[string]any{"source": "command", "run_id": ran.RunID, "pattern": last}), &got)
		if !strings.Contains(got.Content, last) {
			t.Errorf("%s: a search: got %q, want %q", s.shell, got.Content, last)
		}
	}
	zsh := open(t, "zsh", "unsetopt prompt_sp; PS1='a prompt%% '")
	for _, want := range outputs {
		r := zsh.run("printf '" + want + "'")
		zsh.ready()
		check(zsh, want, r)
	}
	bash := open(t, "bash", "PS1='P> '")
	for i, want := range outputs {
		r := bash.run("printf '" + want + "'")
		bash.c.call("resize_session", map[string]any{"session_id": bash.ID, "columns": 70 + i}, nil)
		bash.c.call("wait_session", map[string]any{
			"session_ids": []string{bash.ID}, "until": "text", "pattern": `(?m)^P> *$`, "regex": true, "timeout_seconds": soon.Seconds(),
		}, nil)
		check(bash, want, r)
	}
}

func TestAProgramThatPaintsAboveItsStartIsNotSaidToPrintNothing(t *testing.T) { // RUN-43
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		for _, tc := range []struct {
			command, output string
			strewn          bool
		}{
			{`printf '\033[Hhello'`, "hello", false},
			{`printf '\033[Hhello\n'`, "hello", false},
			{`printf '\0337\033[Hhello\0338'`, "hello", false},
			{`printf '\033[Hone\033[K\ntwo\033[K\n'`, "one\ntwo", false},
			{`printf '\033[Hone\ntwo\nthree\n'`, "", true},
			{`printf 'one\n\033[Htwo\033[11;1H'`, "one", true},
			{`printf 'one\ntwo\n\033[2A'`, "", true},
		} {
			s.run(`printf '\033[H\033[2J'; printf 'old text %s\n' 1 2 3 4 5 6 7 8`)
			r := s.run(tc.command)
			said := r.ExitReason != "" && strings.HasSuffix(r.Omitted.HowToGet, "source=screen")
			if r.Output != tc.output || said != tc.strewn || r.ExitCode == nil || *r.ExitCode != 0 {
				t.Errorf("%s: %s: got %+v", shell, tc.command, r)
			}
			var again readResult
			s.c.call("read_terminal", with(s, map[string]any{"run_id": r.RunID, "source": "command"}), &again)
			if again.Content != tc.output || tc.strewn != strings.HasSuffix(again.Omitted.HowToGet, "source=screen") {
				t.Errorf("%s: %s: read again: %+v", shell, tc.command, again)
			}
		}
	})
}

func TestAStuckCharacterSetDoesNotOutliveItsCommand(t *testing.T) { // B31
	s := open(t, "bash", "")
	s.run(`printf '\033(0lqk\016'`)
	s.expect("echo after", want{exit: code(0), output: "after"})
}

func TestOverwrittenLinesAreFoldedWhenReduced(t *testing.T) { // B25
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		command := `for i in 1 50 100; do printf '\r%3d%%' $i; sleep .1; done; echo`
		if shell == "fish" {
			command = `for i in 1 50 100; printf '\r%3d%%' $i; sleep 0.1; end; echo`
		}
		var r runResult
		s.c.call("run_command", with(s, map[string]any{"command": command}), &r)
		if got := strings.Count(r.Output, "100%"); got != 1 || strings.Contains(r.Output, "50%") {
			t.Errorf("output %q, want 100%% once", r.Output)
		}
	})
}

func TestRandomBytesLeaveAValidAnswerAndALiveSession(t *testing.T) { // B27
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		r := s.run(`head -c 4000 /dev/urandom | cat -u; printf '\033c\033[m\n'`)
		if !utf8.ValidString(r.Output) || strings.ContainsRune(r.Output, 0x1b) {
			t.Errorf("output is not clean text: %q", r.Output)
		}
		s.expect(`printf 'a\0b\n'`, want{exit: code(0), output: "ab"})
	})
}

func TestMuchOutputIsBoundedAndItsTailIsTrue(t *testing.T) { // B28
	if testing.Short() {
		t.Skip("50 MB through a terminal")
	}
	s := open(t, "bash", "")
	other := s.c.open(s.h, "bash", nil)
	other.expect("echo up", want{exit: code(0), output: "up"})
	_, ch := s.c.post("tools/call", map[string]any{"name": "run_command", "arguments": with(s, map[string]any{
		"command": "yes 0123456789abcdef | head -c 50000000; echo; echo END", "timeout_seconds": 50, "reduce": false,
	})})
	for i := range 5 {
		text := fmt.Sprintf("meanwhile-%d", i)
		other.expect("echo "+text, want{exit: code(0), output: text})
	}
	var r runResult
	if f := s.c.settle("run_command", s.c.await("run_command", ch), &r); f != nil {
		t.Fatalf("%+v", f)
	}
	if r.Status == "running" {
		r = s.wait(r.RunID, 50*time.Second)
	}
	if r.Status != "completed" || r.ExitCode == nil || *r.ExitCode != 0 {
		t.Fatalf("status %s exit %v", r.Status, r.ExitCode)
	}
	if !strings.HasSuffix(strings.TrimSpace(r.Output), "END") {
		t.Errorf("the tail is not END: …%q", r.Output[max(0, len(r.Output)-80):])
	}
	if !r.TruncatedHead || r.Omitted.Lines == 0 {
		t.Errorf("truncated_head %v, omitted %d: what was dropped is not said", r.TruncatedHead, r.Omitted.Lines)
	}
	if len(r.Output) > 40000 {
		t.Errorf("%d bytes of output, want within max_output_chars", len(r.Output))
	}
}

func TestAHugeLineWithoutANewline(t *testing.T) { // B28 B63
	s := open(t, "bash", "")
	r := s.run(`head -c 8000000 /dev/zero | tr '\0' x; echo END`)
	if r.Status != "completed" || !strings.HasSuffix(strings.TrimSpace(r.Output), "END") {
		t.Errorf("status %s, output …%q", r.Status, r.Output[max(0, len(r.Output)-80):])
	}
	s.expect("echo alive", want{exit: code(0), output: "alive"})
}
