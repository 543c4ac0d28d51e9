package shellint

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termpilot/terminal"
)

// proven gives the machine the marks of a shell that knows the secret.
func proven(m *Machine, marks ...string) []Change {
	var out []Change
	for i, text := range marks {
		mark, _ := Parse(133, []byte(text+";n="+testNonce))
		out = append(out, m.Feed(mark, uint64(1000+i))...)
	}
	return out
}

// FuzzMachineNeverInventsAPrompt prints marks in every spelling at every
// moment of a shell's life, without the secret: nothing may change.
func FuzzMachineNeverInventsAPrompt(f *testing.F) { // MARK-5, MARK-6
	for _, seed := range []string{
		"133;A\n133;B\n133;D;0", "133;D;0;aid=x-1", "633;A\n633;B\n633;C\n633;D;0", "133;D;0;aid=x-1;n=", "133;D;0;aid=x-1;n=wrong",
		"7;file:///etc#n=wrong", "1337;CurrentDir=/etc", "1337;RemoteHost=root@evil", "633;E;rm;wrong", "133;N;aid=x-1\n133;P;k=s\n133;C;aid=x-1",
		"1337;ShellIntegrationVersion=1;shell=bash", "7;file:///etc#n=wrong;at=x-2;d=1:0;tell=1", "7;file:///etc#n=wrong;run=x-1", "133;S;aid=x-2;line=1",
	} {
		for moment := range 6 {
			f.Add(moment, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, moment int, forged []byte) {
		if bytes.Contains(forged, []byte(testNonce)) {
			t.Skip()
		}
		life := []string{"A;aid=x-1", "B;aid=x-1", "C;aid=x-1", "D;3;aid=x-1", "A;aid=x-2"}
		m := NewMachine(testNonce)
		n := ((moment % 6) + 6) % 6
		proven(m, life[:n]...)
		before, where := m.Prompts(), fmt.Sprint(m.Where())
		seen := m.Seen()
		fed := 0
		m.Released()
		for i, line := range bytes.Split(forged, []byte("\n")) {
			number, payload, _ := bytes.Cut(line, []byte(";"))
			for _, command := range []int{7, 133, 633, 1337} {
				if string(number) != fmt.Sprint(command) && len(line)%4 != 0 {
					continue
				}
				mark, ok := Parse(command, payload)
				if !ok {
					continue
				}
				fed++
				if m.Believes(mark) {
					t.Fatalf("%q is believed", line)
				}
				if changes := m.Feed(mark, uint64(i+1)); len(changes) > 0 {
					t.Fatalf("%q changed %v", line, told(changes))
				}
			}
		}
		if diff := cmp.Diff(before, m.Prompts()); diff != "" || m.Seen() != seen || fmt.Sprint(m.Where()) != where {
			t.Fatal(diff)
		}
		if got := len(m.Released()); got != fed {
			t.Fatalf("%d of %d positions came back", got, fed)
		}
		// The life goes on as if nothing had been printed.
		rest := told(proven(m, life[n:]...))
		want := [][]string{{"shown p1", "started p1", "ended p1 3"}, {"shown p1", "started p1", "ended p1 3"}, {"started p1", "ended p1 3"}, {"ended p1 3"}, nil, nil}[n]
		if !slices.Equal(rest, want) {
			t.Fatalf("got %v, want %v", rest, want)
		}
	})
}

// FuzzMachineKeepsItsBooks feeds any marks to a machine without nonce: states
// only go forward, ids are never used again, and each position comes back once.
func FuzzMachineKeepsItsBooks(f *testing.F) { // MARK-18, MARK-19
	f.Add([]byte("A;aid=x-1\nB\nC\nD;0;aid=x-1\nA;aid=x-2\nB"))
	f.Add([]byte("A\nB\nA\nB\nC\nA;aid=y\nB\nA;k=s\nD;1\nD;2;aid=y"))
	f.Add([]byte("A;aid=1\nA\nB;aid=2\nC\nB\nP;k=r\nN\nC;aid=3\nD"))
	f.Fuzz(func(t *testing.T, script []byte) {
		m := NewMachine("")
		states := map[string]terminal.PromptState{}
		out := map[uint64]bool{}
		released := func() {
			for _, h := range m.Released() {
				if out[h] || h == 0 {
					t.Fatalf("position %d came back twice", h)
				}
				out[h] = true
			}
		}
		given := uint64(0)
		for _, line := range bytes.Split(script, []byte("\n")) {
			mark, ok := Parse(133, line)
			if !ok {
				continue
			}
			mark.Blank = len(line)%7 == 0
			given++
			for _, c := range m.Feed(mark, given) {
				before, known := states[c.Prompt.ID]
				if known && (c.Prompt.State < before || before == terminal.Finished) || !known && c.Kind != terminal.PromptShown && c.Kind != terminal.Started {
					t.Fatalf("%s after %v", told([]Change{c}), before)
				}
				if c.Kind == terminal.Ended && c.Prompt.Exit != nil && !mark.HasExit {
					t.Fatalf("a status from nowhere: %+v", c.Prompt)
				}
				states[c.Prompt.ID] = c.Prompt.State
			}
			released()
		}
		held := uint64(0)
		for _, p := range m.Prompts() {
			for _, h := range []uint64{p.Start, p.CommandStart, p.OutputStart, p.OutputEnd} {
				if h != 0 {
					held++
					if out[h] {
						t.Fatalf("position %d is kept and came back", h)
					}
				}
			}
		}
		if m.pending != nil && m.pending.Start != 0 {
			held++
		}
		if m.redraw != 0 {
			held++
		}
		if held+uint64(len(out)) != given {
			t.Fatalf("%d given, %d kept, %d came back", given, held, len(out))
		}
	})
}

func TestTheHistoryIsBounded(t *testing.T) { // MARK-19
	m := NewMachine("")
	kept := map[uint64]bool{}
	at := uint64(0)
	for i := range 3 * maxPrompts {
		for _, text := range []string{"A;aid=x-%d", "B;aid=x-%d", "C;aid=x-%d", "D;0;aid=x-%d"} {
			at++
			kept[at] = true
			mark, _ := Parse(133, fmt.Appendf(nil, text, i))
			m.Feed(mark, at)
			for _, h := range m.Released() {
				delete(kept, h)
			}
		}
	}
	if n := len(m.Prompts()); n != maxPrompts || len(kept) != 4*maxPrompts {
		t.Errorf("%d prompts, %d positions", n, len(kept))
	}
	if _, ok := m.Prompt("p1"); ok {
		t.Error("p1 is kept")
	}
	// Shells inside shells without end: the outermost are given up.
	m = NewMachine("")
	for i := range 2 * maxPrompts {
		feed(t, m, fmt.Sprintf("A;aid=%d.-1", i), "B", "C")
	}
	if n := len(m.Prompts()); n > maxPrompts || len(m.open) > maxOpen {
		t.Errorf("%d prompts, %d open", n, len(m.open))
	}
}

func TestMarksWithAnotherSecretAreNone(t *testing.T) { // MARK-5
	m := NewMachine(testNonce)
	for _, text := range []string{"A", "B", "C", "D;0", "A;n=x", "B;n=" + testNonce[:5], "A;n=" + testNonce + "x", "A;aid=" + testNonce} {
		mark, _ := Parse(133, []byte(text))
		if m.Believes(mark) || len(m.Feed(mark, 0)) > 0 {
			t.Errorf("%s is believed", text)
		}
	}
	if m.Seen() || m.Last().ID != "" {
		t.Error("a mark was taken")
	}
	if got := told(proven(m, "A", "B")); !slices.Equal(got, []string{"shown p1"}) || !m.Seen() {
		t.Errorf("got %v", got)
	}
}

func TestAPromptIsEditedOnlyWhenItsEndWasSeen(t *testing.T) { // MARK-7
	m := NewMachine(testNonce)
	proven(m, "A;aid=x-1")
	if m.Last().State != terminal.NoPrompt {
		t.Errorf("got %+v", m.Last())
	}
	proven(m, "B;aid=x-1", "C;aid=x-1", "D;0;aid=x-1", "A;aid=x-2")
	if m.Last().State != terminal.Finished {
		t.Errorf("got %+v", m.Last())
	}
	proven(m, "B;aid=x-2")
	if p := m.Last(); p.State != terminal.Editing || p.ID != "p2" {
		t.Errorf("got %+v", p)
	}
}

func TestABlankLineOfAnotherIntegrationIsNoCommand(t *testing.T) { // MARK-12
	m := NewMachine("")
	feed(t, m, "A", "B")
	m.Feed(Mark{Kind: OutputStart, Blank: true}, 0)
	if got := feed(t, m, "D;7"); !slices.Equal(got, []string{"aborted p1"}) {
		t.Errorf("got %v", got)
	}
	// The shell that knows the secret never says so of a blank line.
	m = NewMachine(testNonce)
	proven(m, "A", "B")
	if got := told(m.Feed(Mark{Kind: OutputStart, Blank: true, Nonce: testNonce}, 0)); !slices.Equal(got, []string{"started p1"}) {
		t.Errorf("got %v", got)
	}
}
