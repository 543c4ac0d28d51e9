package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"termpilot/fault"
	"termpilot/pilot"
)

func (a *app) sendCommand() *cobra.Command {
	var s settings
	var paste bool
	var text string
	cmd := &cobra.Command{
		Use:        "send SESSION [TEXT]",
		Short:      "Type text into a session",
		SuggestFor: []string{"type"},
		Long: "Type text into a session.\n\n" +
			"Text is typed exactly as given: no newline is added. Without it, what standard input holds is typed, which keeps\n" +
			"it out of the list of processes. To press Enter use termpilot keys.",
		Example: "  termpilot send acorn 'yes'\n" +
			"  termpilot send acorn --paste < notes.txt",
		Args: cobra.RangeArgs(1, 2),
		PreRunE: func(_ *cobra.Command, args []string) (err error) {
			text, err = a.textUpTo(args[1:], pilot.MaxText)
			return err
		},
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, _ []string) error {
			result, err := d.pilot.SendText(ctx, id, text, paste)
			if done, err := a.asJSON(result, err); done {
				return err
			}
			if paste && !result.Pasted {
				a.note("the program takes no pastes: it was typed")
			}
			return nil
		}),
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&paste, "paste", false, "send the text as one paste, where the program takes pastes")
	return a.completesSession(a.withJSON(cmd))
}

// textUpTo is the text to send: the argument, or else the standard input, of which
// no more is read than shows that it is too long.
func (a *app) textUpTo(args []string, most int64) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	if a.interactive() {
		return "", usage(errors.New("nothing to send: give text, or standard input that is no terminal"))
	}
	data, err := io.ReadAll(io.LimitReader(a.in, most+1))
	if err != nil {
		return "", &fault.Error{Op: "send", Code: fault.InvalidArgument, Detail: "standard input cannot be read", Hint: "give the text as an argument", Err: err}
	}
	return string(data), nil
}

func (a *app) keysCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:        "keys SESSION KEY…",
		Short:      "Press keys in a session",
		SuggestFor: []string{"press", "key"},
		Long: "Press keys in a session.\n\n" +
			"They are pressed in order: enter tab shift_tab space escape backspace delete insert up down left right home end\n" +
			"page_up page_down f1 … f12 ctrl_a … ctrl_z ctrl_space alt_CHARACTER.",
		Example: "  termpilot keys acorn ctrl_c\n" +
			"  termpilot keys acorn escape up enter",
		Args: cobra.MinimumNArgs(2),
		RunE: a.withSession(&s, func(ctx context.Context, d *deck, id string, keys []string) error {
			result, err := d.pilot.SendKeys(ctx, id, keys)
			_, err = a.asJSON(result, err)
			return err
		}),
	}
	s.flags(cmd)
	return completes(a.withJSON(cmd), func(ctx context.Context, before []string) []cobra.Completion {
		if len(before) == 0 {
			return a.sessionWords(ctx)
		}
		return slices.DeleteFunc(pilot.KeyNames(), func(name string) bool { return strings.Contains(name, "<") })
	})
}
