package shellint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termpilot/terminal"
)

var kindNames = map[terminal.EventKind]string{
	terminal.PromptShown: "shown", terminal.Continued: "continued", terminal.Started: "started",
	terminal.Ended: "ended", terminal.Aborted: "aborted",
}

// told renders changes as "ended p1 3".
func told(changes []Change) []string {
	var out []string
	for _, c := range changes {
		s := kindNames[c.Kind] + " " + c.Prompt.ID
		if c.Prompt.Exit != nil {
			s += fmt.Sprint(" ", *c.Prompt.Exit)
		}
		out = append(out, s)
	}
	return out
}

// feed gives the machine 133 marks written as "A;aid=x", each at the next position.
func feed(t *testing.T, m *Machine, marks ...string) []string {
	t.Helper()
	var out []string
	for i, text := range marks {
		mark, ok := Parse(133, []byte(text))
		if !ok {
			t.Fatalf("%q is no mark", text)
		}
		out = append(out, told(m.Feed(mark, uint64(i+1)))...)
	}
	return out
}

func TestMachineTellsWhatShellsDo(t *testing.T) {
	for _, c := range []struct{ name, marks, want string }{
		{"a command", "A;aid=x-1 B C D;3;aid=x-1 A;aid=x-2 B", "shown p1, started p1, ended p1 3, shown p2"},                                                                                                          // MARK-10
		{"an end and start before any prompt", "C D;0;aid=x-0 A;aid=x-1 B", "shown p1"},                                                                                                                               // MARK-11
		{"the same without ids", "C D;0 A B", "shown p1"},                                                                                                                                                             // MARK-11
		{"an empty line", "A B D A B", "shown p1, aborted p1, shown p2"},                                                                                                                                              // MARK-12
		{"a refused line", "A;aid=x-1 B D;2;aid=x-1 A;aid=x-2 B", "shown p1, aborted p1 2, shown p2"},                                                                                                                 // MARK-12
		{"a continuation prompt", "A;aid=x-1 B A;k=s;aid=x-1 B A;k=s;aid=x-1 B C D;0;aid=x-1", "shown p1, continued p1, continued p1, started p1, ended p1 0"},                                                        // MARK-13
		{"a right prompt", "A B P;k=r B C D;0", "shown p1, started p1, ended p1 0"},                                                                                                                                   // MARK-13
		{"a prompt drawn again", "A;aid=x-1 B A;aid=x-1 B C D;1;aid=x-1", "shown p1, started p1, ended p1 1"},                                                                                                         // MARK-14
		{"a prompt drawn again without ids", "A B A B C D;1", "shown p1, started p1, ended p1 1"},                                                                                                                     // MARK-14
		{"a shell in a shell", "A;aid=x-1 B C D;0;aid=y-0 A;aid=y-1 B C D;4;aid=y-1 A;aid=y-2 B C D;5;aid=x-1", "shown p1, started p1, shown p2, started p2, ended p2 4, shown p3, started p3, ended p3, ended p1 5"}, // MARK-15
		{"a shell in a shell that goes at its prompt", "A;aid=x-1 B C A;aid=y-1 B D;0;aid=x-1", "shown p1, started p1, shown p2, aborted p2, ended p1 0"},                                                             // MARK-15
		{"two integrations", "A;aid=x-1 A B B;aid=x-1 C C;aid=x-1 D;9 D;1;aid=x-1 A;aid=x-2 A B B;aid=x-2", "shown p1, started p1, ended p1 1, shown p2"},                                                             // MARK-16
		{"an unknown id", "A;aid=x-1 B C D;1;aid=z", "shown p1, started p1"},                                                                                                                                          // MARK-16
		{"a lost end", "A;aid=x-1 B C A;aid=x-2 B", "shown p1, started p1, ended p1, shown p2"},                                                                                                                       // MARK-17
		{"a lost end, one id for the shell", "A;aid=7 B C A;aid=7 B C D;1;aid=7", "shown p1, started p1, ended p1, shown p2, started p2, ended p2 1"},                                                                 // MARK-17
		{"an end twice", "A B C D;1 D;0 A B", "shown p1, started p1, ended p1 1, shown p2"},                                                                                                                           // MARK-16
		{"an integration without prompt ends", "A C D;1 A C D;2", "started p1, ended p1 1, started p2, ended p2 2"},                                                                                                   // MARK-18
		{"a status that is none", "A B C D;300", "shown p1, started p1, ended p1"},                                                                                                                                    // MARK-3
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewMachine("")
			got := strings.Join(feed(t, m, strings.Fields(c.marks)...), ", ")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
