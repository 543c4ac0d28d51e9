// Package closing closes sessions, tabs and windows without losing work.
//
// A [Closer] looks at everything that a close would end, refuses when something
// is at work or is not known, writes down what is needed to get it back, asks
// coding agents to end, closes once, and proves from the terminal's own list
// that the session is gone. What it cannot prove it calls unknown, and an effect
// whose answer was lost is never repeated.
//
// The contract is specs/closing.md (CLOSE-n, RECOVER-n).
package closing
