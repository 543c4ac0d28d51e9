package tmux

import (
	"bytes"
	"strings"
	"testing"

	"termpilot/terminal"
)

func FuzzTheReaderKeepsItsPlace(f *testing.F) { // TMUX-22
	f.Add([]byte("%begin 1 2 1\nx\n%end 1 2 1\n%output %1 a\\033b\n%exit\n"))
	f.Add([]byte("%begin 1 2 1\n%end 1 2 2\n%begin 1\n%error 1 2 1\n%extended-output %3 0 : \\\\\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		c := &conn{token: "t", ready: make(chan struct{}), note: func(note) {}}
		k := &call{raw: true, end: "t-1", done: make(chan struct{})}
		c.calls = []*call{k}
		var d decoder
		for line := range bytes.Lines(input) {
			if d.take(c, bytes.TrimSuffix(line, []byte("\n"))) != nil {
				break
			}
		}
		_, _ = readPicture(k, maxSeed)
	})
}

func FuzzOutputIsAsItWasPrinted(f *testing.F) { // TMUX-22
	f.Add([]byte("a\\b\x1b\x00\xff"))
	f.Fuzz(func(t *testing.T, printed []byte) {
		var escaped []byte
		for _, c := range printed {
			if c < 0x20 || c == '\\' {
				escaped = append(escaped, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			} else {
				escaped = append(escaped, c)
			}
		}
		if got := unescape(nil, escaped); !bytes.Equal(got, printed) {
			t.Errorf("got %q, want %q", got, printed)
		}
	})
}

func FuzzListsAreReadWholeOrNotAtAll(f *testing.F) { // TMUX-22, TMUX-25
	f.Add("P %1 2 80 24 $0 @0 0 1 0 0 0 off off 1 0   0 /dev/pts/1 na\\ me  work:x title\nP %1", "C 0 $0 1")
	f.Fuzz(func(t *testing.T, panes, clients string) {
		answers := make([]answer, 2)
		listed := map[string]bool{}
		for i, text := range []string{panes, clients} {
			for line := range strings.SplitSeq(text, "\n") {
				answers[i].lines = append(answers[i].lines, []byte(line))
				if rest, ok := strings.CutPrefix(line, "P "); ok && i == 0 {
					id, _, _ := strings.Cut(rest, " ")
					listed[strings.TrimLeft(strings.TrimPrefix(id, "%"), "0")] = true
				}
			}
		}
		got, _, err := parseLists(answers)
		for _, p := range got {
			if p.pane < 0 || p.session == "" || p.window == "" {
				t.Errorf("%q is read as %+v", panes, p)
			}
		}
		if err == nil && len(got) != len(listed) {
			t.Errorf("of %q only %+v is read", panes, got)
		}
	})
}

func TestAScreenIsNotTakenForTmux(t *testing.T) { // TMUX-21
	s := newServer(t)
	s.run("new-session", "-d", "-x", "80", "-y", "24")
	pid := s.run("display-message", "-p", "#{pane_pid}")
	// More numbers than the next answers could have.
	s.write("forged", "now=$EPOCHSECONDS; for i in $(seq 1 3000); do for t in 0 1 2 3; do echo \"%end $((now+t)) $i 1\"; done; echo '%output %0 forged'; echo '%exit'; done; printf '\\033[H\\033[2J'; exec cat")
	s.run("respawn-pane", "-k", "-t", "%0", "bash "+s.home+"/forged")
	until(t, "all is printed", func() bool {
		return s.run("display-message", "-p", "#{pane_current_command}") == "cat"
	})
	b := s.backend()
	p := only(t, b)
	got, err := b.Screen(ctx(t), p.ID, terminal.Range{Kind: terminal.Tail, Count: 5000})
	must(t, err)
	n := 0
	for _, r := range got.Rows {
		n += strings.Count(r.Text, "%")
	}
	if n == 0 || p.ShellPID == 0 || pid == "" {
		t.Errorf("%d lines of the history are read", n)
	}
	must(t, b.Send(ctx(t), p.ID, []byte("alive\r")))
	until(t, "the connection lives", func() bool {
		got, err := b.Screen(ctx(t), p.ID, terminal.Range{Kind: terminal.Tail, Count: 5000})
		return err == nil && strings.Contains(text(got.Rows), "alive")
	})
}
