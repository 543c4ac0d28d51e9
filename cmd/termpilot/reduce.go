package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/reduce"
)

// reducedText is what reduce prints with --json.
type reducedText struct {
	Text    string `json:"text"`
	Lines   int    `json:"lines"`
	Omitted int    `json:"omitted"`
	Masked  int    `json:"masked"`
}

func (a *app) reduceCommand() *cobra.Command {
	var s settings
	var o reduce.Options
	var command string
	cmd := &cobra.Command{
		Use:   "reduce",
		Short: "Make what a command printed shorter, and keep what matters",
		Long: "Make what a command printed shorter, and keep what matters.\n\n" +
			"It reads standard input to its end. Of more than a few megabytes only the beginning and the end are looked at.",
		Example: "  go test ./... 2>&1 | termpilot reduce --command 'go test ./...'\n  termpilot reduce --json < build.log",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := limited("reduce", o.MaxLines, o.MaxChars); err != nil {
				return err
			}
			var w reduce.Window
			if _, err := io.Copy(&w, a.in); err != nil {
				return err
			}
			var text string
			text, o.Skipped, o.Seam = w.Text()
			o.Mask = !s.noMask
			r := reduce.Output(command, text, o)
			if a.json {
				return a.printJSON(reducedText{Text: r.Text, Lines: r.Lines, Omitted: r.Dropped, Masked: r.Masked})
			}
			return a.printText(r.Text)
		},
	}
	s.maskFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&command, "command", "", "the command line that printed it")
	f.IntVar(&o.MaxLines, "max-lines", 0, "most lines (default 60)")
	f.IntVar(&o.MaxChars, "max-chars", 0, "most characters (default 32768)")
	return a.withJSON(cmd)
}

// limited refuses limits of an answer that are none; 0 stands for the usual one.
func limited(op string, lines, chars int) error {
	for _, limit := range []struct {
		flag      string
		got, most int
	}{{"--max-lines", lines, pilot.MaxLines}, {"--max-chars", chars, pilot.MaxChars}} {
		if limit.got < 0 || limit.got > limit.most {
			return usage(&fault.Error{
				Op: op, Code: fault.InvalidArgument, Detail: fmt.Sprintf("%s is %d", limit.flag, limit.got),
				Hint: fmt.Sprintf("pass at most %d", limit.most),
			})
		}
	}
	return nil
}
