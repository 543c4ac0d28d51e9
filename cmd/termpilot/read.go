package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"termpilot/pilot"
)

// rest is the call that returns what was left out, as one that can be typed.
func rest(o pilot.Omitted) string {
	if o.HowToGet == "" || strings.ContainsAny(o.HowToGet, "$`!\\'") { // of a pattern, which is quoted as JSON and not for a shell
		return ""
	}
	return ", or go on with termpilot call " + o.HowToGet
}

func (a *app) readCommand() *cobra.Command {
	var s settings
	var r pilot.ReadRequest
	var raw bool
	cmd := &cobra.Command{
		Use:        "read [SESSION]",
		Short:      "Print the text of a session",
		SuggestFor: []string{"show", "cat", "search", "grep"},
		Long: "Print the text of a session.\n\n" +
			"Without an argument it is the only session. With --pattern all that the terminal keeps is searched, unless --source\n" +
			"says otherwise.",
		Example: "  termpilot read acorn\n" +
			"  termpilot read acorn --source command\n" +
			"  termpilot read acorn --pattern error --context 2",
		Args: cobra.MaximumNArgs(1),
		RunE: a.withDeck(&s, func(ctx context.Context, d *deck, args []string) (err error) {
			if r.SessionID, err = only(ctx, d.pilot, args); err != nil {
				return err
			}
			if r.Reduce = !raw; r.Pattern != "" && r.Source == "" {
				r.Source = pilot.SourceAll
			}
			result, err := d.pilot.Read(ctx, r)
			if done, err := a.asJSON(result, err); done {
				return err
			}
			if err := a.printText(result.Content); err != nil {
				return err
			}
			if r.Pattern != "" && result.Matches == 0 {
				a.note("no line holds the pattern")
			}
			if result.TruncatedHead {
				a.note("the first lines are no longer kept by the terminal")
			}
			if result.Omitted.Lines > 0 {
				a.note("%s left out; see --max-lines, --max-chars and --raw%s", plural(result.Omitted.Lines, "line"), rest(result.Omitted))
			} else if result.Omitted.HowToGet != "" {
				a.note("not all of it stands in one place%s", rest(result.Omitted))
			}
			return nil
		}),
	}
	s.flags(cmd)
	s.maskFlag(cmd)
	f := cmd.Flags()
	f.StringVar((*string)(&r.Source), "source", "", "screen, history, all, since or command (default screen; all with --pattern)")
	f.StringVar(&r.Cursor, "cursor", "", "for --source since: where the last read ended")
	f.StringVar(&r.RunID, "run", "", "for --source command: the run; otherwise the last command")
	f.IntVar(&r.MaxLines, "max-lines", 0, "most lines (default 200)")
	f.IntVar(&r.MaxChars, "max-chars", 0, "most characters (default 32768)")
	f.BoolVar(&raw, "raw", false, "leave nothing out of long output but by --max-lines and --max-chars")
	f.StringVar(&r.Pattern, "pattern", "", "only the lines that hold this text")
	f.BoolVar(&r.Regex, "regex", false, "the pattern is a regular expression (RE2)")
	f.IntVar(&r.Context, "context", 0, "how many lines to show around each that holds the pattern")
	return a.completesSession(a.withJSON(cmd))
}
