package terminaltest

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"termpilot/terminal"
)

func TestFakePassesTheContract(t *testing.T) {
	TestBackend(t, func(t *testing.T) terminal.Backend {
		f := NewFake(t, Options{})
		f.Refuse(RefusedLine, "bash: !nosuch: event not found")
		n := len(verbatim(false))
		f.On(dump(n), func(p *Program) int {
			p.Raw()
			p.Print("nowreading")
			var got []byte
			for range n {
				got = append(got, p.ReadKey())
			}
			for i := 0; i < n; i += 16 {
				row := got[i:min(n, i+16)]
				p.Print(fmt.Sprintf(" %s\n", strings.TrimSpace(hex.EncodeToString(row))))
			}
			return 0
		})
		return f
	}, Abilities{
		Scrollback: 10000, Overflow: 40,
		Disconnect: func(_ *testing.T, b terminal.Backend) { b.(*Fake).Disconnect() },
		Reconnect:  func(_ *testing.T, b terminal.Backend) { b.(*Fake).Reconnect() },
	})
}
