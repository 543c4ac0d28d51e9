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
// What was opened again, or may have been, is written into the receipt, and not
// opened a second time unless again is set. What still runs is left alone. What
// cannot be opened is told once all others are.
func (c *Closer) Reopen(ctx context.Context, id string, again bool) (Receipt, error) {
	r, err := c.receipts.read(id)
	if err != nil {
		return Receipt{}, err
	}
	if err := c.pilot.MayChange("recover"); err != nil {
		return Receipt{}, err
	}
	done := map[[2]string]int{} // by session and chat
	for _, one := range r.Reopened {
		done[[2]string{one.SessionID, one.ChatID}]++
	}
	opened := 0
	var errs []error
	for _, s := range r.Sessions {
		list, err := c.again(ctx, s, r.Status)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, one := range list {
			if before := [2]string{s.SessionID, one.chat}; !again && done[before] > 0 {
				done[before]--
				continue
			}
			if err := c.receipts.write(&r); err != nil { // or nobody would know of what is opened
				return r, err
			}
			fresh, err := c.pilot.Open(ctx, one.request)
			if err != nil {
				errs = append(errs, err)
				if fault.CodeOf(err) != fault.Deadline { // else it may be open
					continue
				}
			} else {
				opened++
			}
			r.Reopened = append(r.Reopened, Reopened{SessionID: s.SessionID, As: fresh.SessionID, ChatID: one.chat, At: time.Now().UTC(), Resumed: one.chat != "" && fresh.RunID != ""})
			if err := c.receipts.write(&r); err != nil {
				return r, err
			}
		}
	}
	if len(errs) > 0 {
		return r, errors.Join(errs...)
	}
	if opened == 0 {
		return r, &fault.Error{
			Op: "recover " + id, Code: fault.Refused, Detail: "nothing of it is to be opened again",
			Hint: "pass --again to open once more what was opened already",
		}
	}
	return r, nil
}

// opening brings a chat back that a close has ended, or a session without one.
type opening struct {
	chat    string
	request pilot.OpenRequest
}

// again returns what must be opened to have a session of a receipt back: nothing
// when neither it nor a chat of it was ended, or may have been.
func (c *Closer) again(ctx context.Context, s Item, status string) ([]opening, error) {
	begun := s.Closure == closed || s.Closure == unknown || s.Exit == exited || s.Exit == failed || s.Exit == unknown || status == executing && s.Exit != notAttempted
	if !begun {
		return nil, nil
	}
	var list []opening
	for _, chat := range s.Chats {
		if chat.Resume == nil || s.Closure != closed && c.holds(chat) {
			continue
		}
		req := pilot.OpenRequest{Backend: s.Backend, Cwd: s.Cwd, Command: shellwords.Join(chat.Resume.Argv)}
		if chat.Cwd != "" {
			req.Cwd = chat.Cwd
		}
		list = append(list, opening{chat.ChatID, req})
	}
	if len(list) > 0 {
		return list, nil
	}
	switch s.Closure {
	case closed:
	case failed, retained: // it stayed, and what became of it since is another's doing
		return nil, nil
	default: // it may live
		_, err := c.pilot.SeeOne(ctx, "recover", terminal.ID(s.SessionID))
		if code := fault.CodeOf(err); code != fault.SessionEnded && code != fault.SessionNotFound {
			return nil, err
		}
	}
	return []opening{{"", pilot.OpenRequest{Backend: s.Backend, Cwd: s.Cwd}}}, nil
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
