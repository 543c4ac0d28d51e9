// Package host is termpilot's own terminal: PTYs without a window, each drawn
// by a [termpilot/vt.Terminal], served over the iTerm2 API on a private Unix
// socket. It runs as a daemon of its own, so that sessions and the commands in
// them outlive every client.
//
// [Serve] is the daemon. [Start] starts it detached, once, whoever asks;
// [Dial] connects to its API; [Inspect] and [Stop] look after it; [Attach]
// joins a person's terminal to one of its sessions. [Paths] alone decides
// where it lives.
//
// What it promises is in specs/host.md (HOST-n).
package host
