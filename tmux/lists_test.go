package tmux

import (
	"context"
	"errors"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/terminal"
)

// Text of a person's that tmux puts into its lists, whatever it holds, makes no
// pane count as gone.
func TestNoTextInTheListsEndsASession(t *testing.T) { // TMUX-25
	s := newServer(t)
	s.run("new-session", "-d", "-x", "80", "-y", "24")
	s.run("split-window", "-d")
	b := s.backend()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	watched, cancel := context.WithCancel(ctx(t))
	defer cancel()
	events, err := b.Watch(watched, list[0].ID)
	must(t, err)
	gone := make(chan bool, 1)
	go func() {
		defer close(gone)
		for e, err := range events {
			if err != nil || e.Kind == terminal.Gone {
				gone <- true
				return
			}
		}
	}()
	for _, name := range []string{"two\nlines", "\n", "a\nP %1 2 80 24 $0 @0\n", "tab\tand \\ bell\a", "end\n%end 1 2 1", "%exit"} {
		s.run("set-option", "-p", "-t", "%0", "@termpilot_name", name)
		now, err := b.Sessions(ctx(t))
		if err != nil || len(now) != 2 || now[0].ID != list[0].ID || now[1].ID != list[1].ID {
			t.Errorf("with the name %q: got %+v %v", name, now, err)
		}
	}
	cancel()
	if <-gone {
		t.Error("it is told as gone")
	}
}

func TestAListThatCannotBeReadIsNoEvidence(t *testing.T) { // TMUX-25
	const (
		one = `P %1 2 80 24 $0 @0 0 1 0 0 0 off off 1 0   0 /dev/pts/1 na\ me  work:edit\ or title`
		two = `P %2 3 80 24 $0 @0 0 1 0 0 0 off off 1 0   0 /dev/pts/2   work:x title`
	)
	answers := func(panes []string, clients ...string) []answer {
		all := []answer{{}, {}}
		for i, lines := range [][]string{panes, clients} {
			for _, line := range lines {
				all[i].lines = append(all[i].lines, []byte(line))
			}
		}
		return all
	}
	for name, c := range map[string]struct {
		told  []answer
		panes int // -1: an error
	}{
		"two panes":            {answers([]string{one, two}, "C 0 $0 7"), 2},
		"a name of two lines":  {answers([]string{one, `of\ two\ lines`, two}), 2},
		"a client of nothing":  {answers([]string{one}, "C 0  7"), 1},
		"a word too few":       {answers([]string{one, `P %2 3 80 24 $0 @0 0 1 0 0 0 off off 1 0   0 /dev/pts/2   title`}), -1},
		"no number":            {answers([]string{`P %1 x 80 24 $0 @0 0 1 0 0 0 off off 1 0   0 /dev/pts/1   work:x title`, two}), -1},
		"no pane":              {answers([]string{`P 1 2 80 24 $0 @0 0 1 0 0 0 off off 1 0   0 /dev/pts/1   work:x title`}), -1},
		"something before all": {answers([]string{"x", one}), -1},
		"an unreadable client": {answers([]string{one}, "C 0 $0 soon"), -1},
		"something of no kind": {answers([]string{one}, "x"), -1},
		"an answer too few":    {answers([]string{one})[:1], -1},
	} {
		panes, _, err := parseLists(c.told)
		if (err != nil) != (c.panes < 0) || err == nil && len(panes) != c.panes {
			t.Errorf("%s: got %d panes, %v", name, len(panes), err)
		}
		if err != nil && !errors.Is((&Backend{}).explain("list", "", err), fault.Protocol) {
			t.Errorf("%s: told as %v", name, err)
		}
	}
}

// A picture that could not be read is asked for again: what the pane shows now is
// not what it showed before.
func TestAPictureThatCouldNotBeReadIsAskedForAgain(t *testing.T) { // TMUX-25
	s := newServer(t)
	s.run("new-session", "-d", "-x", "80", "-y", "24", "cat")
	b := s.backend()
	id := only(t, b).ID
	_, err := b.Screen(ctx(t), id, terminal.Range{})
	must(t, err)
	l, err := b.present()
	must(t, err)
	p := l.byID(id)
	p.mu.Lock()
	p.seeding, p.blind = true, true // as where the answer was not understood
	p.mu.Unlock()
	must(t, b.Send(ctx(t), id, []byte("now\r")))
	s.shows(t, "%0", "now")
	got, err := b.Screen(ctx(t), id, terminal.Range{})
	must(t, err)
	if !strings.Contains(text(got.Rows), "now") {
		t.Errorf("got %q", text(got.Rows))
	}
}
