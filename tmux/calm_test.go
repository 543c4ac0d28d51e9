package tmux

import (
	"testing"
	"time"
)

func TestWhatWouldMeetInAServerIsKeptApartAmongProcesses(t *testing.T) { // TMUX-17
	dir := t.TempDir()
	one, other, elsewhere := newCalm(dir, "/a"), newCalm(dir, "/a"), newCalm(dir, "/b")
	one.Lock()
	elsewhere.Lock() // another server's
	defer elsewhere.Unlock()
	got := make(chan time.Time, 1)
	go func() {
		other.Lock()
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
	one.Lock() // one that hangs holds nobody up for long
	began := time.Now()
	other.Lock()
	if took := time.Since(began); took < calmPatience/2 || took > 10*calmPatience {
		t.Errorf("a hung holder was waited for %v", took)
	}
	other.Unlock()
	one.Unlock()
	none := newCalm("", "/a")
	none.Lock()
	if none.lock != nil {
		t.Error("without a folder there is a lock file")
	}
	none.Unlock()
}
