package agent

import (
	"context"
	"time"

	"termpilot/closing"
	"termpilot/process"
)

// Launched returns the chats of the agents that were launched in a session and
// still run there.
func (a *Agents) Launched(sessionID string) []closing.Chat {
	all, err := a.launches()
	if err != nil {
		return nil
	}
	var chats []closing.Chat
	for _, l := range all {
		r, ran := readProcess(a.folder(l.ID))
		if l.Session != sessionID || !ran || !process.Alive(r.PID, time.Unix(0, r.Start)) {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		s, err := a.tale(ctx, l)
		cancel()
		if err != nil {
			continue
		}
		for _, pid := range s.pids() {
			chats = append(chats, closing.Chat{CLI: l.Provider, PID: pid, ChatID: s.chat, Cwd: l.Cwd})
		}
	}
	return chats
}
