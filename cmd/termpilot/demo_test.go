package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnInterruptedDemoLeavesNothing(t *testing.T) { // CLI-28
	env := home(t)
	tmp := filepath.Join(strings.TrimPrefix(env[0], "HOME="), "t")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	p := sit(t, append(env, "TMPDIR="+tmp), "demo")
	p.sees("sleep 1.5")
	p.types("\x03") // to everybody in the foreground, as a person's Ctrl-C
	p.sees("interrupted")
	endsWithin(t, p.cmd, patient, exitFailed)
	nothingLeft(t, tmp)
}

func TestADemoWhoseReaderLeavesLeavesNothing(t *testing.T) { // CLI-28
	env := home(t)
	tmp := filepath.Join(strings.TrimPrefix(env[0], "HOME="), "t")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("termpilot", "demo")
	cmd.Env, cmd.Stdout = append(env, "TMPDIR="+tmp), write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if _, err := read.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	read.Close()
	_ = cmd.Wait() // it may call the failed writes a failure
	nothingLeft(t, tmp)
}

func TestAReaderThatHasSeenEnoughIsNoFailure(t *testing.T) { // CLI-30
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	cmd := exec.Command("termpilot", "tools")
	var errs strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = home(t), write, &errs
	err = cmd.Run()
	write.Close()
	if err != nil || errs.Len() > 0 {
		t.Errorf("%v: %s", err, errs.String())
	}
}

func nothingLeft(t *testing.T, tmp string) {
	t.Helper()
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if left := processesOf(tmp); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}
