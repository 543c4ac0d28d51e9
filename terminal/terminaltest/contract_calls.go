package terminaltest

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

func idsAreExact(r *rig) {
	s := r.open()
	id := string(s.ID)
	// TERM-1
	for _, wrong := range []string{"", "nosuch", id[:len(id)-1], id + "0", " " + id, strings.ToUpper(id) + "X", s.TTY, "0"} {
		id := terminal.ID(wrong)
		_, err := r.b.Screen(r.ctx(), id, terminal.Range{})
		r.code("Screen of "+wrong, err, fault.SessionNotFound)
		_, err = r.b.Prompt(r.ctx(), id, "")
		r.code("Prompt of "+wrong, err, fault.SessionNotFound)
		_, err = r.b.Watch(r.ctx(), id)
		r.code("Watch of "+wrong, err, fault.SessionNotFound)
		r.code("Send to "+wrong, r.b.Send(r.ctx(), id, []byte("exit\r")), fault.SessionNotFound)
		r.code("Close of "+wrong, r.b.Close(r.ctx(), id, terminal.Force), fault.SessionNotFound)
	}
	if _, ok := r.session(s.ID); !ok {
		r.Error("the session is gone after calls with other ids")
	}
}

func sessionsAreListed(r *rig) { // TERM-18
	seen := map[terminal.ID]bool{}
	var ids []terminal.ID
	for range 3 { // TERM-2
		s := r.open()
		if s.ID == "" || seen[s.ID] {
			r.Fatalf("id %q is empty or was given before", s.ID)
		}
		seen[s.ID] = true
		ids = append(ids, s.ID)
		listed, ok := r.found(s.ID)
		if !ok {
			r.Fatalf("%s is not listed after Open", s.ID)
		}
		if s.Backend != r.b.Name() || listed.Backend != r.b.Name() {
			r.Errorf("backend is %q and %q, want %q", s.Backend, listed.Backend, r.b.Name())
		}
		if listed.Columns <= 0 || listed.Rows <= 0 {
			r.Errorf("size is %dx%d", listed.Columns, listed.Rows)
		}
	}
	r.must(r.b.Close(r.ctx(), ids[1], terminal.Force)) // TERM-3
	for i, id := range ids {
		if _, ok := r.found(id); ok == (i == 1) {
			r.Errorf("session %d: listed is %v after the second was closed", i, ok)
		}
	}
	if b, ok := r.b.(terminal.Finder); ok {
		_, err := b.Find(r.ctx(), ids[0]+"x")
		r.code("Find of an id that was never given", err, fault.SessionNotFound)
		_, err = b.Find(r.ctx(), ids[1])
		r.code("Find of a closed session", err, fault.SessionEnded)
	}
}

func openObeys(r *rig) { // TERM-4
	spec := terminal.OpenSpec{Profile: r.can.Profile, Cwd: "/", Env: map[string]string{"TERMPILOT_TEST": "a b"}, Name: "contract", Columns: 61, Rows: 17}
	s := r.openSpec(spec)
	p := r.run(s.ID, "pwd; echo \"[$TERMPILOT_TEST]\"")
	if got, want := r.text(s.ID, p.Output), "/\n[a b]"; strings.TrimSuffix(got, "\n") != want {
		r.Errorf("got %q, want %q", got, want)
	}
	listed, _ := r.session(s.ID)
	if listed.Name != "contract" {
		r.Errorf("name is %q", listed.Name)
	}
	if !r.can.FixedSize && (listed.Columns != 61 || listed.Rows != 17) {
		r.Errorf("size is %dx%d", listed.Columns, listed.Rows)
	}
}

func openRefuses(r *rig) { // TERM-5
	_, err := r.b.Open(r.ctx(), terminal.OpenSpec{Profile: "no such profile"})
	r.code("a profile that is not there", err, fault.ProfileNotFound)
	_, err = r.b.Open(r.ctx(), terminal.OpenSpec{Place: terminal.InTab, Window: "no such window"})
	r.code("a window that is not there", err, fault.WindowNotFound)
	_, err = r.b.Open(r.ctx(), terminal.OpenSpec{Place: terminal.InSplit, Beside: "nosuch"})
	r.code("a session that is not there", err, fault.SessionNotFound)
	if p, ok := r.b.(terminal.Profiler); ok {
		names, err := p.Profiles(r.ctx())
		r.must(err)
		if len(names) == 0 {
			r.Error("there is no profile")
		}
	}
}

func commandEndsSession(r *rig) { // TERM-60
	s := r.openSpec(terminal.OpenSpec{Profile: r.can.Profile, Command: "read x; (exit 7)"})
	w := r.watch(s.ID)
	r.must(r.b.Send(r.ctx(), s.ID, []byte("\r")))
	gone := w.until(terminal.Gone).Exit
	if _, ok := r.session(s.ID); ok {
		r.Error("it is listed after its command has ended")
	}
	if _, ok := r.b.(terminal.Ender); ok && !r.can.NoExit && (gone.Code == nil || *gone.Code != 7) {
		r.Errorf("it ended with %+v, want the code 7", gone)
	}
}

// verbatim is every byte that a terminal could be tempted to change, in an order
// that no terminal takes for a whole sequence of its own.
func verbatim(utf8Only bool) []byte {
	text := []byte("\x1b[200~a\tb\r\nc\x1b[201~ \x1bOP\x00\x7f日本 é ")
	if !utf8Only {
		text = append(text, 0xff, 0xfe, 0xc3)
	}
	for c := range 0x20 {
		text = append(text, byte(c))
	}
	return append(bytes.Repeat([]byte("0123456789abcdef"), 256), text...)
}

// dump is the command that shows n bytes as they arrive. It says so first.
func dump(n int) string {
	return fmt.Sprintf("stty raw -echo opost; printf 'now%%s' reading; head -c %d | od -An -v -tx1; stty sane", n)
}

func sendIsVerbatim(r *rig) { // TERM-6
	s := r.open()
	text := verbatim(r.can.UTF8Only)
	w := r.watch(s.ID)
	w.prompt()
	r.must(r.b.Send(r.ctx(), s.ID, []byte(dump(len(text))+"\r")))
	started := w.until(terminal.Started)
	r.shows(s.ID, "nowreading")
	r.must(r.b.Send(r.ctx(), s.ID, text[:4000]))
	r.must(r.b.Send(r.ctx(), s.ID, text[4000:]))
	w.until(terminal.Ended)
	p, err := r.b.Prompt(r.ctx(), s.ID, started.Prompt.ID)
	r.must(err)
	_, shown, _ := strings.Cut(r.text(s.ID, p.Output), "nowreading")
	got, err := hex.DecodeString(strings.Join(strings.Fields(shown), ""))
	if err != nil || !bytes.Equal(got, text) {
		r.Errorf("%d bytes arrived of %d (%v), the first difference is at %d", len(got), len(text), err, difference(got, text))
	}
}

func difference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func sendReachesOne(r *rig) { // TERM-7
	one, two := r.open(), r.open()
	r.run(one.ID, "echo only-here")
	s, err := r.b.Screen(r.ctx(), two.ID, terminal.Range{})
	r.must(err)
	if strings.Contains(join(s.Rows), "only") {
		r.Error("what was sent to one session is in the other")
	}
	if b, ok := r.b.(terminal.Broadcaster); ok {
		on, err := b.Broadcasts(r.ctx(), one.ID)
		r.must(err)
		if on {
			r.Error("a new session broadcasts")
		}
	}
}

func closeEnds(r *rig) { // TERM-8
	for _, how := range []terminal.CloseMode{terminal.Hangup, terminal.Force} {
		s := r.open()
		r.begin(s.ID, "sleep 60")
		r.must(r.b.Close(r.ctx(), s.ID, how))
		if _, ok := r.session(s.ID); ok {
			r.Errorf("mode %d: still listed after Close", how)
		}
		r.code("Close again", r.b.Close(r.ctx(), s.ID, how), fault.SessionEnded)
		r.code("Send after Close", r.b.Send(r.ctx(), s.ID, []byte("x")), fault.SessionEnded)
		_, err := r.b.Watch(r.ctx(), s.ID)
		r.code("Watch after Close", err, fault.SessionEnded)
	}
}

func endedStayReadable(r *rig) { // TERM-9
	s := r.open()
	p := r.run(s.ID, "echo last words")
	w := r.watch(s.ID)
	w.prompt()
	r.must(r.b.Send(r.ctx(), s.ID, []byte("exit 3\r")))
	w.until(terminal.Gone)
	if got := strings.TrimSuffix(r.text(s.ID, p.Output), "\n"); got != "last words" {
		r.Errorf("got %q", got)
	}
	again, err := r.b.Prompt(r.ctx(), s.ID, p.ID)
	r.must(err)
	if again.State != terminal.Finished {
		r.Errorf("the prompt is in state %d", again.State)
	}
}

func exitIsTold(r *rig) { // TERM-10
	e, ok := r.b.(terminal.Ender)
	if !ok || r.can.NoExit {
		r.Skip("this backend does not know how sessions end")
	}
	s := r.open()
	_, err := e.Exit(r.ctx(), s.ID)
	r.code("Exit of a live session", err, fault.SessionNotFound)
	_, err = e.Exit(r.ctx(), "nosuch")
	r.code("Exit of no session", err, fault.SessionNotFound)
	w := r.watch(s.ID)
	w.prompt()
	before := time.Now()
	r.must(r.b.Send(r.ctx(), s.ID, []byte("exit 42\r")))
	gone := w.until(terminal.Gone)
	exit, err := e.Exit(r.ctx(), s.ID)
	r.must(err)
	for _, x := range []terminal.Exit{exit, gone.Exit} {
		if x.Code == nil || *x.Code != 42 || x.Signal != "" {
			r.Errorf("got %+v", x)
		}
	}
	if exit.At.Before(before.Add(-time.Second)) || exit.At.After(time.Now().Add(time.Second)) {
		r.Errorf("ended at %v", exit.At)
	}
	killed := r.open()
	w = r.watch(killed.ID)
	w.prompt()
	r.must(r.b.Close(r.ctx(), killed.ID, terminal.Force))
	if x := w.until(terminal.Gone).Exit; x.Code != nil {
		r.Errorf("a closed session has the code %d", *x.Code)
	}
}

func allPrompts(r *rig) { // TERM-16
	b, ok := r.b.(terminal.Prompter)
	if !ok {
		r.Skip("this backend tells prompts one by one")
	}
	idle, busy, closed := r.open(), r.open(), r.open()
	r.takesPastes(idle.ID) // and changes no more
	r.begin(busy.ID, "sleep 60")
	r.must(r.b.Close(r.ctx(), closed.ID, terminal.Force))
	all, err := b.Prompts(r.ctx())
	if errors.Is(err, fault.Unsupported) {
		return
	}
	r.must(err)
	live, err := r.b.Sessions(r.ctx())
	r.must(err)
	if len(all) != len(live) {
		r.Errorf("%d prompts of %d sessions", len(all), len(live))
	}
	for id, state := range map[terminal.ID]terminal.PromptState{idle.ID: terminal.Editing, busy.ID: terminal.Running} {
		p, err := r.b.Prompt(r.ctx(), id, "")
		r.must(err)
		want := terminal.Prompt{ID: p.ID, State: p.State, Marks: p.Marks, Typed: p.Typed, Touched: p.Touched, Paste: p.Paste}
		if all[id] != want || p.State != state {
			r.Errorf("got %+v, want %+v in state %d", all[id], want, state)
		}
	}
}

func cursorKeys(r *rig) { // TERM-17
	b, ok := r.b.(terminal.Keyer)
	if !ok {
		r.Skip("this backend does not tell the mode of its cursor keys")
	}
	s := r.open()
	for _, want := range []bool{false, true, false} {
		mode := `printf '\033[?1l'`
		if want {
			mode = `printf '\033[?1h'`
		}
		r.run(s.ID, mode)
		if got, err := b.ApplicationCursor(r.ctx(), s.ID); got != want || err != nil {
			r.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}

func callsEnd(r *rig) { // TERM-11
	s := r.open()
	ctx, cancel := context.WithDeadline(r.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for name, call := range map[string]func() error{
		"Sessions": func() error { _, err := r.b.Sessions(ctx); return err },
		"Find": func() error {
			b, ok := r.b.(terminal.Finder)
			if !ok {
				return nil
			}
			_, err := b.Find(ctx, s.ID)
			return err
		},
		"Screen": func() error { _, err := r.b.Screen(ctx, s.ID, terminal.Range{}); return err },
		"Prompt": func() error { _, err := r.b.Prompt(ctx, s.ID, ""); return err },
		"Send":   func() error { return r.b.Send(ctx, s.ID, []byte("x")) },
		"Watch":  func() error { _, err := r.b.Watch(ctx, s.ID); return err },
		"Open":   func() error { _, err := r.b.Open(ctx, terminal.OpenSpec{Profile: r.can.Profile}); return err },
		"Close":  func() error { return r.b.Close(ctx, s.ID, terminal.Force) },
	} {
		began := time.Now()
		err := call()
		if err != nil {
			r.code(name+" after its deadline", err, fault.Deadline)
		}
		if took := time.Since(began); took > r.can.Patience/2 {
			r.Errorf("%s took %v after its deadline", name, took)
		}
	}
	if _, err := r.b.Sessions(r.ctx()); err != nil {
		r.Errorf("the backend does not serve any more: %v", err)
	}
}

func callsAtOnce(r *rig) { // TERM-12
	sessions := []terminal.Session{r.open(), r.open(), r.open()}
	var wg sync.WaitGroup
	for i, s := range sessions {
		wg.Go(func() {
			text := fmt.Sprintf("mine-%d", i)
			for range 5 {
				p := r.run(s.ID, "echo "+text)
				if got := strings.TrimSpace(r.text(s.ID, p.Output)); got != text {
					r.Errorf("got %q, want %q", got, text)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				if _, err := r.b.Screen(r.ctx(), s.ID, terminal.Range{Kind: terminal.Tail, Count: 50}); err != nil {
					r.Error(err)
				}
				if _, err := r.b.Sessions(r.ctx()); err != nil {
					r.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func comesBack(r *rig) { // TERM-13
	if r.can.Disconnect == nil {
		r.Skip("this backend cannot be cut off here")
	}
	s := r.open()
	w := r.watch(s.ID)
	w.prompt()
	r.can.Disconnect(r.T, r.b)
	for {
		if _, ok := w.next(); !ok {
			break
		}
	}
	w.mu.Lock()
	r.code("the end of watching", w.err, fault.BackendUnavailable)
	w.mu.Unlock()
	_, err := r.b.Screen(r.ctx(), s.ID, terminal.Range{})
	r.code("Screen while cut off", err, fault.BackendUnavailable)
	r.code("Send while cut off", r.b.Send(r.ctx(), s.ID, []byte("x")), fault.BackendUnavailable)
	r.can.Reconnect(r.T, r.b)
	r.eventually(s.ID, "the backend answers again", func() bool {
		_, err := r.b.Screen(r.ctx(), s.ID, terminal.Range{})
		return err == nil
	})
	r.run(s.ID, "echo back")
}
