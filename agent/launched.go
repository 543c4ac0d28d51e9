package agent

import (
	"context"
	"time"

	"termpilot/closing"
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
		if l.Session != sessionID {
			continue
		}
		if r, ran := a.shelf.process(a.folder(l.ID)); !ran || !r.alive() {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		s, err := a.tale(ctx, l)
		if err == nil {
			a.catchUp(ctx, s)
		}
		cancel()
		if err != nil {
			continue
		}
		chat := closing.Chat{CLI: l.Provider, ChatID: s.chat, Cwd: l.Cwd}
		if s.ready {
			chat.State, chat.Persistence = s.activity()
		}
		for _, chat.PID = range s.pids() {
			chats = append(chats, chat)
		}
	}
	return chats
}

// activity says what the agent does, and whether anything was said that could be
// taken up again, as far as the vendor tells of its turns.
func (s *story) activity() (closing.Activity, string) {
	state, saved := closing.Idle, closing.Empty
	for _, t := range s.turns {
		if t.accepted {
			saved = closing.Saved
		}
		switch {
		case t.open() && s.asks():
			state = closing.Waiting
		case t.open() && t.accepted:
			state = closing.Busy
		case t.open():
			state, saved = closing.Unknown, ""
		}
	}
	return state, saved
}
