package connector

import (
	"encoding/json"
	"strings"
	"testing"

	"termpilot/connector/internal/fake"
	"termpilot/fault"
)

func TestTurnsOfAgentsAreWaitedFor(t *testing.T) { // WAIT-11
	s, _ := newServer(t, Options{})
	ids := `{"session_ids":["` + fake.Session + `"],"until":"turn"}`
	got := s.Call(t.Context(), "wait_session", json.RawMessage(ids))
	if got.IsError || !strings.Contains(string(got.Structured), `"matched":true`) || !strings.Contains(string(got.Structured), "done") {
		t.Errorf("%s %s", got.Text, got.Structured)
	}
	got = s.Call(t.Context(), "wait_session", json.RawMessage(`{"run_id":"r1","until":"turn"}`))
	if fault.CodeOf(got.Err) != fault.InvalidArgument {
		t.Errorf("with a run: %s", got.Text)
	}
	without := New(Options{Pilot: &fake.Pilot{}})
	defer without.Close()
	got = without.Call(t.Context(), "wait_session", json.RawMessage(ids))
	if fault.CodeOf(got.Err) != fault.Unsupported {
		t.Errorf("without agents: %s", got.Text)
	}
}
