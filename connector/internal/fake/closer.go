package fake

import (
	"context"
	"time"

	"termpilot/closing"
	"termpilot/fault"
)

// Closer closes nothing. It says that it closed the fake's one session.
type Closer struct{}

func item() closing.Item {
	return closing.Item{
		SessionID: Session, Backend: "host", Name: "work", State: closing.Idle, Reason: "an empty prompt", Closure: "closed",
		Chats: []closing.Chat{{CLI: "claude", PID: 7, ChatID: "11111111-2222-3333-4444-555555555555", Resume: &closing.Resume{Executable: "claude", Argv: []string{"claude", "--resume", "11111111-2222-3333-4444-555555555555"}}}},
	}
}

// Close tells of a close.
func (Closer) Close(_ context.Context, r closing.Request) (closing.Result, error) {
	if r.SessionID != "" && r.SessionID != Session {
		return closing.Result{}, &fault.Error{Op: string(r.Operation), Session: r.SessionID, Code: fault.SessionNotFound, Detail: "there is no such session", Hint: "use the fake's"}
	}
	return closing.Result{Operation: r.Operation, Status: closing.Closed, Force: r.Force, DryRun: r.DryRun, RecoveryID: "r1", Closed: []closing.Item{item()}}, nil
}

// Inspect tells of the one session.
func (Closer) Inspect(context.Context, string, string) ([]closing.Item, error) {
	return []closing.Item{item()}, nil
}

// Recoveries tells of one close.
func (Closer) Recoveries(string) ([]closing.Receipt, error) {
	return []closing.Receipt{{V: 1, ID: "r1", Began: time.Unix(0, 0), Operation: closing.CloseSession, Status: "closed", Sessions: []closing.Item{item()}}}, nil
}
