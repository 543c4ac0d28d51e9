package shellwords

import (
	"slices"
	"strings"
)

// shells are the programs that read commands at a prompt, and run those given
// with -c.
var shells = []string{"sh", "bash", "zsh", "fish", "dash", "ash", "ksh", "mksh", "csh", "tcsh", "busybox", "nu", "xonsh", "pwsh", "elvish"}

// IsShell reports whether a program of this name reads commands.
func IsShell(name string) bool { return slices.Contains(shells, name) }

// Base is the name of a program without its folder.
func Base(word string) string { return word[strings.LastIndexByte(word, '/')+1:] }

// Script returns the shell text that a command, as Program gives it, runs: that
// of eval, ssh and sh -c, or the here-document that a shell reads.
func Script(words []string, stdin string) (string, bool) {
	if len(words) == 0 {
		return "", false
	}
	name, args := Base(words[0]), words[1:]
	switch name {
	case "eval":
		return strings.Join(args, " "), true
	case "ssh":
		for i := 0; i < len(args); i++ {
			if strings.HasPrefix(args[i], "-") {
				if len(args[i]) == 2 && strings.ContainsAny(args[i][1:], "bcDEeFIiJLlmOopQRSWw") {
					i++
				}
				continue
			}
			return strings.Join(args[i+1:], " "), len(args) > i+1
		}
		return "", false
	}
	if !IsShell(name) {
		return "", false
	}
	for i, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return stdin, stdin != ""
}

// wrappers are programs that run the command which follows them.
var wrappers = map[string]string{ // the name, and its options that take a value
	"sudo": "ugpChrtTD", "doas": "uC", "env": "uCS", "command": "", "builtin": "", "exec": "a", "nohup": "", "time": "of", "nice": "n",
	"ionice": "cnp", "stdbuf": "ioe", "setsid": "", "xargs": "InPLsEda", "timeout": "sk", "then": "", "do": "", "else": "", "if": "", "while": "",
	"until": "", "!": "", "{": "", "noglob": "", "nocorrect": "", "chronic": "", "unbuffer": "", "run0": "", "pkexec": "", "and": "", "or": "", "not": "", "begin": "",
}

// Program is the words of a command from the program's name on: without
// assignments and the programs that only run another.
func Program(c Simple) []string {
	words := c.Words
	for len(words) > 0 {
		name := Base(words[0])
		if isAssignment(words[0]) {
			words = words[1:]
			continue
		}
		values, wraps := wrappers[name]
		if !wraps {
			return words
		}
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0], "-") && len(words[0]) > 1 {
			takes := len(words[0]) == 2 && strings.Contains(values, words[0][1:])
			words = words[1:]
			if takes && len(words) > 0 {
				words = words[1:]
			}
		}
		if name == "timeout" && len(words) > 0 {
			words = words[1:] // its duration
		}
	}
	return nil
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" {
		return false
	}
	for i, r := range name {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}
