package journal

import (
	"context"
	"path/filepath"
	"testing"
	"time"
)

func TestAFollowerIsWokenByOthers(t *testing.T) { // JRN-19
	dir := filepath.Join(t.TempDir(), "j")
	open := func() *Journal {
		j, err := Open(dir, "x", Options{Poll: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close() })
		return j
	}
	reads, writes := open(), open()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	const rounds = 20
	if err := writes.Note(ctx, 0); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range reads.Follow(ctx, Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == rounds {
			break
		}
		if err := writes.Note(ctx, n); err != nil { // the follower has seen all there is: it sleeps, or is about to
			t.Fatal(err)
		}
	}
	if n != rounds {
		t.Errorf("%d of %d records came", n, rounds)
	}
}
