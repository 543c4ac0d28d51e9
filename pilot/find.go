package pilot

import (
	"context"
	"errors"
	"io/fs"
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
	var wg sync.WaitGroup
	for i, b := range backends {
		wg.Go(func() {
			answers[i] = askOne(ctx, b)
		})
	}
	wg.Wait()
	return answers
}

func askOne(ctx context.Context, b terminal.Backend) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, backendPatience)
	defer cancel()
	a.sessions, a.err = b.Sessions(ctx)
	return a
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
		answers[home] = askAll(ctx, p.backends[home:home+1])[0]
		asked[home] = true
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
	if err := ctx.Err(); err != nil {
		return target{}, &fault.Error{Op: op, Session: sessionID, Code: fault.Deadline, Detail: "the call was given up", Err: err}
	}
	if t, ok := p.findEnded(ctx, id); ok {
		return t, nil
	}
	return target{}, notFound(op, sessionID, p.backends, answers)
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

func notFound(op, sessionID string, backends []terminal.Backend, answers []answer) error {
	e := &fault.Error{Op: op, Session: sessionID, Code: fault.SessionNotFound, Hint: "call list_sessions and pass a session_id from it"}
	var down []string
	for i, a := range answers {
		if a.err != nil {
			down = append(down, backends[i].Name())
			e.Err = a.err
		}
	}
	if len(down) > 0 {
		e.Detail = "not seen, but " + strings.Join(down, " and ") + " could not be asked"
	}
	return e
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

func (p *Pilot) home(id terminal.ID) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := p.homes[id]
	return i, ok
}

func (p *Pilot) setHome(id terminal.ID, backend int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.homes) > 4096 { // ids are never used again, so old ones only take room
		clear(p.homes)
	}
	p.homes[id] = backend
}

// backendInfo says how a backend's answer is reported.
func backendInfo(b terminal.Backend, err error) BackendInfo {
	info := BackendInfo{Name: b.Name(), State: "ok"}
	switch {
	case err == nil:
		return info
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		info.State = "not_running"
	default:
		info.State = "unavailable"
	}
	info.Reason = oneLine(err.Error())
	return info
}
