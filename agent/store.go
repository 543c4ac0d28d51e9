package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/journal"
	"termpilot/lazy"
	"termpilot/private"
	"termpilot/terminal"
)

// Launch is what is written down before an agent is started.
type Launch struct {
	Schema     string    `json:"schema"`
	ID         string    `json:"launch_id"`
	Session    string    `json:"session_id"`
	Provider   string    `json:"provider"`
	Preset     string    `json:"preset"` // the tool that launched it: composer is a preset of grok
	Chat       string    `json:"chat_id"`
	Binary     string    `json:"binary"`
	Version    string    `json:"version"`
	Argv       []string  `json:"argv"` // without the program
	Set        []string  `json:"set"`  // NAME=value, nothing secret
	Cwd        string    `json:"cwd"`
	Model      string    `json:"model"`
	Effort     string    `json:"effort"`
	WriteScope string    `json:"write_scope"`
	Operation  string    `json:"operation_id"`
	Request    string    `json:"request"` // digest of what was asked for
	Folder     string    `json:"vendor_folder"`
	Lineage    lineage   `json:"lineage"`
	At         time.Time `json:"at"`
}

const (
	launchSchema = "termpilot.agent-launch.v1"
	launchFile   = "launch.json"
	journalName  = "events"
	// maxText is the most bytes of an answer that are kept; a longer one loses its end, and says so.
	maxText = 2 << 20
	// maxLaunchFile is the most bytes of a launch's file.
	maxLaunchFile = 256 << 10
	// keptFor is how long a launch is kept after anything happened to it.
	keptFor = 30 * 24 * time.Hour
	// mostLaunches is how many are looked at, the last that anything was made in.
	mostLaunches = 2000
)

var launchID = lazy.Regexp(`^l-[0-9a-f]{16}$`)

// openEvents opens the journal of a launch.
func openEvents(folder string) (*journal.Journal, error) {
	return journal.Open(folder, journalName, journal.Options{
		MaxRecord: 8 * maxText, MaxFile: 4 << 20, MaxTotal: 512 << 20, MaxAge: 10 * keptFor, // JSON may take six bytes for one
	})
}

// kept is an event as it is kept.
func (e event) kept() event {
	if len(e.Text) > maxText {
		e.Text = strings.ToValidUTF8(e.Text[:maxText], "") + "\n[cut: the answer is longer than 2 MiB]"
	}
	return e
}

// record appends events to a launch's journal. With durable it returns when a
// crash of the machine cannot lose them.
func record(ctx context.Context, folder string, durable bool, events ...event) error {
	j, err := openEvents(folder)
	if err != nil {
		return err
	}
	defer j.Close()
	for _, e := range events {
		add := j.Note
		if durable {
			add = j.Append
		}
		if err := add(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agents) folder(id string) string { return filepath.Join(a.dir, id) }

// save writes a launch down.
func (a *Agents) save(l Launch) error {
	for _, dir := range []string{a.dir, a.folder(l.ID)} {
		if err := private.Folder(dir); err != nil {
			return err
		}
	}
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return private.Write(filepath.Join(a.folder(l.ID), launchFile), data)
}

// readLaunch reads the launch of a folder.
func readLaunch(folder string) (Launch, error) {
	data, err := private.Read(filepath.Join(folder, launchFile), maxLaunchFile)
	if err != nil {
		return Launch{}, err
	}
	var l Launch
	if err := json.Unmarshal(data, &l); err != nil || l.Schema != launchSchema || l.ID != filepath.Base(folder) || vendorOf(l.Provider) == nil {
		return Launch{}, &fault.Error{Op: "agent", Code: fault.Protocol, Detail: "the record of launch " + filepath.Base(folder) + " is not readable", Hint: "launch another agent", Err: err}
	}
	return l, nil
}

// launches returns what was launched, the newest first. A record that cannot be
// read is left out. Launches to which nothing happened for keptFor are removed.
func (a *Agents) launches() ([]Launch, error) {
	entries, err := os.ReadDir(a.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &fault.Error{Op: "agent", Code: fault.Storage, Detail: "the folder of launches cannot be read", Hint: "see that it may be read", Err: err}
	}
	var folders []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !launchID().MatchString(e.Name()) {
			continue
		}
		if time.Since(info.ModTime()) > keptFor && a.forgotten(e.Name()) {
			_ = os.RemoveAll(a.folder(e.Name())) // another look removes what could not be
			continue
		}
		folders = append(folders, info)
	}
	slices.SortFunc(folders, func(x, y fs.FileInfo) int { return y.ModTime().Compare(x.ModTime()) })
	all := a.shelf.read(a.folder, folders[:min(len(folders), mostLaunches)])
	slices.SortStableFunc(all, func(x, y Launch) int { return y.At.Compare(x.At) })
	return all, nil
}

// forgotten reports whether nothing was written to a launch for keptFor, and its
// agent does not run.
func (a *Agents) forgotten(id string) bool {
	if r, ran := readProcess(a.folder(id)); ran && r.alive() {
		return false
	}
	entries, err := os.ReadDir(a.folder(id))
	for _, e := range entries {
		info, statErr := e.Info()
		if err = errors.Join(err, statErr); err == nil && time.Since(info.ModTime()) < keptFor {
			return false
		}
	}
	return err == nil
}

// find returns the newest launch in a session, also in one that has ended. A
// session that this server may not touch is refused as everywhere.
func (a *Agents) find(ctx context.Context, op, session string) (Launch, error) {
	seen, unseen := a.pilot.SeeOne(ctx, op, terminal.ID(session))
	if errors.Is(unseen, fault.NotAllowed) || errors.Is(unseen, fault.InvalidArgument) {
		return Launch{}, unseen
	}
	all, err := a.launches()
	if err != nil {
		return Launch{}, err
	}
	for _, l := range all {
		if l.Session == "" && unseen == nil {
			l = a.adopt(l, seen)
		}
		if l.Session == session {
			return l, nil
		}
	}
	if unseen != nil {
		return Launch{}, unseen
	}
	return Launch{}, refused(op, session, fault.AgentNotFound, "termpilot launched no agent in this session", "launch one, with claude_agent for example")
}

// operation returns the turn of an operation of a session, and the records of the
// agent that has it: this one, or one that was launched there before. nil is none.
func (a *Agents) operation(ctx context.Context, s *story, operation string) (*story, *turn, error) {
	if t := s.byOperation(operation); t != nil || operation == "" {
		return s, t, nil
	}
	all, err := a.launches()
	if err != nil {
		return s, nil, err
	}
	for _, l := range all {
		if l.Session != s.launch.Session || l.ID == s.launch.ID {
			continue
		}
		earlier, err := a.tale(ctx, l)
		if err != nil {
			return s, nil, err
		}
		if t := earlier.byOperation(operation); t != nil {
			a.observe(ctx, earlier)
			return earlier, t, nil
		}
	}
	return s, nil, nil
}

// tale reads all records of a launch.
func (a *Agents) tale(ctx context.Context, l Launch) (*story, error) {
	s := newStory(l)
	if err := a.readOn(ctx, s); err != nil {
		return nil, err
	}
	return s, nil
}

// readOn reads the records behind those that a story has.
func (a *Agents) readOn(ctx context.Context, s *story) error {
	j, err := openEvents(a.folder(s.launch.ID))
	if err != nil {
		return err
	}
	defer j.Close()
	for r, err := range j.Records(ctx, s.last) {
		if err != nil {
			return err
		}
		s.read(r)
	}
	return nil
}

// cursorOf words a place in a launch's journal.
func cursorOf(l Launch, at journal.Position) string {
	return l.ID + "." + strconv.FormatInt(at.File, 10) + "." + strconv.FormatInt(at.Offset, 10)
}

// parseCursor is the other way. The cursor must be of this launch.
func parseCursor(op string, l Launch, cursor string) (journal.Position, error) {
	id, rest, _ := strings.Cut(cursor, ".")
	file, offset, _ := strings.Cut(rest, ".")
	f, err1 := strconv.ParseInt(file, 10, 64)
	o, err2 := strconv.ParseInt(offset, 10, 64)
	if errors.Join(err1, err2) != nil || f < 0 || o < 0 || id != l.ID {
		return journal.Position{}, refused(op, l.Session, fault.CursorInvalid, "the cursor is not one of this agent's launch", "pass event_cursor as a receipt gave it, or none")
	}
	return journal.Position{File: f, Offset: o}, nil
}

// behind reports whether x is behind y.
func behind(x, y journal.Position) bool {
	return x.File > y.File || x.File == y.File && x.Offset > y.Offset
}
