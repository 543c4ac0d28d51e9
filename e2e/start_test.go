package e2e

import (
	"bytes"
	"os"
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
