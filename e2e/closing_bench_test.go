package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"termpilot/host"
	"termpilot/iterm"
	"termpilot/terminal"
)

// BenchmarkCleanHundred is clean_all_sessions with 100 idle sessions open, beside
// closing them one after the other through the backend, which looks at nothing,
// writes nothing down and proves nothing but what the terminal says.
func BenchmarkCleanHundred(b *testing.B) {
	const n = 100
	h := newHome(b)
	a := ask(b, h.env(), binary, "serve", "--backend", "host")
	b.Cleanup(a.end)
	a.call(b, hello)
	open := func() (ids []string) {
		for range n {
			ids = append(ids, sessionID(b, a.call(b, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_window","arguments":{"profile":"bash"}}}`)))
		}
		return ids
	}
	hand := byHand(b, h)
	var ours, theirs []time.Duration
	for b.Loop() {
		open()
		began := time.Now()
		answer := a.call(b, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"clean_all_sessions","arguments":{}}}`)
		ours = append(ours, time.Since(began))
		var m struct {
			Result struct{ StructuredContent closeResult }
		}
		if err := json.Unmarshal(answer, &m); err != nil || m.Result.StructuredContent.Status != "closed" || len(m.Result.StructuredContent.Closed) != n {
			b.Fatalf("%v: %s", err, bytes.TrimSpace(answer[:min(len(answer), 2000)]))
		}
		ids := open()
		began = time.Now()
		for _, id := range ids {
			if err := hand.Close(b.Context(), terminal.ID(id), terminal.Hangup); err != nil {
				b.Fatal(err)
			}
		}
		theirs = append(theirs, time.Since(began))
	}
	b.ReportMetric(float64(median(ours).Microseconds())/1000, "ms/clean-100")
	b.ReportMetric(float64(median(theirs).Microseconds())/1000, "ms/by-hand")
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "x-by-hand")
}

// byHand is a client of the same terminal, without anything around it.
func byHand(b *testing.B, h home) terminal.Backend {
	b.Setenv("TERMPILOT_HOME", filepath.Join(h.dir, "tp"))
	c := iterm.New(iterm.Options{Name: "host", Dial: host.Dial, Start: func(context.Context) error { return nil }, Library: "bench"})
	b.Cleanup(func() { _ = c.Disconnect() })
	return c
}
