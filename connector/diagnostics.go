package connector

import (
	"context"
	"fmt"
	"strings"

	"termpilot/doctor"
	"termpilot/lazy"
	"termpilot/terminal"
)

type diagnosticsIn struct{}

// aPath is an absolute path of at least two parts, as far as a mark that ends it in
// prose, or a blank behind which no further part of it begins: macOS keeps what
// programs know in "Application Support".
var aPath = lazy.Regexp(`(^|[\s("'=:])(?:/[^\s"',:;()]+(?: \pL[^\s"',:;()/]*/[^\s"',:;()]*)*){2,}/?`)

// pathless takes the paths out of what is told to a model: where a person keeps
// what is nothing that it needs. `termpilot doctor` shows them to the person.
func pathless(text string) string { return aPath().ReplaceAllString(text, "${1}[path]") }

var diagnostics = define(head{
	name: "diagnostics", title: "Diagnose termpilot", set: core, access: reads,
	about: "Check termpilot's parts: what is wrong, how that is known, what to do next.",
}, func(ctx context.Context, c call, _ diagnosticsIn) (doctor.Report, error) {
	r := doctor.Run(ctx, c.checks())
	for i := range r.Results {
		one := &r.Results[i]
		one.Summary, one.Evidence, one.Next = pathless(one.Summary), pathless(one.Evidence), pathless(one.Next)
	}
	return r, nil
}, func(r doctor.Report) (line, text string) {
	var b strings.Builder
	for _, check := range r.Results {
		s := fmt.Sprintf("%s %s: %s", check.State, check.ID, check.Summary)
		if check.Next != "" {
			s += "; next: " + check.Next
		}
		b.WriteString(terminal.OneLine(s, 0) + "\n")
	}
	return fmt.Sprintf("%s, %s", r.State, count(len(r.Results), "check")), b.String()
})
