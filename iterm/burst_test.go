package iterm

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

func TestCallsOfOneBurstShareAWrite(t *testing.T) { // ITERM-13
	s := newFakeServer(t, newWorld(150))
	const delay = 5 * time.Millisecond
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool { // 5 ms each, side by side
		s.running.Go(func() {
			timer := time.NewTimer(delay)
			<-timer.C
			c.answer(m, s.world.answer(m))
		})
		return true
	}
	c := s.client(Options{})
	began := time.Now()
	list, err := c.Sessions(t.Context())
	if err != nil || len(list) != 150 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	// One by one, 173 requests of 5 ms would take 865 ms.
	t.Logf("150 sessions cold: %d requests in %v", s.count(), time.Since(began))
	for _, step := range []struct {
		name string
		most int
		do   func() error
	}{
		{"sessions", 0, func() error { _, err := c.Sessions(t.Context()); return err }},
		{"screen", 2, func() error { _, err := c.Screen(t.Context(), sid(77), terminal.Range{}); return err }},
		{"prompt", 2, func() error { _, err := c.Prompt(t.Context(), sid(77), ""); return err }},
		{"broadcasts", 0, func() error { _, err := c.Broadcasts(t.Context(), sid(77)); return err }},
		{"send", 1, func() error { return c.Send(t.Context(), sid(77), []byte("x")) }},
		{"watch", 3, func() error {
			_, err := c.Watch(t.Context(), sid(77))
			return err
		}},
	} {
		began := time.Now()
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		n := s.count()
		t.Logf("%s: %d requests in %v", step.name, n, time.Since(began))
		if n > step.most { // ITERM-14
			t.Errorf("%s took %d requests, want at most %d", step.name, n, step.most)
		}
	}
}

func TestManySlowSessionsAreNotLateTogether(t *testing.T) { // ITERM-80
	synctest.Test(t, func(t *testing.T) {
		const each = time.Millisecond
		s := &fakeServer{t: t, world: newWorld(3 * together), delay: each}
		// All of them take longer than one deadline, each burst takes less.
		const deadline = 2 * together * each
		c := New(Options{Name: "iterm2", Deadline: deadline, Dial: s.pipe})
		var asked atomic.Int32
		s.handle = func(_ *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetVariableRequest().GetSessionId() != "" && asked.Add(1) == together+10 { // one that takes too long
				time.Sleep(2 * deadline)
			}
			return false
		}
		_, err := c.Sessions(t.Context())
		wantCode(t, err, fault.Deadline)
		time.Sleep(2 * deadline) // the rest of that burst is answered, too late
		before := asked.Load()
		if list, err := c.Sessions(t.Context()); err != nil || len(list) != 3*together {
			t.Errorf("got %d sessions, %v", len(list), err)
		}
		if got := asked.Load() - before; got != 2*together-9 {
			t.Errorf("%d sessions were asked again, of which %d were not known", got, 2*together-9)
		}
		_ = c.Disconnect()
		s.running.Wait()
	})
}
