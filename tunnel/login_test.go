package tunnel

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/testneeds"
)

func TestLoginFilesAreQuotedForTheirReaders(t *testing.T) { // TUN-25
	command := []string{`/opt/My App/it's "here"/term%pilot`, "chatgpt", "supervise", "--alias", "a$b"}
	unit := systemdUnit("a", command, []string{"TERMPILOT_HOME=/home/$x y%"})
	if want := `ExecStart=/bin/sh "-c" "exec \"$$0\" \"$$@\"" "/opt/My App/it's \"here\"/term%%pilot" "chatgpt" "supervise" "--alias" "a$$b"`; !strings.Contains(unit, want+"\n") {
		t.Errorf("the unit lacks %s:\n%s", want, unit)
	}
	if !strings.Contains(unit, `Environment="TERMPILOT_HOME=/home/$x y%%"`) || !strings.Contains(unit, "Restart=on-failure") {
		t.Errorf("the unit:\n%s", unit)
	}
	agent := launchAgent("a", []string{"/opt/a&b", "<x>"}, []string{"A=<1>"})
	if !strings.Contains(agent, "<string>/opt/a&amp;b</string>") || !strings.Contains(agent, "<string>&lt;x&gt;</string>") {
		t.Errorf("the agent:\n%s", agent)
	}
	agent = launchAgent("a", []string{`/it's & "here"/x`, "\x01"}, []string{"PATH=/a:<b>"})
	for d := xml.NewDecoder(strings.NewReader(agent)); ; {
		if _, err := d.Token(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("the agent is no XML: %v\n%s", err, agent)
			}
			break
		}
	}
}

func TestLoginFilesComeAndGo(t *testing.T) { // TUN-25, TUN-26
	command := []string{"/opt/termpilot"}
	dir := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": dir}[name] }
	for range 2 {
		path, err := installLogin("a", command, getenv)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil || !StartsAtLogin("a", getenv) {
			t.Error(err)
		}
	}
	if path, err := removeLogin("a", getenv); err != nil || path == "" {
		t.Errorf("got %q %v", path, err)
	}
	if StartsAtLogin("a", getenv) {
		t.Error("it still starts at login")
	}
	if path, err := removeLogin("a", getenv); err != nil || path != "" {
		t.Errorf("again: got %q %v", path, err)
	}
}

func TestSystemdTakesTheUnit(t *testing.T) { // TUN-25, TUN-26
	analyze := testneeds.Program(t, "systemd-analyze")
	dir := filepath.Join(t.TempDir(), `My App, it's "50%" $HOME here`)
	program := filepath.Join(dir, "term pilot")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	unit := systemdUnit("a", []string{program, "chatgpt", "$HOME", "50%"}, loginEnvironment(func(name string) string {
		return map[string]string{"PATH": dir, "TERMPILOT_HOME": dir, "HTTPS_PROXY": "http://me:canary@proxy", "HTTP_PROXY": "http://proxy:1"}[name]
	}))
	for _, want := range []string{"KillMode=process", `"$$HOME"`, `"HTTP_PROXY=http://proxy:1"`} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit lacks %s:\n%s", want, unit)
		}
	}
	if strings.Contains(unit, "canary") {
		t.Errorf("a password is in the unit:\n%s", unit)
	}
	file := filepath.Join(t.TempDir(), "termpilot-a.service")
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command(analyze, "verify", "--user", "--man=no", file)
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out, err := verify.CombinedOutput(); err != nil || strings.Contains(string(out), "termpilot-a.service") {
		t.Errorf("%v: %s\n%s", err, out, unit)
	}
}
