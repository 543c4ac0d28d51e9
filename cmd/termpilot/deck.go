package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"termpilot/agent"
	"termpilot/closing"
	"termpilot/connector"
	"termpilot/doctor"
	"termpilot/fault"
	"termpilot/host"
	"termpilot/pilot"
	"termpilot/terminal"
	"termpilot/tunnel"
)

// deck is everything that a command needs at hand, wired together.
type deck struct {
	pilot    *pilot.Pilot
	closer   *closing.Closer
	agents   *agent.Agents
	server   *connector.Server
	backends []terminal.Backend
	where    host.Location
	log      *slog.Logger
}

// deck wires the backends, pilot and connector as s says. It starts nothing
// and connects to nothing: that happens when a call needs it.
func (a *app) deck(s settings) (*deck, error) {
	if err := s.validate(); err != nil {
		return nil, usage(err)
	}
	logger, err := a.logger(s.logLevel)
	if err != nil {
		return nil, usage(err)
	}
	where, err := host.Paths(a.getenv)
	if err != nil {
		return nil, err
	}
	patterns, err := tripwire(s.tripwire)
	if err != nil {
		return nil, usage(err)
	}
	sources, err := a.keySources("")
	if err != nil {
		return nil, err
	}
	d := &deck{where: where, log: logger}
	if d.backends, err = a.backends(s, where, logger); err != nil {
		return nil, err
	}
	d.pilot, err = pilot.New(pilot.Options{
		Backends: d.backends,
		Dir:      filepath.Join(where.Home, "runs"),
		MaxWait:  s.maxWait,
		ReadOnly: s.readOnly,
		Allow:    ids(s.sessions),
		Tripwire: patterns,
		NoMask:   s.noMask,
		Log:      logger,
	})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	d.agents = agent.New(agent.Options{Pilot: d.pilot, Dir: filepath.Join(where.Home, "agents"), Self: self, Log: logger})
	d.closer = closing.New(closing.Options{
		Pilot: d.pilot, Dir: filepath.Join(where.Home, "recovery"), Launched: d.agents.Launched, Log: logger,
	})
	d.server = connector.New(connector.Options{
		Pilot:   d.pilot,
		Closer:  d.closer,
		Agents:  d.agents,
		MaxWait: s.maxWait,
		Checks: func() []doctor.Check {
			return d.checks(a.getenv, tunnel.Viewpoint{Alias: s.alias, Sources: sources}, false)
		},
		Toolsets: s.toolsets,
		ReadOnly: s.readOnly,
		Text:     s.text,
		Version:  version(),
		Log:      logger,
	})
	return d, nil
}

// parting is how long calls that were cancelled have to end by themselves, and again
// once they have no terminals any more: a server has no longer than two seconds in all.
const parting = 100 * time.Millisecond

// close lets go of everything. Sessions and commands go on. A call that waits for a
// terminal that does not answer is not waited for.
func (d *deck) close() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = d.server.Close()
	}()
	within(parting, ended)
	for _, b := range d.backends {
		drop(b)
	}
	within(parting, ended)
	_ = d.pilot.Close()
}

// within waits until something is done, and no longer than for patience.
func within(patience time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// end closes a session that this command opened. One that is gone already, or
// was never there, is closed.
func (d *deck) end(ctx context.Context, one pilot.SessionInfo) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for _, b := range d.backends {
		if b.Name() != one.Backend {
			continue
		}
		err := b.Close(ctx, terminal.ID(one.SessionID), terminal.Hangup)
		if !errors.Is(err, fault.SessionEnded) && !errors.Is(err, fault.SessionNotFound) {
			return err
		}
	}
	return nil
}

// withDeck makes the RunE of a command that needs everything at hand: do gets a
// deck as s then says, which is let go of after it.
func (a *app) withDeck(s *settings, do func(ctx context.Context, d *deck, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		d, err := a.deck(*s)
		if err != nil {
			return err
		}
		defer d.close()
		return do(cmd.Context(), d, args)
	}
}

// withSession is withDeck for a command whose first argument names a session: do
// gets its id and the other arguments.
func (a *app) withSession(s *settings, do func(ctx context.Context, d *deck, id string, args []string) error) func(*cobra.Command, []string) error {
	return a.withDeck(s, func(ctx context.Context, d *deck, args []string) error {
		id, err := d.pilot.Named(ctx, args[0])
		if err != nil {
			return err
		}
		return do(ctx, d, id, args[1:])
	})
}
