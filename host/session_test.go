package host

import (
	"testing"

	"termpilot/iterm/api"
)

var shells = []string{"bash", "zsh", "fish"}

func TestACommandRunsInEachShellWithItsOutputAndExitStatus(t *testing.T) {
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			needShell(t, shell)
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
		needShell(t, shell)
		id := c.openReady(shell)
		c.run(id, "seq 1 50")
		for command, want := range map[string]string{
			`printf 'old\033[H\033[2J\033[3Jnew'`: "new",
			`printf '\033[H\033[2Jonly'`:          "only",
		} {
			if exit, out := c.run(id, command); exit != 0 || out != want {
				t.Errorf("%s: %s: got %d %q", shell, command, exit, out)
			}
		}
	}
}
