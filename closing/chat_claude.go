package closing

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"time"
)

// findClaude reads what Claude Code registers of each process: its folder's
// sessions/PID.json, removed when the process ends. procStart is the process's
// start as the kernel counts it, which guards against a number given anew; where
// that is not told, startedAt must be soon after the process's start.
func findClaude(l look) Chat {
	dir := l.folder("CLAUDE_CONFIG_DIR", ".claude")
	data, err := readAgentFile(filepath.Join(dir, "sessions", strconv.Itoa(l.process.PID)+".json"), false)
	if err != nil {
		return Chat{}
	}
	var r struct {
		PID       int    `json:"pid"`
		SessionID string `json:"sessionId"`
		Cwd       string `json:"cwd"`
		StartedAt int64  `json:"startedAt"` // milliseconds since 1970
		ProcStart string `json:"procStart"`
		Status    string `json:"status"`
	}
	if json.Unmarshal(data, &r) != nil || r.PID != l.process.PID {
		return Chat{}
	}
	if ticks, err := l.machine.Ticks(r.PID); err == nil && r.ProcStart != "" {
		if r.ProcStart != strconv.FormatUint(ticks, 10) {
			return Chat{}
		}
	} else if since := time.UnixMilli(r.StartedAt).Sub(l.process.Start); since < -2*time.Second || since > 10*time.Minute {
		return Chat{}
	}
	chat := Chat{ChatID: r.SessionID, Cwd: r.Cwd, Source: fromRegistration, Verified: true, State: Unknown}
	switch r.Status {
	case "idle":
		chat.State = Idle
	case "busy":
		chat.State = Busy
	case "waiting":
		chat.State = Waiting
	}
	if !isChatID(r.SessionID) {
		return chat
	}
	switch found, err := inEach(filepath.Join(dir, "projects"), r.SessionID+".jsonl"); { // Claude writes a chat down with its first message
	case len(found) > 0:
		chat.Persistence = Saved
	case err == nil:
		chat.Persistence = Empty
	}
	return chat
}
