package host

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"termpilot/iterm/api"
	"termpilot/process"
	"termpilot/testneeds"
)

func quote(text string) string { return encode(text) }

func (c *apiClient) exit(session string) *exit {
	c.t.Helper()
	var e *exit
	if err := json.Unmarshal([]byte(c.variable(session, "termpilot.exit")), &e); err != nil {
		c.t.Fatal(err)
	}
	return e
}

func (c *apiClient) watchEnds() {
	c.t.Helper()
	c.subscribe(api.NotificationType_NOTIFY_ON_TERMINATE_SESSION, "")
}

func TestASessionEndsWithItsProgramAlthoughOthersHoldTheTerminal(t *testing.T) { // HOST-20
	c := newHost(t).connect()
	c.watchEnds()
	for _, left := range []string{"sleep 61 &", "setsid sleep 61 &", "nohup sleep 61 >/dev/null 2>&1 &"} {
		began := time.Now()
		pidFile := filepath.Join(t.TempDir(), "pid")
		id := c.open("", "Termpilot Shell Command", quote(left+" echo $! >"+pidFile+"; echo left; exit 9"))
		c.awaitTerminated(id)
		if took := time.Since(began); took > patience { // not with what it left
			t.Errorf("%s: ended after %v", left, took)
		}
		if e := c.exit(id); e == nil || e.Code == nil || *e.Code != 9 || e.Signal != "" {
			t.Errorf("%s: exit %+v", left, e)
		}
		if got := c.screen(id); !strings.Contains(got, "left") { // HOST-22
			t.Errorf("%s: the screen of the ended session: %q", left, got)
		}
		data, _ := os.ReadFile(pidFile)
		if pid, _ := strconv.Atoi(strings.TrimSpace(string(data))); pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func TestTheLastOutputOfAProgramIsNeverLost(t *testing.T) { // HOST-21
	c := newHost(t).connect()
	c.watchEnds()
	for i := range 20 {
		id := c.open("", "Termpilot Shell Command", quote(fmt.Sprintf("seq 1 %d; printf boom%d; exit 3", i*50, i)))
		c.awaitTerminated(id)
		if got, want := c.screen(id), "boom"+strconv.Itoa(i); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want it to end in %s", got, want)
		}
	}
}

func TestAnExitIsTheShellsOwnStatusOrSignal(t *testing.T) { // HOST-23
	c := newHost(t).connect()
	c.watchEnds()
	for _, test := range []struct{ command, want string }{
		{"exit 42", `42 ""`}, {"exec true", `0 ""`}, {"kill -9 $$", `null "SIGKILL"`}, {"kill -TERM $$", `null "SIGTERM"`},
	} {
		id := c.open("sh")
		c.send(id, test.command+"\r")
		if strings.Contains(test.command, "TERM") {
			c.send(id, "exec sh -c 'kill -TERM $$'\r") // an interactive shell ignores SIGTERM
		}
		c.awaitTerminated(id)
		e := c.exit(id)
		code := "null"
		if e.Code != nil {
			code = strconv.Itoa(*e.Code)
		}
		if got := fmt.Sprintf("%s %q", code, e.Signal); got != test.want {
			t.Errorf("%s: got %s, want %s", test.command, got, test.want)
		}
	}
}

func TestAnEndedSessionLeavesTheListAndStaysReadable(t *testing.T) { // HOST-24
	c := newHost(t).connect()
	c.watchEnds()
	c.allPromptsOnce()
	id := c.openReady("bash")
	c.run(id, "echo last words")
	c.send(id, "exit 5\r")
	c.awaitTerminated(id)

	if list := c.call(&api.ListSessionsRequest{}).GetListSessionsResponse(); strings.Contains(list.String(), id) {
		t.Errorf("it is still listed: %v", list)
	}
	if got := c.screen(id); !strings.Contains(got, "last words") {
		t.Errorf("its screen: %q", got)
	}
	if p := c.prompt(id, ""); p.GetStatus() != api.GetPromptResponse_OK || p.GetCommand() != "exit 5" {
		t.Errorf("its prompt: %v", p)
	}
	status := c.call(&api.SendTextRequest{Session: &id, Text: ptr("x")}).GetSendTextResponse().GetStatus()
	if status != api.SendTextResponse_SESSION_NOT_FOUND {
		t.Errorf("sending to it: %v", status)
	}
}

func TestOnlySoManyEndedSessionsAreKept(t *testing.T) { // HOST-24
	c := newHost(t).connect()
	c.watchEnds()
	first := c.open("", "Custom Command", quote("Yes"), "Command", quote("/bin/true"))
	c.awaitTerminated(first)
	for range maxEnded {
		c.awaitTerminated(c.open("", "Custom Command", quote("Yes"), "Command", quote("/bin/true")))
	}
	r := c.call(&api.GetBufferRequest{Session: &first, LineRange: &api.LineRange{ScreenContentsOnly: ptr(true)}})
	if got := r.GetGetBufferResponse().GetStatus(); got != api.GetBufferResponse_SESSION_NOT_FOUND {
		t.Errorf("the oldest of %d: %v", maxEnded+1, got)
	}
}

func (c *apiClient) closeSession(id string, force bool) api.CloseResponse_Status {
	c.t.Helper()
	r := c.call(&api.CloseRequest{
		Target: &api.CloseRequest_Sessions{Sessions: &api.CloseRequest_CloseSessions{SessionIds: []string{id}}}, Force: &force,
	}).GetCloseResponse()
	return r.GetStatuses()[0]
}

func TestClosingHangsUpOnTheForegroundJobAndTheShell(t *testing.T) { // HOST-25
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			c := newHost(t).connect()
			id := c.openReady(shell)
			c.send(id, "sleep 63\r")
			waitUntil(t, "sleep is in front", func() bool { return c.variable(id, "jobName") == `"sleep"` })
			pid, _ := strconv.Atoi(c.variable(id, "jobPid"))
			began := time.Now()
			if status := c.closeSession(id, false); status != api.CloseResponse_OK {
				t.Fatal(status)
			}
			if took := time.Since(began); took > patience { // a moment, on a machine that is not busy
				t.Errorf("closing took %v", took)
			}
			if p, err := process.Lookup(pid); err == nil && p.State != process.Zombie {
				t.Errorf("sleep lives: %+v", p)
			}
			if status := c.closeSession(id, false); status != api.CloseResponse_NOT_FOUND {
				t.Errorf("closing it again: %v", status)
			}
		})
	}
}

func TestClosingEndsAProgramThatIgnoresTheHangup(t *testing.T) { // HOST-25
	c := newHost(t).connect()
	for _, force := range []bool{false, true} {
		id := c.open("", "Termpilot Shell Command", quote(`trap "" HUP TERM INT; echo up; while :; do sleep 0.05; done`))
		c.awaitScreen(id, "up")
		began := time.Now()
		c.closeSession(id, force)
		if e := c.exit(id); e == nil || e.Signal != "SIGKILL" {
			t.Errorf("force %v: exit %+v", force, e)
		}
		if took := time.Since(began); took > patience { // the grace, on a machine that is not busy
			t.Errorf("force %v: took %v", force, took)
		}
	}
}

// sleepers are the sleep processes that a session started and that live.
func sleepers(id string) []process.Entry {
	table, err := process.Snapshot()
	if err != nil {
		return nil
	}
	return table.Where(func(e process.Entry) bool {
		return e.Name == "sleep" && e.State != process.Zombie && startedIn(e.PID, id)
	})
}

func TestClosingNamesWhatOutlivesIt(t *testing.T) { // HOST-26
	c := newHost(t).connect()
	id := c.openReady("bash")
	c.run(id, "setsid sleep 64 &")
	waitUntil(t, "it runs", func() bool {
		return len(sleepers(id)) == 1
	})
	c.closeSession(id, true)
	var left []survivor
	if err := json.Unmarshal([]byte(c.variable(id, "termpilot.survivors")), &left); err != nil || len(left) != 1 || left[0].Name != "sleep" {
		t.Fatalf("survivors: %v %v", left, err)
	}
	_ = syscall.Kill(left[0].PID, syscall.SIGKILL)
}

// counter counts the lines with a word in them.
type counter struct {
	word string
	n    atomic.Int32
}

func (c *counter) Write(line []byte) (int, error) {
	if strings.Contains(string(line), c.word) {
		c.n.Add(1)
	}
	return len(line), nil
}

func TestASessionThatIsNamedTwiceIsClosedOnce(t *testing.T) { // HOST-107
	named := &counter{word: "outlived"}
	c := newHost(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(named, nil)) }).connect()
	id := c.openReady("bash")
	c.run(id, "setsid sleep 64 &")
	waitUntil(t, "it runs", func() bool { return len(sleepers(id)) == 1 })
	r := c.call(&api.CloseRequest{
		Target: &api.CloseRequest_Sessions{Sessions: &api.CloseRequest_CloseSessions{SessionIds: slices.Repeat([]string{id}, 50)}}, Force: ptr(true),
	}).GetCloseResponse()
	if got := named.n.Load(); got != 1 || len(r.GetStatuses()) != 50 {
		t.Errorf("its survivor is named %d times: %v", got, r.GetStatuses())
	}
	for _, left := range sleepers(id) {
		_ = syscall.Kill(left.PID, syscall.SIGKILL)
	}
}

func TestAClosedSessionIsGoneAlsoAfterATransaction(t *testing.T) { // HOST-107, HOST-117
	t.Parallel() // it waits more than it works
	h := newHost(t)
	c, holder := h.connect(), h.connect()
	h.write("p", "trap 'touch ~/hup' HUP; trap '' TERM; while :; do echo on; sleep 0.02; done")
	id := c.open("", "Custom Command", `"Yes"`, "Command", quote("/bin/sh "+h.home+"/p"))
	c.awaitScreen(id, "on")
	closed := make(chan api.CloseResponse_Status, 1)
	go func() { closed <- c.closeSession(id, true) }()
	waitUntil(t, "it is being closed", func() bool {
		_, err := os.Stat(filepath.Join(h.home, "hup"))
		return err == nil
	})
	holder.call(&api.TransactionRequest{Begin: ptr(true)}) // before it is killed, or it is no test
	if got := <-closed; got != api.CloseResponse_OK || strings.Contains(holder.list().String(), id) {
		t.Errorf("%v, and it is still there", got)
	}
}

func TestSixteenSessionsCloseTogether(t *testing.T) { // HOST-25
	c := newHost(t).connect()
	var ids []string
	for range 16 {
		id := c.openReady("bash")
		c.send(id, "sleep 65\r")
		ids = append(ids, id)
	}
	for _, id := range ids {
		waitUntil(t, "sleep is in front", func() bool { return c.variable(id, "jobName") == `"sleep"` })
	}
	began := time.Now()
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() { c.closeSession(id, false) })
	}
	wg.Wait()
	if took := time.Since(began); took > patience { // two seconds, on a quiet machine; sixteen, one by one
		t.Errorf("took %v", took)
	}
	if left := sleepers(ids[0]); len(left) > 0 {
		t.Errorf("left behind: %+v", left)
	}
}
