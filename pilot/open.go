package pilot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/terminal"
)

const (
	// openWait is how long a new session's shell is waited for.
	openWait = 5 * time.Second
	// commandWait is how long a session that runs a command, and may never show a
	// prompt, is waited for.
	commandWait = time.Second
	// MaxSize is the most rows or columns of a session.
	MaxSize = 1000
	// maxEnv is the most bytes of a new session's added environment.
	maxEnv = 64 << 10
)

// Open starts a session and returns it when its shell is ready, or when it is
// clear that it will not be, or after 5 s: Session.Readiness says which. With a
// Command it returns when that has started; why it could not be typed is told,
// and the session stays open in every case. The end of ctx ends the waiting, never
// what has begun to open: that is returned. NotAllowed when the server is
// read-only or has an allowlist; NameTaken before anything is opened.
func (p *Pilot) Open(ctx context.Context, req OpenRequest) (Opened, error) {
	const op = "open"
	if err := p.MayOpen(op); err != nil {
		return Opened{}, err
	}
	if err := p.checkOpen(&req); err != nil {
		return Opened{}, err
	}
	tried, spec, err := p.placeOf(ctx, req)
	if err != nil {
		return Opened{}, err
	}
	t, err := p.openNamed(ctx, tried, spec)
	if err != nil {
		return Opened{}, err
	}
	opened := Opened{}
	var r Readiness
	if req.Command == "" || req.Ends {
		if r = p.settled(ctx, t, req.Ends); r.State == Ready {
			p.awaitPaste(ctx, t)
		}
	} else {
		opened.RunID, opened.Reason = p.firstCommand(ctx, t, req.Command)
		r = p.afterOpen(ctx, t, true)
	}
	if now, err := p.find(ctx, op, string(t.id())); err == nil {
		session := t.session
		t = now
		if t.ended {
			t.session = session // what it was called is still worth telling
		}
	}
	p.log.Info("session opened", "session", string(t.id()), "backend", t.backend.Name(), "state", string(r.State))
	opened.Session = sessionInfo(t, r)
	opened.SessionID, opened.WindowID, opened.TabID = opened.Session.SessionID, opened.Session.WindowID, opened.Session.TabID
	opened.Name = opened.Session.Name
	return opened, nil
}

// placeOf says which backends may open the session, and where.
func (p *Pilot) placeOf(ctx context.Context, req OpenRequest) ([]terminal.Backend, terminal.OpenSpec, error) {
	const op = "open"
	spec := terminal.OpenSpec{
		Profile: req.Profile, Cwd: req.Cwd, Env: req.Env, Name: req.Name, Rows: req.Rows, Columns: req.Columns, Focus: req.Focus,
	}
	if req.Ends {
		spec.Command = req.Command
	}
	if req.Place == terminal.InSplit {
		t, err := p.find(ctx, op, req.Beside)
		if err == nil {
			err = t.alive(op)
		}
		if err != nil {
			return nil, spec, err
		}
		spec.Place, spec.Beside, spec.Direction = terminal.InSplit, t.id(), sides[req.Direction]
		return []terminal.Backend{t.backend}, spec, nil
	}
	tried := p.backends
	if req.Backend != "" {
		var err error
		if tried, err = p.backendsNamed(op, req.Backend); err != nil {
			return nil, spec, err
		}
	}
	if req.Place == terminal.InTab {
		b, err := p.findWindow(ctx, op, tried, req.Window)
		if err != nil {
			return nil, spec, err
		}
		spec.Place, spec.Window = terminal.InTab, req.Window
		tried = []terminal.Backend{b}
	}
	return tried, spec, nil
}

var sides = map[Side]terminal.Direction{
	"": terminal.Right, SideRight: terminal.Right, SideLeft: terminal.Left, SideBelow: terminal.Below, SideAbove: terminal.Above,
}

// openNamed opens a session under a name that no other has.
func (p *Pilot) openNamed(ctx context.Context, tried []terminal.Backend, spec terminal.OpenSpec) (target, error) {
	n, err := p.naming(ctx, "open")
	if err != nil {
		return target{}, err
	}
	defer n.done()
	if spec.Name, err = n.choose(spec.Name, ""); err != nil {
		return target{}, err
	}
	t, err := openOn(ctx, tried, spec)
	if err != nil {
		return target{}, err
	}
	n.given(spec.Name, t.id())
	return t, nil
}

// openOn opens on the first backend that can be reached and can do it. What has
// begun to open is waited for although the caller goes: nobody else would be told
// of the session.
func openOn(ctx context.Context, tried []terminal.Backend, spec terminal.OpenSpec) (target, error) {
	var failed error = &fault.Error{
		Op: "open", Code: fault.BackendUnavailable, Detail: "there is no terminal backend",
		Hint: "start the host with termpilot host start",
	}
	opening, cancel := lasting(ctx)
	defer cancel()
	for _, b := range tried {
		if err := givenUp(ctx, "open", ""); err != nil {
			return target{}, err
		}
		s, err := b.Open(opening, spec)
		if err == nil {
			return target{backend: b, session: s}, nil
		}
		failed = err
		switch fault.CodeOf(err) {
		case fault.BackendUnavailable, fault.Unsupported: // the next may do it
		case fault.ProfileNotFound:
			return target{}, &fault.Error{
				Op: "open", Code: fault.ProfileNotFound, Detail: "no profile of " + b.Name() + " has the name " + oneLine(spec.Profile),
				Hint: "call list_profiles and pass a name from it",
			}
		default:
			return target{}, err
		}
	}
	return target{}, failed
}

// firstCommand types the command at a new shell's first prompt, through the
// same gate as any other. It returns the run, or why there is none.
func (p *Pilot) firstCommand(ctx context.Context, t target, command string) (runID, reason string) {
	began := time.Now()
	if strings.ContainsAny(command, "\t\n") {
		p.awaitPaste(ctx, t)
	}
	left := max(p.patience(openWait, openWait)-time.Since(began), settle)
	// The tripwire has let it pass already, before anything was opened.
	run, err := p.Run(ctx, RunRequest{SessionID: string(t.id()), Command: command, NoWait: true, Timeout: left, Force: true})
	if err != nil {
		reason = oneLine(err.Error())
		if hint := fault.HintOf(err); hint != "" {
			reason += "; " + oneLine(hint)
		}
	}
	return run.RunID, reason
}

// awaitPaste waits until a new shell takes pastes, which tabs and several lines
// need to arrive as they are: fish switches them on a moment after its first
// prompt. It gives up when a prompt has stood for a while without.
func (p *Pilot) awaitPaste(ctx context.Context, t target) {
	ctx, cancel := context.WithTimeout(ctx, p.patience(openWait, openWait))
	defer cancel()
	w, err := watch(ctx, t)
	if err != nil {
		return // the run will say why
	}
	defer w.stop()
	var stood time.Time
	for prompt := w.first; prompt.State != terminal.Editing || prompt.Paste == terminal.No; {
		if prompt.State == terminal.Editing && stood.IsZero() {
			stood = time.Now()
		}
		_, _, closed := w.pause(ctx, settle/10)
		if closed || ctx.Err() != nil || !stood.IsZero() && time.Since(stood) >= settle {
			return
		}
		if prompt, err = t.backend.Prompt(ctx, t.id(), ""); err != nil {
			return
		}
	}
}

// settled waits until a new session is ready, or clearly will not be.
func (p *Pilot) settled(ctx context.Context, t target, command bool) Readiness {
	ctx, cancel := context.WithTimeout(ctx, p.patience(openWait, openWait))
	defer cancel()
	w, err := watch(ctx, t)
	if err != nil {
		return p.afterOpen(ctx, t, true)
	}
	defer w.stop()
	began := time.Now()
	for {
		quick := time.Since(began) < settle
		r := p.afterOpen(ctx, t, !quick)
		switch r.State {
		case Starting, UnknownState, Unverified:
			if command && time.Since(began) >= commandWait {
				return r
			}
		case BusyState, WaitingInput, NoIntegration:
			if !quick {
				return r
			}
		default:
			return r
		}
		if ctx.Err() != nil {
			return r
		}
		e, _, closed := w.pause(ctx, settle/3)
		if closed || e.Kind == terminal.Gone {
			return p.afterOpen(ctx, t, true)
		}
	}
}

// afterOpen judges a session that was just opened. Whether its program reads is
// asked only when deep: at first nothing depends on it, and it is the one costly question.
func (p *Pilot) afterOpen(ctx context.Context, t target, deep bool) Readiness {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	now, err := p.find(ctx, "open", string(t.id()))
	if err != nil {
		return readiness(UnknownState, oneLine(err.Error()))
	}
	return p.readiness(ctx, now, deep)
}

// checkOpen refuses what could not be opened or should not be run, and trims the name.
func (p *Pilot) checkOpen(req *OpenRequest) (err error) {
	refuse := func(code fault.Code, detail, hint string) error {
		return &fault.Error{Op: "open", Code: code, Detail: detail, Hint: hint}
	}
	for what, n := range map[string]int{"rows": req.Rows, "columns": req.Columns} {
		if n < 0 || n > MaxSize {
			return refuse(fault.InvalidArgument, fmt.Sprintf("%s is %d; it must be 1 to %d", what, n, MaxSize), "leave it out for the default size")
		}
	}
	if req.Name, err = checkName("open", req.Name); err != nil {
		return err
	}
	for what, s := range map[string]string{"cwd": req.Cwd, "profile": req.Profile, "window_id": req.Window} {
		if !utf8.ValidString(s) || hasControl(s) {
			return refuse(fault.InvalidArgument, what+" holds control characters or is not UTF-8", "pass plain text")
		}
	}
	if len(req.Cwd) > 4096 || len(req.Profile) > 1024 || len(req.Window) > 256 {
		return refuse(fault.TooLarge, "a parameter is over its limit", "pass a shorter one")
	}
	if req.Cwd != "" && !filepath.IsAbs(req.Cwd) {
		return refuse(fault.InvalidArgument, "cwd is not an absolute path", "pass an absolute path")
	}
	if _, known := sides[req.Direction]; !known {
		return refuse(fault.InvalidArgument, "there is no direction "+oneLine(string(req.Direction)), "use right, left, below or above")
	}
	if (req.Window != "") != (req.Place == terminal.InTab) || (req.Beside != "") != (req.Place == terminal.InSplit) {
		return refuse(fault.InvalidArgument, "a tab needs a window_id, a split a session_id, and nothing else has one", "pass the exact id from list_sessions")
	}
	if req.Command != "" {
		if err := p.checkFirst(req); err != nil {
			return err
		}
	}
	return checkEnv(req.Env)
}

// checkFirst holds a command to what a run's is held to.
func (p *Pilot) checkFirst(req *OpenRequest) error {
	text, err := commandText("", req.Command)
	if err != nil {
		if e, ok := errors.AsType[*fault.Error](err); ok {
			e.Op = "open"
		}
		return err
	}
	req.Command = text
	if danger, found := p.wire.check(text); found {
		return &fault.Error{
			Op: "open", Code: fault.Blocked, Detail: danger,
			Hint: "ask the person, then open the session without command and pass force=true to run_command",
		}
	}
	return nil
}

func checkEnv(env map[string]string) error {
	size := 0
	for k, v := range env {
		size += len(k) + len(v)
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(v, 0) || !utf8.ValidString(k+v) {
			return &fault.Error{
				Op: "open", Code: fault.InvalidArgument, Detail: "the environment holds a name or value that no program can have",
				Hint: "use names without '=' and text without NUL",
			}
		}
	}
	if size > maxEnv {
		return &fault.Error{Op: "open", Code: fault.TooLarge, Detail: "the environment is over 64 KiB", Hint: "pass a file instead"}
	}
	return nil
}
