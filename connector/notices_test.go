package connector

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termpilot/agent"
	"termpilot/fault"
)

// staged is a server whose agents a test plays.
func staged(t testing.TB, o Options) (*Server, *stage) {
	t.Helper()
	g := newStage(t)
	o.Pilot, o.Agents = &recorder{}, g
	s := New(o)
	t.Cleanup(func() { _ = s.Close() })
	return s, g
}

// unwatched wants that nothing is watched.
func (s *stage) unwatched() {
	s.t.Helper()
	until(s.t, "nothing is watched", func() bool {
		watches, followers := s.watched()
		return watches == 0 && followers == 0
	})
}

func TestAClientIsToldOfTheAgentThatItSubscribedTo(t *testing.T) { // NOTE-1, NOTE-3, NOTE-4, NOTE-6
	s, g := staged(t, Options{})
	g.launch("s/1", "l-1")
	g.launch("s2", "l-2")
	c := talkTo(t, s)
	c.hello()
	for _, want := range []string{`"uri":"termpilot://agents"`, `"uri":"termpilot://agents/s%2F1"`, `"title":"claude in [31mred"`, `"ttlMs":0`, `"cacheScope":"private"`} {
		if got := c.ask(request("1", "resources/list", "")); !strings.Contains(got, want) {
			t.Errorf("list: %s, want %s", got, want)
		}
	}
	if got := c.ask(request("1", "resources/templates/list", "")); !strings.Contains(got, `"uriTemplate":"termpilot://agents/{session_id}"`) {
		t.Errorf("templates: %s", got)
	}
	g.unwatched() // it only looked

	const uri = "termpilot://agents/s%2F1"
	c.say(subscribe("2", uri))
	c.want(empty("2"))
	if got := c.ask(subscribe("3", uri)); got != empty("3") { // again changes nothing
		t.Error(got)
	}
	if watches, followers := g.watched(); watches != 1 || followers != 1 {
		t.Errorf("%d watches and %d followers, want one of each", watches, followers)
	}
	for _, now := range []struct {
		state   string
		outcome agent.Outcome
	}{
		{agent.Working, agent.Pending},
		{agent.WaitingApproval, agent.Waiting},
		{agent.Idle, agent.Done},
	} {
		g.change("s/1", now.state, now.outcome)
		c.want(updated(uri))
		got := c.ask(request("4", "resources/read", `"uri":"`+uri+`"`))
		for _, want := range []string{`"uri":"` + uri + `"`, `"mimeType":"application/json"`, `\"state\":\"` + now.state + `\"`, `\"outcome\":\"` + string(now.outcome) + `\"`} {
			if !strings.Contains(got, want) {
				t.Errorf("read: %s, want %s", got, want)
			}
		}
	}
	g.change("s/1", agent.Ended, agent.Done)
	c.want(updated(uri))
	if got := c.ask(request("5", "resources/list", "")); strings.Contains(got, uri) || !strings.Contains(got, "termpilot://agents/s2") {
		t.Errorf("the list holds what ended: %s", got)
	}
	if got := c.ask(request("5", "resources/read", `"uri":"`+uri+`"`)); !strings.Contains(got, `\"state\":\"ended\"`) {
		t.Errorf("one that ended is read: %s", got)
	}
	g.launch("s/1", "l-3") // in the same session
	c.want(updated(uri))
	g.change("s/1", agent.Working, agent.Pending)
	c.want(updated(uri))
	if got := c.ask(request("6", "resources/unsubscribe", `"uri":"`+uri+`"`)); got != empty("6") {
		t.Error(got)
	}
	g.unwatched()
	if got := c.ask(request("7", "resources/unsubscribe", `"uri":"termpilot://agents/s2"`)); got != empty("7") {
		t.Errorf("one that was not: %s", got)
	}
	c.silent()
}

func TestAClientIsToldOfAllAgentsAtOnce(t *testing.T) { // NOTE-4, NOTE-5
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	c := talkTo(t, s)
	c.hello()
	c.say(subscribe("1", agentsURI))
	c.want(empty("1"))
	g.change("s1", agent.Working, agent.Pending)
	c.want(updated(agentsURI))
	g.launch("s2", "l-2")
	c.want(updated(agentsURI), listChanged)
	g.change("s2", agent.WaitingApproval, agent.Waiting)
	c.want(updated(agentsURI))
	if got := c.ask(request("2", "resources/read", `"uri":"termpilot://agents"`)); !strings.Contains(got, `\"schema\":\"termpilot.agents.v1\",\"agents\":[{`) || !strings.Contains(got, `\"waits_for_approval\":true`) {
		t.Errorf("read: %s", got)
	}
	g.change("s2", agent.Ended, agent.Exited)
	c.want(updated(agentsURI), listChanged)
	c.silent()
	if _, followers := g.watched(); followers != 1 {
		t.Errorf("%d followers, want one of the agent that runs", followers)
	}
}

func TestAListenHoldsItsOwnSubscriptions(t *testing.T) { // NOTE-7, NOTE-8
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	g.launch("s2", "l-2")
	c := talkTo(t, s)
	ack := func(id, agreed string) string {
		return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `},"notifications":{` + agreed + `}}}`
	}
	on := func(id, line string) string {
		return strings.Replace(strings.Replace(line, `"params":{"`, `"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`},"`, 1),
			`"params":{}`, `"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}}`, 1)
	}
	over := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"termpilot","title":"termpilot","version":"dev"},"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
	}
	const one, two, big, text = "termpilot://agents/s1", "termpilot://agents/s2", "9007199254740993", `"listén"`
	if got := c.ask(stateless("1", "server/discover", "")); !strings.Contains(got, `"capabilities":{"resources":{"listChanged":true,"subscribe":true},"tools":{}}`) {
		t.Errorf("discover: %s", got)
	}
	// What is never sent is not agreed to.
	if got := c.ask(stateless("2", "subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":true}`)); got != ack("2", "") {
		t.Error(got)
	}
	c.want(over("2"))
	g.unwatched()

	if got := c.ask(stateless(big, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["`+one+`","`+one+`"]}`)); got != ack(big, `"resourceSubscriptions":["`+one+`"]`) {
		t.Error(got)
	}
	if got := c.ask(stateless(text, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["`+one+`","`+two+`"]}`)); got != ack(text, `"resourceSubscriptions":["`+one+`","`+two+`"]`) {
		t.Error(got)
	}
	g.change("s1", agent.Working, agent.Pending)
	c.want(on(big, updated(one)), on(text, updated(one)))
	c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + text + `}}`)
	until(t, "the listen is over", func() bool { _, followers := g.watched(); return followers == 1 })
	g.change("s1", agent.Idle, agent.Done)
	c.want(on(big, updated(one)))
	if got := c.ask(stateless(text, "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`)); got != ack(text, `"resourcesListChanged":true`) {
		t.Error(got)
	}
	g.change("s2", agent.Working, agent.Pending) // nobody subscribed to it
	g.change("s1", agent.Ended, agent.Exited)
	c.want(on(big, updated(one)), on(text, listChanged))
	c.silent()
	_ = c.in.Close()
	c.want(over(big), over(text)) // the end of the input ends them in order
	g.unwatched()
}

func TestAnAgentThatCannotBeReadAnyMoreIsTold(t *testing.T) { // NOTE-4, NOTE-9, MCP-23
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	c := talkTo(t, s)
	c.hello()
	const uri = "termpilot://agents/s1"
	c.ask(subscribe("1", uri))
	gone := &fault.Error{Op: "read journal", Code: fault.Storage, Detail: "the disk is gone", Hint: "mend it"}
	for i, cause := range []error{gone, nil} { // nil is a panic
		g.of("s1").breaks <- cause
		c.want(updated(uri))
		g.launch("s1", fmt.Sprint("l-", 2+i)) // another one can be read
		c.want(updated(uri))
		g.change("s1", agent.Working, agent.Pending)
		c.want(updated(uri))
	}
	g.launch("s2", "l-9")
	g.of("s2").broken = gone
	if code, f := refusal(t, c.ask(subscribe("2", "termpilot://agents/s2"))); code != -32603 || f.Code != string(fault.Storage) {
		t.Errorf("%d %+v", code, f)
	}
	if got := c.ask(subscribe("3", agentsURI)); got != empty("3") { // one of all is no reason to refuse
		t.Error(got)
	}
	c.silent()
}

func TestAgentsThatCouldNotBeListedAreListedAgain(t *testing.T) { // NOTE-5, NOTE-6
	synctest.Test(t, func(t *testing.T) {
		s, g := staged(t, Options{})
		g.launch("s1", "l-1")
		c := talkTo(t, s)
		c.hello()
		c.ask(subscribe("1", agentsURI))
		fail := func(err error) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.fails = err
		}
		fail(&fault.Error{Op: "list", Code: fault.Storage, Detail: "too many open files", Hint: "wait"})
		g.launch("s2", "l-2")
		synctest.Wait() // it was tried
		fail(nil)
		c.want(updated(agentsURI), listChanged)
		c.silent()
	})
}

func TestAPanicWhileAgentsAreListedEndsNothing(t *testing.T) { // MCP-23
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	c := talkTo(t, s)
	c.hello()
	c.ask(subscribe("1", agentsURI))
	g.mu.Lock()
	g.panics = 1
	g.mu.Unlock()
	g.wake()
	until(t, "it panics", func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.panics == 0 })
	g.launch("s2", "l-2")
	c.want(updated(agentsURI), listChanged)
	c.silent()
}

func TestOneThatHasEndedCanBeSubscribedTo(t *testing.T) { // NOTE-4
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	g.offer("s1", agent.Ended, agent.Exited)
	c := talkTo(t, s)
	c.hello()
	if got := c.ask(subscribe("1", "termpilot://agents/s1")); got != empty("1") {
		t.Error(got)
	}
	g.launch("s1", "l-2")
	c.want(updated("termpilot://agents/s1"))
	c.silent()
}

func TestTheEndOfAnAgentIsToldThoughItIsKnownBeforeItsFollowerSaysSo(t *testing.T) { // NOTE-4, NOTE-5, NOTE-12
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	g.launch("s2", "l-2")
	c := talkTo(t, s)
	c.hello()
	c.ask(request("0", "logging/setLevel", `"level":"info"`))
	c.ask(subscribe("1", agentsURI))
	c.ask(subscribe("2", "termpilot://agents/s2"))
	p, now := g.set("s1", agent.Ended, agent.Exited) // its process is gone: whoever lists it sees that
	c.ask(request("3", "resources/unsubscribe", `"uri":"termpilot://agents/s2"`))
	select {
	case p.changes <- now:
	case <-time.After(patience):
		t.Fatal("it is not followed to its end")
	}
	c.want(updated(agentsURI), listChanged)
	if got := c.hear(); !strings.Contains(got, `"method":"notifications/message"`) || !strings.Contains(got, `"state":"ended"`) {
		t.Error(got)
	}
	c.ask(subscribe("4", "termpilot://agents/s2"))
	until(t, "what has ended is not followed", func() bool { _, followers := g.watched(); return followers == 1 })
	c.silent()
}

func TestAnAgentWhoseRecordsAreRemovedIsTold(t *testing.T) { // NOTE-4
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	c := talkTo(t, s)
	c.hello()
	const uri = "termpilot://agents/s1"
	c.ask(subscribe("1", uri))
	c.ask(subscribe("2", agentsURI))
	g.change("s1", agent.Ended, agent.Exited)
	c.want(updated(uri), updated(agentsURI), listChanged)
	g.remove("s1")
	c.want(updated(uri))
	if code, f := refusal(t, c.ask(request("3", "resources/read", `"uri":"`+uri+`"`))); code != -32002 || f.Code != string(fault.AgentNotFound) {
		t.Errorf("%d %+v", code, f)
	}
	c.silent()
}

func TestTheServersEndEndsTheWatching(t *testing.T) { // NOTE-8
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	c := talkTo(t, s)
	c.ask(stateless("1", "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`))
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	_, _ = io.Copy(io.Discard, c.out) // the client reads what comes, and then the end
	if err := <-closed; err != nil {
		t.Error(err)
	}
	g.unwatched()
}

func TestWhatIsNoAgentCannotBeSubscribedTo(t *testing.T) { // NOTE-9
	s, g := staged(t, Options{})
	c := talkTo(t, s)
	c.hello()
	for uri, want := range map[string]fault.Code{
		"termpilot://agents/nobody": fault.AgentNotFound,
		"termpilot://sessions/s1":   fault.InvalidArgument,
		"file:///etc/passwd":        fault.InvalidArgument,
		"":                          fault.InvalidArgument,
		"termpilot://agents/a/b":    fault.InvalidArgument,
		"termpilot://agents/%zz":    fault.InvalidArgument,
		"termpilot://agents/%1b":    fault.InvalidArgument,
		"termpilot://agents?x":      fault.InvalidArgument,
		"termpilot://agents/" + strings.Repeat("x", 300): fault.InvalidArgument,
		"termpilot://agents/" + strings.Repeat("x", 1e6): fault.TooLarge,
	} {
		old, era := -32002, -32602
		if want == fault.TooLarge {
			old = -32602
		}
		for _, line := range []string{subscribe("1", uri), request("1", "resources/read", `"uri":"`+uri+`"`)} {
			if code, f := refusal(t, c.ask(line)); code != old || f.Code != string(want) {
				t.Errorf("%.60s: got %d %+v, want %d %s", line, code, f, old, want)
			}
		}
		for _, line := range []string{
			stateless("1", "resources/read", `"uri":"`+uri+`"`),
			stateless("1", "subscriptions/listen", `"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["`+uri+`"]}`),
		} {
			if code, f := refusal(t, c.ask(line)); code != era || f.Code != string(want) {
				t.Errorf("%.60s: got %d %+v, want %d %s", line, code, f, era, want)
			}
		}
	}
	g.unwatched()
	g.fails = &fault.Error{Op: "list", Code: fault.Storage, Detail: "the disk is gone", Hint: "mend it"}
	for _, line := range []string{request("1", "resources/list", ""), subscribe("1", agentsURI)} {
		if code, f := refusal(t, c.ask(line)); code != -32603 || f.Code != string(fault.Storage) {
			t.Errorf("%s: %d %+v", line, code, f)
		}
	}
	if got := c.ask(request("1", "resources/list", `"cursor":"x"`)); !strings.Contains(got, `-32602`) {
		t.Errorf("a page that is none: %s", got)
	}
	g.unwatched()
}

func TestSubscriptionsHaveABound(t *testing.T) { // NOTE-10
	s, g := staged(t, Options{})
	var uris []string
	for i := range mostSubscribed + 1 {
		g.launch(fmt.Sprint("s", i), fmt.Sprint("l-", i))
		uris = append(uris, fmt.Sprint("termpilot://agents/s", i))
	}
	c := talkTo(t, s)
	c.hello()
	for i, uri := range uris {
		got := c.ask(subscribe("1", uri))
		if i < mostSubscribed {
			if got != empty("1") {
				t.Fatal(got)
			}
		} else if code, f := refusal(t, got); code != -32602 || f.Code != string(fault.TooLarge) {
			t.Errorf("one too many: %d %+v", code, f)
		}
	}
	for _, uri := range uris {
		c.ask(request("1", "resources/unsubscribe", `"uri":"`+uri+`"`))
	}
	g.unwatched()
	for i := range mostListens + 1 {
		got := c.ask(stateless(fmt.Sprint(i), "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`))
		if i < mostListens {
			if !strings.Contains(got, "acknowledged") {
				t.Fatal(got)
			}
		} else if code, f := refusal(t, got); code != -32602 || f.Code != string(fault.TooLarge) {
			t.Errorf("one too many: %d %+v", code, f)
		}
	}
	if _, followers := g.watched(); followers != agent.MaxListed {
		t.Errorf("%d are followed, want %d", followers, agent.MaxListed)
	}
}

func TestAClientThatDoesNotReadIsToldOfEachAgentOnce(t *testing.T) { // NOTE-11
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	c := talkTo(t, s)
	c.hello()
	c.ask(subscribe("1", agentsURI))
	c.ask(subscribe("2", "termpilot://agents/s1"))
	before := runtime.NumGoroutine()
	for range 1000 { // nobody reads: each returns all the same
		g.change("s1", agent.Working, agent.Pending)
		g.change("s1", agent.Idle, agent.Done)
	}
	if grown := runtime.NumGoroutine() - before; grown > 20 {
		t.Errorf("%d goroutines more", grown)
	}
	g.change("s1", agent.WaitingApproval, agent.Waiting)
	c.say(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	notices := 0
	for line := c.hear(); !strings.Contains(line, `"last"`); line = c.hear() {
		notices++
	}
	if notices > 6 { // one that was being written, then each once, twice over while the answer came
		t.Errorf("%d notices were kept", notices)
	}
}

func TestAServerEndsWhileItsClientDoesNotRead(t *testing.T) { // NOTE-11, MCP-11
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	c := talkTo(t, s)
	c.hello()
	c.ask(subscribe("1", agentsURI))
	g.change("s1", agent.Working, agent.Pending)
	_ = c.in.Close()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
	c.done <- nil
	g.unwatched()
}

func TestMessagesGoToAClientThatSetALevel(t *testing.T) { // NOTE-12
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	c := talkTo(t, s)
	c.hello()
	const uri = "termpilot://agents/s1"
	if got := c.ask(request("1", "logging/setLevel", `"level":"loud"`)); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("a level that is none: %s", got)
	}
	if got := c.ask(request("1", "logging/setLevel", `"level":"info"`)); got != empty("1") {
		t.Error(got)
	}
	g.unwatched() // a level alone watches nothing
	c.ask(subscribe("2", uri))
	g.change("s1", agent.Idle, agent.Done)
	if got := c.hear(); got != updated(uri) {
		t.Error(got)
	}
	if got := c.hear(); !strings.Contains(got, `"method":"notifications/message"`) || !strings.Contains(got, `"level":"notice"`) ||
		!strings.Contains(got, `"logger":"termpilot.agents"`) || !strings.Contains(got, `"state":"idle"`) || !strings.Contains(got, `"outcome":"done"`) {
		t.Error(got)
	}
	c.ask(request("3", "logging/setLevel", `"level":"error"`))
	g.change("s1", agent.Working, agent.Pending)
	c.want(updated(uri))
	c.silent()
}

func TestResourcesAreOfferedWhereTheirNoticesCanArrive(t *testing.T) { // NOTE-2, TUN-27
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	for name, o := range map[string]Options{"another toolset": {Toolsets: []string{"core"}}, "all": {}, "read-only": {ReadOnly: true}} {
		s, _ := staged(t, o)
		c := talkTo(t, s)
		if got := c.ask(stateless(`"x"`, "subscriptions/listen", `"notifications":{}`)); !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"x"},"notifications":{}`) {
			t.Errorf("%s: %s", name, got)
		}
		_ = c.hear() // it is over
		if got := c.ask(subscribe("2", "termpilot://agents")); (got == empty("2")) != (name != "another toolset") {
			t.Errorf("%s: %s", name, got)
		}
		for range 2 { // a repeated one says the same
			if got, offered := c.ask(hello), name != "another toolset"; strings.Contains(got, `"resources":{"listChanged":true,"subscribe":true}`) != offered || strings.Contains(got, `"logging"`) != offered {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	for _, o := range []HTTPOptions{{}, {Stateless: true}} { // the tunnel is stateless
		s, g := staged(t, Options{})
		g.launch("s1", "l-1")
		server := httptest.NewServer(s.Handler(o))
		t.Cleanup(server.Close)
		post := func(body, version string) string {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/mcp", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if version != "" {
				r.Header.Set("Mcp-Protocol-Version", version)
				method, _, _ := strings.Cut(body[strings.Index(body, `"method":"`)+10:], `"`)
				r.Header.Set("Mcp-Method", method)
			}
			res, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			said, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(said)
		}
		if got := post(hello, ""); !strings.Contains(got, `"capabilities":{"tools":{}}`) {
			t.Errorf("hello: %s", got)
		}
		if got := post(stateless("1", "server/discover", ""), "2026-07-28"); !strings.Contains(got, `"capabilities":{"tools":{}}`) {
			t.Errorf("discover: %s", got)
		}
		if got := post(subscribe("2", agentsURI), ""); !strings.Contains(got, `-32601`) {
			t.Errorf("subscribe: %s", got)
		}
		got := post(stateless("3", "subscriptions/listen", `"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["`+agentsURI+`"]}`), "2026-07-28")
		if !strings.Contains(got, `"notifications":{}`) || !strings.Contains(got, `"resultType":"complete"`) {
			t.Errorf("listen: %s", got)
		}
		g.unwatched()
	}
}
