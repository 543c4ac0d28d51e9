package closing

import (
	"context"
	"errors"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/shellwords"
	"termpilot/terminal"
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
// chat taken up where one is known, and for every further chat of it another one.
// What was opened again is written into the receipt, and not opened a second time
// unless again is set. What still runs is left alone.
func (c *Closer) Reopen(ctx context.Context, id string, again bool) (Receipt, error) {
	r, err := c.receipts.read(id)
	if err != nil {
		return Receipt{}, err
	}
	if err := c.pilot.MayChange("recover"); err != nil {
		return Receipt{}, err
	}
	done := map[string]int{}
	for _, one := range r.Reopened {
		done[one.SessionID]++
	}
	opened := 0
	for _, s := range r.Sessions {
		requests := c.again(ctx, s, r.Status)
		if !again {
			requests = requests[min(done[s.SessionID], len(requests)):]
		}
		for _, req := range requests {
			fresh, err := c.pilot.Open(ctx, req)
			if err != nil {
				return r, err
			}
			opened++
			r.Reopened = append(r.Reopened, Reopened{SessionID: s.SessionID, As: fresh.SessionID, At: time.Now().UTC(), Resumed: req.Command != "" && fresh.RunID != ""})
			if err := c.receipts.write(&r); err != nil {
				return r, err
			}
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

// again returns what must be opened to have a session of a receipt back: nothing
// when neither it nor a chat of it was ended, or may have been.
func (c *Closer) again(ctx context.Context, s Item, status string) []pilot.OpenRequest {
	begun := s.Closure == closed || s.Closure == unknown || s.Exit == exited || s.Exit == unknown || status == executing && s.Exit != notAttempted
	if !begun {
		return nil
	}
	var list []pilot.OpenRequest
	for _, chat := range s.Chats {
		if chat.Resume == nil || s.Closure != closed && c.holds(chat) {
			continue
		}
		req := pilot.OpenRequest{Backend: s.Backend, Cwd: s.Cwd, Command: shellwords.Join(chat.Resume.Argv)}
		if chat.Cwd != "" {
			req.Cwd = chat.Cwd
		}
		list = append(list, req)
	}
	if len(list) > 0 {
		return list
	}
	if s.Closure != closed { // it may live
		if _, err := c.pilot.SeeOne(ctx, "recover", terminal.ID(s.SessionID)); err == nil {
			return nil
		}
	}
	return []pilot.OpenRequest{{Backend: s.Backend, Cwd: s.Cwd}}
}

// holds reports whether the process that held a chat may still run.
func (c *Closer) holds(chat Chat) bool {
	p, err := c.machine.Lookup(chat.PID)
	if err != nil || p.State == process.Zombie {
		return err != nil && !errors.Is(err, process.ErrGone)
	}
	a, ok := recognise(p)
	return ok && a.cli == chat.CLI
}
