package tunnel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/doctor"
)

// health runs the checks and returns them by name.
func (b *bench) health(version string, sources Sources) map[string]doctor.Result {
	b.t.Helper()
	all := map[string]doctor.Result{}
	for _, r := range doctor.Run(b.t.Context(), Checks(Viewpoint{Place: b.place, Alias: "a", Version: version, Sources: sources})).Results {
		all[r.ID] = r
	}
	return all
}

func TestDoctorTellsWhatDiffers(t *testing.T) { // TUN-31, TUN-35
	b := newBench(t)
	if r := b.health("test", Sources{Getenv: none}); len(r) != 1 || r["tunnel.setup"].State != doctor.Skipped || r["tunnel.setup"].Next == "" {
		t.Errorf("where nothing was set up: %+v", r)
	}
	for _, r := range doctor.Run(t.Context(), Checks(Viewpoint{Place: b.place, Alias: "a", Sources: Sources{Getenv: none}, Wanted: true})).Results {
		if want := map[string]string{"tunnel.setup": "nothing was set up", "tunnel.key": "key_missing"}[r.ID]; r.ID != "tunnel.client" && (r.State != doctor.Fail || !strings.Contains(r.Summary+r.Evidence, want)) {
			t.Errorf("where it was asked about: %+v", r)
		}
	}
	file := filepath.Join(b.place.Home, "..", "key")
	if err := os.WriteFile(file, []byte(testKey+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.c.Key = Reference("file:" + file)
	b.supervise()
	b.until("ready", func(s Status) bool { return s.Ready })
	for _, c := range []struct {
		name, version, id string
		prepare           func()
		state             doctor.State
		says              string
	}{
		{"a supervisor of another version", "newer", "tunnel.supervisor", nil, doctor.Warn, "version test, this program of newer"},
		{"the same version", "test", "tunnel.supervisor", nil, doctor.Pass, "holds the lock"},
		{"a key that others may read", "test", "tunnel.key", nil, doctor.Warn, "others can read"},
		{"a key of one's own", "test", "tunnel.key", func() { _ = os.Chmod(file, 0o600) }, doctor.Pass, "a runtime key is there"},
		{"the control plane", "test", "tunnel.control_plane", nil, doctor.Pass, "named it lab"},
		{"no call yet", "test", "tunnel.calls", nil, doctor.Unknown, "nothing has called"},
		{"no key for another", "test", "tunnel.key", func() { _ = os.Remove(file) }, doctor.Skipped, "the supervisor has its key"},
		{"and none to ask with", "test", "tunnel.control_plane", nil, doctor.Skipped, "tunnel.key_in_use"},
		{"the key in use", "test", "tunnel.key_in_use", nil, doctor.Pass, "could read the tunnel"},
		{"another tunnel in the settings", "test", "tunnel.asked", func() {
			c := b.c
			c.TunnelID = strings.Replace(testTunnel, "0", "9", 1)
			if err := c.save(b.place.files("a").config); err != nil {
				t.Error(err)
			}
		}, doctor.Fail, "something else"},
	} {
		if c.prepare != nil {
			c.prepare()
		}
		if r := b.health(c.version, Sources{Getenv: none})[c.id]; r.State != c.state || !strings.Contains(r.Summary+" "+r.Evidence, c.says) || (r.State != doctor.Pass && r.Next == "") && c.id != "tunnel.control_plane" {
			t.Errorf("%s: got %+v, want %s saying %q", c.name, r, c.state, c.says)
		}
	}
}

func TestDoctorWordsEveryState(t *testing.T) { // TUN-31
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, r := range map[string]doctor.Result{
		"the first poll has not returned":               checkPolling(Status{Polling: PollingPending}),
		"polls neither succeed nor fail":                checkPolling(Status{Polling: PollingDeaf, PollAge: 60}),
		"nothing polls":                                 checkPolling(Status{Polling: PollingStopped, LastExit: "it ended"}),
		"may not use the tunnel (403":                   checkPolling(Status{Polling: PollingFailing, Refused: 403, LastError: "forbidden"}),
		"polls find no tunnel":                          checkPolling(Status{Polling: PollingFailing, Refused: 404, LastError: "gone"}),
		"polls fail: dial":                              checkPolling(Status{Polling: PollingFailing, LastError: "dial"}),
		"cannot read the tunnel":                        checkKeyInUse(Status{KeyError: "401"}),
		"polls succeed with it":                         checkKeyInUse(Status{KeyError: "dial", Polling: PollingOK}),
		"has not said":                                  checkKeyInUse(Status{}),
		"does not answer on its socket":                 checkServer(Status{ServerError: "gone"}),
		"tunnel-client does not run":                    checkProcess(Status{LastExit: "it ended"}),
		"does not tell its state":                       checkProcess(Status{ClientPID: 7}),
		"started anew 2 times; last: it died":           checkProcess(Status{ClientPID: 7, Healthy: true, Restarts: 2, LastExit: "it died"}),
		"does not say what it serves":                   checkAsked(Config{}, Status{}),
		"logs whole requests":                           checkAsked(Config{BaseURL: "https://x"}, Status{Healthy: true, RunsURL: "https://x/", RawLogging: true}),
		"3, the last at 2026-01-02T03:04:05Z; 1 failed": checkCalls(Status{Calls: 3, LastCall: at, CallErrors: 1, LastCallFailed: at.Add(-time.Second), LastCallError: "eof"}),
		"the last call failed between tunnel-client":    checkCalls(Status{Calls: 3, LastCall: at, CallErrors: 1, LastCallFailed: at.Add(time.Second), LastCallError: "eof"}),
	} {
		if text := r.Summary + " " + r.Evidence; !strings.Contains(text, want) || r.State != doctor.Pass && r.Next == "" {
			t.Errorf("want %q: got %+v", want, r)
		}
	}
}
