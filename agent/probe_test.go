package agent

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/process"
)

func TestAProbeThatIsGivenUpLeavesNothing(t *testing.T) { // LAUNCH-6
	t.Parallel()
	dir := t.TempDir()
	self := filepath.Join(dir, "slow")
	if err := os.WriteFile(self, []byte("#!/bin/sh\nsleep 600 &\necho $! > child.new\nmv child.new child\nwait\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var child process.Process
	go func() { // it ends with ctx
		for ctx.Err() == nil {
			data, _ := os.ReadFile(filepath.Join(dir, "child"))
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err == nil {
				child, _ = process.Lookup(pid)
				cancel()
			}
			pause(ctx, 20*time.Millisecond)
		}
	}()
	_, err := probe{binary: self, cwd: dir, env: os.Environ()}.run(ctx, "--version")
	if fault.CodeOf(err) != fault.Deadline || fault.HintOf(err) == "" {
		t.Error(err)
	}
	for end := time.Now().Add(patience); process.Alive(child.PID, child.Start); pause(t.Context(), 20*time.Millisecond) {
		if child.PID == 0 || time.Now().After(end) {
			t.Fatalf("%+v still runs", child)
		}
	}
}
