package host

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"termpilot/iterm/api"
)

func (c *apiClient) applyLayout(spec string) string {
	c.t.Helper()
	result, failure := c.arrange(fmt.Sprintf("iterm2.apply_layout(spec_json_b64: %q)", base64.StdEncoding.EncodeToString([]byte(spec))), "", false)
	if result == "null" {
		return ""
	}
	return "refused: " + failure
}

func TestALayoutIsAppliedWholeOrNotAtAll(t *testing.T) { // HOST-123, HOST-122
	c := newHost(t).connect()
	c.subscribeTopology()
	a := c.open("sh", "Name", `"a"`, "Columns", "81", "Rows", "25")
	b := c.split(a, true)
	c.name(b, "b")
	d, second := c.tabIn(a)
	c.name(d, "d")
	e := c.split(d, false)
	c.name(e, "e")
	_, first := c.tabOf(a)
	profile := profile{Name: "sh"}.guid()
	leaf := func(id string) string { return `{"session_id":"` + id + `"}` }
	tab := func(id, root string) string { return `{"tab_id":"` + id + `","root":` + root + `}` }
	one := first.GetTabId()

	// What is where it was keeps its proportions; what is new gets an even part.
	spec := `{"tabs":[` + tab(one, `{"vertical":true,"children":[`+leaf(b)+`,{"vertical":false,"children":[`+leaf(a)+`,`+leaf(d)+
		`]},{"new_session":{"profile":"`+profile+`","command":"echo new; exec cat"}}]}`) + `,` + tab(second, leaf(e)) + `]}`
	if got := c.applyLayout(spec); got != "" {
		t.Fatal(got)
	}
	got := strings.NewReplacer(" cat ", " new ", " sh ", " new ").Replace(shape(c.list()))
	if want := "0: | b 27x25(- a 26x12 d 26x12) new 26x25\n0: - e 81x25"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	_, first = c.tabOf(a)
	fresh := first.GetRoot().GetLinks()[2].GetSession().GetUniqueIdentifier()
	c.awaitScreen(fresh, "new")
	c.name(fresh, "fresh")
	c.await("the new session", func(n *api.Notification) bool { return n.GetNewSessionNotification().GetSessionId() == fresh })
	if got := c.focused(); got != b {
		t.Errorf("the focus is at %s", got)
	}

	before := c.list().String()
	all := leaf(a) + "," + leaf(b) + "," + leaf(d) + "," + leaf(fresh)
	for spec, want := range map[string]string{
		`{`:                                     "cannot be read",
		`{"tabs":[],"x":1}`:                     "cannot be read",
		`{} {}`:                                 "behind the spec",
		`{"new_tabs":[1]}`:                      "not supported",
		`{"tabs":[` + tab("99", leaf(a)) + `]}`: "no such tab",
		`{"tabs":[` + tab(one, `{}`) + `]}`:     "tabs[0].root: a node is",
		`{"tabs":[` + tab(one, `{"children":[`+leaf(a)+`]}`) + `]}`:                                                               "at least two",
		`{"tabs":[` + tab(one, `{"children":[`+leaf(a)+`,{"children":[`+leaf(b)+`,`+leaf(d)+`]}]}`) + `]}`:                        "children[1]: a row in a row",
		`{"tabs":[` + tab(one, `{"children":[`+leaf(a)+`,`+leaf(a)+`]}`) + `]}`:                                                   "named twice",
		`{"tabs":[` + tab(one, `{"children":[`+leaf("active")+`,`+leaf(a)+`]}`) + `]}`:                                            "no such session",
		`{"tabs":[` + tab(one, leaf(a)) + `]}`:                                                                                    "has no place",
		`{"tabs":[` + tab(one, `{"children":[`+all+`,`+leaf(e)+`]}`) + `,` + tab(one, leaf(e)) + `]}`:                             "named twice",
		`{"tabs":[` + tab(one, `{"children":[`+all+`]}`) + `],"close_sessions":["` + a + `"]}`:                                    "is placed",
		`{"tabs":[` + tab(one, `{"children":[`+all+`]}`) + `],"close_tabs":["` + one + `"]}`:                                      "closed and arranged",
		`{"tabs":[` + tab(one, `{"children":[`+all+`,{"new_session":{"profile":"x"}}]}`) + `]}`:                                   "no such profile",
		`{"tabs":[` + tab(one, `{"children":[`+all+strings.Repeat(`,{"new_session":{"profile":"`+profile+`"}}`, 510)+`]}`) + `]}`: "",
		`{"close_sessions":["x"]}`: "does not live",
		`{"close_tabs":["99"]}`:    "no such tab",
		`{"close_windows":["x"]}`:  "no such window",
	} {
		if got := c.applyLayout(spec); !strings.HasPrefix(got, "refused: ") || !strings.Contains(got, want) {
			t.Errorf("%.80s: got %q, want %q", spec, got, want)
		}
	}
	if got, why := c.arrange(`iterm2.apply_layout(spec_json_b64: "*")`, "", false); got != "" {
		t.Error(why)
	}
	if after := c.list().String(); after != before {
		t.Errorf("what was refused changed\n%s\nto\n%s", before, after)
	}

	// A session moves out of a tab that is closed with the rest of it.
	spec = `{"tabs":[` + tab(second, `{"children":[`+leaf(e)+`,`+leaf(a)+`]}`) + `],"close_tabs":["` + one + `"]}`
	if got := c.applyLayout(spec); got != "" {
		t.Fatal(got)
	}
	for _, id := range []string{b, d, fresh} {
		c.awaitTerminated(id)
	}
	list := c.list()
	if got := shape(list); got != "0: - e 81x12 a 81x12" || len(list.GetBuriedSessions()) != 0 {
		t.Errorf("got %s, and buried %v", got, list.GetBuriedSessions())
	}
	c.send(a, "stty size\r")
	c.awaitScreen(a, "12 81")
}
