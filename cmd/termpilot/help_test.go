package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands returns every command of the program, by its whole path.
func commands() map[string]*cobra.Command {
	found := map[string]*cobra.Command{}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		found[cmd.CommandPath()] = cmd
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	a := &app{in: strings.NewReader(""), out: io.Discard, errs: io.Discard, getenv: func(string) string { return "" }}
	visit(a.rootCommand([]string{"help"}))
	return found
}

func TestServeIsTheSameWithAndWithoutTheOtherCommands(t *testing.T) { // CLI-4, CLI-9
	a := &app{in: strings.NewReader(""), out: io.Discard, errs: io.Discard, getenv: func(string) string { return "" }}
	for _, args := range [][]string{nil, {"serve"}, {"serve", "--read-only"}} {
		alone, _, err := a.rootCommand(args).Find([]string{"serve"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(commands()["termpilot serve"].UsageString(), alone.UsageString()); diff != "" {
			t.Errorf("%q: usage differs (-with +alone):\n%s", args, diff)
		}
		if n := len(alone.Parent().Commands()); n != 1 {
			t.Errorf("%q: made %d commands", args, n)
		}
	}
}

func TestEveryCommandExplainsItself(t *testing.T) { // CLI-4
	for path, cmd := range commands() {
		first, _ := firstRune(cmd.Short)
		switch {
		case !unicode.IsUpper(first):
			t.Errorf("%s: help %q does not begin with a capital", path, cmd.Short)
		case strings.HasSuffix(cmd.Short, "."):
			t.Errorf("%s: help %q ends with a full stop", path, cmd.Short)
		case cmd.Example == "":
			t.Errorf("%s: has no example", path)
		}
		for line := range strings.Lines(cmd.Example) {
			if !strings.Contains(line, "termpilot") {
				t.Errorf("%s: example %q does not call termpilot", path, strings.TrimSpace(line))
			}
		}
		if cmd.Long != "" && !strings.HasPrefix(cmd.Long, cmd.Short+".\n\n") {
			t.Errorf("%s: the long help does not go on from the short one", path)
		}
	}
}

func TestEveryFlagIsExplained(t *testing.T) { // CLI-4
	for path, cmd := range commands() {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s: --%s: %q explains nothing, or ends with a full stop", path, f.Name, f.Usage)
			}
		})
	}
}

func TestDataCommandsOfferJSON(t *testing.T) { // CLI-6
	want := []string{
		"call", "tools", "sessions", "read", "run", "send", "keys", "host start", "host status", "host env",
		"new", "tab", "split", "focus", "resize", "rename", "profiles", "close", "recover", "doctor", "reduce",
		"agent launch", "agent turn", "agent status", "agent result", "agent approval", "agent configure", "wait",
		"chatgpt setup", "chatgpt status", "chatgpt doctor", "chatgpt disconnect", "shell check", "shell install", "shell uninstall",
	}
	for path, cmd := range commands() {
		_, name, _ := strings.Cut(path, " ")
		has := cmd.Flags().Lookup("json") != nil
		if has != slices.Contains(want, name) {
			t.Errorf("%s: --json is %v", path, has)
		}
	}
}

func firstRune(s string) (rune, bool) {
	for _, r := range s {
		return r, true
	}
	return 0, false
}
