package process

import (
	"context"
	"errors"
	"time"
)

// Alive reports whether the process that had this number and start still runs.
// One that may not be looked at counts as running; a zombie does not.
func Alive(pid int, start time.Time) bool {
	p, err := Lookup(pid)
	return Runs(p, err, start)
}

// Runs is Alive by what [Lookup] answered.
func Runs(p Process, err error, start time.Time) bool {
	if err != nil {
		return !errors.Is(err, ErrGone)
	}
	return p.State != Zombie && p.Start.Equal(start)
}

// lookForEnd looks every second.
func lookForEnd(ctx context.Context, pid int, start time.Time) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for Alive(pid, start) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
