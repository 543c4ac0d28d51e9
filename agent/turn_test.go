package agent

import (
	"strings"
	"testing"

	"termpilot/fault"
)

func TestAnAgentIsLaunchedAndAnswers(t *testing.T) { // LAUNCH-1, TURN-1, FOLLOW-1
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "SAY:hello")
		if r.TurnID == "" || r.Residue == nil || *r.Residue || r.LaunchID == "" || r.Schema != "termpilot.agent-launch.v1" {
			t.Fatalf("%+v\n%s", r, w.screen(r.SessionID))
		}
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Done || got.ChatID == "" {
			t.Fatalf("%+v", got)
		}
		if got := w.result(r.SessionID); got != "hello" {
			t.Errorf("answer %q", got)
		}
		w.ends(r.SessionID, "what next?", Done)
		w.ends(r.SessionID, "SAY:third", Done)
		if got := w.result(r.SessionID); got != "third" {
			t.Errorf("answer %q", got)
		}
		w.wantNoted("prompt", "SAY:hello", "what next?", "SAY:third")
	})
}

func TestALongPromptOfManyLinesArrivesWhole(t *testing.T) { // TURN-2
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		lines := "three\n\n\tlines of it  \nand the end"
		long := strings.Repeat("line of a long prompt, öß日本👩 $(id) `x`\n", 200) + "end"
		short := strings.Repeat("one\n", 40) + "the end" // Codex shows its last rows, and nothing below
		shorter := strings.Repeat("a\n", 20) + "b"
		list := "1. first\n2. second"
		for _, text := range []string{lines + "\n\n", long, short, shorter, list} {
			w.ends(r.SessionID, text, Done)
		}
		w.wantNoted("prompt", lines, long, short, shorter, list)
	})
}

func TestANameAtTheEndOfAPromptIsSentAsItIs(t *testing.T) { // TURN-12
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		w.ends(r.SessionID, "look at @main", Done)
		w.wantNoted("prompt", "look at @main")
	})
}

func TestWhatAPasteCannotCarryIsRefused(t *testing.T) { // TURN-3
	w := newWorld(t)
	r := w.launch("claude", "", "")
	for text, want := range map[string]fault.Code{
		"":                          fault.InvalidArgument,
		" \n\t ":                    fault.InvalidArgument,
		"a\x1b[201~b":               fault.InvalidArgument,
		"a\x03":                     fault.InvalidArgument,
		"a\u009b201~":               fault.InvalidArgument,
		"\xff":                      fault.InvalidArgument,
		"/model opus":               fault.InvalidArgument,
		"!rm x":                     fault.InvalidArgument,
		strings.Repeat("x", 33<<10): fault.TooLarge,
	} {
		_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: text})
		w.refuses(err, want)
	}
	_, err := w.agents.Send(t.Context(), SendRequest{SessionID: "nobody", Text: "x"})
	w.refuses(err, fault.SessionNotFound)
	w.ends(r.SessionID, "x", Done)
	w.wantNoted("prompt", "x")
}
