package agent

import (
	"strings"
	"testing"
	"time"

	"termpilot/journal"
	"termpilot/terminal"
)

func FuzzAHookNeverEndsWhatItDoesNotName(f *testing.F) { // HOOK-2, FOLLOW-4
	f.Add("claude", `{"hook_event_name":"Stop","session_id":"c","prompt_id":"p","last_assistant_message":"x","background_tasks":[1]}`)
	f.Add("codex", `{"type":"agent-turn-complete","thread-id":"c","turn-id":"t","last-assistant-message":"x"}`)
	f.Add("grok", `{"hookEventName":"stop","sessionId":"c","reason":"shutdown"}`)
	f.Add("opencode", `{"event":"done","chat":"c","turn":"t","text":"x"}`)
	f.Add("opencode", `{"event":"prompt","chat":"c","turn":"t","text":"x"}`)
	f.Fuzz(func(t *testing.T, name, payload string) {
		v := vendorOf(name)
		if v == nil {
			return
		}
		e, ok := v.hook([]byte(payload))
		if !ok {
			return
		}
		s := newStory(Launch{Provider: name, Chat: "another-chat"})
		s.add(promptEvent("another-chat", "turn", "x"), time.Time{}, journal.Position{Offset: 1})
		s.add(e, time.Time{}, journal.Position{Offset: 2})
		if turn := s.turns[0]; !turn.open() && e.Chat != "" && e.Chat != "another-chat" && turn.outcome != Replaced {
			t.Fatalf("%s ended a turn of another chat: %+v", payload, turn)
		}
	})
}

func FuzzARecordOfCodexIsReadOrPassedOver(f *testing.F) { // FOLLOW-3
	f.Add(`{"type":"event_msg","payload":{"type":"task_complete","turn_id":"t","last_agent_message":"x"}}`)
	f.Add(`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"text":"x"}]}}}`)
	f.Fuzz(func(t *testing.T, line string) {
		if e, ok := codexLine([]byte(line)); ok && e.Kind == done && !strings.Contains(line, "task_complete") {
			t.Fatalf("%q is an end: %+v", line, e)
		}
	})
}

func FuzzATranscriptEndsNoTurnThatItDoesNotEnd(f *testing.F) { // FOLLOW-3
	f.Add(`{"type":"user","promptId":"p","origin":{"kind":"human"},"message":{"content":"x"}}` + "\n" + `{"type":"system","subtype":"turn_duration"}`)
	f.Add(`{"type":"user","promptId":"p","origin":{"kind":"human"},"message":{"content":[{"type":"text","text":"x"}]}}` + "\n" +
		`{"type":"user","promptId":"p","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`)
	f.Fuzz(func(t *testing.T, transcript string) {
		news := (&turn{vendorTurn: "p", accepted: true}).transcribed([]byte(transcript))
		if len(news) > 1 || len(news) == 1 && (news[0].VendorTurn != "p" || news[0].Kind == prompted) {
			t.Fatalf("%q tells %+v", transcript, news)
		}
	})
}

func FuzzNoScreenIsReadyWithoutAComposer(f *testing.F) { // TURN-4
	f.Add("claude", "────────\n❯ \n────────\n ? for shortcuts", 1, 2)
	f.Add("codex", "› hello\n\n  gpt high · /tmp", 0, 2)
	f.Add("grok", "╭──╮\n│ ❯  │\n╰──╯", 1, 4)
	f.Add("grok", "┃ 1 (●) Yes, proceed\n┃ 2 (○) No", 1, 4)
	f.Add("opencode", "  ┃\n  ┃  hello\n  ┃\n  ┃  Build\n  ╹▀▀▀▀▀▀▀▀", 1, 5)
	f.Add("opencode", "  ┃\n  ┃  △ Permission required\n  ┃  $ x\n  ┃   Allow once   Allow always   Reject\n  ┃", 0, 0)
	f.Add("claude", "────────\n Do you?\n ❯ 1. Yes\n   2. No", 1, 4)
	f.Fuzz(func(t *testing.T, name, text string, row, column int) {
		v := vendorOf(name)
		if v == nil || len(text) > 1<<16 {
			return
		}
		var s terminal.Screen
		for line := range strings.SplitSeq(text, "\n") {
			s.Rows = append(s.Rows, terminal.Row{Text: line})
		}
		s.Cursor = terminal.Point{Row: int64(row), Column: column}
		l := v.look(s)
		if (l.state == stateReady || l.state == stateBusy) && !strings.ContainsAny(text, "❯›╹") {
			t.Fatalf("%q is %s", text, l.state)
		}
		if (l.state == stateDialog) != (l.dialog != nil) || l.dialog != nil && l.dialog.kind == "permission" && len(l.dialog.choices) < 2 {
			t.Fatalf("%q is %+v", text, l)
		}
	})
}
