package pilot

import (
	"context"
	"errors"
	"time"

	"termpilot/fault"
	"termpilot/shellwords"
	"termpilot/terminal"
)

// Run types a command at a session's proven, empty prompt and waits for its
// end. The order of effects is fixed (specs/tools.md, RUN): policy, lock,
// subscription, gate, journal, typing, start, end, next prompt, output, journal.
//
// The end of ctx or of the timeout ends the waiting, never the command: the
// result is then StillRunning with a run id for [Pilot.Wait]. An error means
// that nothing was typed, except Deadline, which says so when it is not known.
func (p *Pilot) Run(ctx context.Context, req RunRequest) (RunResult, error) {
	const op = "run"
	began := time.Now()
	text, err := commandText(req.SessionID, req.Command)
	if err != nil {
		return RunResult{}, err
	}
	if err := checkLimit(op, req.SessionID, "max_output_chars", req.MaxChars, MaxChars); err != nil {
		return RunResult{}, err
	}
	if err := p.refuseWhenReadOnly(op, req.SessionID); err != nil {
		return RunResult{}, err
	}
	if !req.Force {
		if danger, found := p.wire.check(text); found {
			return RunResult{}, &fault.Error{
				Op: op, Session: req.SessionID, Code: fault.Blocked, Detail: danger,
				Hint: "ask the person, then pass force=true",
			}
		}
	}
	t, err := p.find(ctx, op, req.SessionID)
	if err != nil {
		return RunResult{}, err
	}
	if err := t.alive(op); err != nil {
		return RunResult{}, err
	}
	one := run{ID: newRunID(), Session: t.id(), Backend: t.backend.Name(), Command: text, Status: Submitted}
	release, err := p.locks.acquire(ctx, op, t.id(), lockRun, "run "+one.ID, 0)
	if err != nil {
		return RunResult{}, err
	}
	defer release()
	deadline := began.Add(p.patience(req.Timeout, defaultTimeout))
	w, err := p.submit(ctx, t, &one, deadline)
	if err != nil {
		return RunResult{}, err
	}
	defer w.stop()
	p.log.Info("command submitted", "run", one.ID, "session", string(t.id()), "prompt", one.Prompts[0])

	a := p.awaiting(t, w, one)
	a.progress = newTicker(req.Progress, began)
	if req.NoWait {
		a.startOnly = true
		deadline = time.Now().Add(startPatience)
	}
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	a.wait(waiting)
	return p.report(ctx, t, a, outputWish{chars: req.MaxChars, reduce: req.Reduce})
}

// dead turns the error of a session that ended in between into one that says
// how it ended.
func (p *Pilot) dead(ctx context.Context, op string, t target, err error) error {
	if !errors.Is(err, fault.SessionEnded) && !errors.Is(err, fault.SessionNotFound) {
		return err
	}
	ctx, cancel := afterwards(ctx)
	defer cancel()
	if ended, ok := p.findEnded(ctx, t.id()); ok {
		return ended.alive(op)
	}
	return err
}

// shellName names the shell that the terminal started, when it is of this machine.
func (p *Pilot) shellName(s terminal.Session) string {
	if s.Local && s.ShellPID != 0 {
		if name, err := p.processes.Name(s.ShellPID); err == nil && shellwords.IsShell(name) {
			return name
		}
	}
	if name := programName(s.Job); shellwords.IsShell(name) {
		return name
	}
	return ""
}

// shell is shellName of a shell that has not been replaced since it was last
// looked at: its secret is in its marks, and would not be in those of another.
func (p *Pilot) shell(s terminal.Session) string {
	p.mu.Lock()
	name := p.shells[s.ID]
	p.mu.Unlock()
	if name == "" {
		name = p.shellName(s)
		p.setShell(s.ID, name)
	}
	return name
}

func (p *Pilot) setShell(id terminal.ID, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.shells) > maxHomes {
		clear(p.shells)
	}
	p.shells[id] = name
}
