package pilot

import (
	"context"
	"fmt"

	"termpilot/fault"
	"termpilot/terminal"
)

// Focus gives a session the keyboard focus, and returns it as it is then.
func (p *Pilot) Focus(ctx context.Context, sessionID string) (Arranged, error) {
	return p.arrange(ctx, "focus", sessionID, func(doing context.Context, a terminal.Arranger, t target) error {
		return a.Focus(doing, t.id())
	})
}

// Resize asks for a size in cells; 0 leaves rows or columns as they are. A
// session that shares its window may get another one: what is returned tells.
func (p *Pilot) Resize(ctx context.Context, sessionID string, rows, columns int) (Arranged, error) {
	const op = "resize"
	refuse := func(detail, hint string) (Arranged, error) {
		return Arranged{}, &fault.Error{Op: op, Session: sessionID, Code: fault.InvalidArgument, Detail: detail, Hint: hint}
	}
	for what, n := range map[string]int{"rows": rows, "columns": columns} {
		if n < 0 || n > MaxSize {
			return refuse(fmt.Sprintf("%s is %d; it must be 1 to %d", what, n, MaxSize), "leave it out to keep it as it is")
		}
	}
	if rows == 0 && columns == 0 {
		return refuse("there is no size", "pass rows, columns or both")
	}
	return p.arrange(ctx, op, sessionID, func(doing context.Context, a terminal.Arranger, t target) error {
		if rows == 0 {
			rows = t.session.Rows
		}
		if columns == 0 {
			columns = t.session.Columns
		}
		return a.Resize(doing, t.id(), rows, columns)
	})
}

// Rename gives a session another name, as Open does, or takes its name away
// when name is "". NameTaken names the session that has the name.
func (p *Pilot) Rename(ctx context.Context, sessionID, name string) (Arranged, error) {
	const op = "rename"
	name, err := checkName(op, name)
	if err != nil {
		return Arranged{}, err
	}
	return p.arrange(ctx, op, sessionID, func(doing context.Context, a terminal.Arranger, t target) error {
		n, err := p.naming(ctx, op)
		if err != nil {
			return err
		}
		defer n.done()
		if name != "" {
			if _, err := n.choose(name, t.id()); err != nil {
				return err
			}
		}
		if err := a.Rename(doing, t.id(), name); err != nil {
			return err
		}
		n.given(name, t.id())
		return nil
	})
}

// arrange checks policy, finds the session, changes it and reads it back: also
// when the caller goes meanwhile, so that what is done is told as done.
func (p *Pilot) arrange(ctx context.Context, op, sessionID string, change func(context.Context, terminal.Arranger, target) error) (Arranged, error) {
	if err := p.refuseWhenReadOnly(op, sessionID); err != nil {
		return Arranged{}, err
	}
	t, err := p.find(ctx, op, sessionID)
	if err == nil {
		err = t.alive(op)
	}
	if err != nil {
		return Arranged{}, err
	}
	a, ok := t.backend.(terminal.Arranger)
	if !ok {
		return Arranged{}, &fault.Error{
			Op: op, Session: sessionID, Code: fault.Unsupported, Detail: "the backend " + t.backend.Name() + " cannot do this",
			Hint: "do it in the terminal itself",
		}
	}
	if err := givenUp(ctx, op, sessionID); err != nil {
		return Arranged{}, err
	}
	doing, cancel := lasting(ctx)
	defer cancel()
	if err := change(doing, a, t); err != nil {
		return Arranged{}, p.dead(ctx, op, t, err)
	}
	now, err := p.find(doing, op, sessionID)
	if err != nil {
		return Arranged{}, err
	}
	if now.ended {
		now.session = t.session
	}
	return Arranged{Session: sessionInfo(now, p.readinessNow(doing, now))}, nil
}

// Profiles lists the profiles of one backend, or of all when backend is "",
// the default of each first. A backend that cannot be asked, or has none, is
// told in Backends.
func (p *Pilot) Profiles(ctx context.Context, backend string) (ProfileListing, error) {
	asked := p.backends
	if backend != "" {
		var err error
		if asked, err = p.backendsNamed("profiles", backend); err != nil {
			return ProfileListing{}, err
		}
	}
	list := ProfileListing{Profiles: []Profile{}, Backends: []BackendInfo{}}
	for i, said := range profilesOf(ctx, asked) {
		list.Backends = append(list.Backends, backendInfo(asked[i], said.err))
		for k, name := range said.list {
			list.Profiles = append(list.Profiles, Profile{Backend: asked[i].Name(), Name: name, IsDefault: k == 0})
		}
	}
	return list, nil
}

// profiles is what one backend said of its profiles.
type profiles struct {
	list []string
	err  error
}

// profilesOf asks some backends at once, each for at most backendPatience.
func profilesOf(ctx context.Context, backends []terminal.Backend) []profiles {
	ctx, cancel := context.WithTimeout(ctx, backendPatience)
	defer cancel()
	answers := make([]profiles, len(backends))
	each(len(backends), func(i int) {
		b, ok := backends[i].(terminal.Profiler)
		if !ok {
			answers[i].err = &fault.Error{Op: "profiles", Code: fault.Unsupported, Detail: "it has no profiles"}
			return
		}
		answers[i].list, answers[i].err = b.Profiles(ctx)
	})
	return answers
}
