package connector

import (
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
