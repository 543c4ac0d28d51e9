package agent

import (
	"testing"
	"time"

	"termpilot/journal"
)

// told is the story of a launch of Claude Code after some events, one a second.
func told(events ...event) *story {
	s := newStory(Launch{ID: "l-0000000000000000", Provider: "claude", Chat: "c", Folder: "/none"})
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
