package main

import (
	"testing"

	"termpilot/doctor"
	"termpilot/pilot"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

func TestDoctorListsNoSessionsOfITerm2(t *testing.T) { // CLI-44
	var backends []terminal.Backend
	var fakes []*terminaltest.Fake
	for _, name := range []string{"iterm2", "host", "tmux", "tmux"} {
		f := terminaltest.NewFake(t, terminaltest.Options{Name: name, Marks: terminal.MarksNone})
		defer f.Shutdown()
		backends, fakes = append(backends, f), append(fakes, f)
	}
	if _, err := fakes[3].Open(t.Context(), terminal.OpenSpec{}); err != nil {
		t.Fatal(err)
	}
	p, err := pilot.New(pilot.Options{Backends: backends})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if r := checkSessions(t.Context(), p, backends); r.State != doctor.Warn {
		t.Errorf("a session without marks: got %+v, want a warning", r)
	}
	for i, want := range []int{0, 1, 1, 1} {
		if got := fakes[i].Calls("sessions"); got != want {
			t.Errorf("%s was asked for its sessions %d times, want %d", backends[i].Name(), got, want)
		}
	}
}
