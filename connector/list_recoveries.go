package connector

import (
	"context"
	"fmt"
	"strings"

	"termpilot/closing"
	"termpilot/terminal"
)

type recoveriesIn struct {
	RecoveryID string `json:"recovery_id,omitempty" jsonschema:"only this receipt" max:"64"`
}

type recoveriesOut struct {
	Recoveries []closing.Receipt `json:"recoveries"`
	Older      int               `json:"older" jsonschema:"further receipts; termpilot recover lists them"`
}

// maxRecoveries is the most receipts that one answer holds: a receipt of a close
// of many sessions is long.
const maxRecoveries = 20

var listRecoveries = define(head{
	name: "list_recoveries", title: "List what was closed", set: closes, access: reads,
	about: "List the receipts of closes, newest first, with the command that resumes each agent's chat.",
}, func(_ context.Context, c call, in recoveriesIn) (recoveriesOut, error) {
	list, err := c.closer.Recoveries(in.RecoveryID)
	newest := list[:min(len(list), maxRecoveries)]
	return recoveriesOut{Recoveries: newest, Older: len(list) - len(newest)}, err
}, func(o recoveriesOut) (line, text string) {
	var b strings.Builder
	for _, r := range o.Recoveries {
		fmt.Fprintf(&b, "%s %s %s %s, %s\n", r.ID, r.Began.Format("2006-01-02 15:04"), r.Operation, r.Status, count(len(r.Sessions), "session"))
		for _, s := range r.Sessions {
			for _, chat := range s.Chats {
				if chat.Resume != nil {
					b.WriteString(terminal.OneLine("  "+s.Name+": "+strings.Join(chat.Resume.Argv, " "), 0) + "\n")
				}
			}
		}
	}
	line = count(len(o.Recoveries), "receipt")
	if o.Older > 0 {
		line += fmt.Sprintf(", and %d older", o.Older)
	}
	return line, b.String()
}).as("recoveries.sessions", "inspect_sessions").as("recoveries.target", "close_session")
