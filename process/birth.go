package process

import "time"

// Birth names the start of a process for other processes to read, later: it stays
// the same when the clock is set, which a moment does not where it is reckoned from
// the boot. Text of the same machine only.
func Birth(start time.Time) string { return birth(start) }

// Born is the Start, as this process reads it, of what Birth named. The zero
// time, which no process has, when that was before the last boot, or is no such text.
func Born(birth string) time.Time { return born(birth) }
