package connector

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"termpilot/connector/internal/fake"
	"termpilot/fault"
)

func TestAClientGetsFromAProcessWhatCallGives(t *testing.T) { // MCP-45
	server := filepath.Join(t.TempDir(), "fakeserver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", server, "./testdata/fakeserver").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	c, err := Dial(t.Context(), exec.Command(server, "-text", "summary")) //nolint:noctx // Close ends it
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	s, _ := newServer(t, Options{Text: TextSummary})
	if got, err := c.Tools(t.Context()); err != nil || len(got) != len(names(s)) || !strings.HasPrefix(c.Server(), "termpilot ") {
		t.Errorf("server %q, tools %q, %v", c.Server(), got, err)
	}
	for _, command := range []string{"echo hi", "vim"} {
		args := map[string]any{"session_id": fake.Session, "command": command}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		want := s.Call(t.Context(), "run_command", raw)
		got, err := c.Call(t.Context(), "run_command", args)
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != want.Text || got.IsError != want.IsError {
			t.Errorf("%s: got %+v, want %+v", command, got, want)
		}
		if want.IsError {
			if got.Err.Error() != want.Err.Error() || !errors.Is(got.Err, fault.NotReady) || fault.HintOf(got.Err) != fault.HintOf(want.Err) {
				t.Errorf("%s: got error %v (%s), want %v (%s)", command, got.Err, fault.HintOf(got.Err), want.Err, fault.HintOf(want.Err))
			}
			continue
		}
		var a, b any
		if json.Unmarshal(got.Structured, &a) != nil || json.Unmarshal(want.Structured, &b) != nil {
			t.Fatalf("%s: %s, %s", command, got.Structured, want.Structured)
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", command, diff)
		}
	}
}

func TestDialNamesAServerThatIsNone(t *testing.T) { // MCP-45
	if _, err := Dial(t.Context(), exec.CommandContext(t.Context(), "false")); !errors.Is(err, fault.Protocol) {
		t.Errorf("got %v, want %v", err, fault.Protocol)
	}
}
