package closing

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// findGrok reads what Grok registers of its processes: active_sessions.json in
// its folder. The chat's events tell whether a turn goes on.
func findGrok(l look) Chat {
	dir := l.folder("GROK_HOME", ".grok")
	data, err := readAgentFile(filepath.Join(dir, "active_sessions.json"), false)
	if err != nil {
		return Chat{}
	}
	var list []struct {
		SessionID string `json:"session_id"`
		PID       int    `json:"pid"`
		Cwd       string `json:"cwd"`
		OpenedAt  string `json:"opened_at"`
	}
	if json.Unmarshal(data, &list) != nil {
		return Chat{}
	}
	for _, r := range list {
		if r.PID != l.process.PID || !isChatID(r.SessionID) {
			continue
		}
		if opened, err := time.Parse(time.RFC3339Nano, r.OpenedAt); err == nil && opened.Before(l.process.Start.Add(-2*time.Second)) {
			continue // of another process, which had this number before
		}
		chat := Chat{ChatID: r.SessionID, Cwd: r.Cwd, Source: fromRegistration, Verified: true, Persistence: Empty, State: Idle}
		folder := filepath.Join(dir, "sessions", url.QueryEscape(r.Cwd), r.SessionID)
		if found, _ := filepath.Glob(filepath.Join(dir, "sessions", "*", r.SessionID)); len(found) == 1 {
			folder = found[0]
		}
		if info, err := os.Stat(filepath.Join(folder, "chat_history.jsonl")); err == nil && info.Size() > 0 {
			chat.Persistence, chat.State = Saved, Unknown
			lastRecord(filepath.Join(folder, "events.jsonl"), func(line []byte) bool {
				var e struct {
					Type  string `json:"type"`
					Event string `json:"event"`
				}
				if json.Unmarshal(line, &e) != nil {
					return false
				}
				switch kind := e.Type + e.Event; {
				case strings.HasPrefix(kind, "turn_ended"):
					chat.State = Idle
				case strings.HasPrefix(kind, "turn_started"):
					chat.State = Busy
				case strings.HasPrefix(kind, "permission_requested"):
					chat.State = Waiting
				default:
					return false
				}
				return true
			})
		}
		return chat
	}
	return Chat{}
}
