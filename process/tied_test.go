package process

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/testneeds"
)

// TestMain is also a process that ties another to itself and then waits.
func TestMain(m *testing.M) {
	if program := os.Getenv("PROCESS_TEST_TIES"); program != "" {
		tie(program)
		return
	}
	os.Exit(m.Run())
}

func tie(program string) {
	cmd := exec.Command(program, "600")
	began := make(chan error)
	go func() {
		began <- StartTied(cmd, syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	if err := <-began; err != nil {
		os.Exit(1)
	}
	runtime.GC() // nothing that is collected unties it
	_, _ = os.Stdout.WriteString(strconv.Itoa(cmd.Process.Pid) + "\n")
	select {}
}

func TestATiedProgramEndsWithItsStarter(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ties them")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROCESS_TEST_TIES="+testneeds.Program(t, "sleep"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Lookup(pid); err != nil || p.State == Zombie {
		t.Fatalf("it does not run: %+v, %v", p, err)
	}
	_ = cmd.Process.Kill()
	for end := time.Now().Add(testPatience); ; time.Sleep(5 * time.Millisecond) { // the end of a stranger is not told
		if p, err := Lookup(pid); err != nil || p.State == Zombie {
			return
		}
		if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("it lives on")
		}
	}
}
