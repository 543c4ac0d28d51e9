package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"termpilot/fault"
	"termpilot/pilot"
)

// only returns the id of the session that args name or, without any, of the
// only one that lives: a person may leave out what cannot be mistaken.
func only(ctx context.Context, p *pilot.Pilot, args []string) (string, error) {
	if len(args) > 0 {
		return p.Named(ctx, args[0])
	}
	listing, err := p.Sessions(ctx, "")
	if err != nil {
		return "", err
	}
	switch len(listing.Sessions) {
	case 1:
		return listing.Sessions[0].SessionID, nil
	case 0:
		if b, ill := silent(listing.Backends); ill {
			return "", &fault.Error{
				Op: "find session", Code: fault.BackendUnavailable, Detail: b.Name + " gave no answer: " + b.Reason,
				Hint: "see termpilot doctor",
			}
		}
		return "", &fault.Error{
			Op: "find session", Code: fault.NoCurrentSession, Detail: "no session lives",
			Hint: "open one with termpilot new",
		}
	}
	names := make([]string, len(listing.Sessions))
	for i, s := range listing.Sessions {
		names[i] = s.SessionID
		if s.Name != "" {
			names[i] += " (" + s.Name + ")"
		}
	}
	return "", usage(&fault.Error{
		Op: "find session", Code: fault.InvalidArgument, Detail: strconv.Itoa(len(names)) + " sessions live",
		Hint: "name one of " + strings.Join(names, ", "),
	})
}

// completionPatience is how long a person who pressed Tab waits for names.
const completionPatience = time.Second

// completesSession makes a command's first argument complete to the names of the
// sessions that live, and to the ids of those that have no plain name.
func (a *app) completesSession(cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.sessionWords(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// sessionWords lists what may stand for a session. It starts nothing.
func (a *app) sessionWords(ctx context.Context) (words []cobra.Completion) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	d, err := a.deck(settings{})
	if err != nil {
		return nil
	}
	defer d.close()
	listing, err := d.pilot.Sessions(ctx, "")
	if err != nil {
		return nil
	}
	for _, s := range listing.Sessions {
		word := s.Name
		if word == "" || strings.ContainsAny(word, " \t:'\"\\$") {
			word = s.SessionID
		}
		words = append(words, cobra.CompletionWithDesc(word, strings.TrimSpace(s.Job+" "+s.Cwd)))
	}
	return words
}
