package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"termpilot/fault"
	"termpilot/vt"
)

// person is somebody at a terminal who attaches.
type person struct {
	t      *testing.T
	in     *io.PipeWriter
	sizes  chan Size
	result chan Left
	err    error

	mu   sync.Mutex
	seen bytes.Buffer
	term *vt.Terminal
}

func (h *testHost) attach(t *testing.T, id string, columns, rows int) *person {
	t.Helper()
	conn, err := dial(t.Context(), h.loc.Attach)
	if err != nil {
		t.Fatal(err)
	}
	in, typed := io.Pipe()
	p := &person{t: t, in: typed, sizes: make(chan Size, 1), result: make(chan Left, 1), term: vt.New(vt.Options{Columns: columns, Rows: rows})}
	p.sizes <- Size{columns, rows}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		left, err := Attach(ctx, conn, id, in, p, p.sizes, 0x1d)
		p.err = err
		p.result <- left
	})
	t.Cleanup(func() {
		cancel()
		_ = typed.Close()
		wg.Wait()
	})
	return p
}

// Write is the person's screen.
func (p *person) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.Write(b)
	return p.term.Write(b)
}

func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	_, rows := p.term.Size()
	for _, r := range p.term.Text(p.term.Dropped()+int64(p.term.History()), rows) {
		all = append(all, r.Text)
	}
	return strings.TrimRight(strings.Join(all, "\n"), "\n ")
}

func (p *person) awaits(want string) {
	p.t.Helper()
	waitUntil(p.t, want, func() bool { return strings.Contains(p.screen(), want) })
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.in.Write([]byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

func TestTwoPeopleAndAClientShareASession(t *testing.T) { // HOST-60
	h := newHost(t)
	c := h.connect()
	id := c.openReady("bash")
	c.run(id, "echo before")
	anna := h.attach(t, id, 80, 24)
	anna.awaits("before")
	ben := h.attach(t, id, 100, 30) // HOST-61
	ben.awaits("before")
	waitUntil(t, "the last size counts", func() bool { return c.variable(id, "columns") == "100" && c.variable(id, "rows") == "30" })

	anna.types("echo one-$((1+1))\r")
	anna.awaits("one-2")
	ben.awaits("one-2")
	c.awaitScreen(id, "one-2")
	c.run(id, "echo from-client")
	anna.awaits("from-client")

	ben.sizes <- Size{90, 20}
	waitUntil(t, "a new size", func() bool { return c.variable(id, "columns") == "90" })

	anna.types("x\x1dlost") // HOST-62
	if left := <-anna.result; !left.Detached || anna.err != nil {
		t.Errorf("anna: %+v %v", left, anna.err)
	}
	ben.types("\x15exit 4\r")
	if left := <-ben.result; left.Detached || left.Code == nil || *left.Code != 4 || ben.err != nil {
		t.Errorf("ben: %+v %v", left, ben.err)
	}
	if got := c.screen(id); strings.Contains(got, "lost") {
		t.Errorf("typed after detaching: %q", got)
	}
}

func TestAttachingToWhatIsNotThereSaysSo(t *testing.T) { // HOST-63
	h := newHost(t)
	c := h.connect()
	c.watchEnds()
	id := c.open("", "Termpilot Shell Command", quote("exit 1"))
	c.awaitTerminated(id)
	for session, want := range map[string]fault.Code{id: fault.SessionEnded, "nobody": fault.SessionNotFound, "active": fault.SessionNotFound, "": fault.SessionNotFound} {
		p := h.attach(t, session, 80, 24)
		<-p.result
		if !errors.Is(p.err, want) {
			t.Errorf("%q: got %v, want %s", session, p.err, want)
		}
	}
}

func TestAPersonsTerminalIsNotAskedWhatTheEmulatorAnswers(t *testing.T) { // HOST-64
	h := newHost(t)
	c := h.connect()
	id := c.openReady("bash")
	c.run(id, "echo here")
	p := h.attach(t, id, 80, 24)
	p.awaits("here")
	h.write("ask", `printf '\033[c\033[6n\033[>c\033[>q\033[?u\033]11;?\007\033]52;c;aGk=\007\033P+q544e\033\\\033Z\005\033[14t\033[31mred\033[m\n'`)
	c.run(id, "sh ~/ask")
	p.awaits("red")
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, query := range []string{"\x1b[c", "\x1b[6n", "\x1b[>c", "\x1b[>q", "\x1b[?u", "]11;?", "]52", "\x1bP", "\x1bZ", "\x05", "\x1b[14t", "]133"} {
		if bytes.Contains(p.seen.Bytes(), []byte(query)) {
			t.Errorf("%q went through", query)
		}
	}
	if !bytes.Contains(p.seen.Bytes(), []byte("\x1b[31mred")) {
		t.Error("colours did not")
	}
}

func TestAViewerThatFallsBehindGetsTheScreenPaintedAnew(t *testing.T) { // HOST-65
	v := newViewer(nil)
	for range 3 {
		v.show(bytes.Repeat([]byte("x"), maxView/2+1), false)
	}
	if !v.repaint || len(v.waiting) != 0 {
		t.Errorf("repaint %v, %d bytes waiting", v.repaint, len(v.waiting))
	}
}

func TestOneWhoComesInTheMiddleOfASequenceDoesNotSeeItsRest(t *testing.T) { // HOST-64
	h := newHost(t)
	c := h.connect()
	for begin, rest := range map[string]string{`\033]52;c;SGVs`: `bG8=\007`, `\033[3`: `1m`, `\303`: `\244`, `\033P1;2`: `q#0\033\\\\`} {
		id := c.open("", "Custom Command", `"Yes"`, "Command", quote(`/bin/sh -c 'printf "on`+begin+`"; read x; printf "`+rest+`after"; read y; printf " end"; read z'`))
		c.awaitScreen(id, "on")
		p := h.attach(t, id, 80, 24)
		p.awaits("on")
		p.types("\r")
		p.awaits("after")
		p.types("\r")
		p.awaits("end")
		if got, want := p.screen(), c.screen(id); got != want {
			t.Errorf("%s, then %s: she sees %q, want %q", begin, rest, got, want)
		}
	}
}

func TestNothingOfAProgramThatEndedHidesWhatTheNextOneShows(t *testing.T) { // HOST-112
	h := newHost(t)
	h.write("p", `if [ -e ~/again ]; then printf second; else : > ~/again; printf first; read x; printf 'then\033]0;abc'; fi; read x; printf " $x."; read y`)
	c := h.connect()
	id := c.open("", "Custom Command", `"Yes"`, "Command", quote("/bin/sh "+h.home+"/p"))
	c.awaitScreen(id, "first")
	p := h.attach(t, id, 80, 24)
	p.awaits("first")
	p.types("\r")
	p.awaits("then")
	c.restart(id, false)
	p.awaits("second")
	p.types("read\r")
	p.awaits("read.")
}

func TestAVisitEndsWithAllThatWasToBeSeenWhenTheHostIsStopped(t *testing.T) { // HOST-62
	h := newHost(t)
	c := h.connect()
	id := c.openReady("bash")
	conn, err := dial(t.Context(), h.loc.Attach)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := writeFrame(conn, frameHello, raw(hello{V: 1, Op: "attach", Session: id})); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readFrame(conn); err != nil { // the screen
		t.Fatal(err)
	}
	c.run(id, "seq 100000") // more than a socket holds
	if _, err := ask(t.Context(), h.loc, hello{V: 1, Op: "stop", Force: true}); err != nil {
		t.Fatal(err)
	}
	for range c.note { // until its sessions and clients are gone
	}
	var seen []byte
	for {
		kind, payload, err := readFrame(conn)
		if err != nil {
			t.Fatalf("the host went away after %q", seen[max(0, len(seen)-100):])
		}
		if kind == frameEnd {
			break
		}
		seen = append(seen, payload...)
	}
	if !bytes.Contains(seen, []byte("\n100000\r\n")) {
		t.Error("the end of the output is lost")
	}
}
