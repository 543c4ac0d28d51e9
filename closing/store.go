package closing

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/lazy"
	"termpilot/private"
)

const (
	receiptVersion = 1
	maxReceipt     = 8 << 20
	maxReceipts    = 1000 // that are read for a list, the newest
	// cutOff is how old the last word of a close that says that it goes on must be
	// for it to have been cut off: none takes longer than some minutes.
	cutOff = time.Hour
)

// store keeps the receipts: one private file each.
type store struct{ dir string }

var receiptName = lazy.Regexp(`^r[a-z0-9]{26}$`)

// newID returns an id that no other receipt has.
func newID() string {
	return "r" + strings.ToLower(rand.Text())
}

func (s store) path(id string) string { return filepath.Join(s.dir, id+".json") }

// write puts a receipt on disk, whole.
func (s store) write(r *Receipt) error {
	if err := private.Folder(filepath.Dir(s.dir)); err != nil {
		return err
	}
	if err := private.Folder(s.dir); err != nil {
		return err
	}
	r.Updated = time.Now().UTC()
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil && len(data) > maxReceipt {
		err = fmt.Errorf("the receipt has %d bytes, of at most %d", len(data), maxReceipt)
	}
	if err != nil {
		return err
	}
	return private.Write(s.path(r.ID), data)
}

// read returns one receipt. RecoveryNotFound when there is none of this id.
func (s store) read(id string) (Receipt, error) {
	missing := &fault.Error{
		Op: "recover", Code: fault.RecoveryNotFound, Detail: fmt.Sprintf("no receipt has the id %.64q", id),
		Hint: "call list_recoveries without an id",
	}
	if !receiptName().MatchString(id) {
		return Receipt{}, missing
	}
	data, err := private.Read(s.path(id), maxReceipt)
	if errors.Is(err, fs.ErrNotExist) {
		return Receipt{}, missing
	}
	if err != nil {
		return Receipt{}, err
	}
	return parseReceipt(data, id)
}

func parseReceipt(data []byte, id string) (Receipt, error) {
	var r Receipt
	err := json.Unmarshal(data, &r)
	if err == nil && (r.V != receiptVersion || r.ID != id) {
		err = fmt.Errorf("version %d, id %.64q", r.V, r.ID)
	}
	if err != nil {
		return Receipt{}, &fault.Error{Op: "recover", Code: fault.Storage, Detail: "the receipt " + id + " is not one that termpilot wrote", Hint: "look at the file by hand", Err: err}
	}
	if r.Sessions == nil {
		r.Sessions = []Item{}
	}
	if r.Reopened == nil {
		r.Reopened = []Reopened{}
	}
	if r.Target.SessionIDs == nil {
		r.Target.SessionIDs = []string{}
	}
	return r, nil
}

// list returns the receipts, the newest first. What is no receipt is passed over.
func (s store) list() ([]Receipt, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	list := []Receipt{}
	for _, f := range files[:min(len(files), maxReceipts)] {
		if r, err := s.read(f.id); err == nil {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Receipt) int { return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(a.ID, b.ID)) })
	return list, nil
}

// receiptFile is a file that is called as a receipt is.
type receiptFile struct {
	id      string
	changed time.Time
}

// files returns the files of receipts, those that changed last first.
func (s store) files() ([]receiptFile, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &fault.Error{Op: "recover", Code: fault.Storage, Detail: "the receipts cannot be read", Hint: "see the folder " + s.dir, Err: err}
	}
	var list []receiptFile
	for _, e := range entries {
		id, isJSON := strings.CutSuffix(e.Name(), ".json")
		if !isJSON || !receiptName().MatchString(id) {
			continue
		}
		if info, err := e.Info(); err == nil {
			list = append(list, receiptFile{id, info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b receiptFile) int { return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(a.id, b.id)) })
	return list, nil
}

// prune removes the receipts of closes that ended, or were cut off, longer ago
// than age, and returns how many there were.
func (s store) prune(age time.Duration) (int, error) {
	files, err := s.files()
	if err != nil {
		return 0, err
	}
	n := 0
	for _, f := range files {
		r, err := s.read(f.id)
		if err != nil || time.Since(r.Updated) < age || r.Status == executing && time.Since(r.Updated) < cutOff {
			continue
		}
		if err := os.Remove(s.path(f.id)); err != nil {
			return n, &fault.Error{Op: "recover", Code: fault.Storage, Detail: "a receipt cannot be removed", Hint: "see the folder " + s.dir, Err: err}
		}
		n++
	}
	return n, nil
}

// executing is the status of a receipt whose close has not ended, or was cut off.
const executing = "executing"
