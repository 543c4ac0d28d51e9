package pilot

import (
	"context"
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
	// MaxSize is the most rows or columns of a new session.
	MaxSize = 1000
	// maxEnv is the most bytes of a new session's added environment.
	maxEnv = 64 << 10
)

// Open starts a session and returns it when its shell is ready, or when it is
// clear that it will not be, or after 5 s: Readiness says which. The session
// stays open in every case. NotAllowed when the server is read-only or has an
// allowlist.
func (p *Pilot) Open(ctx context.Context, req OpenRequest) (SessionInfo, error) {
	const op = "open"
	if err := p.refuseWhenReadOnly(op, ""); err != nil {
		return SessionInfo{}, err
	}
	if len(p.allow) > 0 {
		return SessionInfo{}, &fault.Error{
			Op: op, Code: fault.NotAllowed, Detail: "this server is limited to sessions that exist",
			Hint: "use a session that list_sessions shows",
		}
	}
	if err := checkOpen(req); err != nil {
		return SessionInfo{}, err
	}
	spec := terminal.OpenSpec{
		Profile: req.Profile, Command: req.Command, Cwd: req.Cwd, Env: req.Env, Name: req.Name,
		Rows: req.Rows, Columns: req.Columns, Focus: req.Focus,
	}
	t, err := p.openOn(ctx, req.Backend, spec)
	if err != nil {
		return SessionInfo{}, err
	}
	r := p.settled(ctx, t, req.Command != "")
	if now, err := p.find(ctx, op, string(t.id())); err == nil {
		session := t.session
		t = now
		if t.ended {
			t.session = session // what it was called is still worth telling
		}
	}
	p.log.Info("session opened", "session", string(t.id()), "backend", t.backend.Name(), "state", string(r.State))
	return sessionInfo(t, r), nil
}

// openOn opens on the named backend, or on the first that can be reached.
func (p *Pilot) openOn(ctx context.Context, backend string, spec terminal.OpenSpec) (target, error) {
	tried := p.backends
	if backend != "" {
		b, err := p.backend("open", backend)
		if err != nil {
			return target{}, err
		}
		tried = []terminal.Backend{b}
	}
	var failed error = &fault.Error{
		Op: "open", Code: fault.BackendUnavailable, Detail: "there is no terminal backend",
		Hint: "start the host with termpilot host start",
	}
	for _, b := range tried {
		s, err := b.Open(ctx, spec)
		if err == nil {
			return target{backend: b, session: s}, nil
		}
		failed = err
		switch fault.CodeOf(err) {
		case fault.BackendUnavailable, fault.Unsupported: // the next may do it
		default:
			return target{}, err
		}
	}
	return target{}, failed
}

// settled waits until a new session is ready, or clearly will not be.
func (p *Pilot) settled(ctx context.Context, t target, command bool) Readiness {
	ctx, cancel := context.WithTimeout(ctx, openWait)
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

func checkOpen(req OpenRequest) error {
	refuse := func(detail, hint string) error {
		return &fault.Error{Op: "open", Code: fault.InvalidArgument, Detail: detail, Hint: hint}
	}
	for what, n := range map[string]int{"rows": req.Rows, "columns": req.Columns} {
		if n < 0 || n > MaxSize {
			return refuse(fmt.Sprintf("%s is %d; it must be 1 to %d", what, n, MaxSize), "leave it out for the default size")
		}
	}
	for what, s := range map[string]string{"command": req.Command, "cwd": req.Cwd, "profile": req.Profile, "name": req.Name} {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) || what != "command" && hasControl(s) {
			return refuse(what+" holds control characters or is not UTF-8", "pass plain text")
		}
	}
	if len(req.Command) > MaxCommand || len(req.Name) > 1024 || len(req.Cwd) > 4096 || len(req.Profile) > 1024 {
		return &fault.Error{Op: "open", Code: fault.TooLarge, Detail: "a parameter is over its limit", Hint: "open a shell, and run a script file in it"}
	}
	if req.Cwd != "" && !filepath.IsAbs(req.Cwd) {
		return refuse("cwd is not an absolute path", "pass an absolute path")
	}
	size := 0
	for k, v := range req.Env {
		size += len(k) + len(v)
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(v, 0) || !utf8.ValidString(k+v) {
			return refuse("the environment holds a name or value that no program can have", "use names without '=' and text without NUL")
		}
	}
	if size > maxEnv {
		return &fault.Error{Op: "open", Code: fault.TooLarge, Detail: "the environment is over 64 KiB", Hint: "pass a file instead"}
	}
	return nil
}
