package host

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"termpilot/iterm/api"
)

func (c *apiClient) restart(id string, onlyIfExited bool) *api.ServerOriginatedMessage {
	c.t.Helper()
	return c.call(&api.RestartSessionRequest{SessionId: &id, OnlyIfExited: &onlyIfExited})
}

func TestARestartRunsTheProgramAnewUnderTheSameID(t *testing.T) { // HOST-110
	c := newHost(t).connect()
	c.subscribeTopology()
	id := c.openReady("bash", "Columns", "81", "Name", quote("mine"), "Termpilot Environment", `{"KIND":"first"}`)
	beside := c.split(id, true)
	c.watch("termpilot.exit", "termpilot.marks")
	c.run(id, "x=5; echo old life")
	old := c.prompt(id, "")
	pid := c.variable(id, "pid")
	c.call(&api.VariableRequest{Scope: &api.VariableRequest_SessionId{SessionId: id}, Set: []*api.VariableRequest_Set{{Name: ptr("user.kept"), Value: ptr("7")}}})
	if got := c.restart(id, false); got.GetRestartSessionResponse().GetStatus() != api.RestartSessionResponse_OK || got.GetError() != "" {
		t.Fatal(got)
	}
	c.awaitTerminated(id)
	c.await("the new life", func(n *api.Notification) bool { return n.GetNewSessionNotification().GetSessionId() == id })
	for _, want := range []struct{ name, value string }{
		{"termpilot.exit", `"signal":"SIGHUP"`}, {"termpilot.exit", "null"}, {"termpilot.marks", "starting"}, {"termpilot.marks", "nonce"},
	} {
		c.await(want.name+" "+want.value, func(n *api.Notification) bool {
			v := n.GetVariableChangedNotification()
			return v.GetIdentifier() == id && v.GetName() == want.name && strings.Contains(v.GetJsonNewValue(), want.value)
		})
	}
	if exit, out := c.run(id, "echo x=$x kind=$KIND"); exit != 0 || out != "x= kind=first" {
		t.Errorf("the new life: %d %q", exit, out)
	}
	if strings.Contains(c.screen(id), "old life") || c.variable(id, "pid") == pid {
		t.Error("the old life goes on")
	}
	if got := c.prompt(id, old.GetUniquePromptId()).GetStatus(); got != api.GetPromptResponse_PROMPT_UNAVAILABLE {
		t.Errorf("a prompt of the old life: %v", got)
	}
	if got := c.variable(id, "name") + c.variable(id, "user.kept") + c.size(id); got != `"mine"740x24` {
		t.Errorf("what clients keep at it: %s", got)
	}
	_, tab := c.tabOf(id)
	if links := tab.GetRoot().GetLinks(); links[0].GetSession().GetUniqueIdentifier() != id || links[1].GetSession().GetUniqueIdentifier() != beside {
		t.Errorf("its place: %v", tab)
	}
	if got := c.restart("nobody", false).GetRestartSessionResponse().GetStatus(); got != api.RestartSessionResponse_SESSION_NOT_FOUND {
		t.Error(got)
	}
}

// watch subscribes to variables of all sessions.
func (c *apiClient) watch(names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.call(&api.NotificationRequest{
			Session: ptr("all"), Subscribe: ptr(true), NotificationType: api.NotificationType_NOTIFY_ON_VARIABLE_CHANGE.Enum(),
			Arguments: &api.NotificationRequest_VariableMonitorRequest{VariableMonitorRequest: &api.VariableMonitorRequest{
				Name: &name, Scope: api.VariableScope_SESSION.Enum(), Identifier: ptr("all"),
			}},
		})
	}
}

func TestARestartEndsNothingThatCannotBeginAnew(t *testing.T) { // HOST-111
	h := newHost(t)
	c := h.connect()
	c.watchEnds()
	dir := filepath.Join(h.home, "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	id := c.open("sh", "Working Directory", quote(dir))
	if got := c.restart(id, true).GetRestartSessionResponse().GetStatus(); got != api.RestartSessionResponse_SESSION_NOT_RESTARTABLE {
		t.Errorf("one that lives: %v", got)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if got := c.restart(id, false).GetError(); !strings.HasPrefix(got, "invalid_argument: ") {
		t.Errorf("without its folder: %s", got)
	}
	c.send(id, "echo alive\r")
	c.awaitScreen(id, "alive")
}

func TestASessionThatEndedComesBack(t *testing.T) { // HOST-111
	c := newHost(t).connect()
	c.subscribeTopology()
	id := c.openReady("bash", "Name", quote("mine"))
	other := c.split(id, true)
	before, _ := c.tabOf(id)
	c.send(id, "exit 3\r")
	c.awaitTerminated(id)
	waitUntil(t, "it has left", func() bool { return !strings.Contains(c.list().String(), id) })
	if got := c.restart(id, true).GetRestartSessionResponse().GetStatus(); got != api.RestartSessionResponse_OK {
		t.Fatal(got)
	}
	c.awaitPrompt(id)
	if _, out := c.run(id, "echo again"); out != "again" || c.variable(id, "termpilot.exit") != "null" || c.variable(id, "name") != `"mine"` {
		t.Errorf("it came back as %q", c.screen(id))
	}
	if after, _ := c.tabOf(id); after.GetWindowId() != before.GetWindowId() {
		t.Error("its window was there, and it came back elsewhere")
	}
	if got := c.focused(); got != other {
		t.Errorf("the focus is at %s", got)
	}
	var wg sync.WaitGroup
	c.closeSession(id, true)
	for range 5 { // of many, one brings it back
		wg.Go(func() { c.restart(id, false) })
	}
	wg.Wait()
	if n := strings.Count(c.list().String(), id); n > 3 { // the list, its tab and the focus of the tab
		t.Errorf("it came back %d times", n)
	}
}

func TestAPersonStaysThroughARestart(t *testing.T) { // HOST-112
	h := newHost(t)
	c := h.connect()
	id := c.openReady("bash")
	anna := h.attach(t, id, 70, 20)
	c.run(id, "echo old-$((1+1))")
	anna.awaits("old-2")
	c.restart(id, false)
	c.awaitPrompt(id)
	anna.types("echo new-$((2+2))\r")
	anna.awaits("new-4")
	if got := anna.screen(); strings.Contains(got, "old-2") || c.size(id) != "70x20" {
		t.Errorf("she sees %q in %s", got, c.size(id))
	}
	anna.sizes <- Size{90, 30}
	waitUntil(t, "her size counts", func() bool { return c.size(id) == "90x30" })
	c.send(id, "exit 4\r")
	if left := <-anna.result; left.Code == nil || *left.Code != 4 {
		t.Errorf("the visit ended with %+v", left)
	}
}

func TestACloseDuringARestartCloses(t *testing.T) { // HOST-113
	h := newHost(t)
	c := h.connect()
	c.subscribeTopology()
	for range 8 {
		// It takes its time to end, so that the two meet.
		id := c.open("", "Custom Command", `"Yes"`, "Command", quote("/bin/sh -c 'trap \"sleep 0.1; exit\" HUP; echo on; while :; do sleep 0.05; done'"))
		c.awaitScreen(id, "on")
		anna := h.attach(t, id, 80, 24)
		anna.awaits("on")
		var restarted *api.ServerOriginatedMessage
		var wg sync.WaitGroup
		wg.Go(func() { restarted = c.restart(id, false) })
		if got := c.closeSession(id, true); got != api.CloseResponse_OK {
			t.Error(got)
		}
		wg.Wait()
		if strings.Contains(c.list().String(), id) {
			// The restart came after the close, and brought back what had ended.
			if got := restarted.GetRestartSessionResponse().GetStatus(); restarted.GetError() != "" || got != api.RestartSessionResponse_OK {
				t.Fatalf("it lives after a close: %v", restarted)
			}
			c.closeSession(id, true)
		} else if restarted.GetRestartSessionResponse() != nil {
			t.Errorf("a restart that came to nothing: %v", restarted)
		}
		<-anna.result
	}
}
