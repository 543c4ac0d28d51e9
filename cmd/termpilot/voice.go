package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/term"

	"termpilot/terminal"
)

// How termpilot speaks: data on the standard output; everything else on the
// standard error, as "termpilot: error: …" and "termpilot: hint: …", lower
// case and without a full stop. Colours only where a person looks.

// complain tells a failure and the way out.
func (a *app) complain(text, hint string) {
	fmt.Fprintf(a.errs, "%s %s\n", a.paint(a.errs, red, "termpilot: error:"), terminal.OneLine(text, 0))
	if hint != "" {
		fmt.Fprintf(a.errs, "%s %s\n", a.paint(a.errs, yellow, "termpilot: hint:"), terminal.OneLine(hint, 0))
	}
}

// inCommands is a hint that names tools, for somebody who types commands.
func inCommands(hint string) string { return commandsForTools.Replace(hint) }

var commandsForTools = replacer([][2]string{
	{"read_terminal source=", "read --source "},
	{"read_terminal", "read"},
	{"list_sessions", "sessions"},
	{"get_current_session", "sessions"},
	{"list_profiles", "profiles"},
	{"run_command", "run"},
	{"send_text", "send SESSION"},
	{"send_keys", "keys SESSION"},
	{"wait_session", "call wait_session"},
	{"create_window", "new"},
	{"create_tab", "tab"},
	{"split_pane", "split"},
	{"focus_session", "focus SESSION"},
	{"resize_session", "resize SESSION"},
	{"rename_session", "rename SESSION"},
	{"inspect_sessions", "close --inspect"},
	{"close_session", "close"},
	{"close_tab", "close --tab"},
	{"close_window", "close --window"},
	{"clean_all_sessions", "close --all"},
	{"list_recoveries", "recover"},
	{"claude_agent", "agent launch claude"},
	{"codex_agent", "agent launch codex"},
	{"grok_agent", "agent launch grok"},
	{"composer_agent", "agent launch composer"},
	{"launch_agent", "agent launch"},
	{"agent_turn action=status", "agent status SESSION"},
	{"agent_turn action=result", "agent result SESSION"},
	{"agent_turn", "agent turn SESSION"},
	{"agent_approval", "agent approval SESSION"},
	{"agent_configure", "agent configure SESSION"},
	{"diagnostics", "doctor"},
})

func replacer(names [][2]string) *strings.Replacer {
	words := []string{
		"force=true", "--force", "pass force=true", "pass --force", "pass force", "pass --force",
		"pass a session_id from it", "pass an id or a name from it", "pass the session_id: ", "pass the id or the name: ",
	}
	for _, n := range names {
		words = append(words, "call "+n[0], "run termpilot "+n[1], n[0], "termpilot "+n[1])
	}
	return strings.NewReplacer(words...)
}

// note tells something that is no failure.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.errs, "termpilot: %s\n", terminal.OneLine(fmt.Sprintf(format, args...), 0))
}

// style is an SGR sequence's parameters.
type style string

const (
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

// paint colours text that goes to w, where colours are wanted.
func (a *app) paint(w io.Writer, s style, text string) string {
	if !a.colourful(w) || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func (a *app) colourful(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// asJSON prints what a call returned where --json asks for it. done is true when
// nothing is left to do: it was printed, or there is an error to return.
func (a *app) asJSON(result any, failed error) (done bool, err error) {
	if failed != nil || !a.json {
		return failed != nil, failed
	}
	return true, a.printJSON(result)
}

// printJSON writes value, which must encode as a JSON object, with the version
// of its shape as the first member.
func (a *app) printJSON(value any) error {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false) // it goes to people and programs, not into a page
	if err := enc.Encode(value); err != nil {
		return err
	}
	body := bytes.TrimSuffix(plain.Bytes(), []byte("\n"))
	if !bytes.HasPrefix(body, []byte("{")) {
		return fmt.Errorf("json of %T is not an object", value)
	}
	versioned := append([]byte(`{"v":1,`), body[1:]...)
	if bytes.Equal(body, []byte("{}")) {
		versioned = []byte(`{"v":1}`)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, versioned, "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err := a.out.Write(out.Bytes())
	return err
}

// printTable writes aligned columns under a header. Empty cells show as "-".
func (a *app) printTable(header []string, rows [][]string) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(header, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = terminal.OneLine(cell, 0); cells[i] == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// printText writes terminal text, so that it ends with a newline and no byte
// of it can drive the terminal that shows it.
func (a *app) printText(text string) error {
	if text == "" {
		return nil
	}
	_, err := io.WriteString(a.out, strings.TrimRight(printable(text), "\n")+"\n")
	return err
}

// printable is terminal text without what could drive the terminal that shows it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}
