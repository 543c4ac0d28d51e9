package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/log"
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

// settings is what the flags that several commands share say.
type settings struct {
	backends []string
	tmux     []string
	sessions []string
	toolsets []string
	readOnly bool
	noMask   bool
	tripwire string
	maxWait  time.Duration
	text     string
	logLevel string
	alias    string // of the tunnel that diagnostics tells of; "" is the default one
}

// flags gives cmd the flags about reaching terminals.
func (s *settings) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&s.backends, "backend", nil, "use only this backend: "+auto+", "+strings.Join(backendNames, ", ")+" (repeatable)")
	f.StringArrayVar(&s.tmux, "tmux-socket", nil, "a tmux server: the name of its -L or the path of its -S (repeatable; default: the default server)")
	f.StringArrayVar(&s.sessions, "session-id", nil, "hide and refuse every other session, and creating any (repeatable)")
	f.StringVar(&s.logLevel, "log-level", "warn", "what to tell on standard error: debug, info, warn or error")
}

// maskFlag is for commands that show terminal text.
func (s *settings) maskFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.noMask, "no-mask", false, "show text that looks like a secret as it is")
}

// tripwireFlag is for commands that run commands.
func (s *settings) tripwireFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.tripwire, "tripwire", "", "file of further patterns to refuse, one regular expression per line")
}

// serverFlags gives cmd all of these and those about how tools are offered.
func (s *settings) serverFlags(cmd *cobra.Command) {
	s.flags(cmd)
	s.maskFlag(cmd)
	s.tripwireFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&s.readOnly, "read-only", false, "change nothing: tools that could are not there")
	f.StringSliceVar(&s.toolsets, "toolsets", nil, "offer only these: "+strings.Join(connector.Toolsets(), ", "))
	timeVar(f, &s.maxWait, "max-wait", 0, "longest time that one call waits (default 55s)")
	f.StringVar(&s.text, "text", connector.TextFull, "what a result's text block says: full or summary")
}

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

// close lets go of everything. Sessions and commands go on.
func (d *deck) close() {
	_ = d.server.Close()
	for _, b := range d.backends {
		drop(b)
	}
	_ = d.pilot.Close()
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

func (s settings) validate() error {
	for _, name := range s.toolsets {
		if !slices.Contains(connector.Toolsets(), name) {
			return fmt.Errorf("--toolsets %s: only %s", name, strings.Join(connector.Toolsets(), ", "))
		}
	}
	if s.text != "" && s.text != connector.TextFull && s.text != connector.TextSummary {
		return fmt.Errorf("--text %s: only %s, %s", s.text, connector.TextFull, connector.TextSummary)
	}
	return nil
}

// logger writes to the standard error what is at least as grave as level.
// charmbracelet/log asks a terminal that it is given for its colours and waits
// for the answer, so it is not given one.
func (a *app) logger(level string) (*slog.Logger, error) {
	if level == "" {
		level = "warn"
	}
	least, err := log.ParseLevel(level)
	if err != nil {
		return nil, fmt.Errorf("--log-level %s: only debug, info, warn, error", level)
	}
	return slog.New(log.NewWithOptions(struct{ io.Writer }{a.errs}, log.Options{Prefix: "termpilot", Level: least, ReportTimestamp: true, TimeFormat: time.TimeOnly})), nil
}

// tripwire reads a file of patterns.
func tripwire(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return pilot.ParseTripwire(string(data)), nil
}

func ids(names []string) []terminal.ID {
	var list []terminal.ID
	for _, name := range names {
		list = append(list, terminal.ID(name))
	}
	return list
}
