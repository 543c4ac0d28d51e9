package host

// unblocked runs f. Setting a thread's mask needs libc on macOS; the runtime
// starts its threads with the mask that the host was started with, which
// launchd and shells leave empty.
func unblocked(f func() error) error { return f() }
