package iterm

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// told is what an event says, in short.
type told struct {
	kind terminal.EventKind
	id   string
	exit int // -1: none
}

func inShort(events []terminal.Event) (list []told) {
	for _, e := range events {
		x := told{e.Kind, e.Prompt.ID, -1}
		if e.Prompt.Exit != nil {
			x.exit = *e.Prompt.Exit
		}
		list = append(list, x)
	}
	return list
}

// withoutID is a prompt notification as iTerm2 told it before it named prompts.
func withoutID(n *api.Notification) *api.Notification {
	n.PromptNotification.UniquePromptId = nil
	if p := n.PromptNotification.GetPrompt().GetPrompt(); p != nil {
		p.UniquePromptId = nil
	}
	return n
}

func TestPromptEventsAreToldAsTheyCome(t *testing.T) { // ITERM-41, ITERM-77
	for _, c := range []struct {
		name string
		come []*api.Notification
		want []told
	}{
		{
			"the prompt comes late after the end",
			[]*api.Notification{commandStarted(guid(1), "P1", "make"), commandEnded(guid(1), "P1", 2), screenUpdated(guid(1)), promptShown(guid(1), "P2")},
			[]told{{terminal.Started, "P1", -1}, {terminal.Ended, "P1", 2}, {terminal.Output, "", -1}, {terminal.PromptShown, "P2", -1}},
		},
		{
			"Enter on an empty line",
			[]*api.Notification{commandStarted(guid(1), "P1", ""), commandEnded(guid(1), "P1", 0), promptShown(guid(1), "P2")},
			[]told{{terminal.Started, "P1", -1}, {terminal.Ended, "P1", 0}, {terminal.PromptShown, "P2", -1}},
		},
		{
			"an end that names an older command", // scripts from before marks were told apart
			[]*api.Notification{commandStarted(guid(1), "P1", ""), commandEnded(guid(1), "P0", 130), promptShown(guid(1), "P2")},
			[]told{{terminal.Started, "P1", -1}, {terminal.Ended, "P0", 130}, {terminal.PromptShown, "P2", -1}},
		},
		{
			"a shell inside the command shows its own", // ssh: the outer one goes on
			[]*api.Notification{commandStarted(guid(1), "P1", "ssh x"), promptShown(guid(1), "Q1"), commandStarted(guid(1), "Q1", "ls"), commandEnded(guid(1), "P1", 255)},
			[]told{{terminal.Started, "P1", -1}, {terminal.PromptShown, "Q1", -1}, {terminal.Started, "Q1", -1}, {terminal.Ended, "P1", 255}},
		},
		{
			"a prompt that is left, and drawn anew with another id",
			[]*api.Notification{commandStarted(guid(1), "", ""), promptShown(guid(1), "P2"), promptShown(guid(1), "P3")},
			[]told{{terminal.Aborted, "", -1}, {terminal.PromptShown, "P2", -1}, {terminal.PromptShown, "P3", -1}},
		},
		{
			"before prompts had ids",
			[]*api.Notification{withoutID(promptShown(guid(1), "")), withoutID(commandStarted(guid(1), "", "make")), withoutID(commandEnded(guid(1), "", 1))},
			[]told{{terminal.PromptShown, "", -1}, {terminal.Started, "", -1}, {terminal.Ended, "", 1}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(1)
			w.sessions[0].prompts = []*api.GetPromptResponse{editing("P0")}
			s := newFakeServer(t, w)
			events := watch(t, s.client(Options{}), sid(1))
			for _, n := range append(c.come, terminated(guid(1))) {
				s.notifyAll(n)
			}
			all := collect(t, events, terminal.Gone)
			got := inShort(all[1 : len(all)-1])
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("event %d: got %v, want %v", i, got[i], c.want[i])
				}
			}
		})
	}
}

func TestAPromptWithoutAnIDIsNoPlaceToType(t *testing.T) { // ITERM-77
	w := newWorld(1)
	old := editing("")
	old.UniquePromptId = nil
	w.sessions[0].prompts = []*api.GetPromptResponse{old}
	s := newFakeServer(t, w)
	c := s.client(Options{})
	if p, err := c.Prompt(t.Context(), sid(1), ""); err != nil || p.State != terminal.Editing || p.Typed != terminal.Unknown {
		t.Errorf("got %+v, %v", p, err)
	}
	events := watch(t, c, sid(1))
	s.notifyAll(withoutID(promptShown(guid(1), "")))
	named := promptShown(guid(1), "P1")
	named.PromptNotification.GetPrompt().GetPrompt().UniquePromptId = nil // the notification names it itself
	s.notifyAll(named)
	s.notifyAll(terminated(guid(1)))
	all := collect(t, events, terminal.Gone)
	if p := all[1].Prompt; p.Typed != terminal.Unknown {
		t.Errorf("got %+v", p)
	}
	if p := all[2].Prompt; p.ID != "P1" || p.Typed != terminal.No {
		t.Errorf("got %+v", p)
	}
}

func TestMarksThatVanishAreLost(t *testing.T) { // ITERM-78
	w := newWorld(1)
	w.sessions[0].prompts = []*api.GetPromptResponse{editing("P1"), editing("P2")}
	s := newFakeServer(t, w)
	c := s.client(Options{})
	prompt := func(id string) terminal.Prompt {
		t.Helper()
		p, err := c.Prompt(t.Context(), sid(1), id)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := prompt(""); p.ID != "P2" {
		t.Errorf("got %+v", p)
	}
	w.mu.Lock()
	w.sessions[0].prompts = w.sessions[0].prompts[:1] // cleared: an older one is the last now
	w.mu.Unlock()
	if p := prompt("P2"); p.State != terminal.Lost {
		t.Errorf("got %+v", p)
	}
	if p := prompt(""); p.ID != "P1" {
		t.Errorf("got %+v", p)
	}
	w.mu.Lock()
	w.sessions[0].prompts = nil // a theme took the marks out, or there never were any
	w.mu.Unlock()
	if p := prompt(""); p != (terminal.Prompt{}) {
		t.Errorf("got %+v", p)
	}
	if got := kinds(collect(t, watch(t, c, sid(1)), terminal.State)); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestRowsThatAreWrappedAnewAreReadWhereTheyAreNow(t *testing.T) { // ITERM-22, ITERM-78
	finished := editing("P1")
	finished.PromptState, finished.ExitStatus = api.GetPromptResponse_FINISHED.Enum(), proto.Uint32(0)
	finished.OutputRange = coords(0, 30, 0, 31)
	w := newWorld(1)
	x := w.sessions[0]
	x.lines = nil
	for range 30 {
		x.lines = append(x.lines, line("before"))
	}
	x.lines = append(x.lines, line("output"), line("$ "))
	next := editing("P2")
	next.PromptRange = coords(0, 31, 2, 31)
	x.prompts = []*api.GetPromptResponse{finished, next}
	s := newFakeServer(t, w)
	c := s.client(Options{})
	output := func() (string, int) {
		t.Helper()
		p, err := c.Prompt(t.Context(), sid(1), "P1")
		if err != nil {
			t.Fatal(err)
		}
		screen, err := c.Screen(t.Context(), sid(1), terminal.Range{Kind: terminal.Cells, Span: p.Output})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, row := range screen.Rows {
			text += row.Text
			if !row.Soft {
				text += "\n"
			}
		}
		return text, screen.Columns
	}
	if got, columns := output(); got != "output\n" || columns != 80 {
		t.Errorf("got %q in %d columns", got, columns)
	}
	w.mu.Lock() // a person makes the window narrow: 30 rows become 60
	x.columns, x.vars[varColumns] = 4, 4
	x.lines = nil
	soft := func(text string) *api.LineContents {
		l := line(text)
		l.Continuation = api.LineContents_CONTINUATION_SOFT_EOL.Enum()
		return l
	}
	for range 30 {
		x.lines = append(x.lines, soft("befo"), line("re"))
	}
	x.lines = append(x.lines, soft("outp"), line("ut"), line("$ "))
	finished.OutputRange, next.PromptRange = coords(0, 60, 0, 62), coords(0, 62, 2, 62)
	w.mu.Unlock()
	s.notifyAll(layoutChanged(w))
	if got, columns := output(); got != "output\n" || columns != 4 {
		t.Errorf("got %q in %d columns", got, columns)
	}
}

func TestTheEndOfAPartIsNotTakenForTheEndOfALine(t *testing.T) { // ITERM-22, ITERM-23
	w := tall()
	s := newFakeServer(t, w)
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		q := m.GetGetBufferRequest()
		if q == nil {
			return false
		}
		// Parts of rows come with flags of their own: whole ones must be asked for.
		r := q.GetLineRange().GetWindowedCoordRange()
		if r.GetCoordRange().GetEnd().GetX() != 0 || r.GetCoordRange().GetStart().GetX() != 0 || r.GetColumns().GetLength() != 0 {
			t.Errorf("asked for %v", r)
		}
		return false
	}
	c := s.client(Options{})
	screen, err := c.Screen(t.Context(), sid(1), terminal.Range{Kind: terminal.Cells, Span: terminal.Span{
		Start: terminal.Point{Row: 15, Column: 1}, End: terminal.Point{Row: 15, Column: 4},
	}})
	if err != nil || len(screen.Rows) != 1 || screen.Rows[0].Soft { // row 15 goes on, but not in the span
		t.Errorf("got %+v, %v", screen, err)
	}
}

func TestMoreRowsThanWereAskedForAreNoneOfThem(t *testing.T) { // ITERM-5
	w := tall()
	s := newFakeServer(t, w)
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetGetBufferRequest() == nil {
			return false
		}
		answer := s.world.answer(m)
		r := answer.GetGetBufferResponse()
		r.Contents = append(r.Contents, line("one too many"))
		c.answer(m, answer)
		return true
	}
	c := s.client(Options{})
	for _, want := range []terminal.Range{
		{Kind: terminal.Rows, First: 12, Count: 2},
		{Kind: terminal.Tail, Count: 2},
		{Kind: terminal.Cells, Span: terminal.Span{Start: terminal.Point{Row: 12}, End: terminal.Point{Row: 13, Column: 2}}},
	} {
		screen, err := c.Screen(t.Context(), sid(1), want)
		if fault.CodeOf(err) != fault.Protocol {
			t.Errorf("%+v: got %+v, %v", want, screen, err)
		}
	}
}

func TestAPromptInAStateThatIsNoneIsNoPromptToTypeAt(t *testing.T) { // ITERM-5
	w := newWorld(1)
	p := editing("P")
	p.PromptState = api.GetPromptResponse_State(7).Enum()
	w.sessions[0].prompts = []*api.GetPromptResponse{p}
	c := newFakeServer(t, w).client(Options{})
	got, err := c.Prompt(t.Context(), sid(1), "")
	if fault.CodeOf(err) != fault.Protocol {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := c.Watch(t.Context(), sid(1)); fault.CodeOf(err) != fault.Protocol {
		t.Errorf("watched: %v", err)
	}
}

func TestABadRangeIsNoEmptyScreen(t *testing.T) { // ITERM-5
	s := newFakeServer(t, newWorld(1))
	s.handle = func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
		if m.GetGetBufferRequest() == nil {
			return false
		}
		c.answer(m, &api.ServerOriginatedMessage{}) // as iTerm2 answers a range that it does not like
		return true
	}
	_, err := s.client(Options{}).Screen(t.Context(), sid(1), terminal.Range{})
	wantCode(t, err, fault.Protocol)
}
