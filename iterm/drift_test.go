package iterm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"termpilot/terminal"
)

// TestWhatIsKeptIsWhatIsTold lets a terminal change at random, and compares what
// a client keeps from notifications with what a new one reads.
func TestWhatIsKeptIsWhatIsTold(t *testing.T) { // ITERM-30, ITERM-31, ITERM-63, ITERM-72
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(4)
		w.key = "pty-1"
		s := newFakeServer(t, w)
		warm := s.client(Options{})
		sessions(t, warm)
		var done []string
		for range 30 {
			w.mu.Lock()
			x := w.sessions[r.IntN(len(w.sessions))]
			y := w.sessions[r.IntN(len(w.sessions))]
			what := ""
			switch r.IntN(9) {
			case 0:
				n := w.add()
				w.tell(created(n.id))
				what = "add " + n.id
			case 1:
				n := w.add()
				n.window, n.tab = x.window, x.tab
				w.tell(created(n.id))
				what = "split " + x.id
			case 2:
				if len(w.sessions) > 2 {
					w.sessions = slices.DeleteFunc(w.sessions, func(z *worldSession) bool { return z == x })
					w.tell(terminated(x.id))
					what = "end " + x.id
				}
			case 3:
				x.window, x.tab, x.buried = y.window, y.tab, y.buried
				what = "move " + x.id + " to " + y.id
			case 4: // a whole tab
				tab := x.tab
				for _, z := range w.sessions {
					if z.tab == tab {
						z.window = y.window
					}
				}
				what = fmt.Sprintf("move tab %d to %s", tab, y.window)
			case 5:
				x.buried = !x.buried
				what = "bury " + x.id
			case 6, 7:
				if !x.buried {
					w.focusOn(x, r.IntN(2) == 0, r.IntN(2) == 0, true)
				}
				what = "focus " + x.id
			case 8:
				x.vars["jobName"] = fmt.Sprint("job", r.IntN(9))
				w.tell(variableChanged(x.id, "jobName", fmt.Sprintf("%q", x.vars["jobName"])))
				what = "job " + x.id
			}
			w.tellLayout()
			w.tellFocus()
			w.mu.Unlock()
			done = append(done, what)
			told, _ := w.pending()
			for _, n := range told {
				s.notifyAll(n)
			}
			if _, err := warm.Prompt(t.Context(), terminal.ID(w.sessions[0].id), ""); err != nil { // its answer is behind them
				t.Fatal(err)
			}
			fresh := s.client(Options{})
			if got, want := sessions(t, warm), sessions(t, fresh); !slices.Equal(got, want) {
				t.Fatalf("seed %d, after %v:\ngot  %+v\nwant %+v", seed, done, got, want)
			}
			_ = fresh.Disconnect()
		}
	}
}
