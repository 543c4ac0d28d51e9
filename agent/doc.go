// Package agent launches, follows and steers coding agents that live in a
// terminal.
//
// A vendor is a row of one table (vendor.go) and a file of its own (claude.go,
// codex.go, grok.go, opencode.go): how its program is started, which of its records
// tell how a turn ended, what its screen looks like when it can be typed into.
// Everything else is the same for all. CONTRIBUTING.md says how one is added.
//
// Each launch has a private folder with one journal. What we did and what the
// vendor told is appended there by whoever knows it: the server that types, the
// vendor's hooks, a waiter that saw the process end. How a launch and its turns
// stand is nothing but what these records add up to (story.go), so that any
// process can say it, and the death of any of them loses nothing.
//
// The contract is specs/agents.md.
package agent
