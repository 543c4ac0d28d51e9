package pilot

import (
	"testing"

	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

// BenchmarkRunTrue is what pilot itself adds to a command, without a real
// terminal or shell.
func BenchmarkRunTrue(b *testing.B) {
	f := terminaltest.NewFake(b, terminaltest.Options{})
	p, err := New(Options{Backends: []terminal.Backend{f}, Dir: b.TempDir(), Processes: fakeProcesses{f: f}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	s, err := p.Open(b.Context(), OpenRequest{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		res, err := p.Run(b.Context(), RunRequest{SessionID: s.SessionID, Command: "true"})
		if err != nil || res.Status != Completed {
			b.Fatal(res, err)
		}
	}
}

func BenchmarkList200Sessions(b *testing.B) {
	f := terminaltest.NewFake(b, terminaltest.Options{})
	p, err := New(Options{Backends: []terminal.Backend{f}, Processes: fakeProcesses{f: f}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for range 200 {
		if _, err := f.Open(b.Context(), terminal.OpenSpec{}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if list, err := p.Sessions(b.Context(), ""); err != nil || len(list.Sessions) != 200 {
			b.Fatal(len(list.Sessions), err)
		}
	}
}
