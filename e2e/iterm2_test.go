package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"termpilot/iterm/api"
)

// official is what a script of testdata/iterm2 says at its end.
type official struct {
	Checks   int
	Requests map[string]int
	Told     map[string]int
}

// runOfficial runs a script as a person would: the variables of `host env` in
// the shell's environment, and nothing else that names the host.
func runOfficial(t *testing.T, h home, python, script string) official {
	t.Helper()
	cmd := exec.Command("sh", "-c", `eval "$(termpilot host env)" && exec "$0" -W ignore "$1"`, python, script)
	cmd.Env = append(h.env(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Dir = h.dir
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, said.String())
	}
	var o official
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &o); err != nil || o.Checks == 0 {
		t.Fatalf("%v in %s\n%s", err, out, said.String())
	}
	return o
}

// TestTheOfficialClientFindsTheHostWhole drives the host with the official
// Python package of iTerm2, found by its environment alone. Together the scripts
// send every request of the API and are told of every kind of event.
func TestTheOfficialClientFindsTheHostWhole(t *testing.T) { // HOST-84, HOST-124, HOST-140
	program := python(t, "iterm2", "python-iterm2")
	scripts, err := filepath.Glob("testdata/iterm2/*.py")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	scripts = slices.DeleteFunc(scripts, func(path string) bool { return filepath.Base(path) == "suite.py" }) // what the others share
	all, ran := official{Requests: map[string]int{}, Told: map[string]int{}}, 0
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".py")
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			o := runOfficial(t, plainHome(t), program, filepath.Join(testdata(t), "iterm2", name+".py"))
			t.Logf("%d values checked in %.1f s", o.Checks, time.Since(began).Seconds())
			ran++
			all.Checks += o.Checks
			for request, n := range o.Requests {
				all.Requests[request] += n
			}
			for kind, n := range o.Told {
				all.Told[kind] += n
			}
		})
	}
	if ran < len(scripts) { // some failed, or were not asked for
		return
	}
	t.Logf("%d values checked, %d kinds of requests, %d kinds of events", all.Checks, len(all.Requests), len(all.Told))
	missed(t, "request", (&api.ClientOriginatedMessage{}).ProtoReflect().Descriptor().Oneofs().ByName("submessage").Fields(), all.Requests)
	missed(t, "event", (&api.Notification{}).ProtoReflect().Descriptor().Fields(), all.Told, "location_change_notification")
}

// missed complains about the fields that were never seen.
func missed(t *testing.T, what string, fields protoreflect.FieldDescriptors, seen map[string]int, except ...string) {
	t.Helper()
	for i := range fields.Len() {
		name := string(fields.Get(i).Name())
		if seen[name] == 0 && !slices.Contains(except, name) {
			t.Errorf("no script covers the %s %s; covered are %v", what, name, slices.Sorted(maps.Keys(seen)))
		}
	}
}
