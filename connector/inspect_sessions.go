package connector

import (
	"context"
	"fmt"
	"strings"

	"termpilot/closing"
	"termpilot/terminal"
)

type inspectIn struct {
	SessionID string `json:"session_id,omitempty" jsonschema:"exact id; without it and nickname, all" max:"256"`
	Nickname  string `json:"nickname,omitempty" jsonschema:"exact name" max:"256"`
}

type inspectOut struct {
	Sessions []closing.Item `json:"sessions"`
}

var inspectSessions = define(head{
	name: "inspect_sessions", title: "Inspect sessions", set: closes, access: reads,
	about: "Tell what runs in sessions, which agent chats they hold, and what keeps them from being closed.",
}, func(ctx context.Context, c call, in inspectIn) (inspectOut, error) {
	items, err := c.closer.Inspect(ctx, in.SessionID, in.Nickname)
	return inspectOut{Sessions: items}, err
}, func(o inspectOut) (line, text string) {
	var b strings.Builder
	for _, item := range o.Sessions {
		b.WriteString(itemLine(item) + "\n")
	}
	return count(len(o.Sessions), "session") + " inspected", b.String()
}).as("sessions.detached", "processes").as("sessions.survivors", "processes")

// itemLine is a session of a close in one line.
func itemLine(item closing.Item) string {
	parts := []string{item.SessionID, item.Name, string(item.State), item.Closure}
	if item.Code != "" {
		parts = append(parts, item.Code)
	}
	parts = append(parts, item.Reason)
	for _, chat := range item.Chats {
		parts = append(parts, chat.CLI+" chat="+chat.ChatID)
	}
	for _, left := range item.Survivors {
		parts = append(parts, fmt.Sprintf("survives: %s (%d)", left.Name, left.PID))
	}
	return terminal.OneLine(strings.Join(parts, " "), 0)
}

// closedWords says what a close did.
func closedWords(r closing.Result) (line, text string) {
	line = fmt.Sprintf("%s: %s", r.Operation, r.Status)
	if r.Code != "" {
		line += " (" + r.Code + ": " + r.Reason + ")"
	}
	if r.RecoveryID != "" {
		line += ", receipt " + r.RecoveryID
	}
	if r.Hint != "" {
		line += "; " + r.Hint
	}
	var b strings.Builder
	for _, list := range [][]closing.Item{r.Closed, r.Skipped, r.Failed, r.Unknown} {
		for _, item := range list {
			b.WriteString(itemLine(item) + "\n")
		}
	}
	return terminal.OneLine(line, 0), b.String()
}
