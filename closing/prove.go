package closing

import (
	"context"
	"slices"
	"time"

	"termpilot/fault"
	"termpilot/process"
)

// prove says from the terminal's own list whether sessions of one terminal are
// gone, whatever the close itself answered.
func (r *running) prove(ctx context.Context, answer error, which ...int) {
	left, asked := r.untilGone(ctx, which)
	for _, i := range which {
		item := r.item(i)
		switch {
		case !slices.Contains(left, i):
			item.Closure, item.Code, item.Reason = closed, "", "it is gone from the terminal's list"
			r.gone = append(r.gone, i)
		case asked != "":
			item.Closure, item.Code, item.Reason = unknown, codeUnverified, asked
		case answer == nil, fault.CodeOf(answer) == fault.Deadline, fault.CodeOf(answer) == fault.Protocol, fault.CodeOf(answer) == fault.Internal: // it may yet come to be
			item.Closure, item.Code, item.Reason = unknown, codeUnverified, "the terminal was asked to close it, and still lists it"
		default:
			item.fail(codeClose, answer.Error())
		}
	}
}

// untilGone asks the terminal until it no longer lists the sessions, and returns
// those that it still lists or of which it does not tell, and why it does not.
func (r *running) untilGone(ctx context.Context, which []int) (left []int, asked string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), provePatience) // an effect is proven also when the caller has gone
	defer cancel()
	left = which
	for {
		listed, running, err := r.c.pilot.Listed(ctx, r.verdicts[which[0]].seen.On)
		if err == nil {
			left, asked = nil, ""
			for _, i := range which {
				if running && listed[r.verdicts[i].seen.ID] || !running && !r.ended(i) {
					left = append(left, i)
				}
			}
			if !running {
				asked = "the terminal cannot be reached any more, and nothing shows that the session has ended"
			}
		} else if ctx.Err() == nil || asked == "" {
			asked = "the terminal does not answer: " + err.Error()
		}
		if len(left) == 0 {
			return nil, ""
		}
		select {
		case <-ctx.Done():
			return left, asked
		case <-time.After(glance): // lists change without an event that closing hears of
		}
	}
}

// ended reports whether what the terminal started in a session has provably ended.
func (r *running) ended(i int) bool {
	n := r.verdicts[i].census
	return n.known && len(r.alive([]process.Entry{n.shell, n.reader})) == 0
}

// nameSurvivors names the processes of sessions that were closed that live on,
// after the terminal has hung up on them.
func (r *running) nameSurvivors(ctx context.Context, gone []int) {
	stirs := func(i int) bool {
		n := r.verdicts[i].census
		return n.known && len(r.alive(append([]process.Entry{n.shell, n.reader}, n.work...))) > 0
	}
	for end := time.Now().Add(endPatience); slices.ContainsFunc(gone, stirs) && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(glance) // the end of another's process comes without an event
	}
	table, err := r.c.machine.Snapshot()
	if err != nil {
		return
	}
	for _, i := range gone {
		n := r.verdicts[i].census
		if !n.known {
			continue
		}
		counted := slices.Concat([]process.Entry{n.shell, n.reader}, n.work, n.helpers, n.detached, n.orphans)
		r.item(i).Survivors = n.programs(table.Where(func(e process.Entry) bool {
			if e.State == process.Zombie {
				return false
			}
			return n.shell.SID != 0 && e.SID == n.shell.SID || slices.ContainsFunc(counted, func(p process.Entry) bool { return same(p, e) })
		}))
	}
}

// alive returns those of the processes of which it is not known that they have ended.
func (r *running) alive(list []process.Entry) []process.Entry {
	return slices.DeleteFunc(slices.Clone(list), func(e process.Entry) bool {
		p, err := r.c.machine.Lookup(e.PID)
		return !process.Runs(p, err, e.Start)
	})
}
