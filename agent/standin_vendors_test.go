package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/term"
)

// acrossScreen is a line as wide as the screen.
func acrossScreen() string {
	width, _, err := term.GetSize(0)
	if err != nil {
		width = 80
	}
	return strings.Repeat("─", width)
}

// playCodex: no hooks, the rollout and the lock of the chat.
type playCodex struct {
	rollout *os.File
	locks   []*os.File
	source  any // of a chat; nil is a person's
}

func codexHome() string { return filepath.Join(os.Getenv("HOME"), ".codex") }

func (p *playCodex) begin(s *standIn) {
	if s.chat == "" {
		s.chat = uuid.NewString()
	}
	locks := filepath.Join(codexHome(), "thread-writer-locks")
	os.MkdirAll(locks, 0o700)
	lock, _ := os.Create(filepath.Join(locks, s.chat+".lock"))
	p.locks, p.rollout = append(p.locks, lock), nil // those of earlier chats stay open
}

func (*playCodex) finish(*standIn) {}

func (*playCodex) draw(s *standIn) ([]string, int, int) {
	rows := append([]string{"  >_ Codex stand-in", ""}, s.said...)
	if s.shown != nil {
		rows = append(rows, "")
		rows = append(rows, numberedRows(s.shown, "›")...)
		return rows, len(rows) - 1, 0
	}
	if s.busyFor != "" {
		rows = append(rows, fmt.Sprintf("• Working (%ds • esc to interrupt)", s.seconds()))
	}
	inside, row, column := s.composer("› ", "  ")
	hint := ""
	if len(s.text) == 0 {
		inside[0], hint = "› Ask Codex to do anything", "hint"
	}
	rows = append(rows, "")
	at := len(rows)
	if lines := strings.Split(string(s.text), "\n"); len(lines) > 12 && len(s.text) < 1000 { // it has no mark for these
		lines = lines[len(lines)-12:]
		inside = []string{fmt.Sprintf("› %-60s↑", lines[0])}
		for _, l := range lines[1:] {
			inside = append(inside, "  "+l)
		}
		return append(append(rows, inside...), " "), at + 11, len([]rune(inside[11]))
	}
	rows = append(append(rows, inside...), "", "  "+s.model+" default · /tmp/project", "  ? for shortcuts")
	if hint != "" {
		column = 2
	}
	return rows, at + row, column
}

func (p *playCodex) told(s *standIn, k kind, with map[string]string) {
	if k == session {
		p.begin(s)
		return
	}
	if p.rollout == nil {
		day := filepath.Join(codexHome(), "sessions", time.Now().Format("2006/01/02"))
		os.MkdirAll(day, 0o700)
		p.rollout, _ = os.OpenFile(filepath.Join(day, "rollout-2026-01-02T03-04-05-"+s.chat+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		p.line("session_meta", map[string]any{"session_id": s.chat, "source": cmp.Or(p.source, any("cli"))})
	}
	switch k {
	case left: // nothing
	case prompted:
		p.line("event_msg", map[string]any{"type": "task_started", "turn_id": with["turn"]})
		p.line("event_msg", map[string]any{"type": "item_completed", "turn_id": with["turn"], "item": map[string]any{
			"type": "UserMessage", "content": []map[string]any{{"type": "text", "text": with["text"]}},
		}})
	case done:
		p.line("event_msg", map[string]any{"type": "task_complete", "turn_id": with["turn"], "last_agent_message": with["text"]})
	case failed:
		p.line("event_msg", map[string]any{
			"type": "task_complete", "turn_id": with["turn"], "last_agent_message": nil, "error": map[string]any{"message": with["error"]},
		})
	case interrupted:
		p.line("event_msg", map[string]any{"type": "turn_aborted", "turn_id": with["turn"], "reason": "interrupted"})
	}
}

func (p *playCodex) line(kind string, payload any) {
	data, _ := json.Marshal(map[string]any{"timestamp": time.Now(), "type": kind, "payload": payload})
	p.rollout.Write(append(data, '\n'))
}

// bulk puts more into the record than is held at once.
func (p *playCodex) bulk() {
	for range 10 {
		p.line("response_item", strings.Repeat("x", 1<<20))
	}
}

// part plays an agent of the agent's own, with a chat of its own.
func (p *playCodex) part(s *standIn) {
	mine, rollout := s.chat, p.rollout
	s.chat, p.source = uuid.NewString(), map[string]any{"subagent": map[string]any{}}
	p.begin(s)
	turn := uuid.NewString()
	p.told(s, prompted, map[string]string{"text": "a part of it", "turn": turn})
	p.told(s, done, map[string]string{"text": "the part is done", "turn": turn})
	s.chat, p.rollout, p.source = mine, rollout, nil
}

func (*playCodex) status(*standIn, string, string) {}

func (*playCodex) question(command string) *dialog {
	return &dialog{question: []string{"Would you like to run the following command?", "$ " + command}, marked: 1, choices: []choice{
		{number: 1, label: "Yes, proceed (y)", key: "y"},
		{number: 2, label: "Yes, and don't ask again for commands that start with `curl` (p)", key: "p"},
		{number: 3, label: "No, and tell Codex what to do differently (esc)", key: "n"},
	}}
}

// playGrok: hooks in its own folder, a box and a bar.
type playGrok struct{}

func (p *playGrok) begin(s *standIn) { p.told(s, session, map[string]string{"reason": "startup"}) }

func (p *playGrok) finish(s *standIn) {
	p.told(s, left, map[string]string{"reason": "exit"})
	hooks := filepath.Join(os.Getenv("HOME"), ".grok", "hooks", grokHooks)
	runHooks(hooks, "Stop", map[string]any{"hookEventName": "stop", "sessionId": s.chat, "reason": "shutdown"})
}

func (*playGrok) draw(s *standIn) ([]string, int, int) {
	rows := append([]string{"Grok stand-in", ""}, s.said...)
	if s.shown != nil {
		rows = append(rows, "  ┃")
		for _, q := range s.shown.question {
			rows = append(rows, "  ┃  "+q)
		}
		rows = append(rows, "  ┃")
		for _, c := range s.shown.choices {
			mark := "○"
			if c.number == s.shown.marked {
				mark = "●"
			}
			rows = append(rows, "  ┃  "+string(rune('0'+c.number))+" ("+mark+") "+c.label)
		}
		rows = append(rows, "  ┃", "", "  1/5:select")
		return rows, len(rows) - 1, 0
	}
	if s.busyFor != "" {
		rows = append(rows, fmt.Sprintf("    ⠋ Responding… %d.0s  [stop]", s.seconds()))
	}
	inside, row, column := s.composer("  │ ❯ ", "  │   ")
	if len(s.text) == 0 && len(s.said) > 0 {
		inside[0], column = "  │ ❯ a suggested prompt", 6
	}
	rows = append(rows, "", "  ╭──────────────────╮")
	at := len(rows)
	rows = append(append(rows, inside...), "  ╰──────── fake ─╯", "", "  Shift+Tab:mode")
	return rows, at + row, column
}

func (*playGrok) told(s *standIn, k kind, with map[string]string) {
	payload := map[string]any{"sessionId": s.chat, "session_id": s.chat, "cwd": "/"}
	if with["turn"] != "" {
		payload["promptId"] = with["turn"]
	}
	name := ""
	switch k {
	case session:
		name, payload["source"] = "SessionStart", with["reason"]
	case left:
		name, payload["reason"] = "SessionEnd", with["reason"]
	case prompted:
		name, payload["prompt"] = "UserPromptSubmit", with["text"]
	case done:
		name, payload["lastAssistantMessage"], payload["reason"] = "Stop", with["text"], "end_turn"
	case failed:
		name, payload["error"] = "StopFailure", with["error"]
	case interrupted:
		name, payload["reason"] = "StopCancelled", with["reason"]
	case waits:
		name, payload["notificationType"] = "Notification", "permission_prompt"
	case goesOn:
		name = "PostToolUse"
	}
	payload["hookEventName"], payload["hook_event_name"] = strings.ToLower(name[:1])+name[1:], name
	runHooks(filepath.Join(os.Getenv("HOME"), ".grok", "hooks", grokHooks), name, payload)
}

func (*playGrok) status(*standIn, string, string) {}

func (*playGrok) question(command string) *dialog {
	return &dialog{question: []string{"Fake tool run", command}, marked: 1, choices: []choice{
		{number: 1, label: "Yes, and don't ask again for anything (always-approve mode)"},
		{number: 2, label: "Always allow: curl -s"},
		{number: 3, label: "Yes, proceed"},
		{number: 4, label: "No, reject (type to add feedback)"},
		{number: 5, label: "Never allow: curl -s"},
	}}
}
