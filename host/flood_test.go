package host

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

func TestAFloodOfMarksDropsNobody(t *testing.T) { // HOST-164
	t.Parallel()
	h := newHost(t)
	c := h.connect()
	c.subscribe(api.NotificationType_NOTIFY_ON_TERMINATE_SESSION, "")
	prompts := &api.NotificationRequest{
		Session: ptr("all"), Subscribe: ptr(true), NotificationType: api.NotificationType_NOTIFY_ON_PROMPT.Enum(),
	}
	slow := h.lazyClient(t, prompts, ofVariable("termpilot.prompt"))
	// 12,000 prompts in 384 KB, of each of which several things are told.
	const all = 12_000
	id := c.open("", "Termpilot Shell Command", quote(`i=0; while [ $i -lt 12 ]; do yes x | head -n 1000 | tr -d '\n' | sed 's/x/\x1b]133;A\x07\x1b]133;B\x07\x1b]133;C\x07\x1b]133;D\x07/g'; i=$((i+1)); done`))
	select {
	case n := <-c.note:
		c.seen = append(c.seen, n)
		t.Error("nobody held the program back")
	case <-time.After(time.Second): // it would have printed all by now
	}
	for told := 0; told < all; {
		_ = slow.SetReadDeadline(time.Now().Add(patience))
		_, data, err := slow.ReadMessage()
		m := &api.ServerOriginatedMessage{}
		if err != nil || proto.Unmarshal(data, m) != nil {
			t.Fatalf("after %d prompts the slow client was dropped: %v", told, err)
		}
		if m.GetNotification().GetPromptNotification().GetPrompt() != nil {
			told++
		}
	}
	c.awaitTerminated(id)
}
