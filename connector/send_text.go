package connector

import (
	"context"

	"termpilot/pilot"
	"termpilot/terminal"
)

type sendTextIn struct {
	SessionID string `json:"session_id" jsonschema:"exact id from list_sessions"`
	Text      string `json:"text" jsonschema:"sent verbatim, no newline added" min:"1" max:"16384"`
	Paste     bool   `json:"paste" jsonschema:"as one paste, where the program takes it" default:"false"`
}

var sendText = define(head{
	name: "send_text", title: "Type text", set: input, access: writes, destroys: true, reaches: true,
	about: "Type text into the program that runs in a session. Delivery says nothing of the effect: read afterwards. For shell commands use run_command.",
}, func(ctx context.Context, c call, in sendTextIn) (pilot.SendResult, error) {
	return c.pilot.SendText(ctx, in.SessionID, in.Text, in.Paste)
}, sendWords)

// sendWords says what is known after sending.
func sendWords(r pilot.SendResult) (line, text string) {
	word := "delivered to "
	if !r.Delivered {
		word = "not delivered to "
	}
	return word + terminal.OneLine(r.SessionID, 0) + "; what the program made of it is not known", ""
}
