package iterm

import (
	"fmt"
	"testing"
	"time"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// perRequest is what each request costs where the cost is measured, one after
// the other: iTerm2 answers on the thread that draws its windows.
const perRequest = 5 * time.Millisecond

// costly is a terminal like iTerm2 with n sessions, at a prompt each.
func costly(b *testing.B, n int) *fakeServer {
	w := newWorld(n)
	w.shell = true
	for _, s := range w.sessions {
		s.prompts = []*api.GetPromptResponse{editing("P0")}
	}
	s := newFakeServer(b, w)
	s.delay = perRequest
	return s
}

// runOnce runs a command as the pilot does: watch, type, wait for the end of just
// that command, read its prompt and exactly its output.
func runOnce(b *testing.B, c *Client, id terminal.ID) {
	events, err := c.Watch(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	mine := ""
	for e, err := range events {
		if err != nil {
			b.Fatal(err)
		}
		switch {
		case e.Kind == terminal.State:
			if yes, err := c.Broadcasts(b.Context(), id); err != nil || yes {
				b.Fatal(yes, err)
			}
			err = c.Send(b.Context(), id, []byte("make\r"))
		case e.Kind == terminal.Started:
			mine = e.Prompt.ID
		}
		if err != nil {
			b.Fatal(err)
		}
		if e.Kind == terminal.Ended && e.Prompt.ID == mine {
			break
		}
	}
	p, err := c.Prompt(b.Context(), id, mine)
	if err != nil || p.State != terminal.Finished {
		b.Fatal(p, err)
	}
	screen, err := c.Screen(b.Context(), id, terminal.Range{Kind: terminal.Cells, Span: p.Output})
	if err != nil || len(screen.Rows) != 1 || screen.Rows[0].Text != "output of make" {
		b.Fatal(screen, err)
	}
}

// BenchmarkCost tells how many requests an operation takes, and how long that is
// when each takes 5 ms.
func BenchmarkCost(b *testing.B) {
	for _, n := range []int{150, 500} {
		b.Run(fmt.Sprintf("%d sessions", n), func(b *testing.B) {
			s := costly(b, n)
			measure := func(name string, f func(b *testing.B)) {
				b.Run(name, func(b *testing.B) {
					s.count()
					for b.Loop() {
						f(b)
					}
					b.ReportMetric(float64(s.count())/float64(b.N), "requests/op")
					b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/op")
					b.ReportMetric(0, "ns/op")
				})
			}
			list := func(b *testing.B, c *Client) {
				if all, err := c.Sessions(b.Context()); err != nil || len(all) != n {
					b.Fatal(len(all), err)
				}
			}
			id := sid(n / 2)
			measure("list cold", func(b *testing.B) {
				c := s.client(Options{})
				list(b, c)
				c.Disconnect()
			})
			measure("read cold", func(b *testing.B) {
				c := s.client(Options{})
				if _, err := c.Screen(b.Context(), id, terminal.Range{}); err != nil {
					b.Fatal(err)
				}
				c.Disconnect()
			})
			c := s.client(Options{})
			list(b, c)
			measure("list", func(b *testing.B) { list(b, c) })
			measure("read", func(b *testing.B) {
				if _, err := c.Screen(b.Context(), id, terminal.Range{}); err != nil {
					b.Fatal(err)
				}
			})
			measure("prompt", func(b *testing.B) {
				if _, err := c.Prompt(b.Context(), id, ""); err != nil {
					b.Fatal(err)
				}
			})
			measure("run", func(b *testing.B) { runOnce(b, c, id) })
			measure("rename", func(b *testing.B) {
				if err := c.Rename(b.Context(), id, "acorn"); err != nil {
					b.Fatal(err)
				}
			})
			measure("focus", func(b *testing.B) {
				if err := c.Focus(b.Context(), id); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
