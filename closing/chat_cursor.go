package closing

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"termpilot/lazy"
)

// Cursor's agent has a log open that names its conversation when it begins.
var cursorConversation = lazy.Regexp(`"conversationId"\s*:\s*"([0-9a-f-]{36})"`)

func findCursor(l look) Chat {
	files, err := l.machine.OpenFiles(l.process.PID)
	if err != nil {
		return Chat{}
	}
	for _, path := range files {
		if !strings.Contains(path, "cursor-agent-logs-") || !strings.HasPrefix(filepath.Base(path), "session-") {
			continue
		}
		data, err := readAgentFile(path, true)
		if err != nil {
			continue
		}
		id := ""
		for line := range strings.Lines(string(data)) {
			if m := cursorConversation().FindStringSubmatch(line); m != nil && strings.Contains(line, "conversationClassification.init") {
				id = m[1] // the last one counts
			}
		}
		if id == "" {
			continue
		}
		chat := Chat{ChatID: id, Source: fromOpenFile, Verified: true, Persistence: persistUnknown}
		dir := l.below(".cursor")
		found, err := inEach(filepath.Join(dir, "chats"), filepath.Join(id, "meta.json"))
		said := map[bool]bool{}
		for _, meta := range append(found, filepath.Join(dir, "acp-sessions", id, "meta.json")) {
			var m struct {
				HasConversation *bool `json:"hasConversation"`
			}
			if data, err := readAgentFile(meta, false); err == nil && json.Unmarshal(data, &m) == nil && m.HasConversation != nil {
				said[*m.HasConversation] = true
			}
		}
		switch {
		case said[true]:
			chat.Persistence = Saved
		case said[false] && err == nil:
			chat.Persistence = Empty
		}
		return chat
	}
	return Chat{}
}
