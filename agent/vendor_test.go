package agent

import (
	"slices"
	"strings"
	"testing"

	"termpilot/fault"
)

func TestAVendorIsItsRowOfTheTable(t *testing.T) { // VENDOR-1
	names, titles := Launchers()
	if len(names) != len(titles) || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("launchers %q, %q", names, titles)
	}
	for _, v := range vendors {
		if v.title == "" || len(v.programs) == 0 || v.breaks == "" || len(v.resume) == 0 || len(v.leaks) == 0 {
			t.Errorf("%s: the row lacks words", v.name)
		}
		if v.preflight == nil || v.argv == nil || v.hook == nil || v.look == nil || v.checkConfigure == nil {
			t.Errorf("%s: the row lacks a function", v.name)
			continue
		}
		if detail, hint := v.checkConfigure("a model", ""); v.configure == nil && (detail == "" || hint == "") {
			t.Errorf("%s: nothing says why it cannot be configured", v.name)
		}
		if v.readOnly == "" {
			t.Errorf("%s: nothing says how a write_scope is held to", v.name)
		}
		if !slices.Contains(names, v.name) {
			t.Errorf("%s cannot be launched", v.name)
		}
		for _, name := range v.leaks {
			if !leaked(name + "=x") {
				t.Errorf("%s reaches an agent", name)
			}
		}
	}
}

func TestAnAgentThatIsNotKnownIsAnsweredWithThoseThatAre(t *testing.T) { // VENDOR-1, LAUNCH-6
	w := newWorld(t)
	_, err := w.agents.Launch(t.Context(), w.request("eliza", "", ""))
	w.refuses(err, fault.InvalidArgument)
	names, _ := Launchers()
	if hint := fault.HintOf(err); !strings.HasSuffix(hint, strings.Join(names, ", ")) {
		t.Errorf("hint %q", hint)
	}
}
