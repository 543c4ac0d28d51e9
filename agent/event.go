package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"
)

// kind is what a record of a launch's journal tells.
type kind string

const (
	// What we did.
	started  kind = "started"  // the vendor's program is about to run as process PID
	begun    kind = "begun"    // a turn is about to be typed; nothing was typed before
	entered  kind = "entered"  // its text stood in the composer, and Enter is about to be pressed
	residue  kind = "residue"  // what the screen said after Enter
	dropped  kind = "dropped"  // nothing of a turn that was begun was typed after all
	answered kind = "answered" // a dialog was answered
	// What the vendor told, by hook or record.
	session     kind = "session"     // a chat began or was taken up
	prompted    kind = "prompted"    // a prompt was accepted
	done        kind = "done"        // a turn ended with an answer
	failed      kind = "failed"      // a turn ended with an error
	interrupted kind = "interrupted" // a turn was interrupted, or its tool refused
	waits       kind = "waits"       // an approval is asked for
	goesOn      kind = "goes_on"     // a tool ran: no approval is open
	held        kind = "held"        // a turn does not go on, and is tried again by itself
	left        kind = "left"        // the chat was left: its program ends, or another chat begins
	// What the system told.
	gone kind = "gone" // the process has ended
)

// event is one record. The text of prompts is never kept, only what tells them apart.
type event struct {
	Kind       kind   `json:"kind"`
	Turn       string `json:"turn,omitempty"`      // ours
	Operation  string `json:"operation,omitempty"` // the caller's
	Exact      string `json:"exact,omitempty"`     // digest of the text
	Loose      string `json:"loose,omitempty"`     // digest of the text without blanks, as vendors change them
	Chars      int    `json:"chars,omitempty"`
	Chat       string `json:"chat,omitempty"`
	VendorTurn string `json:"vendor_turn,omitempty"`
	Text       string `json:"text,omitempty"` // the answer
	Error      string `json:"error,omitempty"`
	Limited    bool   `json:"limited,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Moves      bool   `json:"moves,omitempty"`     // a prompt: its chat is the one that the process shows
	Concluded  bool   `json:"concluded,omitempty"` // the vendor did not tell this end: it follows from what it does
	Residue    *bool  `json:"residue,omitempty"`
	Digest     string `json:"digest,omitempty"` // of a dialog
	Choice     string `json:"choice,omitempty"`
	PID        int    `json:"pid,omitempty"`
	Birth      string `json:"birth,omitempty"`  // of process.Birth
	Record     string `json:"record,omitempty"` // the vendor's, where it tells this
	Read       int64  `json:"read,omitempty"`   // bytes of Record that are read with this
	Source     string `json:"source,omitempty"` // hook, record, process or screen
	// Happened is when it did, where the vendor's record says so: that may hold what
	// was said long before.
	Happened time.Time `json:"happened,omitzero"`
}

// clockSlack is how much earlier than our record of a time one of a vendor's may be.
const clockSlack = 5 * time.Second

// before reports whether the vendor says that it happened before a time.
func (e event) before(t time.Time) bool {
	return !e.Happened.IsZero() && e.Happened.Before(t.Add(-clockSlack))
}

// The words of event.Source.
const (
	fromHook    = "hook"
	fromRecord  = "record"
	fromProcess = "process"
	fromScreen  = "screen"
)

// exactDigest tells texts apart.
func exactDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// looseDigest tells texts apart that differ in more than blanks.
func looseDigest(text string) string { return exactDigest(bare(text)) }

// bare is a text without blanks and line ends, which wrap and indentation change on a screen.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}
