package connector

import (
	"context"
	"fmt"
	"strings"

	"termpilot/doctor"
)

type diagnosticsIn struct{}

var diagnostics = define(head{
	name: "diagnostics", title: "Diagnose termpilot", set: core, access: reads,
	about: "Check termpilot's parts: what is wrong, how that is known, what to do next.",
}, func(ctx context.Context, c call, _ diagnosticsIn) (doctor.Report, error) {
	return doctor.Run(ctx, c.checks), nil
}, func(r doctor.Report) (line, text string) {
	var b strings.Builder
	for _, check := range r.Results {
		s := fmt.Sprintf("%s %s: %s", check.State, check.ID, check.Summary)
		if check.Next != "" {
			s += "; next: " + check.Next
		}
		b.WriteString(oneLine(s) + "\n")
	}
	return fmt.Sprintf("%s, %s", r.State, count(len(r.Results), "check")), b.String()
})
