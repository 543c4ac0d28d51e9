package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"termpilot/fault"
	"termpilot/private"
)

const (
	maxArrangements = 256
	maxArrangement  = 1 << 20 // bytes of a file
)

// arrangement is windows as they are saved: what runs where, not what it
// showed. Environments stay out: they may hold secrets.
type arrangement struct {
	V       int           `json:"v"`
	Name    string        `json:"name"`
	Windows []savedWindow `json:"windows"`
}

type savedWindow struct {
	Frame savedFrame `json:"frame"`
	Title string     `json:"title,omitempty"`
	Tabs  []savedTab `json:"tabs"`
}

type savedFrame struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

type savedTab struct {
	Title string    `json:"title,omitempty"`
	Root  savedPane `json:"root"`
}

// savedPane is a session, or with parts a row or column of panes.
type savedPane struct {
	Vertical bool        `json:"vertical,omitempty"`
	Parts    []savedPane `json:"parts,omitempty"`

	Profile    string   `json:"profile,omitempty"`
	Shell      string   `json:"shell,omitempty"`
	Command    []string `json:"command,omitempty"`
	ShellLine  string   `json:"shell_line,omitempty"`
	Dir        string   `json:"dir,omitempty"`
	Name       string   `json:"name,omitempty"`
	Typed      string   `json:"typed,omitempty"`
	Scrollback int      `json:"scrollback,omitempty"`
	Columns    int      `json:"columns,omitempty"`
	Rows       int      `json:"rows,omitempty"`
}

// arrangements is the folder of the saved ones, each a file of its own.
func (l Location) arrangements() string { return filepath.Join(l.Home, "arrangements") }

// fileOf is where an arrangement of a name is kept: names are not paths.
func (l Location) fileOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(l.arrangements(), hex.EncodeToString(sum[:16])+".json")
}

// save keeps an arrangement, in place of the one that had its name.
func (l Location) save(a arrangement) error {
	if err := private.Folder(l.arrangements()); err != nil {
		return err
	}
	known, err := l.names()
	if err != nil {
		return err
	}
	if len(known) >= maxArrangements && !slices.Contains(known, a.Name) {
		return &fault.Error{Op: "save", Code: fault.Refused, Detail: "there are too many arrangements", Hint: "remove some from " + l.arrangements()}
	}
	if !a.sound() {
		return &fault.Error{Op: "save", Code: fault.TooLarge, Detail: "the arrangement is too wide to be restored", Hint: "save single windows, or make them smaller"}
	}
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if len(data) > maxArrangement {
		return &fault.Error{Op: "save", Code: fault.TooLarge, Detail: "the arrangement is too large", Hint: "save single windows"}
	}
	return private.Write(l.fileOf(a.Name), data)
}

// load reads an arrangement. One that cannot be restored counts as none.
func (l Location) load(name string) (arrangement, bool) {
	a, ok := readArrangement(l.fileOf(name))
	return a, ok && a.Name == name
}

func readArrangement(path string) (a arrangement, ok bool) {
	data, err := private.Read(path, maxArrangement)
	if err != nil {
		return a, false
	}
	return parseArrangement(data)
}

func parseArrangement(data []byte) (a arrangement, ok bool) {
	if json.Unmarshal(data, &a) != nil || a.V != 1 {
		return a, false
	}
	return a, a.sound()
}

// names lists the saved arrangements.
func (l Location) names() ([]string, error) {
	entries, err := os.ReadDir(l.arrangements())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storage("list arrangements", "the arrangements cannot be read", err)
	}
	var list []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || len(list) >= maxArrangements {
			continue
		}
		if a, ok := readArrangement(filepath.Join(l.arrangements(), e.Name())); ok {
			list = append(list, a.Name)
		}
	}
	slices.Sort(list)
	return list, nil
}

// sound reports whether an arrangement that was read is one that could have
// been saved.
func (a arrangement) sound() bool {
	n := 0
	for _, w := range a.Windows {
		for _, t := range w.Tabs {
			t.Root.each(func(*savedPane) { n++ })
		}
	}
	if n > maxSessions {
		return false
	}
	for _, w := range a.Windows {
		f := rect{w.Frame.X, w.Frame.Y, w.Frame.Width, w.Frame.Height}
		if len(w.Tabs) == 0 || max(f.x, f.y, f.width, f.height) > maxPoints || min(f.x, f.y) < -maxPoints || min(f.width, f.height) < 0 {
			return false
		}
		for _, t := range w.Tabs {
			if root, _ := t.Root.tree(1); root == nil || !root.whole() {
				return false
			}
		}
	}
	return true
}

// tree is the tree of panes, with sessions that are not there yet, and what
// each of them is to be. nil when it is none.
func (p savedPane) tree(depth int) (*pane, []*savedPane) {
	if len(p.Parts) == 0 {
		r := p.request()
		if r.check() != nil {
			return nil, nil
		}
		return &pane{session: &session{}, size: Size{p.Columns, p.Rows}}, []*savedPane{&p}
	}
	if depth >= maxDepth {
		return nil, nil
	}
	root := &pane{vertical: p.Vertical}
	var leaves []*savedPane
	for _, part := range p.Parts {
		sub, more := part.tree(depth + 1)
		if sub == nil {
			return nil, nil
		}
		root.parts, leaves = append(root.parts, sub), append(leaves, more...)
	}
	return root, leaves
}

// request is what makes a saved session anew.
func (p savedPane) request() request {
	return request{
		profile: profile{Name: p.Profile, Shell: p.Shell}, index: -1, command: p.Command, shellLine: p.ShellLine, dir: p.Dir,
		name: p.Name, typed: p.Typed, scrollback: p.Scrollback, columns: p.Columns, rows: p.Rows,
	}
}
