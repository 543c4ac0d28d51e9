package tunnel

import "strings"

// scrub returns an environment without what belongs to tunnels: keys, ids and
// settings that a program below would take for its own. extra names one more
// variable, such as the one that holds the key.
func scrub(env []string, extra string) []string {
	var clean []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if name == extra || belongs(name) {
			continue
		}
		clean = append(clean, entry)
	}
	return clean
}

func belongs(name string) bool {
	for _, prefix := range []string{"CONTROL_PLANE_", "TUNNEL_CLIENT_", "TUNNEL_MCP_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == socketVariable
}

// Secrets returns the names of the variables of an environment that belong to
// tunnels, the one with the key of c among them.
func Secrets(c Config, env []string) []string {
	var names []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if name == c.Key.variable() && name != "" || belongs(name) {
			names = append(names, name)
		}
	}
	return names
}
