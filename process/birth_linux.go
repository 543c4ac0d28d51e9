package process

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"
)

// boot is the moment of boot in seconds since 1970, as the kernel told it first:
// it tells another one when the clock was set, and one process is to have one start.
var boot = sync.OnceValues(func() (int64, error) {
	text, err := read("/proc/stat", maxBoot)
	if err != nil {
		return 0, err
	}
	return parseBoot(text)
})

// bootID names the boot; "" where the kernel does not tell it.
var bootID = sync.OnceValue(func() string {
	text, _ := read("/proc/sys/kernel/random/boot_id", 64)
	return string(bytes.TrimSpace(text))
})

// birth is the boot and the ticks since then.
func birth(start time.Time) string {
	from, err := boot()
	if err != nil {
		return ""
	}
	return bootID() + "." + strconv.FormatInt(int64(start.Sub(time.Unix(from, 0))/tick), 10)
}

func born(birth string) time.Time {
	id, text, _ := strings.Cut(birth, ".")
	n, err := strconv.ParseUint(text, 10, 63)
	from, unknown := boot()
	if err != nil || unknown != nil || id != bootID() {
		return time.Time{}
	}
	return stat{start: n}.started(from)
}

const tick = time.Second / ticks
