package tmux

import (
	"context"
	"errors"
	"maps"
	"testing"

	"termpilot/fault"
	"termpilot/terminal"
)

func TestASessionHasOneIdForAll(t *testing.T) { // TMUX-3
	s := newServer(t)
	s.run("new-session", "-d")
	opener, other := s.backend(), s.backend()
	stop := make(chan struct{})
	seen := make(chan map[terminal.ID]bool)
	go func() {
		ids := map[terminal.ID]bool{}
		for {
			list, err := other.Sessions(context.Background())
			for _, one := range list {
				ids[one.ID] = err == nil
			}
			select {
			case <-stop:
				seen <- ids
				return
			default:
			}
		}
	}()
	want := map[terminal.ID]bool{only(t, opener).ID: true}
	for range 3 {
		session, err := opener.Open(ctx(t), terminal.OpenSpec{})
		must(t, err)
		want[session.ID] = true
		until(t, "the other sees it", func() bool {
			list, err := other.Sessions(ctx(t))
			return err == nil && len(list) == len(want)
		})
	}
	close(stop)
	if got := <-seen; !maps.Equal(got, want) {
		t.Errorf("the other saw %v, opened were %v", got, want)
	}
}

func TestAnIdIsOfOneServerProcess(t *testing.T) { // TMUX-3
	s := newServer(t)
	s.run("new-session", "-d")
	b := s.backend()
	first := only(t, b)
	s.run("respawn-pane", "-k", "-t", "%0")
	if err := b.Send(ctx(t), first.ID, []byte("x")); !errors.Is(err, fault.SessionEnded) {
		t.Errorf("typing into a pane that was respawned: %v", err)
	}
	until(t, "it is missed", func() bool { return only(t, b).ID != first.ID })
	second := only(t, b)
	if first.ID == second.ID {
		t.Error("another program in the pane has the same id")
	}
	s.stop()
	until(t, "the server is missed", func() bool { _, err := b.Sessions(ctx(t)); return err != nil })
	s.run("new-session", "-d")
	third := only(t, b)
	if third.ID == first.ID || third.ID == second.ID {
		t.Error("a pane of another server has the same id")
	}
	if err := b.Send(ctx(t), first.ID, []byte("x")); !errors.Is(err, fault.SessionEnded) {
		t.Errorf("typing into the pane of before: %v", err)
	}
}
