package host

import (
	"strings"
	"testing"

	"termpilot/iterm/api"
	"termpilot/testneeds"
)

func TestTheShellsFurtherPromptsAreNoPartOfACommand(t *testing.T) { // HOST-161
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			c := newHost(t).connect()
			id := c.openReady(shell)
			c.send(id, "PS2='mo''re> '\r")
			c.awaitEnd(id)
			c.awaitPrompt(id)
			c.send(id, "echo 'one\r")
			c.awaitScreen(id, "more>")
			c.send(id, "two\r")
			waitUntil(t, "a second line", func() bool { return strings.Count(c.screen(id), "more>") == 2 })
			c.send(id, "three'")
			waitUntil(t, "what is typed", func() bool { return c.prompt(id, "").GetCommand() == "echo 'one\ntwo\nthree'" })
			c.send(id, "\r")
			end := c.awaitEnd(id)
			p := c.prompt(id, end.GetUniquePromptId())
			if p.GetCommand() != "echo 'one\ntwo\nthree'" {
				t.Errorf("the command is %q", p.GetCommand())
			}
			start := c.await("the start", func(n *api.Notification) bool {
				s := n.GetPromptNotification()
				return s.GetCommandStart() != nil && s.GetUniquePromptId() == end.GetUniquePromptId()
			})
			if got := start.GetPromptNotification().GetCommandStart().GetCommand(); got != p.GetCommand() {
				t.Errorf("it was told as %q", got)
			}
			spans := p.GetExcludedSubranges()
			if len(spans) != 2 {
				t.Fatalf("excluded: %v", spans)
			}
			for _, span := range spans {
				if got := c.text(id, span); got != "more> " {
					t.Errorf("excluded is %q", got)
				}
			}
			if got := c.text(id, p.GetOutputRange()); strings.TrimSpace(got) != "one\ntwo\nthree" {
				t.Errorf("the output is %q", got)
			}
		})
	}
}
