package tunnel

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// beHolder is a supervisor in a process of its own, when the environment says so.
func beHolder() {
	home := os.Getenv("TERMPILOT_TEST_HOLDER")
	if home == "" {
		return
	}
	p := Place{Home: home, Sockets: os.Getenv("TERMPILOT_TEST_SOCKETS")}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := Load(p, "a")
	if err == nil {
		err = Supervise(ctx, Options{Place: p, Config: c, Key: Secret{testKey}, Handler: mcpStub, Getenv: os.Getenv})
	}
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// held starts a supervisor as a process and returns its number once it answers.
func held(t *testing.T, p Place) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TERMPILOT_TEST_HOLDER="+p.Home, "TERMPILOT_TEST_SOCKETS="+p.Sockets)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_ = cmd.Wait() // how it ended is seen from outside
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-waited
	})
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) { // a socket appears without an event
		if s, err := Inspect(t.Context(), p, "a"); err == nil && s.Running {
			return cmd.Process.Pid
		}
		if time.Now().After(end) {
			t.Fatal("the supervisor does not answer")
		}
	}
}

// self is a command that is this process.
func self() *exec.Cmd {
	p, _ := os.FindProcess(os.Getpid()) // never fails on Unix
	return &exec.Cmd{Process: p}
}
