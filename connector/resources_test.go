package connector

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"termpilot/agent"
	"termpilot/connector/internal/wire"
)

func FuzzAURIMeansOneSessionOrNone(f *testing.F) { // NOTE-9
	for _, uri := range []string{
		agentsURI, agentsURI + "/", agentsURI + "//", agentsURI + "/D095AC62-9879-46D0-97E8-700EFAE15D65", agentsURI + "/%251@default", agentsURI + "/%2F%3F%23",
		"termpilot://agent", "TERMPILOT://agents/x", agentsURI + "/%", agentsURI + "/%00", agentsURI + "/%c3%28", agentsURI + "/a%0ab", agentsURI + "/é",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		session, err := parseURI(uri)
		switch {
		case err != nil:
			if session != "" || !strings.Contains(wire.Describe(err), `"hint":"use termpilot`) {
				t.Errorf("%q: %q %v", uri, session, err)
			}
		case session == "":
			if strings.TrimSuffix(uri, "/") != agentsURI {
				t.Errorf("%q means all agents", uri)
			}
		default:
			if len(session) > maxSessionID || !utf8.ValidString(session) || strings.ContainsAny(session, "\x00\x1b\n\t") || !strings.HasPrefix(uri, agentsURI+"/") {
				t.Errorf("%q means %q", uri, session)
			}
			if again, err := parseURI(agentURI(session)); err != nil || again != session {
				t.Errorf("%q is not found again: %q %v", session, again, err)
			}
		}
	})
}

func TestASubscriptionIsAnsweredWhenNothingIsMissedAnyMore(t *testing.T) { // NOTE-6
	s, g := staged(t, Options{})
	g.launch("s1", "l-1")
	c := talkTo(t, s)
	c.hello()
	for range 50 { // what changes right after the answer is told
		c.ask(subscribe("1", "termpilot://agents/s1"))
		g.change("s1", agent.Working, agent.Pending)
		c.want(updated("termpilot://agents/s1"))
		c.ask(request("2", "resources/unsubscribe", `"uri":"termpilot://agents/s1"`))
	}
}

// BenchmarkNotice is the time from an agent's change to the line at the client.
func BenchmarkNotice(b *testing.B) {
	s, g := staged(b, Options{})
	g.launch("s1", "l-1")
	c := talkTo(b, s)
	c.hello()
	c.ask(subscribe("1", agentsURI))
	for b.Loop() {
		g.change("s1", agent.Working, agent.Pending)
		if line, err := c.out.ReadString('\n'); err != nil || !strings.Contains(line, "updated") {
			b.Fatal(line, err)
		}
	}
}

// A client that comes and goes with its subscriptions in any order hears nothing of
// what it did not ask for, nothing on a listen before its acknowledgement, and
// leaves nothing that watches.
func FuzzSubscriptionsInAnyOrderLeaveNothingBehind(f *testing.F) { // NOTE-3, NOTE-7, NOTE-8
	f.Add([]byte{0, 0, 5, 0, 4, 0, 1, 0, 5, 1, 0, 2, 4, 1, 6, 1, 1, 2})
	f.Add([]byte{2, 0, 2, 1, 4, 0, 3, 0, 4, 0, 5, 2, 2, 0, 3, 1, 6, 0, 5, 0})
	f.Add([]byte{2, 2, 0, 2, 5, 1, 3, 2, 2, 2, 6, 1, 5, 1, 4, 1, 1, 2, 0, 2})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 200 {
			t.Skip()
		}
		s, g := staged(t, Options{})
		for i := range 3 {
			g.launch(fmt.Sprint("s", i), fmt.Sprint("l-", i))
		}
		c := talkTo(t, s)
		c.hello()
		uris := []string{"termpilot://agents/s0", "termpilot://agents/s1", agentsURI}
		heard := make(chan error, 1)
		go func() {
			acknowledged := map[string]bool{}
			for {
				line, err := c.out.ReadString('\n')
				if err != nil {
					heard <- nil
					return
				}
				var m struct {
					Method string
					Params struct {
						URI  string
						Meta struct {
							ID json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
						} `json:"_meta"`
					}
				}
				if err = json.Unmarshal([]byte(line), &m); err == nil && m.Method == notifyAcknowledged {
					acknowledged[string(m.Params.Meta.ID)] = true
				} else if id := string(m.Params.Meta.ID); m.Method != "" && (id != "" && !acknowledged[id] || m.Method == notifyUpdated && !slices.Contains(uris, m.Params.URI)) {
					err = errors.New("heard " + line)
				}
				if err != nil {
					heard <- err
					_, _ = io.Copy(io.Discard, c.out)
					return
				}
			}
		}()
		for i := 0; i+1 < len(script); i += 2 {
			which := int(script[i+1]) % 3
			switch script[i] % 7 {
			case 0:
				c.say(subscribe(fmt.Sprint(1000+i), uris[which]))
			case 1:
				c.say(request(fmt.Sprint(1000+i), "resources/unsubscribe", `"uri":"`+uris[which]+`"`))
			case 2:
				c.say(stateless(fmt.Sprint(which), "subscriptions/listen", `"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["`+uris[which]+`"]}`))
			case 3:
				c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + fmt.Sprint(which) + `}}`)
			case 4:
				g.offer(fmt.Sprint("s", which), agent.Working, agent.Pending)
			case 5:
				g.launch(fmt.Sprint("s", which), fmt.Sprint("l-", 10+i))
			case 6:
				g.offer(fmt.Sprint("s", which), agent.Ended, agent.Exited)
			}
		}
		_ = c.in.Close()
		if err := <-heard; err != nil {
			t.Error(err)
		}
		g.unwatched()
	})
}
