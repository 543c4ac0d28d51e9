package pilot

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/terminal"
)

const (
	// quietFor is how long nothing may be printed until a session is quiet.
	quietFor = 2 * time.Second
	// MaxPattern is the most bytes of a pattern, MaxWaited the most sessions of one wait.
	MaxPattern = 1024
	MaxWaited  = 32
	// scanEvery spaces the looks at a screen that changes all the time.
	scanEvery = 50 * time.Millisecond
)

// Wait waits for a run to end, or for any or all of some sessions to reach a
// state. It never waits longer than Options.MaxWait; the end of ctx or of the
// timeout ends the waiting only.
func (p *Pilot) Wait(ctx context.Context, req WaitRequest) (WaitResult, error) {
	if err := checkLimit("wait", "", "max_output_chars", req.MaxChars, MaxChars); err != nil {
		return WaitResult{}, err
	}
	if req.RunID != "" {
		return p.waitRun(ctx, req)
	}
	c, err := newCondition(req)
	if err != nil {
		return WaitResult{}, err
	}
	targets := make([]target, len(req.SessionIDs))
	for i, id := range req.SessionIDs {
		if targets[i], err = p.find(ctx, "wait", id); err != nil {
			return WaitResult{}, err
		}
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, p.patience(req.Timeout, defaultTimeout))
	defer cancel()
	return p.waitSessions(ctx, cancel, req, c, targets, newTicker(req.Progress, began)), nil
}

// waitRun goes on waiting for a run, also one that another process began.
func (p *Pilot) waitRun(ctx context.Context, req WaitRequest) (WaitResult, error) {
	const op = "wait"
	began := time.Now()
	if len(req.SessionIDs) > 0 {
		return WaitResult{}, &fault.Error{
			Op: op, Code: fault.InvalidArgument, Detail: "run_id and session_ids are both given",
			Hint: "pass one of them",
		}
	}
	one, err := p.findRun(op, req.RunID)
	if err != nil {
		return WaitResult{}, err
	}
	t, err := p.find(ctx, op, string(one.Session))
	if err != nil {
		return WaitResult{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.patience(req.Timeout, defaultTimeout))
	defer cancel()
	wish := outputWish{chars: req.MaxChars, reduce: req.Reduce}
	a := p.resume(t, one)
	a.progress = newTicker(req.Progress, began)
	if !one.over() && len(one.Prompts) > 0 {
		if err := p.follow(ctx, a); err != nil {
			return WaitResult{}, err
		}
	}
	res, err := p.report(ctx, t, a, wish)
	if err != nil {
		return WaitResult{}, err
	}
	return WaitResult{TimedOut: res.Status == StillRunning && ctx.Err() != nil, Run: &res, Sessions: []WaitSession{}}, nil
}

// resume is the awaiting of a run that began earlier, with its outcome if that
// is known.
func (p *Pilot) resume(t target, one run) *awaiting {
	a := p.awaiting(t, nil, one)
	a.lines = nil // what was typed has started, or will be found by its prompt
	if one.over() || len(one.Prompts) == 0 {
		a.status, a.reason, a.exit = one.Status, one.Reason, one.Exit
		a.ended, a.endedAt = one.Status == Completed, one.Ended
	}
	return a
}

// follow subscribes, looks how the run's prompt stands, and waits.
func (p *Pilot) follow(ctx context.Context, a *awaiting) error {
	if a.t.ended {
		a.afterEnd(ctx, a.t.exit)
		return nil
	}
	w, err := watch(ctx, a.t)
	if err != nil {
		if ended, ok := p.findEnded(ctx, a.t.id()); ok {
			a.t = ended
			a.afterEnd(ctx, ended.exit)
			return nil
		}
		return err
	}
	defer w.stop()
	a.w = w
	a.lastSeen = w.first
	a.look(ctx)
	a.wait(ctx)
	return nil
}

// afterEnd is the outcome of a run whose session has ended meanwhile.
func (a *awaiting) afterEnd(ctx context.Context, exit terminal.Exit) {
	a.look(ctx)
	if a.status == "" {
		a.over(exit)
	}
}

// condition is what a session is waited for.
type condition struct {
	until   WaitUntil
	pattern *regexp.Regexp
}

func newCondition(req WaitRequest) (condition, error) {
	refuse := func(detail, hint string) (condition, error) {
		return condition{}, &fault.Error{Op: "wait", Code: fault.InvalidArgument, Detail: detail, Hint: hint}
	}
	c := condition{until: req.Until}
	if c.until == "" {
		c.until = UntilCommand
	}
	switch {
	case len(req.SessionIDs) == 0:
		return refuse("neither run_id nor session_ids is given", "pass the run_id that run_command returned, or session ids")
	case len(req.SessionIDs) > MaxWaited:
		return refuse(fmt.Sprintf("%d sessions are too many; the limit is %d", len(req.SessionIDs), MaxWaited), "wait for fewer")
	}
	switch c.until {
	case UntilCommand, UntilPrompt, UntilQuiet, UntilExit:
		if req.Pattern != "" {
			return refuse("a pattern is given, but until is "+string(c.until), "pass until=text, or no pattern")
		}
		return c, nil
	case UntilText:
	default:
		return refuse("there is no until="+oneLine(string(c.until)), "use command, prompt, text, quiet or exit")
	}
	var err error
	c.pattern, err = compilePattern("wait", req.Pattern, req.Regex)
	return c, err
}

// waitSessions waits for all targets at once. A session that matches, or ends,
// ends a wait for any.
func (p *Pilot) waitSessions(ctx context.Context, cancel context.CancelFunc, req WaitRequest, c condition, targets []target, progress *ticker) WaitResult {
	res := WaitResult{Sessions: make([]WaitSession, len(targets))}
	var wg sync.WaitGroup
	done := make(chan bool, len(targets))
	for i, t := range targets {
		wg.Go(func() {
			v := &vigil{p: p, t: t, c: c}
			v.keep(ctx)
			res.Sessions[i] = v.result
			done <- v.final
		})
	}
	beat := time.NewTicker(progressEvery)
	defer beat.Stop()
	for left := len(targets); left > 0; {
		select {
		case final := <-done:
			left--
			if final && !req.All {
				cancel() // the others tell how they stand
			}
		case now := <-beat.C:
			progress.tell(now, "waiting for "+string(c.until))
		}
	}
	wg.Wait()
	matched := 0
	for i := range res.Sessions {
		if res.Sessions[i].Matched {
			matched++
		}
		p.conclude(ctx, targets[i], &res.Sessions[i])
	}
	res.TimedOut = errors.Is(context.Cause(ctx), context.DeadlineExceeded) && (matched == 0 || req.All && matched < len(targets))
	return res
}

// conclude adds how the session stands now and a cursor for reading on.
func (p *Pilot) conclude(ctx context.Context, t target, s *WaitSession) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	if now, err := p.find(ctx, "wait", string(t.id())); err == nil {
		t = now
	}
	s.State = p.readinessNow(ctx, t).State
	r := &reading{p: p, t: t, req: ReadRequest{Reduce: true}}
	if r.ask(ctx, terminal.Range{Kind: terminal.Visible}) == nil {
		c := r.endOfLines()
		c.session = hash32(string(t.id()))
		s.Cursor = c.encode()
	}
}

// shorten cuts a matched line for the answer.
func shorten(s string) string {
	const most = 500
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return prefix(s, most) + "…"
}
