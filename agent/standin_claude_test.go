package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// playClaude: the main screen, hooks of --settings, sessions/PID.json.
type playClaude struct{}

func (p *playClaude) begin(s *standIn) {
	os.MkdirAll(filepath.Dir(registerPath()), 0o700)
	p.told(s, session, map[string]string{"reason": "startup"})
}

func (*playClaude) finish(s *standIn) {
	os.Remove(registerPath())
	(&playClaude{}).told(s, left, map[string]string{"reason": "prompt_input_exit"})
}

func (*playClaude) draw(s *standIn) ([]string, int, int) {
	rows := append([]string{"Claude Code stand-in", ""}, s.said...)
	if s.shown != nil {
		rows = append(rows, "", acrossScreen())
		rows = append(rows, numberedRows(s.shown, " ❯")...)
		return rows, len(rows) - 1, 0
	}
	if s.busyFor != "" {
		rows = append(rows, "· "+s.busyFor+fmt.Sprintf("… (%ds)", s.seconds()))
	}
	inside, row, column := s.composer("❯\u00a0", "  ")
	rows = append(rows, "", acrossScreen())
	at := len(rows)
	rows = append(append(rows, inside...), acrossScreen())
	if s.busyFor != "" {
		rows = append(rows, "  esc to interrupt")
	} else {
		rows = append(rows, "  ? for shortcuts")
	}
	return rows, at + row, column
}

func (*playClaude) told(s *standIn, k kind, with map[string]string) {
	payload := map[string]any{"session_id": s.chat, "cwd": "/", "transcript_path": "/none.jsonl"}
	if with["turn"] != "" {
		payload["prompt_id"] = with["turn"]
	}
	transcribe(s, k, with)
	defer transcribeEnd(s, k)
	name := ""
	switch k {
	case session:
		name, payload["source"] = "SessionStart", with["reason"]
	case left:
		name, payload["reason"] = "SessionEnd", with["reason"]
	case prompted:
		name, payload["prompt"] = "UserPromptSubmit", with["text"]
	case done:
		name, payload["last_assistant_message"] = "Stop", with["text"]
	case failed:
		name, payload["error"], payload["last_assistant_message"] = "StopFailure", with["error"], "API Error: "+with["error"]
	case waits:
		name, payload["tool_name"] = "PermissionRequest", with["tool"]
	default: // Claude tells nothing of an interrupted or refused turn
		return
	}
	payload["hook_event_name"] = name
	runHooks(argumentAfter("--settings"), name, payload)
}

func (*playClaude) status(s *standIn, word, waiting string) {
	data, _ := json.Marshal(map[string]any{
		"pid": os.Getpid(), "sessionId": s.chat, "status": word, "waitingFor": waiting, "statusUpdatedAt": time.Now().UnixMilli(),
	})
	temp := registerPath() + ".new"
	os.WriteFile(temp, data, 0o600)
	os.Rename(temp, registerPath())
}

func (*playClaude) question(command string) *dialog {
	return &dialog{question: []string{"Bash command", command, "Do you want to proceed?"}, marked: 1, choices: []choice{
		{number: 1, label: "Yes"},
		{number: 2, label: "Yes, and don’t ask again for: curl *"},
		{number: 3, label: "No"},
	}}
}

// runHooks runs the commands of a settings file for an event.
func runHooks(path, name string, payload map[string]any) {
	data, err := os.ReadFile(path)
	if err != nil {
		return
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	if json.Unmarshal(data, &settings) != nil {
		return
	}
	body, _ := json.Marshal(payload)
	flags := "," + os.Getenv("STANDIN") + ","
	unheard := strings.Contains(flags, ",unheard,")
	if unheard && name == "UserPromptSubmit" || (unheard || strings.Contains(flags, ",lost,")) && strings.HasPrefix(name, "Stop") {
		return // as one that cannot write
	}
	for _, group := range settings.Hooks[name] {
		for _, h := range group.Hooks {
			if name == "Stop" && strings.Contains(flags, ",tardy,") {
				h.Command = "sleep 2; " + h.Command
			}
			cmd := exec.Command("/bin/sh", "-c", h.Command) //nolint:noctx // the stand-in is a program of its own
			cmd.Stdin = bytes.NewReader(body)
			cmd.Env = append(os.Environ(), "CLAUDE_CODE_CHILD_SESSION=1")
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				note("hook", fmt.Sprint(name, ": ", err, string(out)))
			}
		}
	}
}

// register is where Claude Code says what its process does.
func registerPath() string {
	return filepath.Join(os.Getenv("HOME"), ".claude", "sessions", strconv.Itoa(os.Getpid())+".json")
}

// transcribe writes into the transcript what Claude Code does before its hooks run.
func transcribe(s *standIn, k kind, with map[string]string) {
	said := func(of, id, text string) map[string]any {
		return map[string]any{"role": of, "id": id, "content": []map[string]any{{"type": "text", "text": text}}}
	}
	switch k {
	case prompted:
		transcriptLine(s, map[string]any{
			"type": "user", "promptId": with["turn"], "origin": map[string]any{"kind": "human"}, "message": map[string]any{"role": "user", "content": with["text"]},
		})
	case done:
		id, text := uuid.NewString(), with["text"] // of one answer there are several lines
		transcriptLine(s, map[string]any{"type": "assistant", "message": said("assistant", uuid.NewString(), "on its way")})
		transcriptLine(s, map[string]any{"type": "assistant", "message": said("assistant", id, text[:len(text)/2])})
		transcriptLine(s, map[string]any{"type": "assistant", "message": said("assistant", id, text[len(text)/2:])})
		transcriptLine(s, map[string]any{"type": "assistant", "isSidechain": true, "message": said("assistant", id, "of an agent of its own")})
	case failed:
		transcriptLine(s, map[string]any{
			"type": "assistant", "isApiErrorMessage": true, "error": "unknown", "message": said("assistant", uuid.NewString(), "API Error: "+with["error"]),
		})
	case interrupted:
		if with["taken"] == "" {
			transcriptLine(s, map[string]any{"type": "user", "promptId": with["turn"], "message": said("user", "", interruption+"]")})
		}
	}
}

// transcribeEnd is transcribe for what is written when the hooks have run.
func transcribeEnd(s *standIn, k kind) {
	if k == done || k == failed {
		transcriptLine(s, map[string]any{"type": "system", "subtype": "turn_duration"})
	}
}

func transcriptLine(s *standIn, line map[string]any) {
	folder := filepath.Join(os.Getenv("HOME"), ".claude", "projects", "-a-project")
	os.MkdirAll(folder, 0o700)
	f, err := os.OpenFile(filepath.Join(folder, s.chat+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	line["timestamp"] = time.Now()
	data, _ := json.Marshal(line)
	f.Write(append(data, '\n'))
}
