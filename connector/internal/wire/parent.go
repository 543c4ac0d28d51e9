package wire

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrParentGone is the cause of the end of a context of [WatchParent].
var ErrParentGone = errors.New("the parent process is gone")

// WatchParent returns a context that ends with [ErrParentGone] when the process
// that started this one is gone: clients are killed without closing the pipe
// when somebody else holds its other end. It looks every second. The caller
// calls stop, which waits until the watching has ended.
func WatchParent(ctx context.Context) (watched context.Context, stop func()) {
	return watch(ctx, os.Getppid, time.Second)
}

func watch(ctx context.Context, parent func() int, every time.Duration) (context.Context, func()) {
	watched, cancel := context.WithCancelCause(ctx)
	first := parent()
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-tick.C:
				if parent() != first {
					cancel(ErrParentGone)
					return
				}
			}
		}
	}()
	return watched, func() {
		cancel(nil)
		<-done
	}
}
