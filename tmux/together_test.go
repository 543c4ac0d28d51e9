package tmux

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Everything at once: whoever opens, watches, lists, types, reads and closes
// gets an answer in time, also while the backend leaves, and the server lives on.
func TestEverythingAtOnceComesToAnEnd(t *testing.T) { // TMUX-16
	s := newServer(t)
	s.run("new-session", "-d", "-s", "kept", "-x", "80", "-y", "24", "exec cat")
	pid := s.run("display-message", "-p", "#{pid}")
	for range 4 {
		b := s.backend()
		s.crowd(t, b, time.Second)
		began := time.Now()
		if err := b.Disconnect(); err != nil || time.Since(began) > patience {
			t.Errorf("it left after %v: %v", time.Since(began), err)
		}
	}
	if got := s.run("display-message", "-p", "-t", "kept", "#{pid}"); got != pid {
		t.Errorf("the server is process %s and was %s", got, pid)
	}
}

// crowd uses a backend from all sides for a while.
func (s *server) crowd(t *testing.T, b *Backend, long time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	var wg sync.WaitGroup
	again := func(what string, do func() error) {
		wg.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				err := do()
				if took := time.Since(began); took > patience {
					t.Errorf("%s took %v", what, took)
				}
				if _, ok := errors.AsType[*fault.Error](err); err != nil && !ok {
					t.Errorf("%s: %v (%T)", what, err, err)
				}
			}
		})
	}
	for n := range 2 {
		again("open and close", func() error {
			p, err := b.Open(ctx, terminal.OpenSpec{Command: fmt.Sprintf("echo %d; exec cat", n)})
			if err != nil {
				return err
			}
			events, err := b.Watch(ctx, p.ID)
			if err != nil {
				return err
			}
			wg.Go(func() {
				for _, err := range events {
					_ = err // the connection may be cut
				}
			})
			return b.Close(context.WithoutCancel(ctx), p.ID, terminal.Force)
		})
	}
	each := func(do func(terminal.ID) error) func() error {
		return func() error {
			list, err := b.Sessions(ctx)
			for _, p := range list {
				if err = do(p.ID); err != nil {
					break
				}
			}
			return err
		}
	}
	again("read", each(func(id terminal.ID) error {
		_, err := b.Screen(ctx, id, terminal.Range{})
		return err
	}))
	again("type", each(func(id terminal.ID) error { return b.Send(ctx, id, []byte("x\r")) }))
	again("resize", each(func(id terminal.ID) error { return b.Resize(ctx, id, 20, 70) }))
	again("prompts", func() error {
		_, err := b.Prompts(ctx)
		return err
	})
	again("watch", each(func(id terminal.ID) error {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		events, err := b.Watch(ctx, id)
		if err != nil {
			return err
		}
		for _, err := range events {
			if err != nil {
				return err
			}
		}
		return nil
	}))
	wg.Wait()
}
