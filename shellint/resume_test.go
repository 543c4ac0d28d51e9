package shellint

import (
	"testing"

	"termpilot/terminal"
)

// resumed is a machine that began with what a terminal kept.
func resumed(t *testing.T, fragment string, believed bool) *Machine {
	t.Helper()
	m := NewMachine(testNonce)
	mark, ok := Parse(7, []byte("file:///home"+fragment))
	if !ok || m.Resume(mark) != believed {
		t.Fatalf("%s: believed is not %v", fragment, believed)
	}
	return m
}

func TestWhatATerminalKeptIsTakenUp(t *testing.T) { // MARK-54
	const secret = "#n=" + testNonce
	m := resumed(t, secret+";run=x-3", true)
	if p := m.Last(); p.AID != "x-3" || p.State != terminal.Running || p.Cwd != "/home" {
		t.Errorf("a command that runs: %+v", p)
	}
	if c := proven(m, "D;7;aid=x-3"); len(c) != 1 || c[0].Kind != terminal.Ended || *c[0].Prompt.Exit != 7 {
		t.Errorf("its end: %+v", c)
	}

	m = resumed(t, secret+";run=x-3", true)
	mark, _ := Parse(7, []byte("file:///home"+secret+";at=x-4;d=3:7;tell=1"))
	if c := m.Feed(mark, 0); len(c) != 1 || c[0].Kind != terminal.Ended || *c[0].Prompt.Exit != 7 {
		t.Errorf("its end, told by the directory: %+v", c)
	}
	if c := m.Feed(mark, 0); len(c) != 0 {
		t.Errorf("and again: %+v", c)
	}

	m = resumed(t, secret+";run=x-3", true)
	proven(m, "A;aid=x-4")
	if p, _ := m.Named("x-3", 0); p.State != terminal.Finished || p.Exit != nil {
		t.Errorf("its end was not seen: %+v", p)
	}

	m = resumed(t, secret+";more=x-4", true)
	if p := m.Last(); p.AID != "x-4" || p.State != terminal.Continuation {
		t.Errorf("a line that goes on: %+v", p)
	}

	m = resumed(t, secret+";at=x-4;d=2:7;tell=1", true)
	if p, ok := m.Named("x-2", 0); !ok || p.State != terminal.Finished || *p.Exit != 7 || m.Last().ID != "" {
		t.Errorf("a prompt: %+v, and last %+v", p, m.Last())
	}
	if _, ok := m.Named("x-3", 0); ok {
		t.Error("a prompt of which nothing is known is known")
	}
}

func TestWhatATerminalKeptIsNotBelieved(t *testing.T) { // MARK-54
	for _, fragment := range []string{"", "#n=wrong;run=x-3", "#n=" + testNonce, "#n=" + testNonce + "x;at=x-3"} {
		if m := resumed(t, fragment, false); m.Seen() || m.Last().ID != "" {
			t.Errorf("%s: %+v", fragment, m.Last())
		}
	}
	m := NewMachine(testNonce)
	proven(m, "A;aid=x-5", "B;aid=x-5")
	mark, _ := Parse(7, []byte("file:///home#n="+testNonce+";run=x-3"))
	if m.Resume(mark) || m.Last().AID != "x-5" {
		t.Errorf("behind marks that were seen: %+v", m.Last())
	}
	if plain := NewMachine(""); plain.Resume(mark) {
		t.Error("without a secret nothing is kept")
	}
}

func TestAnAnswerTellsOnlyWhatIsNotKnown(t *testing.T) { // MARK-54
	m := resumed(t, "#n="+testNonce+";at=x-4;tell=1", true)
	if c := proven(m, "S;aid=x-4;line=1"); len(c) != 1 || c[0].Kind != terminal.PromptShown || c[0].Prompt.CommandStart != 0 {
		t.Errorf("with text: %+v", c)
	}
	if c := proven(m, "S;aid=x-4"); len(c) != 0 || m.Last().CommandStart == 0 {
		t.Errorf("an empty line later: %+v, %+v", c, m.Last())
	}
	start := m.Last().CommandStart
	if c := proven(m, "S;aid=x-4"); len(c) != 0 || m.Last().CommandStart != start {
		t.Errorf("and again: %+v, %+v", c, m.Last())
	}
	if c := proven(m, "S;aid=x-5"); len(c) != 0 || m.Last().AID != "x-4" {
		t.Errorf("of another prompt: %+v", c)
	}
	proven(m, "C;aid=x-4")
	if c := proven(m, "S;aid=x-4"); len(c) != 0 || m.Last().State != terminal.Running {
		t.Errorf("while the command runs: %+v", c)
	}
	proven(m, "D;0;aid=x-4")
	if c := proven(m, "S;aid=x-4"); len(c) != 0 || m.Last().State != terminal.Finished {
		t.Errorf("late: %+v", c)
	}
}
