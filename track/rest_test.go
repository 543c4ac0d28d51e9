package track

import (
	"strings"
	"testing"

	"termpilot/terminal"
)

// whole is the output of a prompt with its rest.
func (s *screen) whole(p terminal.Prompt) string {
	return strings.TrimSuffix(s.output(p), "\n") + p.Rest
}

func TestAPromptThatPaintsOverOutputLosesNothingOfIt(t *testing.T) { // RUN-42
	wide := strings.Repeat("日", 11)
	for _, c := range []struct{ name, output, then, want string }{
		{"nothing", "abc", "", "abc"},
		{"a prompt without a fresh row", "abc", "\r<A>zsh% <B>", "abc"},
		{"with lines before", "one\r\n\r\nabc", "\r<A>zsh% <B>", "one\n\nabc"},
		{"blanks", "one\r\n  ", "\r<A>zsh% <B>", "one\n  "},
		{"the same text", "zsh", "\r<A>zsh% <B>", "zsh"},
		{"a row that goes on", strings.Repeat("x", 25), "\r<A>zsh% <B>", strings.Repeat("x", 25)},
		{"a full row", strings.Repeat("x", 20), "\r<A>zsh% <B>", strings.Repeat("x", 20)},
		{"wide characters", "a" + wide, "\r<A>zsh% <B>", "a" + wide},
		{"a line that is drawn anew", "abc", "<A>$ <B>ls\r\x1b[K<A>$ <B>ls", "abc"},
		{"a part of a line", "abc", "<A>$ <B>ls\r$ \b\b", "abc"},
		{"an erased screen", "abc", "<A>$ <B>\x1b[H\x1b[2J<A>$ <B>", ""},
	} {
		s := newScreen("")
		s.draw("<A>$ <B>")
		id := s.Last(false).ID
		s.draw("c\r\n<C>" + c.output + "<D0>")
		s.draw(c.then)
		if p := s.Prompt(id, false); s.whole(p) != c.want || strings.Contains(c.then, "\r") && p.Rest == "" && c.name != "the same text" || p.Silent == terminal.Yes && p.Rest != "" {
			t.Errorf("%s: got %q and %q, want %q, silent %d", c.name, s.output(p), p.Rest, c.want, p.Silent)
		}
	}
}

func TestResizesLoseNothingOfAnOutputThatEndsBeforeAPrompt(t *testing.T) { // RUN-42
	for _, output := range []string{"abc", "one\r\nabc", strings.Repeat("x", 15), strings.Repeat("y", 45), strings.Repeat("日", 15)} {
		for _, drawn := range []string{"\r\x1b[K<A>user$ <B>", "\r<A>user$ <B>", ""} {
			for _, widths := range [][]int{{30, 10, 20}, {7, 60, 7}, {4, 11}, {60}} {
				s := newScreen("")
				s.draw("<A>user$ <B>")
				id := s.Last(false).ID
				s.draw("c\r\n<C>" + output + "<D0><A>user$ <B>")
				for _, columns := range widths {
					s.Resize(columns, 6)
					s.Drawn()
					s.draw(drawn)
					p := s.Prompt(id, false)
					if got, want := s.whole(p), strings.ReplaceAll(output, "\r", ""); got != want && p.Output.Start.Row >= s.Dropped() {
						t.Errorf("%q at %d columns, %q: got %q and %q", output, columns, drawn, s.output(p), p.Rest)
					}
				}
			}
		}
	}
}
