package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// A program that dies at once leaves its last words and its status. On a busy
// machine tmux itself (3.3a) now and then closes the terminal before the kernel has
// passed on what was printed last, and shows nothing then: so once is enough.
func TestAFastDeathKeepsItsReason(t *testing.T) { // TERM-10
	s := newServer(t)
	s.run("new-session", "-d")
	b := s.backend()
	for _, place := range []terminal.OpenSpec{{}, {Place: terminal.InTab, Window: only(t, b).Window}} {
		place.Command = "echo boom >&2; exit 9"
		shown := ""
		for tries := 0; tries < 5 && !strings.Contains(shown, "boom"); tries++ {
			p, err := b.Open(ctx(t), place)
			must(t, err)
			until(t, "its end is known", func() bool { _, err := b.Exit(ctx(t), p.ID); return err == nil })
			exit, err := b.Exit(ctx(t), p.ID)
			must(t, err)
			got, err := b.Screen(ctx(t), p.ID, terminal.Range{})
			must(t, err)
			if shown = text(got.Rows); exit.Code == nil || *exit.Code != 9 {
				t.Fatalf("ended with %+v, showing %q", exit, shown)
			}
		}
		if !strings.Contains(shown, "boom") {
			t.Errorf("it shows %q", shown)
		}
	}
	until(t, "no dead pane is left", func() bool { return strings.Count(s.run("list-panes", "-a"), "\n") == 0 })
}

// A pane of the user's is not kept when its program ends, and a dead one that
// the user keeps is left to the user.
func TestTheUsersDeadPanesAreTheUsers(t *testing.T) { // TMUX-2
	s := newServer(t)
	s.run("new-session", "-d")
	s.run("new-window", "-d", "sh -c 'read x; exit 3'")
	s.run("set-option", "-p", "-t", "%1", "remain-on-exit", "on")
	b := s.backend()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	must(t, b.Send(ctx(t), list[1].ID, []byte("\r")))
	until(t, "its end is known", func() bool {
		_, err := b.Sessions(ctx(t))
		must(t, err)
		_, err = b.Exit(ctx(t), list[1].ID)
		return err == nil
	})
	if got := s.run("list-panes", "-a", "-F", "#{pane_id} #{pane_dead}"); got != "%0 0\n%1 1" {
		t.Errorf("the panes are %q", got)
	}
}

// A dead pane that an earlier process of ours opened is cleared away.
func TestNoDeadPaneOfOursStays(t *testing.T) { // TMUX-14
	s := newServer(t)
	s.run("new-session", "-d")
	first := s.backend()
	p, err := first.Open(ctx(t), terminal.OpenSpec{Command: "read x; exit 4"})
	must(t, err)
	must(t, first.Disconnect())
	second := s.backend()
	events, err := second.Watch(ctx(t), p.ID)
	must(t, err)
	must(t, second.Send(ctx(t), p.ID, []byte("\r")))
	for e, err := range events {
		must(t, err)
		if e.Kind == terminal.Gone && (e.Exit.Code == nil || *e.Exit.Code != 4) {
			t.Errorf("it ended with %+v", e.Exit)
		}
	}
	until(t, "it is gone", func() bool { return !strings.Contains(s.run("list-panes", "-a"), "dead") })
}

// tmux itself takes a prefix of a name for the name.
func TestAPrefixReachesNobody(t *testing.T) { // TERM-1
	s := newServer(t)
	s.run("new-session", "-d", "-s", "job-10")
	b := s.backend()
	p := only(t, b)
	for _, id := range []terminal.ID{"job-1", "job-10", "%0", "$0", "=job-10:", terminal.ID(strings.TrimPrefix(string(p.ID), "%"))} {
		if err := b.Close(ctx(t), id, terminal.Force); !errors.Is(err, fault.SessionNotFound) {
			t.Errorf("close %s: %v", id, err)
		}
	}
	if got := only(t, b); got.ID != p.ID {
		t.Errorf("got %s", got.ID)
	}
}

func TestNamesAreOneLineAndNobodyElses(t *testing.T) { // TMUX-9
	s := newServer(t)
	s.run("new-session", "-d", "-s", "a.b:c", "-n", `win "dow"`, `printf '\033]0;x\ty\033]2;z;\$(id)\007'; exec cat`)
	b := s.backend()
	p := only(t, b)
	for _, name := range []string{`job 10 "x"; y`, "#{pane_id} #S", "-n", "日本 $HOME \\", ""} {
		must(t, b.Rename(ctx(t), p.ID, name))
		if got := only(t, b); got.Name != name || strings.ContainsAny(got.Title, "\t\n\x1b\a") || !strings.HasPrefix(got.Title, `a_b_c:win "dow" `) {
			t.Errorf("got %q and the title %q, want %q", got.Name, got.Title, name)
		}
	}
	if got := s.run("list-windows", "-F", "#{session_name} #{window_name}"); got != `a_b_c win "dow"` {
		t.Errorf("the user's names are %q", got)
	}
	if got := s.run("show-options", "-p", "-t", "%0"); got != "" {
		t.Errorf("the pane's options are %q", got)
	}
}

// A pane that prints without end delays nobody, and is read rightly.
func TestAFloodDelaysNobody(t *testing.T) { // TMUX-24
	s := newServer(t)
	s.run("new-session", "-d", "-x", "80", "-y", "24", "exec cat")
	for range 99 {
		s.try("new-window", "-d", "exec cat")
	}
	b := s.backend()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	if len(list) != 100 {
		t.Fatalf("%d sessions", len(list))
	}
	s.run("new-window", "-d", "yes 0123456789abcdef | head -c 20000000; echo END; exec cat")
	var slowest time.Duration
	flooding := time.Now()
	reads, before := 0, memory()
	var flood terminal.ID
	read := func() bool {
		for _, p := range list[:20] {
			began := time.Now()
			_, err := b.Screen(ctx(t), p.ID, terminal.Range{})
			must(t, err)
			slowest = max(slowest, time.Since(began))
			reads++
		}
		all, err := b.Sessions(ctx(t))
		must(t, err)
		flood = all[len(all)-1].ID
		got, err := b.Screen(ctx(t), flood, terminal.Range{Kind: terminal.Tail, Count: 60})
		must(t, err)
		return strings.Contains(text(got.Rows), "END\n")
	}
	for end := time.Now().Add(3 * time.Minute); !read(); {
		if time.Now().After(end) {
			t.Fatal("the flood is not read within three minutes")
		}
		time.Sleep(50 * time.Millisecond) // as a client would that looks often
	}
	t.Logf("%d reads, the slowest %v, memory grew by %d KiB", reads, slowest, (memory()-before)>>10)
	// Who had to wait for the flood would wait for most of it, on any machine.
	if most := max(time.Second, time.Since(flooding)/4); slowest > most {
		t.Errorf("the slowest read took %v, of at most %v", slowest, most)
	}
	if grown := memory() - before; grown > 64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	got, err := b.Screen(ctx(t), flood, terminal.Range{Kind: terminal.Tail, Count: 2000})
	must(t, err)
	for i, r := range got.Rows {
		if r.Text != "" && r.Text != "0123456789abcdef" && r.Text != "END" && !strings.HasPrefix("0123456789abcdef", r.Text) && !strings.HasSuffix(r.Text, "END") {
			t.Fatalf("row %d is %q", i, r.Text)
		}
	}
}

// A listener that comes back late to what a pane printed is told by tmux that
// it was left out. Some versions (3.3a for one) keep that to themselves when
// nothing else happens, once they have something to say besides: here the
// window's new name.
func TestWhatWasLeftOutIsReadThoughNothingElseHappens(t *testing.T) { // TMUX-13
	s := newServer(t)
	s.run("new-session", "-d", "read x; yes 0123456789abcdef | head -c 2000000; echo END; exec cat")
	b := s.backend()
	id := only(t, b).ID
	_, err := b.Screen(ctx(t), id, terminal.Range{})
	must(t, err)
	p := b.link.byID(id)
	func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		s.run("send-keys", "-t", p.target(), "Enter")
		s.shows(t, p.target(), "END")
		until(t, "the window has its new name", func() bool { return s.run("list-windows", "-F", "#{window_name}") == "cat" })
		time.Sleep(1500 * time.Millisecond) // tmux counts the time of what waits for us: pause-after
	}()
	until(t, "what it printed is read", func() bool {
		got, err := b.Screen(ctx(t), id, terminal.Range{})
		must(t, err)
		return strings.Contains(text(got.Rows), "END\n")
	})
}

func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkList is listing a hundred panes.
func BenchmarkList(b *testing.B) {
	s := newServer(b)
	s.run("new-session", "-d", "-x", "80", "-y", "24", "exec cat")
	for range 99 {
		s.try("new-window", "-d", "exec cat")
	}
	t := s.backend()
	for b.Loop() {
		_, err := t.Sessions(b.Context())
		must(b, err)
	}
}

// BenchmarkTrue is running a command here: watch, send, wait for its end.
func BenchmarkTrue(b *testing.B) {
	s := newServer(b)
	s.run("new-session", "-d")
	t := s.backend()
	p, err := t.Open(b.Context(), terminal.OpenSpec{})
	must(b, err)
	var took []time.Duration
	defer func() { median(b, took) }()
	for b.Loop() {
		began := time.Now()
		events, err := t.Watch(b.Context(), p.ID)
		must(b, err)
		sent := ""
		for e, err := range events {
			must(b, err)
			if sent == "" && e.Prompt.State == terminal.Editing {
				sent = e.Prompt.ID
				must(b, t.Send(b.Context(), p.ID, []byte("true\r")))
			}
			if sent != "" && e.Kind == terminal.PromptShown && e.Prompt.ID != sent {
				break
			}
		}
		took = append(took, time.Since(began))
	}
}

// median reports the middle one of the times that a benchmark took.
func median(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
}

// BenchmarkTrueByPolling is the same by a client that runs tmux for each step,
// and looks every 20 ms.
func BenchmarkTrueByPolling(b *testing.B) {
	s := newServer(b)
	s.write(".bashrc", "PS1='$ '\n")
	s.run("new-session", "-d", "bash")
	var took []time.Duration
	defer func() { median(b, took) }()
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		done := fmt.Sprintf("done-%d-0", i)
		s.run("send-keys", "-t", "%0", "-l", fmt.Sprintf("true; echo done-%d-$?", i))
		s.run("send-keys", "-t", "%0", "Enter")
		for !strings.Contains(s.run("capture-pane", "-p", "-t", "%0"), "\n"+done) {
			time.Sleep(20 * time.Millisecond) // what this client does
		}
		took = append(took, time.Since(began))
	}
}

func TestNothingIsLeftBehind(t *testing.T) { // TMUX-31
	s := newServer(t)
	s.run("new-session", "-d")
	b := s.backend()
	p, err := b.Open(ctx(t), terminal.OpenSpec{})
	must(t, err)
	awaitPrompt(t, b, p.ID, "")
	if left, err := filepath.Glob(filepath.Join(s.home, "shells", "tmux-*")); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestAConnectionThatTellsAndDoesNotAttachIsGivenUp(t *testing.T) { // TMUX-4
	s := newServer(t)
	s.write("tmux", "#!/bin/sh\necho '%window-add @1'\nexec sleep 600\n")
	must(t, os.Chmod(filepath.Join(s.home, "tmux"), 0o700))
	b := s.backend()
	l := &link{b: b, program: filepath.Join(s.home, "tmux"), listeners: map[string]*listener{}}
	few, cancel := context.WithTimeout(ctx(t), 200*time.Millisecond)
	defer cancel()
	given := make(chan *listener, 1)
	go func() { given <- l.listen(few, "$1") }()
	select {
	case h := <-given:
		if h != nil {
			t.Error("it counts as attached")
		}
	case <-time.After(patience):
		t.Fatal("it is waited for without end")
	}
}
