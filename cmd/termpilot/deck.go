package main

import (
	"context"

	"github.com/spf13/cobra"
)

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

// asJSON prints what a call returned where --json asks for it. done is true when
// nothing is left to do: it was printed, or there is an error to return.
func (a *app) asJSON(result any, failed error) (done bool, err error) {
	if failed != nil || !a.json {
		return failed != nil, failed
	}
	return true, a.printJSON(result)
}
