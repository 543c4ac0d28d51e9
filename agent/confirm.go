package agent

import (
	"context"
	"errors"
	"time"

	"termpilot/changes"
	"termpilot/fault"
	"termpilot/terminal"
)

// sent is a prompt behind which Enter was pressed.
type sent struct {
	turn, text string
	at         time.Time // Enter
	under      int       // look.under by then
	again      bool      // it was pressed once more

	accepted, away, lower lasting
}

// lasting is since when something has been so.
type lasting struct{ since time.Time }

// lasts says for how long something that is so now has been; 0 is not.
func (l *lasting) lasts(now bool) time.Duration {
	switch {
	case !now:
		l.since = time.Time{}
		return 0
	case l.since.IsZero():
		l.since = time.Now()
	}
	return max(time.Since(l.since), 1)
}

// confirm sees what becomes of a prompt: by the agent's own word, or else by the
// screen. Enter was pressed: what cannot be seen after it makes nothing undone.
func (h *hands) confirm(ctx context.Context, p *sent, news *changes.Folder) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*takePatience)
	defer cancel()
	left, seen, err := h.leaves(ctx, p, news)
	if err == nil && !seen {
		return
	}
	err = errors.Join(err, record(ctx, h.a.folder(h.launch.ID), false, event{Kind: residue, Turn: p.turn, Residue: left, Source: fromScreen}))
	if err != nil && !errors.Is(err, fault.SessionEnded) && !errors.Is(err, fault.AgentEnded) { // that is the turn's outcome
		h.a.log.Warn("what became of a prompt was not seen", "session", h.launch.Session, "turn", p.turn, "error", terminal.OneLine(err.Error(), 200))
	}
}

// leaves waits until the agent says that it has a prompt, or its screen shows what
// became of that. left is whether the text stands in the composer, nil for not
// known; seen is false where there is nothing to say of it.
func (h *hands) leaves(ctx context.Context, p *sent, news *changes.Folder) (left *bool, seen bool, err error) {
	s, err := h.a.tale(ctx, h.launch)
	if err != nil {
		return nil, true, err
	}
	redrawn, stop, err := changesOf(ctx, h.seen)
	if err == nil { // else a look says why
		defer stop()
	}
	var woken <-chan struct{}
	if news != nil {
		woken = news.C
	}
	var watch recordWatch
	defer watch.close()
	for {
		changed := watch.on(h.vendor, s)
		if err := h.a.readOn(ctx, s); err != nil {
			return nil, true, err
		}
		h.a.catchUp(ctx, s)
		t := s.byID(p.turn)
		accepted := p.accepted.lasts(t != nil && t.accepted)
		if accepted > 0 && !h.vendor.rewinds {
			return nil, false, nil
		}
		now, err := h.look(ctx)
		if over, left, err := h.became(ctx, p, accepted, now, err); over || err != nil {
			return left, accepted == 0 || left != nil, err
		}
		timer := time.NewTimer(still)
		select {
		case <-woken:
		case <-changed:
		case _, open := <-redrawn:
			if !open {
				redrawn = nil
			}
		case <-timer.C: // where nothing wakes us, and for what must have been so for a while
		case <-ctx.Done():
			timer.Stop()
			return nil, accepted == 0, nil
		}
		timer.Stop()
	}
}

// became says whether a look tells what became of a prompt.
//
// While the composer stays as it was, Enter was not read yet: an agent that has much
// to do takes its time. A second one would be read behind it, by whatever shows by
// then, as a question. It is pressed only where the first was read as the end of a line.
func (h *hands) became(ctx context.Context, p *sent, accepted time.Duration, now look, unseen error) (over bool, left *bool, err error) {
	yes, no := true, false
	stands := unseen == nil && holds(now.composer, p.text)
	away := p.away.lasts(unseen != nil || !stands && now.state != stateStarting)
	lower := p.lower.lasts(stands && now.under > p.under)
	switch {
	case accepted > 0 && away > 0 && unseen == nil: // that it comes back can only be seen of what was seen to go
		return true, &no, nil
	case accepted > 0:
		return accepted > drawPatience, nil, nil
	case away > acceptPatience && unseen != nil:
		return true, nil, unseen
	case away > acceptPatience && now.empty:
		return true, &no, nil
	case away > acceptPatience: // it holds something else, or a question stands in its place
		return true, nil, nil
	case lower > still && p.again, stands && time.Since(p.at) > takePatience:
		return true, &yes, nil
	case lower > still:
		p.again = true
		err := h.press(ctx, enter, func(l look) bool {
			p.at, p.under = time.Now(), l.under
			return holds(l.composer, p.text)
		})
		return err != nil, nil, err
	}
	return time.Since(p.at) > takePatience, nil, nil
}
