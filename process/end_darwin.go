package process

import (
	"context"
	"time"
)

// AwaitEnd returns nil when the process that had this number and start has
// ended, at once if it already has, or the cause of ctx's end. It looks every second.
func AwaitEnd(ctx context.Context, pid int, start time.Time) error {
	return lookForEnd(ctx, pid, start)
}
