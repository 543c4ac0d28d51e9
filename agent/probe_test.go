package agent

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/process"
)

func TestAProbeThatIsGivenUpLeavesNothing(t *testing.T) { // LAUNCH-6
	t.Parallel()
	dir := t.TempDir()
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
	_, err := probe{binary: "/bin/sh", cwd: dir, env: os.Environ()}.run(ctx, "-c", "sleep 600 & echo $! > child.new; mv child.new child; wait")
	if fault.CodeOf(err) != fault.Deadline || fault.HintOf(err) == "" {
		t.Error(err)
	}
	for end := time.Now().Add(patience); process.Alive(child.PID, child.Start); pause(t.Context(), 20*time.Millisecond) {
		if child.PID == 0 || time.Now().After(end) {
			t.Fatalf("%+v still runs", child)
		}
	}
}

func TestAProgramThatLeavesSomethingBehindWorks(t *testing.T) { // LAUNCH-6
	t.Parallel()
	said, err := probe{binary: "/bin/sh", cwd: t.TempDir(), env: os.Environ()}.run(t.Context(), "-c", "sleep 600 & echo $$")
	group, _ := strconv.Atoi(strings.TrimSpace(said))
	if err != nil || group == 0 {
		t.Fatalf("%q %v", said, err)
	}
	if err := syscall.Kill(-group, syscall.SIGKILL); err != nil { // it has the output's end
		t.Error(err)
	}
}
