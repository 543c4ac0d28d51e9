package agent

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/journal"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

// told is the story of a launch of Claude Code after some events, one a second.
func told(events ...event) *story {
	s := newStory(Launch{ID: "l-0000000000000000", Session: "s", Provider: "claude", Chat: "c", Folder: "/none"})
	for i, e := range events {
		s.add(e, time.Unix(int64(i), 0), journal.Position{File: 1, Offset: int64(10 * (i + 1))})
	}
	return s
}

func TestAnAnswerThatIsToldAfterItsTurnWasGivenUpIsKept(t *testing.T) { // TURN-10, FOLLOW-3
	prompt := promptEvent("c", "p1", "x")
	late := event{Kind: done, Chat: "c", VendorTurn: "p1", Text: "the answer", Source: fromHook}
	for name, end := range map[string]event{
		"taken for interrupted": {Kind: interrupted, Chat: "c", VendorTurn: "p1", Source: fromRecord, Concluded: true},
		"the next was accepted": promptEvent("c", "p2", "y"),
		"its process has ended": {Kind: gone, Source: fromProcess},
		"its chat was left":     {Kind: left, Chat: "c", Reason: "other", Source: fromHook},
	} {
		s := told(prompt, end)
		if outcome := s.turns[0].outcome; outcome != Interrupted && outcome != Exited {
			t.Errorf("%s: %s", name, outcome)
		}
		s.add(late, time.Unix(9, 0), journal.Position{File: 1, Offset: 90})
		if one := s.turns[0]; one.outcome != Done || one.text != "the answer" || one.end.Offset != 90 {
			t.Errorf("%s, then told: %+v", name, one)
		}
	}
	s := told(prompt, event{Kind: interrupted, Chat: "c", VendorTurn: "p1", Source: fromHook}, late)
	if outcome := s.turns[0].outcome; outcome != Interrupted {
		t.Errorf("what the vendor told was %s after another word", outcome)
	}
}

func TestWhatAChatSaidBeforeItWasTakenUpAgainAnswersNothing(t *testing.T) { // TURN-1, FOLLOW-4
	launched := time.Now()
	line := func(at time.Time, payload string) string {
		return `{"timestamp":"` + at.UTC().Format(time.RFC3339Nano) + `","type":"event_msg","payload":` + payload + "}\n"
	}
	turn := func(at time.Time, id, answer string) string {
		return line(at, `{"type":"item_completed","turn_id":"`+id+`","item":{"type":"UserMessage","content":[{"text":"go on"}]}}`) +
			line(at.Add(time.Second), `{"type":"task_complete","turn_id":"`+id+`","last_agent_message":"`+answer+`"}`)
	}
	chat := "11111111-0000-0000-0000-000000000000"
	s := newStory(Launch{ID: "l-0000000000000000", Provider: "codex", Chat: chat, Folder: filepath.Join(t.TempDir(), "[mine]*"), At: launched})
	path := filepath.Join(s.launch.Folder, "sessions", "2026", "01", "02", "rollout-2026-01-02T03-04-05-"+chat+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	history := turn(launched.Add(-time.Hour), "old", "of long ago") + turn(launched.Add(30*time.Second), "other", "of another process")
	if err := os.WriteFile(path, []byte(history+turn(launched.Add(time.Minute), "new", "the answer")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.add(event{Kind: begun, Turn: "t1", Exact: exactDigest("go on"), Loose: looseDigest("go on")}, launched.Add(time.Minute), journal.Position{File: 1, Offset: 1})
	s.add(event{Kind: entered, Turn: "t1"}, launched.Add(time.Minute), journal.Position{File: 1, Offset: 2})
	for _, e := range codexRecord(s, &s.recorded) {
		if s.news(e) {
			s.add(e, time.Now(), journal.Position{File: 1, Offset: 3})
		}
	}
	if one := s.byID("t1"); one.outcome != Done || one.text != "the answer" || one.vendorTurn != "new" {
		t.Errorf("%+v", one)
	}
	if len(s.turns) != 2 || s.byVendorTurn("old") != nil {
		t.Errorf("%d turns", len(s.turns))
	}
}

func TestAWaitForATurnOfWhichNothingMoreWillBeToldEnds(t *testing.T) { // FOLLOW-16
	s := told(event{Kind: begun, Turn: "t1"}, event{Kind: entered, Turn: "t1"})
	w := &waiter{launch: s.launch, s: s, after: s.turns[0].from, bounded: true}
	if now := w.verdict(); now.Over() || now.Outcome != Unknown {
		t.Errorf("%+v", now)
	}
	s.add(event{Kind: begun, Turn: "t2"}, time.Unix(5, 0), journal.Position{File: 1, Offset: 50})
	if now := w.verdict(); !now.Over() || now.Outcome != Unknown || now.TurnID != "t1" || now.Reason == "" {
		t.Errorf("%+v", now)
	}
}

// goneSession has no session of any id.
type goneSession struct{ blindPilot }

func (goneSession) SeeOne(context.Context, string, terminal.ID) (pilot.Seen, error) {
	return pilot.Seen{}, fault.SessionNotFound
}

func TestAnAgentWhoseProcessRunsHasNotEnded(t *testing.T) { // FOLLOW-3
	a := New(Options{Pilot: goneSession{}, Dir: t.TempDir(), Env: []string{}})
	self, err := process.Lookup(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	s := told(event{Kind: started, PID: self.PID, Birth: process.Birth(self.Start)})
	if state, why := a.state(t.Context(), s); state != stateUnknown || why == "" {
		t.Errorf("%s %s", state, why)
	}
	if state, _ := a.state(t.Context(), told()); state != stateEnded {
		t.Errorf("%s", state)
	}
}

func TestTheAgentsWordStandsOverWhatItsScreenShowed(t *testing.T) { // TURN-5
	yes, no := true, false
	begin := []event{{Kind: begun, Turn: "t1", Exact: exactDigest("x"), Loose: looseDigest("x")}, {Kind: entered, Turn: "t1"}}
	prompt := promptEvent("c", "p1", "x")
	for name, left := range map[string]*bool{"it stood there": &yes, "it was not seen": nil, "it was gone": &no} {
		seen := event{Kind: residue, Turn: "t1", Residue: left, Source: fromScreen}
		for _, rest := range [][]event{{seen, prompt}, {prompt, seen}} {
			one := told(append(begin, rest...)...).turns[0]
			if !one.accepted || one.residue == nil || *one.residue {
				t.Errorf("%s: %+v", name, one)
			}
		}
	}
}
