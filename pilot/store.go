package pilot

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"termpilot/journal"
	"termpilot/terminal"
)

// record is a run in the journal: where its output is and how it stands, never
// what was typed or printed.
type record struct {
	Run     string      `json:"run"`
	Session terminal.ID `json:"session"`
	Backend string      `json:"backend"`
	Prompts []string    `json:"prompts"`
	Left    string      `json:"left,omitempty"`
	Untyped int         `json:"untyped,omitempty"` // lines that had yet to be typed
	Began   time.Time   `json:"began"`
	Status  RunStatus   `json:"status"`
	Exit    *int        `json:"exit,omitempty"`
	Proof   []string    `json:"proof,omitempty"` // what the gate went by
	Reason  string      `json:"reason,omitempty"`
	Ended   time.Time   `json:"ended,omitzero"`
}

// journalStore keeps runs in a journal, and an index of what it has read of it.
type journalStore struct {
	journal *journal.Journal

	mu     sync.Mutex
	after  journal.Position
	byID   map[string]run
	newest map[terminal.ID]string
}

const (
	// keptRecords is how many runs the index holds before it starts anew.
	keptRecords = 20000
	// storePatience bounds the wait for other processes that write.
	storePatience = 5 * time.Second
)

func openStore(dir string) (store, error) {
	j, err := journal.Open(filepath.Join(dir, "journal"), "runs", journal.Options{MaxFile: 1 << 20, MaxTotal: 8 << 20})
	if err != nil {
		return nil, err
	}
	return &journalStore{journal: j, byID: map[string]run{}, newest: map[terminal.ID]string{}}, nil
}

func (s *journalStore) close() error { return s.journal.Close() }

// save notes the run. Its terminal does not outlive a crash of the machine, so
// only the end of this process must not lose it.
func (s *journalStore) save(r run) error {
	return s.journal.Note(context.Background(), record{ // the journal has patience of its own
		Run: r.ID, Session: r.Session, Backend: r.Backend, Prompts: r.Prompts, Left: r.Left, Untyped: len(r.untyped) + r.unsent, Began: r.Began,
		Status: r.Status, Exit: r.Exit, Proof: r.Evidence, Reason: r.Reason, Ended: r.Ended,
	}.json())
}

// json is the record as encoding/json makes it, without finding out about the type:
// two of them stand in the way of every command.
func (r record) json() json.RawMessage {
	b := make([]byte, 0, 512)
	member := func(name, value string) { b = appendString(append(b, name...), value) }
	texts := func(name string, values []string) {
		b = append(b, name...)
		if values == nil {
			b = append(b, "null"...)
			return
		}
		b = append(b, '[')
		for i, value := range values {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, value)
		}
		b = append(b, ']')
	}
	at := func(name string, t time.Time) {
		b = t.AppendFormat(append(append(b, name...), '"'), time.RFC3339Nano)
		b = append(b, '"')
	}
	member(`{"run":`, r.Run)
	member(`,"session":`, string(r.Session))
	member(`,"backend":`, r.Backend)
	texts(`,"prompts":`, r.Prompts)
	if r.Left != "" {
		member(`,"left":`, r.Left)
	}
	if r.Untyped != 0 {
		b = strconv.AppendInt(append(b, `,"untyped":`...), int64(r.Untyped), 10)
	}
	at(`,"began":`, r.Began)
	member(`,"status":`, string(r.Status))
	if r.Exit != nil {
		b = strconv.AppendInt(append(b, `,"exit":`...), int64(*r.Exit), 10)
	}
	if len(r.Proof) > 0 {
		texts(`,"proof":`, r.Proof)
	}
	if r.Reason != "" {
		member(`,"reason":`, r.Reason)
	}
	if !r.Ended.IsZero() {
		at(`,"ended":`, r.Ended)
	}
	return append(b, '}')
}

// appendString adds a string as JSON.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || strings.IndexByte(`"\\<>&`, c) >= 0 {
			quoted, _ := json.Marshal(s) // a string is JSON
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// catchUp reads what was appended since the last time. The lock is held.
func (s *journalStore) catchUp() error {
	ctx, cancel := context.WithTimeout(context.Background(), storePatience)
	defer cancel()
	for rec, err := range s.journal.Records(ctx, s.after) {
		if err != nil {
			return err
		}
		s.after = rec.Next
		var r record
		if json.Unmarshal(rec.Data, &r) != nil || !validRunID(r.Run) || r.Session == "" {
			continue // of a later version, or not ours
		}
		if len(s.byID) >= keptRecords {
			clear(s.byID)
			clear(s.newest)
		}
		s.byID[r.Run] = run{
			ID: r.Run, Session: r.Session, Backend: r.Backend, Prompts: r.Prompts, Left: r.Left, unsent: r.Untyped, Began: r.Began,
			Status: r.Status, Exit: r.Exit, Evidence: r.Proof, Reason: r.Reason, Ended: r.Ended,
		}
		if old, ok := s.byID[s.newest[r.Session]]; !ok || !r.Began.Before(old.Began) {
			s.newest[r.Session] = r.Run
		}
	}
	return nil
}

func (s *journalStore) load(runID string) (run, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.catchUp(); err != nil {
		return run{}, false, err
	}
	r, ok := s.byID[runID]
	return r, ok, nil
}

func (s *journalStore) last(id terminal.ID) (run, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.catchUp(); err != nil {
		return run{}, false, err
	}
	r, ok := s.byID[s.newest[id]]
	return r, ok, nil
}
