package process

import (
	"strconv"
	"time"
)

// birth is the moment itself: the system keeps what it was.
func birth(start time.Time) string { return strconv.FormatInt(start.UnixMicro(), 10) }

func born(birth string) time.Time {
	n, err := strconv.ParseInt(birth, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMicro(n)
}
