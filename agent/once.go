package agent

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/terminal"
)

// begin prepares what a launch needs, and writes it down before anything is
// started: of one operation once, whoever else launches it now.
func (a *Agents) begin(ctx context.Context, l Launch, r LaunchRequest) (receipt LaunchReceipt, known bool, err error) {
	if r.OperationID != "" {
		release, err := a.pilot.Hold(ctx, "launch", terminal.ID("operation "+r.OperationID), holdPatience)
		if err != nil {
			return LaunchReceipt{}, false, &fault.Error{
				Op: "launch", Session: r.SessionID, Code: fault.CodeOf(err), Detail: "another call launches by this operation_id",
				Hint: "call again with the same operation_id", Err: err,
			}
		}
		defer release()
		if receipt, known, err = a.told(ctx, r); known || err != nil {
			return receipt, known, err
		}
	}
	if err := a.save(l); err != nil {
		return LaunchReceipt{}, false, err
	}
	if v := vendorOf(l.Provider); v.install != nil {
		if err := v.install(l, a.folder(l.ID), a.self); err != nil {
			return LaunchReceipt{}, false, errors.Join(err, os.RemoveAll(a.folder(l.ID)))
		}
	}
	return LaunchReceipt{}, false, nil
}

// told says what is known of the launch that an operation had already.
func (a *Agents) told(ctx context.Context, r LaunchRequest) (receipt LaunchReceipt, known bool, err error) {
	l, found, err := a.launched(r.OperationID)
	if err != nil || !found {
		return LaunchReceipt{}, false, err
	}
	if l.Request != r.digest() {
		return LaunchReceipt{}, true, refused("launch", r.SessionID, fault.OperationTaken, "this operation_id was used for another launch", "pass another operation_id")
	}
	if l.Session == "" { // its launcher is at it, or was killed
		all, _ := a.pilot.See(ctx)
		l = a.adopt(l, all...)
	}
	s, err := a.tale(ctx, l)
	if err != nil {
		return LaunchReceipt{}, true, err
	}
	reason := "it was launched before, and nothing was done now"
	text, _ := checkPrompt("launch", r.SessionID, r.Prompt)
	first := slices.IndexFunc(s.turns, func(t *turn) bool { return t.own && t.exact == exactDigest(text) })
	switch {
	case first >= 0:
		sent := a.receipt(ctx, s, s.turns[first])
		receipt, err = a.launchReceipt(ctx, l, reason, &sent)
		return receipt, true, err
	case r.Prompt != "":
		reason += "; that its prompt was sent is not on record"
	}
	receipt, err = a.launchReceipt(ctx, l, reason, nil)
	return receipt, true, err
}

// adopt finds the session of a launch whose launcher did not write that down: it is
// the one whose program is the launch's.
func (a *Agents) adopt(l Launch, among ...pilot.Seen) Launch {
	r, ran := readProcess(a.folder(l.ID))
	if !ran || !r.alive() {
		return l
	}
	i := slices.IndexFunc(among, func(s pilot.Seen) bool { return s.Allowed && s.Local && s.ShellPID == r.PID })
	if i < 0 {
		return l
	}
	l.Session = string(among[i].ID)
	if err := a.save(l); err != nil {
		a.log.Warn("the session of an agent could not be written down", "launch", l.ID, "error", terminal.OneLine(err.Error(), 200))
	}
	return l
}

// digest tells requests apart.
func (r LaunchRequest) digest() string {
	cwd := r.Cwd
	if cwd != "" {
		cwd = filepath.Clean(cwd)
	}
	asked, _ := json.Marshal(map[string]any{ // texts and lists of them: it does not fail
		"preset": r.Preset, "prompt": exactDigest(r.Prompt), "cwd": cwd, "model": r.Model, "effort": r.Effort, "name": r.Name, "backend": r.Backend,
		"write_scope": r.WriteScope, "session": r.SessionID, "delegate": r.Delegate, "env": slices.Sorted(maps.Keys(r.Env)),
	})
	return exactDigest(string(asked))
}

// launched finds the launch of an operation.
func (a *Agents) launched(operation string) (l Launch, found bool, err error) {
	if operation == "" {
		return Launch{}, false, nil
	}
	all, err := a.launches()
	i := slices.IndexFunc(all, func(l Launch) bool { return l.Operation == operation })
	if i < 0 {
		return Launch{}, false, err
	}
	return all[i], true, nil
}
