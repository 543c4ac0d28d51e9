package pilot

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/terminal"
)

// target is one session and the backend that has it.
type target struct {
	backend terminal.Backend
	session terminal.Session
	ended   bool
	exit    terminal.Exit
}

func (t target) id() terminal.ID { return t.session.ID }

// answer is what one backend said to a listing.
type answer struct {
	sessions []terminal.Session
	err      error
}

// askAll lists the sessions of some backends at once. A backend that gives no
// answer within backendPatience counts as unavailable and delays nobody further.
func askAll(ctx context.Context, backends []terminal.Backend) []answer {
	answers := make([]answer, len(backends))
	if len(backends) == 1 {
		answers[0] = askOne(ctx, backends[0])
		return answers
	}
	each(len(backends), func(i int) { answers[i] = askOne(ctx, backends[i]) })
	return answers
}

// each does something n times at once and waits for all.
func each(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

func askOne(ctx context.Context, b terminal.Backend) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, backendPatience)
	defer cancel()
	a.sessions, a.err = b.Sessions(ctx)
	return a
}

// askFor asks a backend for one session. sure is false when its list may tell more.
func askFor(ctx context.Context, b terminal.Backend, id terminal.ID) (a answer, sure bool) {
	f, ok := b.(terminal.Finder)
	if !ok {
		return askOne(ctx, b), true
	}
	ctx, cancel := context.WithTimeout(ctx, backendPatience)
	defer cancel()
	s, err := f.Find(ctx, id)
	switch {
	case err == nil:
		return answer{sessions: []terminal.Session{s}}, true
	case errors.Is(err, fault.SessionEnded), errors.Is(err, fault.SessionNotFound):
		return answer{}, false // it is told with the ids that there are
	}
	return answer{err: err}, true
}

// askOthers fills in the answers of the backends that were not asked yet.
func askOthers(ctx context.Context, backends []terminal.Backend, asked map[int]bool, answers []answer) {
	var others []terminal.Backend
	var places []int
	for i, b := range backends {
		if !asked[i] {
			others, places = append(others, b), append(places, i)
		}
	}
	for n, a := range askAll(ctx, others) {
		answers[places[n]] = a
	}
}

// find returns the session that sessionID names exactly, alive or ended.
func (p *Pilot) find(ctx context.Context, op, sessionID string) (target, error) {
	if sessionID == "" || len(sessionID) > 256 || !utf8.ValidString(sessionID) || hasControl(sessionID) {
		return target{}, &fault.Error{
			Op: op, Code: fault.InvalidArgument, Detail: "session_id is missing or malformed",
			Hint: "call list_sessions and pass a session_id from it",
		}
	}
	id := terminal.ID(sessionID)
	if !p.mayTouch(id) {
		return target{}, &fault.Error{
			Op: op, Session: sessionID, Code: fault.NotAllowed,
			Detail: "the session is outside this server's allowlist", Hint: "use a session that list_sessions shows",
		}
	}
	answers := make([]answer, len(p.backends))
	asked := map[int]bool{}
	if home, ok := p.home(id); ok { // most often the only one that needs to be asked
		answers[home], asked[home] = askFor(ctx, p.backends[home], id)
	}
	for round := range 2 {
		for i, a := range answers {
			for _, s := range a.sessions {
				if s.ID == id {
					p.setHome(id, i)
					return target{backend: p.backends[i], session: s}, nil
				}
			}
		}
		if round == 0 {
			askOthers(ctx, p.backends, asked, answers)
		}
	}
	if err := givenUp(ctx, op, sessionID); err != nil {
		return target{}, err
	}
	if t, ok := p.findEnded(ctx, id); ok {
		return t, nil
	}
	return target{}, p.notFound(op, sessionID, answers)
}

// findRun returns a run by its id, unless it ran in a session that this server
// does not show.
func (p *Pilot) findRun(op, runID string) (run, error) {
	one, err := p.runs.find(op, runID)
	if err == nil && !p.mayTouch(one.Session) {
		return run{}, &fault.Error{
			Op: op, Code: fault.NotAllowed, Detail: "the run's session is outside this server's allowlist",
			Hint: "use a session that list_sessions shows",
		}
	}
	return one, err
}

// findEnded asks the backends that remember ended sessions.
func (p *Pilot) findEnded(ctx context.Context, id terminal.ID) (target, bool) {
	for i, b := range p.backends {
		ender, ok := b.(terminal.Ender)
		if !ok {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, backendPatience)
		exit, err := ender.Exit(ctx, id)
		cancel()
		if err == nil {
			p.setHome(id, i)
			return target{backend: b, session: terminal.Session{ID: id, Backend: b.Name()}, ended: true, exit: exit}, true
		}
	}
	return target{}, false
}

// notFound says that no session has an id: unless a backend that may have it
// could not be asked, for then nobody knows.
func (p *Pilot) notFound(op, sessionID string, answers []answer) error {
	home, known := p.home(terminal.ID(sessionID))
	for i, a := range answers {
		if a.err == nil || backendInfo(p.backends[i], a.err).State == notRunning && (!known || home != i) {
			continue // one that does not run has no sessions
		}
		detail := "not seen, but " + p.backends[i].Name() + " could not be asked"
		if known && home == i {
			detail = p.backends[i].Name() + ", which had it, cannot be reached"
		}
		return &fault.Error{
			Op: op, Session: sessionID, Code: fault.BackendUnavailable, Detail: detail,
			Hint: "call list_sessions to see what can be reached", Err: a.err,
		}
	}
	hint := "call list_sessions and pass a session_id from it"
	switch meant := p.meant(sessionID, answers); {
	case meant != "":
		hint = "pass the session_id: " + meant
	case slices.Contains([]string{"active", "current", "focused", "selected"}, strings.ToLower(sessionID)):
		hint = "call get_current_session and pass its session_id"
	}
	return &fault.Error{Op: op, Session: sessionID, Code: fault.SessionNotFound, Detail: "no session has exactly this id", Hint: hint}
}

// meant lists the sessions that somebody may have meant who did not give an
// id: those of this name or title, else those whose id, name or title begins so.
func (p *Pilot) meant(selector string, answers []answer) string {
	selector = strings.TrimSpace(selector)
	exact := func(s terminal.Session) bool {
		return strings.EqualFold(s.Name, selector) || strings.EqualFold(s.Title, selector) || s.Window == selector || s.Tab == selector
	}
	begins := func(s terminal.Session) bool {
		return begins(string(s.ID), selector) || begins(s.Name, selector) || begins(s.Title, selector)
	}
	for _, like := range []func(terminal.Session) bool{exact, begins} {
		var found []string
		for _, a := range answers {
			for _, s := range a.sessions {
				if p.mayTouch(s.ID) && like(s) {
					found = append(found, describe(s))
				}
			}
		}
		if more := len(found) - maxMeant; more > 0 {
			found = append(found[:maxMeant], count(more, "other"))
		}
		if len(found) > 0 {
			return strings.Join(found, ", ")
		}
	}
	return ""
}

// maxMeant is how many sessions a hint names.
const maxMeant = 5

// begins reports whether text begins with prefix, in whatever case.
func begins(text, prefix string) bool {
	return len(prefix) > 0 && len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// describe names a session for a hint.
func describe(s terminal.Session) string {
	for _, about := range []string{oneLine(s.Name), oneLine(s.Title), oneLine(s.Job)} {
		if about != "" {
			return string(s.ID) + " (" + about + ")"
		}
	}
	return string(s.ID)
}

// findWindow returns the backend that has a window, of exactly this id.
func (p *Pilot) findWindow(ctx context.Context, op string, backends []terminal.Backend, window string) (terminal.Backend, error) {
	var with []terminal.Backend
	var windows []string
	var failed error
	for i, a := range askAll(ctx, backends) {
		if a.err != nil && backendInfo(backends[i], a.err).State != notRunning {
			failed = a.err
		}
		has := false
		for _, s := range a.sessions {
			has = has || s.Window == window
			if s.Window != "" && !slices.Contains(windows, s.Window) {
				windows = append(windows, s.Window)
			}
		}
		if has {
			with = append(with, backends[i])
		}
	}
	e := &fault.Error{Op: op, Code: fault.WindowNotFound, Detail: "no window has exactly this id: " + oneLine(window), Err: failed}
	switch {
	case len(with) == 1:
		return with[0], nil
	case len(with) > 1:
		e.Code, e.Detail, e.Hint = fault.InvalidArgument, "several terminals have a window "+oneLine(window), "pass backend as well"
	case failed != nil:
		e.Code, e.Detail, e.Hint = fault.BackendUnavailable, "the window was not seen, but not every terminal could be asked", "call list_sessions to see what can be reached"
	case len(windows) == 0:
		e.Hint = "there is no window: call create_window"
	default:
		e.Hint = "pass a window_id from list_sessions: " + strings.Join(windows[:min(len(windows), maxMeant)], ", ")
	}
	return nil, e
}

// alive refuses an ended session, saying how it ended.
func (t target) alive(op string) error {
	if !t.ended {
		return nil
	}
	return &fault.Error{
		Op: op, Session: string(t.id()), Code: fault.SessionEnded, Detail: describeExit(t.exit),
		Hint: "read its last screen with read_terminal, or open another session",
	}
}

// maxHomes is how many sessions something is remembered of: ids are never used
// again, so old ones only take room.
const maxHomes = 4096

func (p *Pilot) home(id terminal.ID) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := p.homes[id]
	return i, ok
}

func (p *Pilot) setHome(id terminal.ID, backend int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.homes) > maxHomes {
		clear(p.homes)
	}
	p.homes[id] = backend
}

// notRunning is the state of a backend that nobody serves: it has no sessions.
const notRunning = "not_running"

// backendInfo says how a backend's answer is reported.
func backendInfo(b terminal.Backend, err error) BackendInfo {
	info := BackendInfo{Name: b.Name(), State: "ok"}
	switch {
	case err == nil:
		return info
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		info.State = notRunning
	default:
		info.State = "unavailable"
	}
	info.Reason = oneLine(err.Error())
	if e, ok := errors.AsType[*fault.Error](err); ok && info.State == notRunning {
		info.Reason = oneLine(e.Detail) // the rest says where nothing was found
	}
	return info
}
