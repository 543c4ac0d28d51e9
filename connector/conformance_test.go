package connector

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"termpilot/testneeds"
)

// The suite calls fixtures; testdata/conformance has them on our own wrapper.
// 0.1.16 judges the versions up to 2025-11-25, conformance-next 2026-07-28: its
// scenarios of the tasks extension, which we do not speak, are not scored.
func TestTheConformanceSuitePasses(t *testing.T) { // MCP-60
	server := filepath.Join(t.TempDir(), "conformance") // built even if it is not run, so that it does not rot
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", server, "./testdata/conformance").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	node, modules := os.Getenv("TERMPILOT_TEST_NODE"), os.Getenv("TERMPILOT_TEST_NODE_MODULES")
	if node == "" || modules == "" {
		testneeds.Missing(t, "conformance") // see CONTRIBUTING.md
	}
	for _, suite := range []struct {
		name, script string
		args         []string
		atLeast      string // checks that passed when this was written
	}{
		{"2025-11-25", "@modelcontextprotocol/conformance/dist/index.js", []string{"--suite", "active"}, "Total: 40 passed, 0 failed"},
		{"2026-07-28", "conformance-next/dist/index.js", []string{"--requirements", "2026-07-28"}, "Not scored for 2026-07-28"},
	} {
		t.Run(suite.name, func(t *testing.T) {
			t.Parallel()
			url := start(t, server)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			args := append([]string{filepath.Join(modules, suite.script), "server", "--url", url}, suite.args...)
			cmd := exec.CommandContext(ctx, node, args...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "NO_COLOR=1", "HOME="+cmd.Dir)
			out, err := cmd.CombinedOutput()
			_, summary, _ := strings.Cut(string(out), "=== SUMMARY ===")
			if err != nil || !strings.Contains(summary, suite.atLeast) {
				t.Errorf("%v\n%s", err, summary)
			}
			t.Log(regexp.MustCompile(`Total: .*`).FindString(summary))
		})
	}
}

// start runs a server that prints its address, and ends it with the test.
func start(t *testing.T, path string) (url string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(complaints.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}
