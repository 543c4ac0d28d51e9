package closing

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"termpilot/lazy"
)

// Codex holds thread-writer-locks/UUID.lock open from its start, and the chat's
// record sessions/Y/M/D/rollout-TIME-UUID.jsonl from the first prompt on. With
// its daemon neither is held by the process that a person sees.
var (
	codexLock    = lazy.Regexp(`/thread-writer-locks/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.lock$`)
	codexRollout = lazy.Regexp(`/sessions/.*/rollout-[^/]*?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$`)
)

func findCodex(l look) Chat {
	files, err := l.machine.OpenFiles(l.process.PID)
	if err != nil {
		return Chat{}
	}
	chat := Chat{}
	ids := map[string]bool{}
	lock, rollout := "", ""
	for _, path := range files {
		slashed := filepath.ToSlash(path)
		if m := codexLock().FindStringSubmatch(slashed); m != nil {
			ids[m[1]] = true
			lock = path
		}
		if m := codexRollout().FindStringSubmatch(slashed); m != nil {
			ids[m[1]] = true
			rollout = path
		}
	}
	if len(ids) != 1 { // none, or several that contradict each other
		return Chat{}
	}
	for id := range ids {
		chat.ChatID, chat.Source, chat.Verified = id, fromOpenFile, true
	}
	if rollout == "" { // nothing was said yet by this process
		chat.State, chat.Persistence = Idle, codexSaved(filepath.Join(filepath.Dir(filepath.Dir(lock)), "sessions"), chat.ChatID)
		return chat
	}
	chat.Persistence, chat.State = Saved, Unknown
	lastRecord(rollout, func(line []byte) bool {
		var r struct {
			Type    string `json:"type"`
			Payload struct {
				Type string `json:"type"`
			} `json:"payload"`
		}
		if json.Unmarshal(line, &r) != nil || r.Type != "event_msg" {
			return false
		}
		switch kind := r.Payload.Type; {
		case kind == "task_complete", kind == "turn_aborted":
			chat.State = Idle
		case kind == "task_started", kind == "user_message":
			chat.State = Busy
		case strings.HasSuffix(kind, "_approval_request"):
			chat.State = Waiting
		default:
			return false
		}
		return true
	})
	return chat
}

// codexSaved says whether a chat has a record, as one has that was said something
// by another process before.
func codexSaved(sessions, id string) string {
	found := false
	err := filepath.WalkDir(sessions, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasPrefix(e.Name(), "rollout-") && strings.HasSuffix(e.Name(), id+".jsonl") {
			found = true
			return fs.SkipAll
		}
		return err
	})
	switch {
	case found:
		return Saved
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return Empty
	}
	return persistUnknown
}
