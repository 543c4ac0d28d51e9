package connector

import (
	"context"

	"termpilot/pilot"
)

type sendKeysIn struct {
	SessionID string   `json:"session_id" jsonschema:"exact id from list_sessions"`
	Keys      []string `json:"keys" jsonschema:"enter tab shift_tab space escape backspace delete insert up down left right home end page_up page_down f1-f12 ctrl_a-ctrl_z ctrl_space alt_<char>" min:"1" max:"64" pattern:"^(enter|tab|shift_tab|space|escape|backspace|delete|insert|up|down|left|right|home|end|page_up|page_down|f[1-9]|f1[0-2]|ctrl_[a-z]|ctrl_space|alt_.)$"`
}

var sendKeys = define(head{
	name: "send_keys", title: "Press keys", set: input, access: writes, destroys: true, reaches: true,
	about: "Press keys in a session, in order. ctrl_c stops a command.",
}, func(ctx context.Context, c call, in sendKeysIn) (pilot.SendResult, error) {
	return c.pilot.SendKeys(ctx, in.SessionID, in.Keys)
}, sendWords)
