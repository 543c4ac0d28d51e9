package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What a start costs, told without a clock.

func TestTheLinkerLeavesOutWhatNobodyCalls(t *testing.T) { // CLI-46
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(program, []byte("termpilot/pilot.New")) {
		t.Fatal("the program names none of its functions, so this test sees nothing")
	}
	if bytes.Contains(program, []byte("text/template.(*state).evalField")) { // which looks methods up by their names
		t.Error("text/template is linked, as it is when cobra is given a template")
	}
}

func TestLoadingTheProgramMakesNothingThatCanWait(t *testing.T) { // CLI-47
	const most = 24 << 10 // bytes for one package
	cmd := exec.Command(binary, "--version")
	cmd.Env = append(newHome(t).env(), "GODEBUG=inittrace=1")
	var told bytes.Buffer
	cmd.Stderr = &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &told)
	}
	seen := 0
	for line := range strings.Lines(told.String()) {
		var at, took float64
		var name string
		var size int
		if _, err := fmt.Sscanf(line, "init %s @%g ms, %g ms clock, %d bytes", &name, &at, &took, &size); err != nil {
			continue
		}
		if ours := strings.HasPrefix(name, "termpilot/"); !ours || name == "termpilot/iterm/api" { // generated
			continue
		}
		seen++
		if size > most {
			t.Errorf("loading %s takes %d bytes, of at most %d: make it when it is first asked for, as package lazy says", name, size, most)
		}
	}
	if seen < 5 {
		t.Errorf("%d packages told what loading them takes:\n%s", seen, &told)
	}
}

func TestAServerListsItsToolsBeforeItHasGarbageToCollect(t *testing.T) { // CLI-49
	cmd := exec.Command(binary, "serve")
	cmd.Env = append(newHome(t).env(), "GODEBUG=gctrace=1")
	cmd.Stdin = strings.NewReader(hello + "\n" + ready + "\n" + listTools + "\n")
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &told)
	}
	if !strings.Contains(out.String(), `"wait_session"`) {
		t.Fatalf("got %s", &out)
	}
	if strings.Contains(told.String(), "gc 1 @") {
		t.Errorf("a start made 4 MB of what it threw away again:\n%s", &told)
	}
}
