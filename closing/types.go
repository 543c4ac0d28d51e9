package closing

import "time"

// Operation is what was asked for.
type Operation string

// The operations.
const (
	CloseSession Operation = "close_session"
	CloseTab     Operation = "close_tab"
	CloseWindow  Operation = "close_window"
	CleanAll     Operation = "clean_all_sessions"
)

// Request asks for a close. For all operations but CleanAll exactly one of ID,
// SessionID and Name is given: ID is the tab's or window's own id; SessionID and
// Name are exact and mean the session, or the tab or window that it is in.
type Request struct {
	Operation Operation
	ID        string
	SessionID string
	Name      string
	Force     bool // may interrupt what is at work; nothing else
	DryRun    bool // look, and change nothing
}

// Activity is what a session is doing, as far as it can be proven.
type Activity string

// The activities.
const (
	Idle    Activity = "idle"    // an empty prompt, and nothing runs behind it
	Busy    Activity = "busy"    // something is at work
	Waiting Activity = "waiting" // something waits for a person: input, a password, text that was typed, an approval
	Unknown Activity = "unknown"
)

// Status is how a whole close ended.
type Status string

// The statuses.
const (
	Closed        Status = "closed"  // all of it is gone
	Partial       Status = "partial" // some is gone: sessions, or programs in them
	Refused       Status = "refused" // nothing was done, on purpose
	Noop          Status = "noop"    // there was nothing to close
	DryRun        Status = "dry_run"
	UnknownStatus Status = "unknown" // an answer was lost: look before anything else
)

// Result is what a close did.
type Result struct {
	Operation    Operation `json:"operation"`
	Status       Status    `json:"status" jsonschema:"closed, partial, refused, noop, dry_run or unknown"`
	Code         string    `json:"code" jsonschema:"why it is not closed; empty when it is"`
	Reason       string    `json:"reason" jsonschema:"the same in words"`
	Hint         string    `json:"hint" jsonschema:"what to do next"`
	Force        bool      `json:"force"`
	DryRun       bool      `json:"dry_run"`
	Target       Target    `json:"target"`
	RecoveryID   string    `json:"recovery_id" jsonschema:"for list_recoveries; empty when nothing was begun"`
	RecoveryPath string    `json:"recovery_path"`
	Closed       []Item    `json:"closed_sessions" jsonschema:"for a dry run: those that would be closed"`
	Skipped      []Item    `json:"skipped_sessions"`
	Failed       []Item    `json:"failed_sessions"`
	Unknown      []Item    `json:"unknown_sessions"`
}

// Target is what was meant.
type Target struct {
	Kind       string   `json:"kind" jsonschema:"session, tab, window or all"`
	ID         string   `json:"id"`
	SessionIDs []string `json:"session_ids"`
}

// Item is one session of a close, or of an inspection.
type Item struct {
	SessionID    string    `json:"session_id"`
	Backend      string    `json:"backend"`
	WindowID     string    `json:"window_id"`
	TabID        string    `json:"tab_id"`
	Name         string    `json:"name"`
	Cwd          string    `json:"cwd"`
	State        Activity  `json:"state" jsonschema:"idle, busy, waiting or unknown"`
	Code         string    `json:"code" jsonschema:"what keeps it from being closed; empty when nothing does"`
	Reason       string    `json:"reason"`
	Evidence     []string  `json:"evidence"`
	Processes    []Program `json:"processes" jsonschema:"what a close would end"`
	Detached     []Program `json:"detached" jsonschema:"left the terminal; a close does not touch them"`
	Chats        []Chat    `json:"cli_sessions"`
	Interruption string    `json:"interruption"`
	Exit         string    `json:"exit" jsonschema:"of its programs"`
	Closure      string    `json:"closure_status"`
	Survivors    []Program `json:"survivors"`
}

// Program is a process without what it was told: its name alone.
type Program struct {
	PID   int    `json:"pid"`
	Name  string `json:"name"`
	State string `json:"state"`
}

// Chat is a coding agent and the chat that its process holds.
type Chat struct {
	CLI         string   `json:"cli"`
	PID         int      `json:"pid"`
	ChatID      string   `json:"chat_id" jsonschema:"empty when not known"`
	Cwd         string   `json:"cwd"`
	Source      string   `json:"identity_source"`
	Verified    bool     `json:"verified" jsonschema:"false: as started, may have changed"`
	Persistence string   `json:"persistence" jsonschema:"saved, empty or unknown"`
	State       Activity `json:"state"`
	Resume      *Resume  `json:"resume,omitempty"`
}

// Resume is how a chat is taken up again.
type Resume struct {
	Executable string   `json:"executable"`
	Argv       []string `json:"argv"`
}

// The words of Item.Interruption, Exit and Closure.
const (
	notAttempted = "not_attempted"
	notNeeded    = "not_needed"
	interrupted  = "interrupted"
	exited       = "exited"
	failed       = "failed"
	unknown      = "unknown"
	pending      = "pending"
	closed       = "closed"
	skipped      = "skipped"
	retained     = "retained"
)

// The codes of Result.Code and Item.Code: what a client can act on.
const (
	codeBusy       = "activity_busy"        // something is at work; force may interrupt it
	codeWaiting    = "activity_waiting"     // something waits for a person; force may interrupt it
	codeUnknown    = "activity_unknown"     // it is not known what it does; force may close it
	codeSelf       = "self_protection"      // termpilot itself runs in it
	codeChat       = "chat_unknown"         // an agent runs whose chat could not be found again
	codeScope      = "out_of_scope"         // a session that this server may not touch is in it
	codeChanged    = "target_changed"       // it is not what was looked at any more
	codeExit       = "exit_failed"          // an agent did not end when it was asked to
	codeClose      = "close_failed"         // the terminal did not close it
	codeUnverified = "close_unverified"     // it is not known whether it was closed
	codeReceipt    = "receipt_failed"       // what was done could not be written down
	codeTime       = "time_over"            // the time of the call was over before its turn
	codeBackend    = "backend_unavailable"  // a terminal could not be asked
	codeParent     = "neighbour_not_closed" // another session of the tab or window stays, so this one does
)

// Receipt is what was written down before and while a close went on. It holds no
// text of a terminal and no command line but that which resumes a chat.
type Receipt struct {
	V         int        `json:"v"`
	ID        string     `json:"recovery_id"`
	Began     time.Time  `json:"began"`
	Updated   time.Time  `json:"updated"`
	Host      string     `json:"host"`
	Operation Operation  `json:"operation"`
	Force     bool       `json:"force"`
	Target    Target     `json:"target"`
	Status    string     `json:"status" jsonschema:"executing, or how the close ended"`
	Sessions  []Item     `json:"sessions"`
	Reopened  []Reopened `json:"reopened"`
}

// Reopened says that a session of a receipt was opened again, or that it is not
// known whether it was: then As is empty.
type Reopened struct {
	SessionID string    `json:"session_id"`
	As        string    `json:"as" jsonschema:"the new session"`
	ChatID    string    `json:"chat_id" jsonschema:"taken up there"`
	At        time.Time `json:"at"`
	Resumed   bool      `json:"resumed" jsonschema:"its command was typed"`
}
