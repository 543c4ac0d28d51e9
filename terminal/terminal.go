// Package terminal is the contract between what termpilot means and the
// terminals that it drives.
//
// A [Backend] lists sessions, opens them, reads their screens, sends them
// bytes and tells their events. terminaltest holds the contract's executable
// definition and a fake that passes it. What a backend can do beyond the
// contract is a small interface of its own, found by type assertion.
//
// All coordinates are cells. Rows are absolute: row 0 is the first row that
// the session ever had, and a row keeps its number while output scrolls by.
// Numbers change when the width changes (text is wrapped anew) and when the
// scrollback is cleared.
package terminal

import (
	"context"
	"iter"
	"time"
)

// ID names one session exactly. It is never a name, a prefix or a position,
// and is never used again for another session.
type ID string

// Backend drives the sessions of one terminal. Its methods may be called from
// several goroutines. Every call ends within its context's deadline, or within
// the backend's own where the context has none.
//
// A call that fails does so with a [termpilot/fault.Error]: SessionNotFound for
// an id that never was, SessionEnded for one whose program is gone,
// BackendUnavailable when the terminal cannot be reached (the next call tries
// again), Deadline when no answer came in time. Where the call has an effect, it
// is then unknown, and so it is, with the same code, when the answer cannot be read.
type Backend interface {
	// Name is the backend's kind: "host", "iterm2" or "tmux".
	Name() string

	// Sessions lists the live sessions, in the terminal's own order. It answers
	// from state kept by events, and starts nothing.
	Sessions(ctx context.Context) ([]Session, error)

	// Open starts a session and returns when it can be addressed by its id; its
	// shell may still be starting.
	Open(ctx context.Context, spec OpenSpec) (Session, error)

	// Screen reads rows. An ended session stays readable for as long as its
	// backend keeps it.
	Screen(ctx context.Context, id ID, want Range) (Screen, error)

	// Prompt returns the prompt with the given id, or the last one when promptID
	// is "". A session that never showed a prompt answers with the zero Prompt,
	// whose State is NoPrompt. A promptID that is not kept any more answers with
	// a Prompt whose State is Lost.
	Prompt(ctx context.Context, id ID, promptID string) (Prompt, error)

	// Send passes bytes to the session's program, verbatim, to this session
	// alone (no broadcast), all or an error. It returns when the terminal has
	// accepted them, not when the program has read them. InvalidArgument for
	// bytes that the terminal cannot carry (not every one takes what is no
	// UTF-8), TooLarge for more than it takes at once.
	Send(ctx context.Context, id ID, text []byte) error

	// Watch subscribes to a session's events. The subscription stands when Watch
	// returns: nothing that happens after is missed. The first event is a State
	// that tells the present. The sequence ends after Gone, when ctx ends, or
	// with an error when the backend goes away. A reader that falls behind gets
	// one Resync event in place of what it missed. The sequence must be ranged
	// over, once; leaving the loop unsubscribes.
	Watch(ctx context.Context, id ID) (iter.Seq2[Event, error], error)

	// Close ends a session. It returns when the terminal says that the session
	// is gone; an already ended session is SessionEnded.
	Close(ctx context.Context, id ID, how CloseMode) error
}

// Session is what is known of a session without reading its screen. A field
// that is not known is empty or zero.
type Session struct {
	ID      ID
	Backend string
	Window  string
	Tab     string
	Name    string // the name given by a person or client; "" when nobody gave one
	Title   string // the title that programs set, in tmux behind SESSION:WINDOW; one line, no control characters
	Profile string
	Current bool // has the keyboard focus, as far as the terminal says

	Job      string // name of the foreground job
	JobPID   int
	ShellPID int    // the process that the terminal started
	TTY      string // path of the terminal device
	Local    bool   // TTY, ShellPID and JobPID are of this machine
	Cwd      string
	Host     string
	User     string

	Rows      int
	Columns   int
	Alternate bool // the alternate screen shows: a full-screen program runs

	Marks Marks // whose prompt marks this session has
}

// Marks says how far a session's prompt marks can be believed.
type Marks uint8

// The kinds of marks, from none to those that carry the session's own secret.
const (
	MarksUnknown Marks = iota // not known, or not yet
	MarksNone                 // the shell sends none, and will not
	MarksPlain                // any program could have printed them
	MarksNonce                // proven to be the shell's own
	MarksLost                 // there were some, but the shell no longer sends them
)

// OpenSpec says what to open. The zero value opens the default profile's
// login shell in a new window.
type OpenSpec struct {
	Place     Place
	Window    string    // for InTab: the window
	Beside    ID        // for InSplit: the session to divide
	Direction Direction // for InSplit

	Profile string // "" is the default profile
	Command string // run by the login shell, and the session ends with it; "" is the shell itself
	Cwd     string
	Env     map[string]string // added to the session's environment
	Name    string
	Rows    int // 0 is the backend's default
	Columns int
	Focus   bool // take the focus; otherwise it stays with the session that has it
}

// Place is where a new session goes.
type Place uint8

// The places.
const (
	InWindow Place = iota // a window of its own
	InTab                 // a new tab of OpenSpec.Window
	InSplit               // beside OpenSpec.Beside, whose room it shares: its size is what it gets
)

// Direction is the side of a split on which the new session goes.
type Direction uint8

// The directions.
const (
	Right Direction = iota
	Left
	Below
	Above
)

// Range says which rows to read.
type Range struct {
	Kind  RangeKind
	First int64 // for Rows: absolute number of the first row
	Count int   // for Rows and Tail: how many rows, at most MaxRows
	Span  Span  // for Cells
}

// RangeKind is the kind of a Range.
type RangeKind uint8

// The kinds. Rows outside what is kept are left out of the answer.
const (
	Visible RangeKind = iota // the screen
	Tail                     // the last Count rows of history and screen
	Rows                     // Count rows from First
	Cells                    // the cells of Span: its first and last row may be parts of rows
)

// MaxRows is the most rows that one Screen call returns.
const MaxRows = 10000

// Screen is a session's rows at one moment, by value.
type Screen struct {
	Rows    []Row
	First   int64 // absolute number of Rows[0]
	Oldest  int64 // first row that is still kept
	Top     int64 // first row of the screen
	End     int64 // one past the last row of the screen
	Columns int
	Cursor  Point
	// Alternate is set when the alternate screen shows.
	Alternate bool
}

// Row is one row of cells as text. Cells that were never written are blanks
// inside the row and are left out at its end; blanks that a program wrote stay.
type Row struct {
	Text string
	Soft bool // the line goes on in the next row: join without a line break
}

// Point is a cell: an absolute row and a 0-based column.
type Point struct {
	Row    int64
	Column int
}

// Span is the cells from Start up to but not including End, in reading order.
type Span struct {
	Start, End Point
}

// Empty reports whether the span holds no cell.
func (s Span) Empty() bool {
	return s.End.Row < s.Start.Row || s.End.Row == s.Start.Row && s.End.Column <= s.Start.Column
}

// PromptState is where a prompt is in its life. It only moves forward.
type PromptState uint8

// The states of a prompt.
const (
	NoPrompt     PromptState = iota // the session has shown none
	Editing                         // the shell reads a command line
	Continuation                    // the shell wants more lines of an unfinished command
	Running                         // the command runs
	Finished                        // the command ended
	Lost                            // the prompt is no longer kept
)

// Known is a truth value that may be unknown.
type Known uint8

// The values.
const (
	Unknown Known = iota
	No
	Yes
)

// KnownOf returns Yes or No.
func KnownOf(b bool) Known {
	if b {
		return Yes
	}
	return No
}

// Prompt is one shell prompt, and the command typed at it.
type Prompt struct {
	ID      string // names this prompt; never used again
	State   PromptState
	Marks   Marks
	Command string // Editing: what is typed so far; later: the command
	// Typed says whether the command line holds anything. Unknown when the
	// backend cannot tell.
	Typed Known
	// Touched is Yes when anything was sent to the shell since this prompt, so
	// that its line editor may be in another mode although the line is empty.
	Touched Known
	// Paste is Yes when the program that reads takes bracketed pastes now.
	Paste  Known
	Exit   *int // the command's exit status; nil when it is not known
	Output Span // Running, Finished: what the command printed
	// Rest is the end of what the command printed, in a row that was painted over
	// since: it belongs behind the joined rows of Output.
	Rest string
	// Silent is Yes when the command has ended and printed nothing, so that there
	// is no output to read. Unknown when the backend does not tell.
	Silent Known
	// Strewn is set when the command printed in other places than Output, or it is
	// not known where: over older text, or behind where it left the cursor.
	Strewn bool
	// Unseen is set when the command began before the backend watched: where its
	// output begins is not known, and Output is empty.
	Unseen bool
	Cwd    string
}

// EventKind is what happened.
type EventKind uint8

// The kinds of events.
const (
	State       EventKind = iota + 1 // the present: always the first event
	PromptShown                      // a prompt stands; Prompt is Editing
	Continued                        // the shell asks for more lines; Prompt is Continuation
	Started                          // a command starts; Prompt is Running
	Ended                            // a command ended; Prompt is Finished
	Aborted                          // a prompt was left without a command; Prompt may lack its ID
	Output                           // the screen changed; several changes may be one event
	Gone                             // the session ended; the last event
	Resync                           // events were missed: look at the present state
)

// Event is something that happened to a session. For State, Prompt is the last
// prompt. For Started, Prompt.Command is what the terminal saw typed.
type Event struct {
	Kind   EventKind
	Prompt Prompt
	Exit   Exit // for Gone
}

// Exit is how a session's program ended. With a nil Code and no Signal it is
// not known how.
type Exit struct {
	Code   *int
	Signal string    // "SIGKILL"
	At     time.Time // zero: not known
}

// CloseMode is how to end a session.
type CloseMode uint8

// The modes.
const (
	Hangup CloseMode = iota // as if its window was closed by its user
	Force                   // without asking anybody
)

// Ender is a backend that remembers how sessions ended.
type Ender interface {
	// Exit returns how a session ended. SessionNotFound when it is not known to
	// have ended, or no longer kept.
	Exit(ctx context.Context, id ID) (Exit, error)
}

// Finder is a backend that finds one session without describing all.
type Finder interface {
	// Find returns a live session as Sessions does. SessionEnded or SessionNotFound
	// when Sessions would not list it.
	Find(ctx context.Context, id ID) (Session, error)
}

// Broadcaster is a backend in which input to one session may be copied to others.
type Broadcaster interface {
	// Broadcasts reports whether typing into id also types elsewhere.
	Broadcasts(ctx context.Context, id ID) (bool, error)
}

// Prompter is a backend that tells the prompts of all its sessions in one exchange.
type Prompter interface {
	// Prompts returns the last prompt of every live session, of one moment each, as
	// Prompt does but with ID, State, Marks, Typed, Touched and Paste alone. A
	// session that is not in the answer must be asked by itself. Unsupported
	// when the terminal that is connected does not tell.
	Prompts(ctx context.Context) (map[ID]Prompt, error)
}

// Typer is a backend that looks at a prompt and types at it in one step, so that
// a command can be typed on the strength of what was told last. Its methods give
// Unsupported when the terminal that is connected cannot do that.
type Typer interface {
	// Follow is Watch without asking: its first event tells what was told last,
	// which may be a moment old, and only of a prompt at which TypeAt could type.
	// Unsupported when nothing such is known.
	Follow(ctx context.Context, id ID) (iter.Seq2[Event, error], error)
	// TypeAt passes text to the session, as Send does, if all of this holds when
	// the terminal takes it: the prompt is the session's last, Editing, on MarksNonce;
	// its line is empty and nothing was sent to it; the shell that the terminal
	// started is in the foreground, reads characters and takes bracketed pastes; and
	// input to the session is not copied to others. typed is false, and nothing was
	// sent, when any of it does not hold or is not known.
	TypeAt(ctx context.Context, id ID, promptID string, text []byte) (typed bool, err error)
}

// Keyer is a backend that tells which keys a program wants.
type Keyer interface {
	// ApplicationCursor reports whether cursor keys are to be sent in their
	// application form (DECCKM). false also where the terminal does not tell.
	ApplicationCursor(ctx context.Context, id ID) (bool, error)
}

// Profiler is a backend with named profiles.
type Profiler interface {
	// Profiles lists the names, the default first.
	Profiles(ctx context.Context) ([]string, error)
}

// Arranger is a backend whose sessions can be focused, resized and named. Each
// method returns when Sessions shows the effect, or with the error that kept it
// from happening; what is not said to change stays as it is.
type Arranger interface {
	// Focus gives the session the keyboard focus: its window comes to the front,
	// with its tab and its pane selected.
	Focus(ctx context.Context, id ID) error
	// Resize asks for a size in cells. A session that shares its window with
	// others may get another one: Sessions tells. InvalidArgument for a size that
	// the terminal refuses.
	Resize(ctx context.Context, id ID, rows, columns int) error
	// Rename sets Session.Name; "" takes it away. The title of a program is
	// another thing and stays.
	Rename(ctx context.Context, id ID, name string) error
}

// GroupCloser is a backend that closes whole tabs and windows in one act. Its
// methods keep the promises of Backend.Close for every session of the group.
type GroupCloser interface {
	// CloseTab ends all sessions of a tab. TabNotFound when there is none of that id.
	CloseTab(ctx context.Context, tab string, how CloseMode) error
	// CloseWindow ends all sessions of a window. WindowNotFound likewise.
	CloseWindow(ctx context.Context, window string, how CloseMode) error
}
