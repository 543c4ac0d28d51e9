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
	text := launchAgent(alias, command, getenv("TERMPILOT_HOME"))
	if runtime.GOOS != "darwin" {
		text = systemdUnit(alias, command, getenv("TERMPILOT_HOME"))
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
// told to end stays ended; one that failed is started again.
func systemdUnit(alias string, command []string, home string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = systemdWord(word)
	}
	env := ""
	if home != "" {
		env = "Environment=" + systemdWord("TERMPILOT_HOME="+home) + "\n"
	}
	return fmt.Sprintf(`[Unit]
Description=termpilot's tunnel %s for ChatGPT

[Service]
ExecStart=%s
%sRestart=on-failure
RestartSec=30

[Install]
WantedBy=default.target
`, alias, strings.Join(words, " "), env)
}

// systemdWord quotes a word: quotes and backslashes for the parser, % and $
// against being replaced.
func systemdWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(word) + `"`
}

// launchAgent is a property list as launchd.plist(5) has it.
func launchAgent(alias string, command []string, home string) string {
	var words strings.Builder
	for _, word := range command {
		words.WriteString("\t\t<string>" + xmlText(word) + "</string>\n")
	}
	env := ""
	if home != "" {
		env = "\t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>TERMPILOT_HOME</key>\n\t\t<string>" + xmlText(home) + "</string>\n\t</dict>\n"
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
` + env + `	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
</dict>
</plist>
`
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return b.String()
}
