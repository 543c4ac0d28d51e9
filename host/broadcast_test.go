package host

import (
	"slices"
	"strings"
	"testing"

	"termpilot/iterm/api"
)

func TestInputIsCopiedWithinItsDomainAndNowhereElse(t *testing.T) { // HOST-114, HOST-115
	h := newHost(t)
	c := h.connect()
	c.subscribeTopology()
	cat := []string{"Custom Command", `"Yes"`, "Command", `"/bin/cat"`}
	a := c.open("", cat...)
	b, _ := c.tabIn(a, cat...)
	d, _ := c.tabIn(a, cat...)
	far := c.open("", cat...)
	set := func(domains ...[]string) api.SetBroadcastDomainsResponse_Status {
		r := &api.SetBroadcastDomainsRequest{}
		for _, d := range domains {
			r.BroadcastDomains = append(r.BroadcastDomains, &api.BroadcastDomain{SessionIds: d})
		}
		return c.call(r).GetSetBroadcastDomainsResponse().GetStatus()
	}
	for _, test := range []struct {
		domains [][]string
		want    api.SetBroadcastDomainsResponse_Status
	}{
		{[][]string{{a, "x"}}, api.SetBroadcastDomainsResponse_SESSION_NOT_FOUND},
		{[][]string{{a, b}, {b, d}}, api.SetBroadcastDomainsResponse_BROADCAST_DOMAINS_NOT_DISJOINT},
		{[][]string{{a, a}}, api.SetBroadcastDomainsResponse_BROADCAST_DOMAINS_NOT_DISJOINT},
		{[][]string{{a, far}}, api.SetBroadcastDomainsResponse_SESSIONS_NOT_IN_SAME_WINDOW},
		{[][]string{{a, b}, {}}, api.SetBroadcastDomainsResponse_OK},
	} {
		if got := set(test.domains...); got != test.want {
			t.Errorf("%v: %v", test.domains, got)
		}
	}
	told := func(want ...string) {
		t.Helper()
		c.await("the domains", func(n *api.Notification) bool {
			d := n.GetBroadcastDomainsChanged()
			return d != nil && len(d.GetBroadcastDomains()) == min(1, len(want)) && (len(want) == 0 || slices.Equal(d.GetBroadcastDomains()[0].GetSessionIds(), want))
		})
	}
	told(a, b)
	copied := func(text string, alone bool) {
		t.Helper()
		if got := c.call(&api.SendTextRequest{Session: &a, Text: &text, SuppressBroadcast: &alone}).GetSendTextResponse().GetStatus(); got != api.SendTextResponse_OK {
			t.Fatal(got)
		}
		c.awaitScreen(a, text)
	}
	copied("one", false)
	c.awaitScreen(b, "one")
	copied("two", true)
	p := h.attach(t, a, 80, 24)
	p.awaits("two")
	p.types("three")
	c.awaitScreen(b, "three")
	p.types("\x1d")

	c.set(b, "buried", "true")
	told(a)
	copied("four", false)
	c.set(b, "buried", "false")
	set([]string{b, a, d})
	w, _ := c.tabOf(far)
	_, tab := c.tabOf(d)
	c.call(&api.ReorderTabsRequest{Assignments: []*api.ReorderTabsRequest_Assignment{{WindowId: w.WindowId, TabIds: []string{tab.GetTabId()}}}})
	told(b, a)
	copied("five", false)
	c.awaitScreen(b, "five")
	c.closeSession(b, true)
	told(a)
	c.closeSession(a, true)
	told()
	if got := c.screen(d) + c.screen(far); got != "" {
		t.Errorf("a session that no domain named got %q", got)
	}
	if got := c.screen(b); strings.Contains(got, "two") || strings.Contains(got, "four") {
		t.Errorf("the copy has %q", got)
	}
	if got := c.call(&api.GetBroadcastDomainsRequest{}).GetGetBroadcastDomainsResponse().GetBroadcastDomains(); len(got) != 0 {
		t.Errorf("domains are left: %v", got)
	}
}
