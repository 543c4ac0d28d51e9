package tmux

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestWhatWouldMeetInAServerIsKeptApartAmongProcesses(t *testing.T) { // TMUX-17
	dir := t.TempDir()
	one, other, elsewhere := newCalm(dir, "/a"), newCalm(dir, "/a"), newCalm(dir, "/b")
	lock := func(c *calm) {
		t.Helper()
		must(t, c.Lock(ctx(t)))
	}
	lock(one)
	lock(elsewhere) // another server's
	defer elsewhere.Unlock()
	got := make(chan time.Time, 1)
	go func() {
		_ = other.Lock(t.Context())
		got <- time.Now()
		other.Unlock()
	}()
	select {
	case <-got:
		t.Fatal("both had the right at once")
	case <-time.After(50 * time.Millisecond): // it must not come
	}
	left := time.Now()
	one.Unlock()
	if at := <-got; at.Before(left) {
		t.Error("it came too early")
	}
	lock(one) // one that hangs holds nobody up for long
	began := time.Now()
	lock(other)
	if took := time.Since(began); took < calmPatience/2 || took > 10*calmPatience {
		t.Errorf("a hung holder was waited for %v", took)
	}
	other.Unlock()
	brief, cancel := context.WithTimeout(ctx(t), 20*time.Millisecond)
	defer cancel()
	for _, c := range []*calm{one, other} { // in this process, and in another
		if err := c.Lock(brief); !errors.Is(err, errSilent) {
			t.Errorf("a call that is over got %v", err)
		}
	}
	one.Unlock()
	lock(other) // and left nothing behind
	other.Unlock()
	none := newCalm("", "/a")
	lock(none)
	if none.lock != nil {
		t.Error("without a folder there is a lock file")
	}
	none.Unlock()
}
