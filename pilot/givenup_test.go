package pilot

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"termpilot/fault"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

// hasty is a terminal whose caller goes while it carries out an effect, and that
// gives an effect up when its caller goes.
type hasty struct {
	*terminaltest.Fake
	leave func()
}

func (h *hasty) then(ctx context.Context, err error) error {
	h.leave()
	if ctx.Err() != nil {
		return &fault.Error{Op: "test", Code: fault.Deadline, Err: ctx.Err()}
	}
	return err
}

func (h *hasty) Open(ctx context.Context, spec terminal.OpenSpec) (terminal.Session, error) {
	s, err := h.Fake.Open(ctx, spec)
	if err = h.then(ctx, err); err != nil {
		return terminal.Session{}, err
	}
	return s, nil
}

func (h *hasty) Rename(ctx context.Context, id terminal.ID, name string) error {
	return h.then(ctx, h.Fake.Rename(ctx, id, name))
}

func (h *hasty) Focus(ctx context.Context, id terminal.ID) error {
	return h.then(ctx, h.Fake.Focus(ctx, id))
}

func (h *hasty) Resize(ctx context.Context, id terminal.ID, rows, columns int) error {
	return h.then(ctx, h.Fake.Resize(ctx, id, rows, columns))
}

// leaving is a machine that is asked for a name when the caller goes.
type leaving struct {
	fakeProcesses
	leave func()
}

func (l *leaving) Name(pid int) (string, error) {
	l.leave()
	return l.fakeProcesses.Name(pid)
}

func TestACommandIsNotTypedForACallerWhoHasGone(t *testing.T) { // RUN-23
	synctestRun(t, func(t *testing.T) {
		f := terminaltest.NewFake(t, terminaltest.Options{})
		s, err := f.Open(t.Context(), terminal.OpenSpec{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		p, _ := New(Options{Backends: []terminal.Backend{f}, Processes: &leaving{fakeProcesses{f: f}, cancel}})
		res, err := p.Run(ctx, RunRequest{SessionID: string(s.ID), Command: "echo hi"})
		if _, known := p.runs.last(s.ID); !errors.Is(err, fault.Deadline) || ctx.Err() == nil || known || len(f.Sent(s.ID)) > 0 {
			t.Errorf("got %+v, %v", res, err)
		}
		f.Shutdown()
	})
}

func TestWhatHasBegunIsFinishedAndToldThoughTheCallerGoes(t *testing.T) { // OPEN-10, ARRANGE-5
	synctestRun(t, func(t *testing.T) {
		f := terminaltest.NewFake(t, terminaltest.Options{})
		h := &hasty{Fake: f}
		p, _ := New(Options{Backends: []terminal.Backend{h}, Processes: fakeProcesses{f: f}})
		going := func() context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			h.leave = cancel
			return ctx
		}
		opened, err := p.Open(going(), OpenRequest{Name: "acorn", Command: "echo hi"})
		if err != nil || opened.SessionID == "" || opened.Name != "acorn" || opened.RunID != "" || opened.Reason == "" {
			t.Fatalf("got %+v, %v", opened, err)
		}
		renamed, err := p.Rename(going(), opened.SessionID, "cedar")
		if err != nil || renamed.Session.Name != "cedar" {
			t.Errorf("got %+v, %v", renamed, err)
		}
		focused, err := p.Focus(going(), opened.SessionID)
		if err != nil || !focused.Session.IsCurrent {
			t.Errorf("got %+v, %v", focused, err)
		}
		sized, err := p.Resize(going(), opened.SessionID, 30, 90)
		if err != nil || sized.Session.Rows != 30 || sized.Session.Columns != 90 {
			t.Errorf("got %+v, %v", sized, err)
		}
		before := f.Calls("open") + f.Calls("rename")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := p.Open(gone, OpenRequest{}); !errors.Is(err, fault.Deadline) {
			t.Errorf("got %+v, %v", got, err)
		}
		if got, err := p.Rename(gone, opened.SessionID, "maple"); !errors.Is(err, fault.Deadline) {
			t.Errorf("got %+v, %v", got, err)
		}
		if f.Calls("open")+f.Calls("rename") != before {
			t.Error("a call that was given up before it began had an effect")
		}
		f.Shutdown()
	})
}
