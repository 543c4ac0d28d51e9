package reduce

import (
	"strings"

	"termpilot/lazy"
)

var describeReducers = []reducer{
	{names: "kubectl describe, oc describe", reduce: describe},
}

// described are the fields of kubectl describe that say how a thing is.
var described = lazy.Regexp(`^\s*(?:Name|Namespace|Node|Status|Reason|Message|IP|Image|State|Last State|Exit Code|Started|Finished|Ready|Restart Count|Replicas|Type|Ports?|Endpoints|Liveness|Readiness|Conditions|Selector|Strategy|Capacity|Allocatable|Taints|Unschedulable|NewReplicaSet|OldReplicaSets?|Schedule|Replica.*|Pods Status|Events):`)

// describe draws kubectl describe: how the thing is, its conditions and events.
// Labels, annotations, mounts, volumes and tolerations go.
func describe(in *input) (draft, bool) {
	var d draft
	section, events := "", false
	known := 0
	for i, line := range in.lines {
		if line == "" {
			continue
		}
		if line[0] != ' ' {
			name, rest, _ := strings.Cut(line, ":")
			section = name
			events = name == "Events"
			if strings.TrimSpace(rest) == "" {
				known++
			}
		}
		switch {
		case events || section == "Conditions":
			d.show(i, 1, strings.Join(splitColumns(line), "  "))
			d.tells(1 + boolInt(strings.HasPrefix(strings.TrimSpace(line), "Warning"))*2)
		case described().MatchString(line) && section != "Labels" && section != "Annotations" && section != "Volumes":
			known++
			d.show(i, 1, spaced(line))
			d.tells(2)
		case strings.HasPrefix(line, "  ") && line[2] != ' ' && strings.HasSuffix(line, ":") && strings.HasSuffix(section, "ontainers"): // a container's name
			d.keep(in, i)
		}
	}
	return d, known > 4
}

// spaced is a field without the blanks that put its value into a column.
func spaced(line string) string {
	text := strings.TrimLeft(line, " ")
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return line
	}
	return line[:len(line)-len(text)] + name + ": " + strings.TrimSpace(value)
}
