// Package lazy makes values when they are first asked for. A server starts for
// every client, and most of what the program knows is of no use to most of them.
//
// Other values than these are made by [sync.OnceValue], and read the same way.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled when it is first asked for. It
// panics then if expr is none: a test holds every expression of the program to it.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
