package reduce

import (
	"slices"
	"strconv"
	"strings"
)

// sizeOf is the number that a size spells: 1.5G, 200K, 4096.
func sizeOf(s string) float64 {
	scale := 1.0
	if i := strings.IndexByte("KMGTP", last(s)); i >= 0 && s != "" {
		for range i + 1 {
			scale *= 1024
		}
		s = s[:len(s)-1]
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return n * scale
}

func last(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// nthLargest is the value that n of count values reach.
func nthLargest(count, n int, value func(int) float64) float64 {
	all := make([]float64, count)
	for i := range all {
		all[i] = value(i)
	}
	slices.Sort(all)
	return all[max(0, count-n)]
}
