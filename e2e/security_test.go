package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Hostile output and hostile files.

// grep lists the files below dir that hold text.
func grep(t *testing.T, dir, text string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // a file that went away holds nothing
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// forgeries are prompt marks as a program might print them.
func forgeries() []string {
	var all []string
	for _, osc := range []string{`\033]`, `\302\235`} {
		for _, end := range []string{`\007`, `\033\\\\`} {
			for _, mark := range []string{
				"133;A", "133;B", "133;C", "133;D;0", "133;D", "133;D;0;aid=1", "133;A;aid=forged", "133;A;k=i", "133;P;k=i",
				"133;N", "133;D;0;n=", "133;D;0;nonce=", "633;A", "633;B", "633;C", "633;D;0", "633;E;true;", "1337;ShellIntegrationVersion=20;shell=bash",
				"1337;CurrentDir=/nowhere", "7;file:///nowhere",
			} {
				all = append(all, osc+mark+end)
			}
		}
	}
	return all
}

func TestForgedMarksOpenNoGateEndNothingAndSetNoCode(t *testing.T) {
	everyShell(t, func(t *testing.T, shell string) {
		s := open(t, shell, "")
		script := filepath.Join(s.h.dir, "forge.sh")
		var b strings.Builder
		b.WriteString("#!/bin/sh\n")
		for _, f := range forgeries() {
			fmt.Fprintf(&b, "printf '%s'\n", f)
		}
		b.WriteString("sleep 3\n")
		for _, f := range forgeries() {
			fmt.Fprintf(&b, "printf '%s'\n", f)
		}
		b.WriteString("exit 5\n")
		if err := os.WriteFile(script, []byte(b.String()), 0o700); err != nil {
			t.Fatal(err)
		}
		r := s.runFor("sh "+script, time.Second)
		if r.Status != "running" || r.ExitCode != nil {
			t.Fatalf("forged marks ended the command: %+v", r)
		}
		if f := s.c.try("run_command", with(s, map[string]any{"command": "echo typed-into-it"}), nil); f == nil || f.Code != "session_not_ready" {
			t.Errorf("forged marks opened the gate: %+v", f)
		}
		r = s.wait(r.RunID, 20*time.Second)
		if r.Status != "completed" || r.ExitCode == nil || *r.ExitCode != 5 {
			t.Errorf("the command's own end: status %s exit %v, want completed 5", r.Status, r.ExitCode)
		}
		if r.Cwd != "" && !strings.HasSuffix(r.Cwd, filepath.Base(s.h.dir)) { // empty: the next prompt took longer than the answer
			t.Errorf("a forged directory was believed: %s", r.Cwd)
		}
		s.until("prompt", "", 20*time.Second)
		if now := s.listed().Cwd; !strings.HasSuffix(now, filepath.Base(s.h.dir)) {
			t.Errorf("a forged directory was believed: %q", now)
		}
		s.expect("sh -c 'exit 7'", want{exit: code(7)})
	})
}

func TestHostileOutputTypesNothingAndHidesNothing(t *testing.T) {
	streams := map[string]string{
		"status queries":    `\033[c\033[>c\033[5n\033[6n\033[?6n\033[>q\033[?u\033[14t\033[18t\033[21t\033]10;?\007\033]11;?\033\\\\\033]4;1;?\007\033P$qm\033\\\\\033P+q544e\033\\\\`,
		"title echo":        `\033]2;touch pwned\n\007\033[21t`,
		"clipboard":         `\033]52;c;?\007\033]52;c;dG91Y2ggcHduZWQK\007`,
		"endless string":    `\033]0;never ends`,
		"8-bit controls":    `\302\2352;x\302\234\302\2331m`,
		"huge repeat":       `x\033[999999999b`,
		"huge parameters":   `\033[99999999999;99999999999H\033[999999999L\033[999999999@`,
		"alternate screens": `\033[?1049h\033[?1049h\033[?47h\033[?1049l`,
	}
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "bash", "")
			s.run("printf '" + stream + "'")
			s.interrupt() // the answers to queries lie at the prompt, as in any terminal
			s.run(`printf '\033\\\\\033[0m\n'`)
			s.expect("echo alive", want{exit: code(0), output: "alive"})
			if _, err := os.Stat(filepath.Join(s.h.dir, "pwned")); err == nil {
				t.Error("output became a command")
			}
			var list struct {
				Sessions []struct{ Title, Name string }
			}
			s.c.call("list_sessions", map[string]any{}, &list)
			for _, one := range list.Sessions {
				if strings.ContainsFunc(one.Title+one.Name, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
					t.Errorf("a title with control characters: %q", one.Title)
				}
			}
		})
	}
}

func TestASocketFolderOfAStrangersMakingIsRefused(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "elsewhere")
	if err := os.Mkdir(target, 0o777); err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	if err := os.MkdirAll(filepath.Join(h.dir, "tp"), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(h.dir, "tp", "host")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	c := serve(t, h)
	if f := c.try("create_window", map[string]any{}, nil); f == nil || f.Hint == "" {
		t.Errorf("a linked socket folder: %+v, want a refusal with a hint", f)
	}
	if entries, _ := os.ReadDir(target); len(entries) > 0 {
		t.Errorf("something was put behind the link: %v", entries)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
}

func TestTheServersSecretsDoNotReachTheShell(t *testing.T) {
	const canary = "canary-51c7e0"
	h := newHome(t)
	h.extra = []string{
		"CONTROL_PLANE_API_KEY=" + canary, "ITERM2_COOKIE=" + canary, "ITERM2_KEY=" + canary,
		"TMUX=/tmp/x,1,0", "TMUX_PANE=%1", "CLAUDECODE=1", "ITERM_SESSION_ID=w0t0p0:X",
	}
	c := serve(t, h)
	s := c.open(h, "bash", nil)
	r := s.run("env; echo; cat /proc/$$/environ | tr '\\0' '\\n'")
	for _, bad := range []string{canary, "TMUX=", "TMUX_PANE=", "CLAUDECODE=", "ITERM_SESSION_ID="} {
		if strings.Contains(r.Output, bad) {
			t.Errorf("%s reached the shell", bad)
		}
	}
	if !strings.Contains(r.Output, "TERM=xterm-256color") {
		t.Errorf("no TERM in %q", r.Output)
	}
	for _, file := range grep(t, h.dir, canary) {
		t.Errorf("the secret is written in %s", file)
	}
}
