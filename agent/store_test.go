package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/process"
)

// someday makes a launch that was written down at a time, and nothing since.
func someday(t testing.TB, a *Agents, id string, at time.Time, runs bool) {
	t.Helper()
	folder := a.folder(id)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name string, v any) {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, 0o600)
		}
		if err == nil {
			err = os.Chtimes(filepath.Join(folder, name), at, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(launchFile, Launch{Schema: launchSchema, ID: id, Session: id, Provider: "claude", At: at})
	if runs {
		self, err := process.Lookup(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		put(processFile, running{PID: self.PID, Birth: process.Birth(self.Start)})
	}
	if err := os.Chtimes(folder, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestTheNewestOfManyLaunchesIsKnown(t *testing.T) { // FOLLOW-13
	t.Parallel()
	a := New(Options{Pilot: blindPilot{}, Dir: t.TempDir(), Env: []string{}})
	now := time.Now()
	for i := range mostLaunches {
		someday(t, a, fmt.Sprintf("l-%016x", i), now.Add(-time.Hour-time.Duration(i)*time.Second), false)
	}
	someday(t, a, "l-ffffffffffffffff", now, false)
	all, err := a.launches()
	if err != nil || len(all) != mostLaunches || all[0].ID != "l-ffffffffffffffff" || all[len(all)-1].ID != fmt.Sprintf("l-%016x", mostLaunches-2) {
		t.Errorf("%d launches, the newest %+v: %v", len(all), all[0], err)
	}
}

func TestALaunchIsReadAgainWhenItsFolderChanged(t *testing.T) { // FOLLOW-13
	t.Parallel()
	a := New(Options{Pilot: blindPilot{}, Dir: t.TempDir(), Env: []string{}})
	session := func() string {
		all, err := a.launches()
		if err != nil || len(all) != 1 {
			return fmt.Sprint(all, err)
		}
		return all[0].Session
	}
	const id = "l-0000000000000001"
	someday(t, a, id, time.Now().Add(-time.Hour), false)
	if got := session(); got != id {
		t.Fatal(got)
	}
	path := filepath.Join(a.folder(id), launchFile)
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil { // as nobody writes it: its folder stays the same
		t.Fatal(err)
	}
	if got := session(); got != id {
		t.Errorf("it was read again: %s", got)
	}
	for _, moved := range []string{"one", "two"} { // within the time that a file system may not tell apart
		l := Launch{Schema: launchSchema, ID: id, Session: moved, Provider: "claude", At: time.Now()}
		if err := a.save(l); err != nil {
			t.Fatal(err)
		}
		if got := session(); got != moved {
			t.Errorf("%s, want %s", got, moved)
		}
	}
	if r, ran := a.shelf.process(a.folder(id)); ran {
		t.Errorf("it runs as %+v", r)
	}
	someday(t, a, id, time.Now(), true)
	if r, ran := a.shelf.process(a.folder(id)); !ran || r.PID != os.Getpid() {
		t.Errorf("%+v %v", r, ran)
	}
}

func BenchmarkTheAgentsOfTwoThousandLaunches(b *testing.B) {
	a := New(Options{Pilot: blindPilot{}, Dir: b.TempDir(), Env: []string{}})
	for i := range mostLaunches {
		someday(b, a, fmt.Sprintf("l-%016x", i), time.Now().Add(-time.Hour-time.Duration(i)*time.Second), false)
	}
	for name, ask := range map[string]func() error{
		"one": func() error { _, err := a.newestIn("test", fmt.Sprintf("l-%016x", 1)); return err },
		"all": func() error { _, err := a.List(); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestALaunchIsForgottenWhenNothingHappensAnyMore(t *testing.T) { // LAUNCH-14
	t.Parallel()
	a := New(Options{Pilot: blindPilot{}, Dir: t.TempDir(), Env: []string{}})
	old := time.Now().Add(-keptFor - time.Hour)
	someday(t, a, "l-0000000000000001", old, false)
	someday(t, a, "l-0000000000000002", old, true)
	someday(t, a, "l-0000000000000003", time.Now(), false)
	all, err := a.launches()
	if err != nil || len(all) != 2 || all[0].ID != "l-0000000000000003" || all[1].ID != "l-0000000000000002" {
		t.Errorf("%+v %v", all, err)
	}
	if _, err := os.Stat(a.folder("l-0000000000000001")); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestAnAnswerOfAnyLettersIsKept(t *testing.T) { // TURN-10
	t.Parallel()
	a := New(Options{Pilot: blindPilot{}, Dir: t.TempDir(), Env: []string{}})
	l := Launch{Schema: launchSchema, ID: "l-0000000000000001", Provider: "claude", Chat: "c"}
	if err := a.save(l); err != nil {
		t.Fatal(err)
	}
	s := newStory(l)
	a.note(t.Context(), s, promptEvent("c", "p", "x"))
	a.note(t.Context(), s, event{Kind: done, Chat: "c", VendorTurn: "p", Text: strings.Repeat("<", 3<<20)}) // as JSON six times as long
	again, err := a.tale(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	one := again.byVendorTurn("p")
	if one == nil || one.outcome != Done || len(one.text) < maxText || !strings.HasSuffix(one.text, "longer than 2 MiB]") || s.byVendorTurn("p").text != one.text {
		t.Errorf("%+v", one)
	}
}
