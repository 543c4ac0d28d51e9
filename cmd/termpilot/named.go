package main

import (
	"context"
	"strconv"
	"strings"

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
