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
	"regexp"
	"slices"
	"time"

	"termpilot/fault"
	"termpilot/private"
)

const (
	receiptVersion = 1
	maxReceipt     = 8 << 20
	maxReceipts    = 1000 // that are read for a list, the newest
)

// store keeps the receipts: one private file each.
type store struct{ dir string }

var receiptName = regexp.MustCompile(`^r[a-z0-9]{26}$`)

// newID returns an id that no other receipt has.
func newID() string {
	return "r" + string(lower([]byte(rand.Text())))
}

func lower(b []byte) []byte {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
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
	if !receiptName.MatchString(id) {
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
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return []Receipt{}, nil
	}
	if err != nil {
		return nil, &fault.Error{Op: "recover", Code: fault.Storage, Detail: "the receipts cannot be read", Hint: "see the folder " + s.dir, Err: err}
	}
	list := []Receipt{}
	for _, e := range entries {
		id, isJSON := cutJSON(e.Name())
		if !isJSON || !receiptName.MatchString(id) {
			continue
		}
		if r, err := s.read(id); err == nil {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Receipt) int { return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(a.ID, b.ID)) })
	return list[:min(len(list), maxReceipts)], nil
}

func cutJSON(name string) (string, bool) {
	const suffix = ".json"
	if len(name) <= len(suffix) || name[len(name)-len(suffix):] != suffix {
		return "", false
	}
	return name[:len(name)-len(suffix)], true
}

// prune removes the receipts of closes that ended longer ago than age, and
// returns how many there were.
func (s store) prune(age time.Duration) (int, error) {
	list, err := s.list()
	if err != nil {
		return 0, err
	}
	n := 0
	for _, r := range list {
		if time.Since(r.Updated) < age || r.Status == executing {
			continue
		}
		if err := os.Remove(s.path(r.ID)); err != nil {
			return n, &fault.Error{Op: "recover", Code: fault.Storage, Detail: "a receipt cannot be removed", Hint: "see the folder " + s.dir, Err: err}
		}
		n++
	}
	return n, nil
}

// executing is the status of a receipt whose close has not ended, or was cut off.
const executing = "executing"
