package pilot

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

const (
	// listWorkers is how many sessions of a backend are judged at once.
	listWorkers = 16
	// deepList is the most sessions of which a listing finds out whether their
	// running programs read: that is a walk over all processes for each.
	deepList = 32
	// listPatience is how long a listing waits for prompts. A session whose
	// prompt came later is listed as unknown.
	listPatience = time.Second
)

// Sessions lists the live sessions of one backend, or of all when backend is
// "". It starts nothing and reads no screen. A backend that cannot be asked is
// told in Backends and delays the answer by at most two seconds.
// InvalidArgument: there is no backend of this name.
func (p *Pilot) Sessions(ctx context.Context, backend string) (Listing, error) {
	asked := p.backends
	if backend != "" {
		var err error
		if asked, err = p.backendsNamed("list", backend); err != nil {
			return Listing{}, err
		}
	}
	list := Listing{Sessions: []SessionInfo{}, Backends: []BackendInfo{}}
	found := make([][]target, len(asked))
	for i, a := range askAll(ctx, asked) {
		list.Backends = append(list.Backends, backendInfo(asked[i], a.err))
		for _, s := range a.sessions {
			if p.mayTouch(s.ID) {
				found[i] = append(found[i], target{backend: asked[i], session: s})
			}
		}
	}
	for i, all := range p.readinessOf(ctx, found) {
		for k, r := range all {
			list.Sessions = append(list.Sessions, sessionInfo(found[i][k], r))
		}
	}
	return list, nil
}

// backendsNamed returns the backends of a name: there may be several tmux servers.
func (p *Pilot) backendsNamed(op, name string) ([]terminal.Backend, error) {
	var list []terminal.Backend
	for _, b := range p.backends {
		if b.Name() == name {
			list = append(list, b)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	return nil, &fault.Error{
		Op: op, Code: fault.InvalidArgument, Detail: "there is no backend named " + oneLine(name),
		Hint: "leave backend out, or call list_sessions to see the backends",
	}
}

// readinessOf judges the sessions of several backends, some at a time.
func (p *Pilot) readinessOf(ctx context.Context, found [][]target) [][]Readiness {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	count := 0
	for _, targets := range found {
		count += len(targets)
	}
	all := make([][]Readiness, len(found))
	var wg sync.WaitGroup
	for i, targets := range found {
		all[i] = make([]Readiness, len(targets))
		wg.Go(func() {
			known := promptsOf(ctx, targets)
			var next atomic.Int64
			for range min(listWorkers, len(targets)) {
				wg.Go(func() {
					for k := next.Add(1) - 1; k < int64(len(targets)); k = next.Add(1) - 1 {
						t := targets[k]
						if prompt, ok := known[t.id()]; ok {
							all[i][k] = judge(p.factsOf(ctx, t, prompt, count <= deepList))
						} else {
							all[i][k] = p.readiness(ctx, t, count <= deepList)
						}
					}
				})
			}
		})
	}
	wg.Wait()
	return all
}

// promptsOf returns the prompts of a backend's sessions as far as the backend
// tells them all at once, and as far as they tell all that the gate asks.
func promptsOf(ctx context.Context, targets []target) map[terminal.ID]terminal.Prompt {
	if len(targets) == 0 {
		return nil
	}
	b, ok := targets[0].backend.(terminal.Prompter)
	if !ok {
		return nil
	}
	all, err := b.Prompts(ctx)
	if err != nil {
		return nil // each session is asked by itself, and says what is wrong
	}
	maps.DeleteFunc(all, func(_ terminal.ID, prompt terminal.Prompt) bool {
		return prompt.State == terminal.Editing && prompt.Typed == terminal.Unknown // its Command may tell
	})
	return all
}

// readinessNow judges one session as it is.
func (p *Pilot) readinessNow(ctx context.Context, t target) Readiness {
	return p.readiness(ctx, t, true)
}

// readiness judges a session; deep also asks whether a running program reads.
func (p *Pilot) readiness(ctx context.Context, t target, deep bool) Readiness {
	if t.ended {
		return judge(facts{ended: true, exit: t.exit})
	}
	prompt, err := t.backend.Prompt(ctx, t.id(), "")
	if err != nil {
		return readiness(UnknownState, "its prompt could not be asked for: "+oneLine(err.Error()))
	}
	return judge(p.factsOf(ctx, t, prompt, deep))
}

// Current returns the session that has the keyboard focus, of the first backend
// that has one. The host comes last: it shows nobody anything, and which of its
// sessions has the focus is for its clients alone to say. NoCurrentSession when
// none has.
func (p *Pilot) Current(ctx context.Context) (SessionInfo, error) {
	var current []target
	for i, a := range askAll(ctx, p.backends) {
		for _, s := range a.sessions {
			if s.Current && p.mayTouch(s.ID) {
				current = append(current, target{backend: p.backends[i], session: s})
			}
		}
	}
	slices.SortStableFunc(current, func(a, b target) int { return headless(a) - headless(b) })
	if len(current) == 0 {
		return SessionInfo{}, &fault.Error{
			Op: "current", Code: fault.NoCurrentSession, Detail: "no session has the focus",
			Hint: "call list_sessions and choose one by its id",
		}
	}
	return sessionInfo(current[0], p.readinessNow(ctx, current[0])), nil
}

// headless is 1 for a session that no window of the person's screen shows.
func headless(t target) int {
	if t.backend.Name() == "host" {
		return 1
	}
	return 0
}

func sessionInfo(t target, r Readiness) SessionInfo {
	s := t.session
	return SessionInfo{
		SessionID: string(s.ID), Backend: t.backend.Name(), WindowID: s.Window, TabID: s.Tab,
		Name: oneLine(s.Name), Title: oneLine(s.Title), Profile: oneLine(s.Profile), IsCurrent: s.Current,
		Job: oneLine(s.Job), Cwd: oneLine(s.Cwd), Host: oneLine(s.Host), User: oneLine(s.User),
		Rows: s.Rows, Columns: s.Columns, Readiness: r,
	}
}
