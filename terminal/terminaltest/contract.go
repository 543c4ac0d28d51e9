package terminaltest

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Abilities says what the backend under test can, so that TestBackend knows
// which clauses of specs/terminal.md apply. The zero value is a backend whose
// default profile is a bash with prompt marks.
type Abilities struct {
	Profile    string        // whose shell is bash (or one that behaves so); "" is the default
	Patience   time.Duration // the longest wait for anything; 0 is 20s
	Scrollback int           // rows of history that a session keeps; 0: not known, the loss of rows is not tested
	Overflow   int           // so many commands overflow a watcher that does not read; 0: not tested
	FixedSize  bool          // Open cannot choose rows and columns: what needs a size is left out
	NoPlaces   bool          // Open makes windows alone: no tabs, no splits
	NoFocus    bool          // no session is ever Current
	UTF8Only   bool          // Send takes UTF-8 alone
	NoExit     bool          // how a session ended is not known

	// Disconnect makes the backend unreachable, Reconnect reachable again; nil:
	// not tested.
	Disconnect, Reconnect func(t *testing.T, b terminal.Backend)
}

// TestBackend holds a backend to the contract of terminal.Backend, as numbered
// in specs/terminal.md. open makes one for each part, and cleans it up when its
// test ends. The commands that it types are those of bash, printf, seq, head,
// od and stty. It takes real time: it cannot run in a synctest bubble.
func TestBackend(t *testing.T, open func(t *testing.T) terminal.Backend, can Abilities) {
	can.Patience = cmp.Or(can.Patience, 20*time.Second)
	for _, part := range []struct {
		name string
		test func(*rig)
	}{
		{"ids are exact", idsAreExact},
		{"sessions are listed while they live", sessionsAreListed},
		{"open does what its spec says", openObeys},
		{"open names what it does not find", openRefuses},
		{"a command's end is the session's", commandEndsSession},
		{"send passes bytes verbatim", sendIsVerbatim},
		{"send reaches one session", sendReachesOne},
		{"close returns when the session is gone", closeEnds},
		{"ended sessions stay readable", endedStayReadable},
		{"exit is told", exitIsTold},
		{"all prompts are told at once", allPrompts},
		{"text is typed at a fresh prompt", typesAtAFreshPrompt},
		{"text is typed at no other prompt", typesAtNoOtherPrompt},
		{"text is typed at no session that is not there", typesAtNoSessionThatIsNotThere},
		{"what was told is followed", followsWhatWasTold},
		{"cursor keys follow their mode", cursorKeys},
		{"calls end with their context", callsEnd},
		{"calls may be made at once", callsAtOnce},
		{"a backend comes back", comesBack},
		{"the first event is the present", firstIsPresent},
		{"nothing is missed after watch", nothingIsMissed},
		{"a command starts and ends with one prompt", commandHasOnePrompt},
		{"prompts are never used again", promptsAreNew},
		{"unfinished input is told", unfinishedInput},
		{"gone is the last event", goneIsLast},
		{"watching ends with its context", watchingEnds},
		{"several may watch", severalWatch},
		{"a slow watcher is resynced", slowWatcher},
		{"a prompt tells what is typed", promptTellsTyped},
		{"a prompt that is not kept is lost", promptIsLost},
		{"a session without a prompt says so", noPrompt},
		{"enter is no command", enterIsNoCommand},
		{"a refused line never runs", refusedLine},
		{"lines typed and pasted at once", linesAtOnce},
		{"ctrl-c is told", ctrlC},
		{"forged marks change nothing", forgedMarks},
		{"output is told", outputIsTold},
		{"the job is told", jobIsTold},
		{"title and folder are told", titleAndFolder},
		{"a cleared history is gone", clearedHistory},
		{"output is exactly what was printed", outputIsExact},
		{"what is painted over older text is told or said not to be", paintedIsTold},
		{"the visible range is the screen", visibleRange},
		{"tail and rows count from the end and the beginning", tailAndRows},
		{"soft wraps and wide characters join", wrapsAndWide},
		{"cells cut between characters", cellsCut},
		{"blanks that were written stay", blanksStay},
		{"rows keep their numbers", rowsKeepNumbers},
		{"no more than MaxRows come", maxRows},
		{"lost rows are left out", lostRows},
		{"the alternate screen is told", alternateScreen},
		{"tabs go where they are asked for", placesAreObeyed},
		{"splits divide a session on the side that is named", splitsDivide},
		{"the focus is not taken unless asked", focusIsKept},
		{"focus moves to the session named", focusMoves},
		{"a size is told as it is", resizeIsTold},
		{"a name is given and taken away", renameIsTold},
		{"arranging names what it does not find", arrangingNamesWhatItDoesNotFind},
		{"groups close as a whole", groupsClose},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(&rig{T: t, b: open(t), can: can}) })
	}
}

// rig is one part's backend, and the ways in which the parts use it.
type rig struct {
	*testing.T
	b   terminal.Backend
	can Abilities
}

// ctx lives as long as the rig's patience.
func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(r.Context(), r.can.Patience)
	r.Cleanup(cancel)
	return ctx
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// code checks that err is a fault.Error with the code.
func (r *rig) code(what string, err error, want fault.Code) {
	r.Helper()
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != want {
		r.Errorf("%s: got %v, want %s", what, err, want)
	}
}

// open opens a session of 20 columns and 10 rows that shows its first prompt.
func (r *rig) open() terminal.Session {
	r.Helper()
	spec := terminal.OpenSpec{Profile: r.can.Profile, Columns: 20, Rows: 10}
	if r.can.FixedSize {
		spec.Columns, spec.Rows = 0, 0
	}
	return r.openSpec(spec)
}

func (r *rig) openSpec(spec terminal.OpenSpec) terminal.Session {
	r.Helper()
	s, err := r.b.Open(r.ctx(), spec)
	r.must(err)
	r.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), r.can.Patience)
		defer cancel()
		_ = r.b.Close(ctx, s.ID, terminal.Force) // most parts close it themselves, or leave it to the backend's end
	})
	if spec.Command == "" {
		r.watch(s.ID).prompt()
	}
	return s
}

// feed is one subscription, read by a goroutine into a queue without a limit.
type feed struct {
	r      *rig
	id     terminal.ID
	mu     sync.Mutex
	queue  []terminal.Event
	err    error
	over   bool
	more   chan struct{}
	cancel context.CancelFunc
}

// watch subscribes; the goroutine that reads has ended when the test has.
func (r *rig) watch(id terminal.ID) *feed {
	r.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	events, err := r.b.Watch(ctx, id)
	if err != nil {
		cancel()
		r.Fatal(err)
	}
	w := &feed{r: r, id: id, more: make(chan struct{}, 1), cancel: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range events {
			w.put(e, err, false)
		}
		w.put(terminal.Event{}, nil, true)
	}()
	r.Cleanup(func() { cancel(); <-done })
	return w
}

func (w *feed) put(e terminal.Event, err error, over bool) {
	w.mu.Lock()
	switch {
	case err != nil:
		w.err = err
	case over:
		w.over = true
	default:
		w.queue = append(w.queue, e)
	}
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// next returns the next event but Output, within the rig's patience. ok is
// false when the sequence is over.
func (w *feed) next() (e terminal.Event, ok bool) {
	w.r.Helper()
	timeout := time.NewTimer(w.r.can.Patience)
	defer timeout.Stop()
	for {
		w.mu.Lock()
		for len(w.queue) > 0 && w.queue[0].Kind == terminal.Output {
			w.queue = w.queue[1:]
		}
		if len(w.queue) > 0 {
			e, w.queue = w.queue[0], w.queue[1:]
			w.mu.Unlock()
			return e, true
		}
		over, err := w.over, w.err
		w.mu.Unlock()
		if over || err != nil {
			return e, false
		}
		select {
		case <-w.more:
		case <-timeout.C:
			w.r.Fatalf("no event within %v", w.r.can.Patience)
		}
	}
}

// until skips to an event of a kind.
func (w *feed) until(kind terminal.EventKind) terminal.Event {
	w.r.Helper()
	for {
		e, ok := w.next()
		if !ok {
			w.r.Fatalf("the sequence ended (%v) before event %d came", w.err, kind)
		}
		if e.Kind == kind {
			return e
		}
	}
}

// prompt waits until a prompt stands at which nothing is typed.
func (w *feed) prompt() terminal.Prompt {
	w.r.Helper()
	for {
		e, ok := w.next()
		if !ok {
			w.r.Fatalf("the sequence ended (%v) before a prompt came", w.err)
		}
		if (e.Kind == terminal.State || e.Kind == terminal.PromptShown) && e.Prompt.State == terminal.Editing {
			return e.Prompt
		}
	}
}

// run types a command, waits for its end and the next prompt, and returns the
// command's prompt.
func (r *rig) run(id terminal.ID, command string) terminal.Prompt {
	r.Helper()
	w := r.watch(id)
	defer w.cancel()
	w.prompt()
	r.must(r.b.Send(r.ctx(), id, []byte(command+"\r")))
	started := w.until(terminal.Started)
	for {
		ended := w.until(terminal.Ended)
		if ended.Prompt.ID == started.Prompt.ID {
			break
		}
	}
	w.until(terminal.PromptShown)
	p, err := r.b.Prompt(r.ctx(), id, started.Prompt.ID)
	r.must(err)
	return p
}

// begin types a command and returns when it has started.
func (r *rig) begin(id terminal.ID, command string) {
	r.Helper()
	w := r.watch(id)
	defer w.cancel()
	w.prompt()
	r.must(r.b.Send(r.ctx(), id, []byte(command+"\r")))
	w.until(terminal.Started)
}

// text is what a span holds, soft wraps joined.
func (r *rig) text(id terminal.ID, span terminal.Span) string {
	r.Helper()
	s, err := r.b.Screen(r.ctx(), id, terminal.Range{Kind: terminal.Cells, Span: span})
	r.must(err)
	return join(s.Rows)
}

func join(rows []terminal.Row) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString(row.Text)
		if !row.Soft && i < len(rows)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// eventually looks again and again, with every event and at least 50 times a
// second, until what is waited for is so.
func (r *rig) eventually(id terminal.ID, what string, so func() bool) {
	r.Helper()
	timeout := time.After(r.can.Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-timeout:
			r.Fatalf("session %s: not within %v: %s", id, r.can.Patience, what)
		}
	}
}

// takesPastes waits until what tells so would tell that the prompt takes pastes:
// a line editor may show its prompt before it does.
func (r *rig) takesPastes(id terminal.ID) {
	r.Helper()
	r.eventually(id, "the prompt takes pastes", func() bool {
		p, err := r.b.Prompt(r.ctx(), id, "")
		return err == nil && p.Paste != terminal.No
	})
}

// shows waits until the screen and its history hold a text.
func (r *rig) shows(id terminal.ID, text string) {
	r.Helper()
	r.eventually(id, "the screen shows "+text, func() bool {
		s, err := r.b.Screen(r.ctx(), id, terminal.Range{Kind: terminal.Tail, Count: 200})
		return err == nil && strings.Contains(join(s.Rows), text)
	})
}

func (r *rig) session(id terminal.ID) (terminal.Session, bool) {
	r.Helper()
	list, err := r.b.Sessions(r.ctx())
	r.must(err)
	for _, s := range list {
		if s.ID == id {
			return s, true
		}
	}
	return terminal.Session{}, false
}

// found is session by the one call that asks for one session. It fails the test
// when that does not know what Sessions does.
func (r *rig) found(id terminal.ID) (terminal.Session, bool) {
	r.Helper()
	listed, ok := r.session(id)
	b, can := r.b.(terminal.Finder)
	if !can {
		return listed, ok
	}
	s, err := b.Find(r.ctx(), id)
	switch {
	case !ok && !errors.Is(err, fault.SessionEnded) && !errors.Is(err, fault.SessionNotFound):
		r.Errorf("Find of a session that is not listed: %v", err)
	case ok && (err != nil || s != listed):
		r.Errorf("Find gives %+v, %v, and Sessions %+v", s, err, listed)
	}
	return listed, ok
}
