package closing

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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
		opened, err := time.Parse(time.RFC3339Nano, r.OpenedAt)
		if err == nil && opened.Before(l.process.Start.Add(-2*time.Second)) {
			continue // of another process, which had this number before
		}
		chat := Chat{ChatID: r.SessionID, Cwd: r.Cwd, Source: fromRegistration, Verified: err == nil, State: Unknown}
		found, err := inEach(filepath.Join(dir, "sessions"), filepath.Join(r.SessionID, "chat_history.jsonl"))
		written := slices.DeleteFunc(found, func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && info.Size() == 0
		})
		switch {
		case len(written) > 1: // of which one nothing tells
			chat.Persistence = Saved
		case len(written) == 1:
			chat.Persistence = Saved
			lastRecord(filepath.Join(filepath.Dir(written[0]), "events.jsonl"), func(line []byte) bool {
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
		case err == nil: // nothing was said yet
			chat.Persistence, chat.State = Empty, Idle
		}
		return chat
	}
	return Chat{}
}
