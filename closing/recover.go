package closing

import (
	"context"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
)

// Recoveries returns the receipt with the id, or all, the newest first.
func (c *Closer) Recoveries(id string) ([]Receipt, error) {
	if id == "" {
		return c.receipts.list()
	}
	r, err := c.receipts.read(id)
	if err != nil {
		return nil, err
	}
	return []Receipt{r}, nil
}

// Prune removes the receipts of closes that ended longer ago than age.
func (c *Closer) Prune(age time.Duration) (int, error) { return c.receipts.prune(age) }

// Reopen opens the sessions of a receipt again: each in its folder, with its
// chat taken up where one is known. What was opened again is written into the
// receipt, and not opened a second time unless again is set. Sessions that were
// not closed are left alone.
func (c *Closer) Reopen(ctx context.Context, id string, again bool) (Receipt, error) {
	r, err := c.receipts.read(id)
	if err != nil {
		return Receipt{}, err
	}
	if err := c.pilot.MayChange("recover"); err != nil {
		return Receipt{}, err
	}
	done := map[string]bool{}
	for _, one := range r.Reopened {
		done[one.SessionID] = true
	}
	opened := 0
	for _, s := range r.Sessions {
		if done[s.SessionID] && !again || !s.gone(r.Status) {
			continue
		}
		req := pilot.OpenRequest{Backend: s.Backend, Cwd: s.Cwd}
		resumed := false
		for _, chat := range s.Chats {
			if chat.Resume != nil && !resumed {
				req.Command, resumed = shellLine(chat.Resume.Argv), true
				if chat.Cwd != "" {
					req.Cwd = chat.Cwd
				}
			}
		}
		fresh, err := c.pilot.Open(ctx, req)
		if err != nil {
			return r, err
		}
		opened++
		r.Reopened = append(r.Reopened, Reopened{SessionID: s.SessionID, As: fresh.SessionID, At: time.Now().UTC(), Resumed: resumed && fresh.RunID != ""})
		if err := c.receipts.write(&r); err != nil {
			return r, err
		}
	}
	if opened == 0 {
		return r, &fault.Error{
			Op: "recover " + id, Code: fault.Refused, Detail: "nothing of it is to be opened again",
			Hint: "pass --again to open once more what was opened already",
		}
	}
	return r, nil
}

// gone reports whether a session of a receipt was closed, or may have been when
// the close was cut off.
func (i Item) gone(status string) bool {
	return i.Closure == closed || i.Closure == unknown || status == executing && i.Exit != notAttempted
}

// shellLine quotes words for any of the usual shells.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		plain := word != "" && strings.IndexFunc(word, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@", r))
		}) < 0
		if quoted[i] = word; !plain {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
