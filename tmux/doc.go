// Package tmux makes a [terminal.Backend] of a user's own tmux server, by
// control mode: no process is started per call.
//
// A server's sessions, windows and panes are our windows, tabs and sessions.
// One connection carries the commands; tmux gives output only to clients that
// are attached to the session it happens in, so each session has a second one
// that only listens. All of them ignore sizes, leave the environment alone and
// hold nobody up: the server goes on reading its panes when we do not.
//
// Every pane has an emulator of its own, filled once from what tmux shows and
// then by the pane's output, so rows keep their numbers and prompt marks have
// exact places. Panes that we open start their shell with our marks and a
// secret; on all others any mark counts, as [terminal.MarksPlain].
//
// What the package promises is in specs/tmux.md (TMUX-n).
package tmux
