package agent

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"termpilot/fault"
	"termpilot/lazy"
	"termpilot/private"
	"termpilot/terminal"
)

// grok is xAI's Grok Build. It takes no hooks for one launch alone: ours stand in
// a file of their own in its folder of hooks, and do nothing in a program that
// termpilot did not launch.
var grok = vendor{
	name: "grok", title: "Grok", programs: []string{"grok"},
	presets:        []preset{{name: "composer", title: "Composer", model: "grok-composer-2.5-fast"}},
	places:         []string{".grok/bin/grok", ".local/bin/grok"},
	folderVariable: "GROK_HOME", folderBelow: ".grok",
	readOnly: "its sandbox is read-only but for temporary folders and its own",
	ownChat:  true,

	preflight: grokPreflight,
	argv: func(l Launch, _, _ string) []string {
		args := []string{"--session-id", l.Chat}
		if l.Model != "" {
			args = append(args, "-m", l.Model)
		}
		if l.Effort != "" {
			args = append(args, "--effort", l.Effort)
		}
		if l.WriteScope == readOnlyScope {
			args = append(args, "--sandbox", "read-only")
		}
		return args
	},
	install: installGrok,
	set: []string{
		"GROK_DEFAULT_SELECTED_PERMISSION=allow_once", // else Enter would allow everything for good
		"GROK_DISABLE_AUTOUPDATER=1",
	},
	leaks:   []string{"GROK_SESSION_ID", "GROK_HOOK_EVENT", "GROK_HOOK_NAME", "GROK_WORKSPACE_ROOT"},
	hook:    grokHook,
	look:    grokLook,
	rewinds: true,
	checkConfigure: func(_, _ string) (detail, hint string) {
		return "Grok makes every change of its model or effort the person's default", "launch another agent with the model, or ask the person to change it"
	},
	resume: []string{"--resume"},
	breaks: "ctrl_c",
}

const grokHooks = "termpilot.json"

// installGrok puts our file into Grok's folder of hooks, when it is not there as it should be.
func installGrok(l Launch, _, self string) error {
	folder := filepath.Join(l.Folder, "hooks")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return &fault.Error{Op: "launch", Code: fault.Storage, Detail: "Grok's folder of hooks cannot be made", Hint: "see that it may be written", Err: err}
	}
	want := hooksFile(hookLine(self, "grok"),
		"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "StopFailure", "StopCancelled", "Notification", "PostToolUse")
	path := filepath.Join(folder, grokHooks)
	if have, err := private.Read(path, maxRecordFile); err == nil && bytes.Equal(have, want) {
		return nil
	}
	return private.Write(path, want)
}

var grokModel = lazy.Regexp(`^\s+[-*] (\S+)( \(default\))?$`)

// grokPreflight asks for the version and the models: Grok takes an unknown model
// without a word and uses its default.
func grokPreflight(ctx context.Context, p probe) (facts, error) {
	var f facts
	type answer struct {
		out string
		err error
	}
	listed := make(chan answer, 1)
	go func() { // received below
		out, err := p.run(ctx, "models")
		listed <- answer{out, err}
	}()
	version, err := p.run(ctx, "--version")
	models := <-listed
	if err != nil {
		return f, err
	}
	if words := strings.Fields(version); len(words) > 1 && words[0] == "grok" {
		f.version = words[1]
	}
	f.login = loggedIn
	switch {
	case models.err != nil:
		f.login, f.why = loginUnknown, "grok models did not answer"
	case strings.Contains(models.out, "not authenticated"):
		f.login, f.why = notLoggedIn, "grok models says that nobody is logged in"
	}
	if p.model == "" {
		return f, nil
	}
	var known []string
	for line := range strings.Lines(models.out) {
		if m := grokModel().FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			known = append(known, m[1])
			if m[1] == p.model {
				return f, nil
			}
		}
	}
	return f, refused("launch", "", fault.ModelUnknown, "grok knows no model "+terminal.OneLine(p.model, 80)+"; it lists "+terminal.OneLine(strings.Join(known, ", "), 400),
		"pass one of these, or no model for the default")
}

// grokHook reads a hook's JSON object.
func grokHook(data []byte) (event, bool) {
	w, ok := parseWords(data)
	if !ok || w["hookEventName"] == nil {
		return event{}, false
	}
	e := event{Chat: w.text("sessionId"), VendorTurn: w.text("promptId")}
	switch name := strings.ToLower(strings.ReplaceAll(w.text("hookEventName"), "_", "")); name {
	case "sessionstart":
		e.Kind, e.Reason, e.VendorTurn = session, w.text("source"), ""
	case "sessionend":
		e.Kind, e.Reason, e.VendorTurn = left, w.text("reason"), ""
	case "userpromptsubmit":
		e = promptEvent(e.Chat, e.VendorTurn, w.text("prompt", "userPrompt"))
	case "stop":
		if w.text("reason") == "shutdown" || e.VendorTurn == "" && w.text("lastAssistantMessage") == "" {
			return event{}, false // the program ends, no turn does
		}
		e.Kind, e.Text = done, w.text("lastAssistantMessage")
	case "stopfailure":
		e.Kind, e.Text = failed, w.text("lastAssistantMessage")
		e.Error = clipped(strings.TrimSpace(w.text("error") + " " + w.text("errorDetails")))
		e.Limited = isLimit(e.Error)
	case "stopcancelled":
		e.Kind, e.Reason = interrupted, w.text("reason")
	case "notification":
		if w.text("notificationType") != "permission_prompt" {
			return event{}, false
		}
		e.Kind, e.Reason = waits, "permission_prompt"
	case "posttooluse":
		e.Kind = goesOn
	default:
		return event{}, false
	}
	return e, true
}

// grokChoice is a row of Grok's dialog.
var grokChoice = lazy.Regexp(`^\s*(\d{1,2}) \(([●○])\) (\S.*)$`)

// grokLook reads the screen: a box with the mark is the composer, a bar at the
// left is a dialog.
func grokLook(s terminal.Screen) look {
	rows, cursor := rowsOf(s)
	if d := grokDialog(rows); d != nil {
		return look{state: stateDialog, dialog: d.classed()}
	}
	for i := len(rows) - 1; i > 0; i-- {
		at := strings.Index(rows[i], "│ ❯")
		if at < 0 || !strings.Contains(rows[i-1], "╭─") {
			continue
		}
		end := i + 1
		for end < len(rows) && strings.HasPrefix(strings.TrimSpace(rows[end]), "│") {
			end++
		}
		if end == len(rows) || !strings.Contains(rows[end], "╰─") {
			continue
		}
		inside := make([]string, 0, end-i)
		for _, row := range rows[i:end] {
			inside = append(inside, strings.Trim(strings.TrimSpace(row), "│"))
		}
		inside[0] = strings.TrimSpace(inside[0])
		l := look{state: stateReady, composer: composerText(inside, "❯"), under: under(inside, cursor-i)}
		column := len([]rune(rows[i][:at])) + 4 // behind "│ ❯ "
		l.empty = cursor == i && s.Cursor.Column <= column
		for _, row := range rows[max(0, i-3):i] {
			if strings.HasSuffix(strings.TrimSpace(row), "[stop]") {
				l.state, l.work = stateBusy, row
			}
		}
		return l
	}
	return look{state: stateStarting}
}

// grokDialog reads the last rows that have the bar.
func grokDialog(rows []string) *dialog {
	last := len(rows) - 1
	for last >= 0 && !strings.HasPrefix(strings.TrimSpace(rows[last]), "┃") {
		last--
	}
	if last < 0 || len(rows)-last > 6 { // an old one further up is no dialog any more
		return nil
	}
	first := last
	for first > 0 && strings.HasPrefix(strings.TrimSpace(rows[first-1]), "┃") {
		first--
	}
	d := &dialog{}
	marked := 0
	for _, row := range rows[first : last+1] {
		text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(row), "┃"))
		m := grokChoice().FindStringSubmatch(text)
		switch {
		case m != nil:
			n, _ := strconv.Atoi(m[1])
			if n != len(d.choices)+1 {
				return nil
			}
			if m[2] == "●" {
				marked++
				d.marked = n
			}
			d.choices = append(d.choices, choice{number: n, label: m[3], key: m[1]})
		case text != "" && len(d.choices) == 0:
			d.question = append(d.question, text)
		}
	}
	return d.checked(marked)
}
