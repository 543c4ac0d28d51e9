package tmux

import (
	"os"
	"strings"
	"testing"

	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
	"termpilot/testneeds"
)

func TestATmuxServerIsABackend(t *testing.T) {
	testneeds.Program(t, "tmux")
	testneeds.Program(t, "bash")
	servers := map[terminal.Backend]*server{}
	terminaltest.TestBackend(t, func(t *testing.T) terminal.Backend {
		s := newServer(t)
		s.run("new-session", "-d", "-x", "90", "-y", "30")
		if strings.Contains(t.Name(), "focus") { // somebody must have it
			s.person(t, "0", 90, 30)
		}
		b := s.backend()
		servers[b] = s
		return b
	}, terminaltest.Abilities{
		Overflow: 300, Scrollback: 10000,
		Disconnect: func(t *testing.T, b terminal.Backend) {
			s := servers[b]
			must(t, os.Rename(s.socket, s.socket+".away"))
			away := *s
			away.socket += ".away"
			for id := range strings.FieldsSeq(away.run("list-sessions", "-F", "#{session_id}")) {
				away.try("detach-client", "-s", id)
			}
		},
		Reconnect: func(t *testing.T, b terminal.Backend) {
			s := servers[b]
			must(t, os.Rename(s.socket+".away", s.socket))
		},
	})
}
