package host

import (
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"

	"termpilot/shellint"
)

// Variables that describe the terminal, editor, agent or service that the host
// happened to be started from. In a session of ours they would be lies.
var (
	leftovers = []string{
		"TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID", "CLAUDECODE", "TERM_SESSION_ID",
		"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LC_TERMINAL", "LC_TERMINAL_VERSION", "TERMINFO", "TERMCAP",
		"COLORFGBG", "VTE_VERSION", "WT_SESSION", "WT_PROFILE_ID", "INSIDE_EMACS", "ELECTRON_RUN_AS_NODE",
		"TERMINAL_EMULATOR", "TERM_FEATURES", "XTERM_VERSION", "XTERM_SHELL", "XTERM_LOCALE", "TILIX_ID", "GUAKE_TAB_UUID", "SHELL_SESSION_ID",
		"NVIM", "NVIM_LISTEN_ADDRESS", "VIM", "VIMRUNTIME", "MYVIMRC", "ZED_TERM",
		"GEMINI_CLI", "GOOSE_TERMINAL", "CLINE_ACTIVE", "OPENCODE", "AI_AGENT",
		"NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "INVOCATION_ID", "JOURNAL_STREAM", // of the service manager
		"SHLVL", "OLDPWD", "_", "LINES", "COLUMNS", "PS1",
	}
	leftoverPrefixes = []string{
		"CLAUDE_CODE_", "CODEX_", "ITERM_", "IT2_", "VSCODE_", "KITTY_", "GHOSTTY_", "WEZTERM_",
		"ALACRITTY_", "KONSOLE_", "ZELLIJ", "GNOME_TERMINAL_", "PTYXIS_", "TERMINATOR_", "WARP_", "CURSOR_",
	}
	// What termpilot itself may have been given: credentials and settings of its
	// own server, tunnel and iTerm2 client.
	ownPrefixes = []string{"TERMPILOT_", "ITERM2_", "CONTROL_PLANE_", "TUNNEL_CLIENT_", "TUNNEL_MCP_"}
	// What passes in spite of the lists: where our state and Codex's configuration are.
	kept = []string{"TERMPILOT_HOME", "CODEX_HOME"}
)

// sessionIDVariable tells a program the id of the session that it runs in.
const sessionIDVariable = "TERMPILOT_SESSION_ID"

// environment returns the variables of a session's program: those of base that
// belong to the user, the terminal's own, then add. A UTF-8 locale is set when
// base names none.
func environment(base []string, version, session, dir string, add map[string]string) []string {
	env := map[string]string{}
	for _, entry := range base {
		name, value, ok := strings.Cut(entry, "=")
		if ok && name != "" && passes(name) {
			env[name] = value
		}
	}
	fillUser(env)
	if env["LC_ALL"] == "" && env["LC_CTYPE"] == "" && env["LANG"] == "" {
		env["LANG"] = utf8Locale()
	}
	env["TERM"] = "xterm-256color"
	env["COLORTERM"] = "truecolor"
	env["TERM_PROGRAM"] = shellint.HostProgram
	env["TERM_PROGRAM_VERSION"] = version
	env["PWD"] = dir
	for name, value := range add {
		env[name] = value
	}
	env[sessionIDVariable] = session
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func passes(name string) bool {
	if slices.Contains(kept, name) {
		return true
	}
	if slices.Contains(leftovers, name) {
		return false
	}
	has := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return !slices.ContainsFunc(leftoverPrefixes, has) && !slices.ContainsFunc(ownPrefixes, has)
}

// fillUser sets what a login would have set and a bare start may lack.
func fillUser(env map[string]string) {
	missing := func(name, value string) {
		if env[name] == "" && value != "" {
			env[name] = value
		}
	}
	if u, err := user.Current(); err == nil {
		missing("HOME", u.HomeDir)
		missing("USER", u.Username)
		missing("LOGNAME", u.Username)
	}
	missing("SHELL", loginShell(nil))
	missing("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin")
}

func utf8Locale() string {
	if runtime.GOOS == "darwin" {
		return "en_US.UTF-8"
	}
	return "C.UTF-8"
}

// lookup returns the last value of a variable in a list, as exec would see it.
func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// validVariable reports whether a variable can be passed to a program.
func validVariable(name, value string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00") && !strings.ContainsRune(value, 0)
}

// homeFolder is where a session starts when it is not told.
func homeFolder(env []string) string {
	if home := lookup(env, "HOME"); home != "" {
		if info, err := os.Stat(home); err == nil && info.IsDir() {
			return home
		}
	}
	return "/"
}
