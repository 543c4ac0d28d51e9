package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"termpilot/connector"
	"termpilot/pilot"
)

// completionPatience is how long a person who pressed Tab waits for names.
const completionPatience = time.Second

const noFiles = cobra.ShellCompDirectiveNoFileComp

// completesSession makes a command's first argument complete to the names of the
// sessions that live, and to the ids of those that have no plain name.
func (a *app) completesSession(cmd *cobra.Command) *cobra.Command {
	return completesFirst(cmd, a.sessionWords)
}

// completesFirst makes a command's first argument complete to what words says, and no further one.
func completesFirst(cmd *cobra.Command, words func(context.Context) []cobra.Completion) *cobra.Command {
	return completes(cmd, func(ctx context.Context, before []string) []cobra.Completion {
		if len(before) != 0 {
			return nil
		}
		return words(ctx)
	})
}

// completes makes a command's arguments complete to what words says of those before.
func completes(cmd *cobra.Command, words func(ctx context.Context, before []string) []cobra.Completion) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return words(cmd.Context(), args), noFiles
	}
	return cmd
}

// completeFlags makes the values of flags complete by the flags' names, which mean the same in
// every command, and offers files only where a file may be meant.
func (a *app) completeFlags(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		a.completeFlags(child)
	}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !strings.Contains(cmd.Use, "-- COMMAND") {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		words := a.flagWords(f.Name)
		if words == nil {
			return
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return words(cmd.Context(), typed), noFiles
		}) // it fails only for a flag that is not there
	})
}

// flagWords returns what tells the values of a flag: nil where a file may be meant.
func (a *app) flagWords(name string) func(ctx context.Context, typed string) []cobra.Completion {
	some := func(words ...string) func(context.Context, string) []cobra.Completion {
		return func(context.Context, string) []cobra.Completion { return words }
	}
	list := func(words []string) func(context.Context, string) []cobra.Completion { // the last of several, by commas
		return func(_ context.Context, typed string) []cobra.Completion {
			before := typed[:strings.LastIndexByte(typed, ',')+1]
			var whole []cobra.Completion
			for _, word := range words {
				whole = append(whole, before+word)
			}
			return whole
		}
	}
	switch name {
	case "backend":
		return list(append([]string{auto}, backendNames...))
	case "toolsets":
		return list(connector.Toolsets())
	case "text":
		return some(connector.TextFull, connector.TextSummary)
	case "log-level":
		return some("debug", "info", "warn", "error")
	case "source":
		return some(string(pilot.SourceScreen), string(pilot.SourceHistory), string(pilot.SourceAll), string(pilot.SourceSince), string(pilot.SourceCommand))
	case "direction":
		return some(string(pilot.SideRight), string(pilot.SideLeft), string(pilot.SideBelow), string(pilot.SideAbove))
	case "answer":
		return some("yes", "no")
	case "write-scope":
		return some("read_only")
	case "session":
		return func(ctx context.Context, _ string) []cobra.Completion { return a.sessionWords(ctx) }
	case "session-id":
		return func(ctx context.Context, _ string) []cobra.Completion {
			return a.eachSession(ctx, func(s pilot.SessionInfo) string { return s.SessionID })
		}
	case "profile":
		return func(ctx context.Context, _ string) []cobra.Completion { return a.profileWords(ctx) }
	case "cwd", "env-file", "runtime-key", "tmux-socket", "tripwire", "tunnel-client":
		return nil
	}
	return some()
}

// sessionWords lists what may stand for a session. It starts nothing.
func (a *app) sessionWords(ctx context.Context) []cobra.Completion {
	return a.eachSession(ctx, func(s pilot.SessionInfo) string {
		if s.Name == "" || strings.ContainsAny(s.Name, " \t:'\"\\$") {
			return s.SessionID
		}
		return s.Name
	})
}

func (a *app) eachSession(ctx context.Context, word func(pilot.SessionInfo) string) (words []cobra.Completion) {
	a.whileTabWaits(ctx, func(ctx context.Context, d *deck) {
		listing, err := d.pilot.Sessions(ctx, "")
		if err != nil {
			return
		}
		for _, s := range listing.Sessions {
			one, about := word(s), s.Job+" "+s.Cwd
			if one == s.SessionID {
				about = s.Name + " " + about
			}
			words = append(words, cobra.CompletionWithDesc(one, strings.TrimSpace(about)))
		}
	})
	return words
}

func (a *app) profileWords(ctx context.Context) (words []cobra.Completion) {
	a.whileTabWaits(ctx, func(ctx context.Context, d *deck) {
		listing, err := d.pilot.Profiles(ctx, "")
		if err != nil {
			return
		}
		for _, p := range listing.Profiles {
			words = append(words, cobra.CompletionWithDesc(p.Name, p.Backend))
		}
	})
	return words
}

// receiptWords lists the receipts of closes.
func (a *app) receiptWords(ctx context.Context) (words []cobra.Completion) {
	a.whileTabWaits(ctx, func(_ context.Context, d *deck) {
		list, err := d.closer.Recoveries("")
		if err != nil {
			return
		}
		for _, r := range list {
			words = append(words, cobra.CompletionWithDesc(r.ID, r.Began.Local().Format(time.DateTime)+" "+string(r.Operation)))
		}
	})
	return words
}

// toolWords lists the tools and, behind one, its parameters.
func (a *app) toolWords(ctx context.Context, before []string) (words []cobra.Completion) {
	a.whileTabWaits(ctx, func(_ context.Context, d *deck) {
		for _, tool := range d.server.Tools() {
			switch {
			case len(before) == 0:
				words = append(words, cobra.CompletionWithDesc(tool.Name, tool.Title))
			case before[0] == tool.Name:
				var s schema
				if json.Unmarshal(tool.InputSchema, &s) == nil {
					for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
						words = append(words, name+"=")
					}
				}
			}
		}
	})
	return words
}

// whileTabWaits calls ask with everything wired, for as long as a person who pressed Tab waits.
func (a *app) whileTabWaits(ctx context.Context, ask func(context.Context, *deck)) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	d, err := a.deck(settings{})
	if err != nil {
		return
	}
	defer d.close()
	ask(ctx, d)
}
