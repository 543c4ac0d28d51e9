package main

import (
	"slices"
	"testing"
)

func TestAutoIsEveryBackendThatMayBeThere(t *testing.T) { // CLI-40
	for _, c := range []struct {
		said  []string
		goos  string
		suite string
		want  []string
	}{
		{nil, "linux", "", []string{"host", "tmux"}},
		{nil, "darwin", "", []string{"iterm2", "host", "tmux"}},
		{nil, "darwin", "termpilot", []string{"host", "tmux"}},
		{[]string{"auto"}, "darwin", "", []string{"iterm2", "host", "tmux"}},
		{[]string{"tmux", "host", "tmux"}, "linux", "", []string{"host", "tmux"}},
		{[]string{"iterm2"}, "linux", "", []string{"iterm2"}},
		{[]string{"iterm2", "auto"}, "linux", "termpilot", []string{"iterm2", "host", "tmux"}},
	} {
		getenv := func(name string) string {
			if name == "IT2_SUITE" {
				return c.suite
			}
			return ""
		}
		if got, err := wanted(c.said, c.goos, getenv); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q on %s with suite %q: got %q %v, want %q", c.said, c.goos, c.suite, got, err, c.want)
		}
	}
	if _, err := wanted([]string{"otty"}, "linux", func(string) string { return "" }); err == nil {
		t.Error("an unknown backend was taken")
	}
}
