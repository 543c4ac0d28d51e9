package main

import (
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
			if o.MaxLines < 0 || o.MaxChars < 0 || o.MaxLines > pilot.MaxLines || o.MaxChars > pilot.MaxChars {
				return usage(&fault.Error{
					Op: "reduce", Code: fault.InvalidArgument, Detail: "--max-lines or --max-chars is out of range",
					Hint: "pass at most 2000 lines and 131072 characters",
				})
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
