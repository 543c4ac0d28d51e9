package tunnel

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"termpilot/fault"
	"termpilot/private"
)

// loginFiles are what starts a supervisor at login: a unit of systemd and the
// link that enables it, or an agent of launchd, which needs no link.
func loginFiles(alias, system string, getenv func(string) string) (file, link string, err error) {
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", "", &fault.Error{Op: "start at login", Code: fault.InvalidArgument, Detail: "no home folder is known", Hint: "set HOME"}
	}
	if system == "darwin" {
		return filepath.Join(home, "Library", "LaunchAgents", "termpilot."+alias+".plist"), "", nil
	}
	config := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	name := "termpilot-" + alias + ".service"
	folder := filepath.Join(config, "systemd", "user")
	return filepath.Join(folder, name), filepath.Join(folder, "default.target.wants", name), nil
}

// installLogin writes what starts the supervisor at the next login, and returns
// its path. The running one is not touched.
func installLogin(alias string, command []string, getenv func(string) string) (string, error) {
	file, link, err := loginFiles(alias, runtime.GOOS, getenv)
	if err != nil {
		return "", err
	}
	text := launchAgent(alias, command, loginEnvironment(getenv))
	if runtime.GOOS != "darwin" {
		text = systemdUnit(alias, command, loginEnvironment(getenv))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", loginFault(err)
	}
	if err := private.Write(file, []byte(text)); err != nil {
		return "", err
	}
	if link == "" {
		return file, nil
	}
	err = os.MkdirAll(filepath.Dir(link), 0o755)
	if err == nil {
		err = os.Symlink(file, link)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", loginFault(err)
	}
	return file, nil
}

// StartsAtLogin reports whether the file that starts the alias's supervisor at
// login is there. Whoever started a supervisor from it may still hold it in
// memory after [Disconnect] has removed it.
func StartsAtLogin(alias string, getenv func(string) string) bool {
	file, _, err := loginFiles(alias, runtime.GOOS, getenv)
	if err == nil {
		_, err = os.Lstat(file)
	}
	return err == nil
}

// loginEnvironment is what the shell that sets up knows and a login's services
// do not: where things are, and how the network is reached. A proxy's password
// is not for a file, so such a proxy is left out.
func loginEnvironment(getenv func(string) string) []string {
	var env []string
	for _, name := range []string{"PATH", "TERMPILOT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMUX_TMPDIR"} {
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	for _, entry := range network(getenv) {
		if _, value, _ := strings.Cut(entry, "="); len(passwords(value)) == 0 {
			env = append(env, entry)
		}
	}
	return env
}

// removeLogin takes away what installLogin wrote, and returns its path; "" when
// it was not there.
func removeLogin(alias string, getenv func(string) string) (string, error) {
	file, link, err := loginFiles(alias, runtime.GOOS, getenv)
	if err != nil {
		return "", nil // without a home folder nothing was written into it
	}
	if link != "" {
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", loginFault(err)
		}
	}
	switch err := os.Remove(file); {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", loginFault(err)
	}
	return file, nil
}

func loginFault(err error) error {
	return &fault.Error{Op: "start at login", Code: fault.Storage, Detail: "the file cannot be changed", Hint: "see that the folder may be written", Err: err}
}

// systemdUnit is a unit file as systemd.service(5) has it. A supervisor that was
// told to end stays ended; one that failed is started again. KillMode=process:
// the host and its sessions go on when the supervisor ends.
func systemdUnit(alias string, command, env []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "[Unit]\nDescription=termpilot's tunnel %s for ChatGPT\n\n[Service]\nExecStart=/bin/sh", alias)
	for _, word := range append([]string{"-c", `exec "$0" "$@"`}, command...) { // systemd itself refuses programs with quotes in their path
		text.WriteString(" " + strings.ReplaceAll(systemdWord(word), "$", "$$")) // else it is replaced by a variable
	}
	text.WriteString("\n")
	for _, entry := range env {
		text.WriteString("Environment=" + systemdWord(entry) + "\n")
	}
	text.WriteString("KillMode=process\nRestart=on-failure\nRestartSec=30\n\n[Install]\nWantedBy=default.target\n")
	return text.String()
}

// systemdWord quotes a word: quotes, backslashes and line ends for the parser,
// and % against being replaced. $ means nothing in a variable's value.
func systemdWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(word) + `"`
}

// launchAgent is a property list as launchd.plist(5) has it.
func launchAgent(alias string, command, env []string) string {
	var words, variables strings.Builder
	for _, word := range command {
		words.WriteString("\t\t<string>" + xmlText(word) + "</string>\n")
	}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		variables.WriteString("\t\t<key>" + xmlText(name) + "</key>\n\t\t<string>" + xmlText(value) + "</string>\n")
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>termpilot.` + alias + `</string>
	<key>ProgramArguments</key>
	<array>
` + words.String() + `	</array>
	<key>EnvironmentVariables</key>
	<dict>
` + variables.String() + `	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>30</integer>
</dict>
</plist>
`
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return b.String()
}
