package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
	"termpilot/testneeds"
)

var shells = []string{"bash", "zsh", "fish"}

func TestACommandRunsInEachShellWithItsOutputAndExitStatus(t *testing.T) {
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			c := newHost(t).connect()
			id := c.openReady(shell)
			for _, test := range []struct {
				command string
				exit    int
				output  string
			}{
				{"true", 0, ""},
				{"echo hello", 0, "hello"},
				{"false", 1, ""},
				{"printf abc", 0, "abc"},
				{"printf 'abc%%'", 0, "abc%"},
				{"sh -c 'exit 7'", 7, ""},
				{"printf '%0100d|\\n' 7", 0, "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000007|"},
				{"printf '%080d' 7", 0, "00000000000000000000000000000000000000000000000000000000000000000000000000000007"},
			} {
				exit, output := c.run(id, test.command)
				if exit != test.exit || output != test.output {
					t.Errorf("%s: got %d %q, want %d %q", test.command, exit, output, test.exit, test.output)
				}
			}
			p := c.prompt(id, "")
			if p.GetPromptState() != api.GetPromptResponse_EDITING || p.GetCommand() != "" {
				t.Errorf("the prompt after all: %v", p)
			}
			if got := c.variable(id, "termpilot.marks"); got != `"nonce"` {
				t.Errorf("marks: got %s", got)
			}
		})
	}
}

func TestOutputThatClearedTheScreenIsReadFromThere(t *testing.T) { // HOST-38
	c := newHost(t).connect()
	for _, shell := range shells {
		testneeds.Program(t, shell)
		id := c.openReady(shell)
		c.run(id, "seq 1 50")
		for command, want := range map[string]string{
			`printf 'old\033[H\033[2J\033[3Jnew'`: "new",
			`printf '\033[H\033[2Jonly'`:          "only",
			`printf '\033[2J\033[Hhome last'`:     "home last",
			`printf '\033[2Jno home'`:             "no home",
		} {
			if exit, out := c.run(id, command); exit != 0 || out != want {
				t.Errorf("%s: %s: got %d %q", shell, command, exit, out)
			}
		}
	}
}

func TestAnUpdateThatACommandLeftOpenHidesNothing(t *testing.T) { // HOST-37
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			c := newHost(t).connect()
			id := c.openReady(shell)
			for range 3 {
				if exit, out := c.run(id, `printf '\033[?2026h'; echo hidden`); exit != 0 || out != "hidden" {
					t.Errorf("got %d %q", exit, out)
				}
				if exit, out := c.run(id, "echo next"); exit != 0 || out != "next" {
					t.Errorf("got %d %q", exit, out)
				}
			}
		})
	}
}

func TestZshsFillerIsCutAndNothingElse(t *testing.T) { // HOST-37
	t.Parallel() // it waits more than it works
	testneeds.Program(t, "zsh")
	h := newHost(t)
	for _, rc := range []string{"", "PROMPT_EOL_MARK='<no newline>'\n", "PROMPT_EOL_MARK=''\n", "unsetopt prompt_sp prompt_cr\n", "PROMPT='%~\n> '; RPROMPT='[%T]'\n"} {
		h.write(".zshrc", rc)
		c := h.connect()
		id := c.openReady("zsh")
		for _, n := range []int{1, 2, 11, 12, 13, 67, 68, 69, 78, 79, 80, 81, 159, 160, 161} {
			for _, end := range []string{"", "#", "%", "# ", "%   ", "<no newline>"} {
				want := strings.Repeat("x", n-min(n, len(end))) + end
				exit, out := c.run(id, "printf %s '"+want+"'")
				if exit != 0 || out != want {
					t.Errorf("%q, %d cells: got %d %q, want %q", rc, len(want), exit, out, want)
				}
			}
		}
	}
}

func TestWhatAFunctionNamedPrecmdPrintsIsNoOutput(t *testing.T) { // HOST-37
	t.Parallel() // it waits more than it works
	testneeds.Program(t, "zsh")
	h := newHost(t)
	for _, precmd := range []string{
		`print ""`, `echo PRECMD`, `print; print "~/src (main)"`, `print -n here`, `print -rl -- a "" b "" c`, `print -Pn "\e]0;t\a"`, `:`,
	} {
		h.write(".zshrc", "precmd() { "+precmd+" }\n")
		c := h.connect()
		id := c.openReady("zsh")
		for _, n := range []int{0, 1, 2, 40, 78, 79, 80, 81, 159, 160, 161} {
			for _, end := range []string{"", "#", "%", "x\n\n", "\n"} {
				if n == 0 && end == "" {
					continue
				}
				want := strings.Repeat("x", n) + end
				exit, out := c.run(id, "printf %s '"+want+"'")
				if exit != 0 || out != strings.TrimSuffix(want, "\n") {
					t.Errorf("%q, %d cells: got %d %q, want %q", precmd, len(want), exit, out, want)
				}
			}
		}
	}
}

func TestNothingIsLostWhenPrecmdCoversTheFiller(t *testing.T) { // HOST-37
	testneeds.Program(t, "zsh")
	h := newHost(t)
	for _, precmd := range []string{`print -r -- ${(l:COLUMNS::-:)}`, `print -r -- ${(l:100::-:)}`, `print -n "\r\e[K"`, `print -n "\e[A\e[J"`} {
		h.write(".zshrc", "precmd() { "+precmd+" }\n")
		c := h.connect()
		id := c.openReady("zsh")
		for _, n := range []int{1, 40, 79, 80, 81, 161} {
			for _, end := range []string{"", "#", "%", "x\n\n", "\n"} {
				want := "first\n" + strings.Repeat("x", n) + end
				_, out := c.run(id, "printf %s '"+want+"'")
				if precmd[len(precmd)-2] == 'J' {
					want = "first\n" // it erases the last line itself
				}
				if !strings.HasPrefix(out, strings.TrimRight(want, "\n")) {
					t.Errorf("%q, %d cells: got %q, want %q", precmd, n+len(end), out, want)
				}
			}
		}
	}
}

func TestARowThatAPromptPaintsOverIsTold(t *testing.T) { // HOST-194
	testneeds.Program(t, "zsh")
	h := newHost(t)
	h.write(".zshrc", "unsetopt prompt_sp; PS1='a prompt%% '\n")
	c := h.connect()
	id := c.openReady("zsh")
	for _, one := range []struct{ output, shown, rest string }{
		{"abc", "", "abc"},
		{"one\\nabc", "one\n", "\nabc"},
		{strings.Repeat("0", 100), strings.Repeat("0", 80), strings.Repeat("0", 20)},
		{"one\\n", "one\n", ""},
	} {
		c.send(id, "printf '"+one.output+"'\r")
		end := c.awaitEnd(id)
		c.awaitPrompt(id)
		p := c.prompt(id, end.GetUniquePromptId())
		excluded := slices.ContainsFunc(p.GetExcludedSubranges(), func(r *api.CoordRange) bool {
			return proto.Equal(r.GetStart(), p.GetOutputRange().GetEnd())
		})
		rest := ""
		if err := json.Unmarshal([]byte(c.variable(id, "termpilot.rest."+p.GetUniquePromptId())), &rest); err != nil {
			t.Fatal(err)
		}
		if got := c.text(id, p.GetOutputRange()); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(one.shown, "\n") || excluded != (one.rest != "") || rest != one.rest {
			t.Errorf("printf %s: got %q and %q, excluded: %v", one.output, got, rest, excluded)
		}
	}
	if got := c.variable(id, "termpilot.rest.nothing"); got != "null" {
		t.Errorf("of no prompt: %q", got)
	}
}

func TestAResizeKeepsWhatACommandPrinted(t *testing.T) { // HOST-37, HOST-82
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			c := newHost(t).connect()
			id := c.openReady(shell)
			want := strings.Repeat("0123456789", 25)
			// It ends its line: bash redraws the row of its prompt when the size
			// changes, and would draw over the end of an output that shares it.
			c.send(id, "echo "+want+"\r")
			end := c.awaitEnd(id)
			c.awaitPrompt(id)
			for _, columns := range []int{50, 120, 80, 33} {
				size := fmt.Sprintf(`{"width":%d,"height":24}`, columns)
				c.call(&api.SetPropertyRequest{Identifier: &api.SetPropertyRequest_SessionId{SessionId: id}, Name: ptr("grid_size"), JsonValue: &size})
				p := c.prompt(id, end.GetUniquePromptId())
				if got := strings.TrimSuffix(c.text(id, p.GetOutputRange()), "\n"); got != want {
					t.Errorf("at %d columns: %v\n got %q\nwant %q", columns, p.GetOutputRange(), got, want)
				}
			}
			if exit, out := c.run(id, "echo after"); exit != 0 || out != "after" {
				t.Errorf("after: %d %q", exit, out)
			}
		})
	}
}
