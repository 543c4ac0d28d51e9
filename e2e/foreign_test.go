package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/testneeds"
)

// MCP clients that others wrote.

// python returns an interpreter that has the module; see .ci/run.
func python(t *testing.T, module, name string) string {
	t.Helper()
	path := os.Getenv("TERMPILOT_TEST_PYTHON")
	if path == "" {
		path = "python3"
	}
	if err := exec.Command(path, "-c", "import "+module).Run(); err != nil {
		testneeds.Missing(t, name)
	}
	return path
}

// node returns a Node 22 and the folder of its modules; see .ci/run.
func node(t *testing.T) (program, modules string) {
	t.Helper()
	program, modules = os.Getenv("TERMPILOT_TEST_NODE"), os.Getenv("TERMPILOT_TEST_NODE_MODULES")
	if program == "" || modules == "" {
		testneeds.Missing(t, "node22")
	}
	return program, modules
}

func installedShells() []string {
	var found []string
	for _, shell := range shells {
		if _, err := exec.LookPath(shell); err == nil {
			found = append(found, shell)
		}
	}
	return found
}

// walked checks what client.py and client.mjs print.
func walked(t *testing.T, cmd *exec.Cmd, h home) {
	t.Helper()
	found := installedShells()
	cmd.Args = append(cmd.Args, found...)
	cmd.Env = append(h.env(), "TERMPILOT_TEST_NODE_MODULES="+os.Getenv("TERMPILOT_TEST_NODE_MODULES"))
	cmd.Dir = h.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.Bytes())
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	for _, shell := range found {
		var got struct {
			Shell, Output, Submitted, Late string
			Exit                           *int
			Screen, Listed                 bool
		}
		if err := dec.Decode(&got); err != nil {
			t.Fatalf("%s: %v in %s", shell, err, out)
		}
		if got.Shell != shell || got.Exit == nil || *got.Exit != 3 || strings.TrimSpace(got.Output) != "hello" ||
			!got.Screen || !got.Listed || strings.TrimSpace(got.Late) != "late" || got.Submitted != "submitted" {
			t.Errorf("%s: %+v", shell, got)
		}
	}
}

func TestThePythonClientDrivesEveryShell(t *testing.T) {
	program := python(t, "mcp", "python-mcp")
	walked(t, exec.Command(program, filepath.Join(testdata(t), "client.py"), binary), plainHome(t))
}

func TestTheTypeScriptClientDrivesEveryShell(t *testing.T) {
	program, _ := node(t)
	walked(t, exec.Command(program, filepath.Join(testdata(t), "client.mjs"), binary), plainHome(t))
}

func testdata(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheInspectorListsAndCallsTheTools(t *testing.T) {
	program, modules := node(t)
	h := plainHome(t)
	inspect := func(args ...string) string {
		t.Helper()
		cli := []string{filepath.Join(modules, ".bin", "mcp-inspector"), "--cli", binary, "serve"}
		cmd := exec.Command(program, append(cli, args...)...)
		cmd.Env = append(h.env(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		cmd.Dir = h.dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("inspector %v: %v\n%s\n%s", args, err, out, stderr.Bytes())
		}
		return string(out)
	}
	if out := inspect("--method", "tools/list", "--strict"); !strings.Contains(out, "run_command") {
		t.Errorf("tools/list: %s", out)
	}
	out := inspect("--method", "tools/call", "--tool-name", "create_window", "--tool-args-json", `{"profile":"bash"}`)
	_, rest, _ := strings.Cut(out, `"session_id"`)
	parts := strings.SplitN(rest, `"`, 3)
	if len(parts) < 3 {
		t.Fatalf("create_window: %s", out)
	}
	args, err := json.Marshal(map[string]any{"session_id": parts[1], "command": "echo inspected"})
	if err != nil {
		t.Fatal(err)
	}
	if out := inspect("--method", "tools/call", "--tool-name", "run_command", "--tool-args-json", string(args)); !strings.Contains(out, "inspected") || !strings.Contains(out, "completed") {
		t.Errorf("run_command: %s", out)
	}
}
