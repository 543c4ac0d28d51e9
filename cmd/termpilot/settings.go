package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/log"
	"github.com/spf13/cobra"

	"termpilot/connector"
	"termpilot/pilot"
	"termpilot/terminal"
)

// settings is what the flags that several commands share say.
type settings struct {
	backends []string
	tmux     []string
	sessions []string
	toolsets []string
	readOnly bool
	noMask   bool
	tripwire fileName
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
	cmd.Flags().Var(&s.tripwire, "tripwire", "file of further patterns to refuse, one regular expression per line")
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

func (s settings) validate() error {
	for name, list := range map[string][]string{"toolsets": s.toolsets, "backend": s.backends} {
		if list != nil && len(list) == 0 { // as of an empty variable: it would mean all of them
			return fmt.Errorf("--%s names none; leave it out for all", name)
		}
	}
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

// fileName is the value of a flag that names a file. An empty one, as of a variable
// that is not set, is refused: it would be as if the flag were not there.
type fileName string

func (n *fileName) String() string { return string(*n) }

// Type is what help calls such a value.
func (n *fileName) Type() string { return "string" }

func (n *fileName) Set(text string) error {
	if text == "" {
		return errors.New("it names no file")
	}
	*n = fileName(text)
	return nil
}

// tripwire reads a file of patterns.
func tripwire(path fileName) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(string(path))
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
