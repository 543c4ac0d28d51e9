package agent

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"termpilot/private"
	"termpilot/shellwords"
	"termpilot/terminal"
)

// claude is Anthropic's Claude Code. Its hooks come with --settings, which is
// merged with the person's own, for this launch only.
var claude = vendor{
	name: "claude", title: "Claude Code", programs: []string{"claude", "claude.exe"},
	places:         []string{".local/bin/claude", ".claude/local/claude"},
	folderVariable: "CLAUDE_CONFIG_DIR", folderBelow: ".claude",
	readOnly: "its tools that write files or run commands are off; those of MCP servers are not",
	efforts:  []string{"low", "medium", "high", "xhigh", "max"},
	ownChat:  true,

	preflight: claudePreflight,
	argv: func(l Launch, folder, _ string) []string {
		args := []string{"--session-id", l.Chat, "--settings", filepath.Join(folder, claudeSettings)}
		if l.Model != "" {
			args = append(args, "--model", l.Model)
		}
		if l.Effort != "" {
			args = append(args, "--effort", l.Effort)
		}
		if l.WriteScope == readOnlyScope {
			args = append(args, "--disallowedTools", "Bash,Write,Edit,MultiEdit,NotebookEdit")
		}
		return args
	},
	install: func(_ Launch, folder, self string) error {
		return private.Write(filepath.Join(folder, claudeSettings), hooksFile(hookLine(self, "claude"),
			"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "StopFailure", "PermissionRequest"))
	},
	leaks: []string{
		"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH",
		"CLAUDE_EFFORT", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE",
	},
	hook:    claudeHook,
	look:    claudeLook,
	watched: func(s *story) string { return filepath.Join(s.launch.Folder, "sessions") },
	record:  claudeRecord,
	waits: func(s *story) (open, known bool) {
		r, ok := readRegistered(s)
		behind := time.UnixMilli(r.StatusUpdatedAt).Before(s.answered) // it has not caught up with our answer
		return strings.HasPrefix(r.WaitingFor, "permission") && !behind, ok
	},
	menus:          []string{"Select model", "Switch model?"},
	configure:      configureClaude,
	checkConfigure: checkClaude,
	resume:         []string{"--resume"},
	breaks:         "escape",
}

const claudeSettings = "claude-settings.json"

// hookLine is the shell command of a hook. It says nothing and succeeds where
// this program is gone or no launch of ours asked for it.
func hookLine(self, vendor string) string {
	q := shellwords.Quote(self)
	return "if [ -n \"$" + folderVariable + "\" ] && [ -x " + q + " ]; then " + q + " hook " + vendor + "; fi; true"
}

// hooksFile is a settings file in the form that Claude Code and Grok read.
func hooksFile(command string, events ...string) []byte {
	type one struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"` // seconds
	}
	type group struct {
		Hooks []one `json:"hooks"`
	}
	hooks := map[string][]group{}
	for _, e := range events {
		hooks[e] = []group{{[]one{{"command", command, 10}}}}
	}
	data, _ := json.Marshal(map[string]any{"hooks": hooks}) // texts and numbers: it does not fail
	return append(data, '\n')
}

// claudePreflight asks for the version, and whether an account or key is known.
func claudePreflight(ctx context.Context, p probe) (facts, error) {
	var f facts
	type auth struct {
		LoggedIn *bool `json:"loggedIn"`
	}
	status := make(chan string, 1)
	go func() { // received below
		out, _ := p.run(ctx, "auth", "status", "--json") // it fails when nobody is logged in, and says so
		status <- out
	}()
	version, err := p.run(ctx, "--version")
	out := <-status
	if err != nil {
		return f, err
	}
	f.version, _, _ = strings.Cut(strings.TrimSpace(version), " ")
	var a auth
	switch err := json.Unmarshal([]byte(out), &a); {
	case err != nil || a.LoggedIn == nil:
		f.login, f.why = loginUnknown, "claude auth status did not say"
	case *a.LoggedIn:
		f.login = loggedIn
	default:
		f.login, f.why = notLoggedIn, "claude auth status says that nobody is logged in"
	}
	return f, nil
}

// claudeHook reads a hook's JSON object.
func claudeHook(data []byte) (event, bool) {
	w, ok := parseWords(data)
	if !ok || w["hookEventName"] != nil { // that is Grok's way: it runs Claude's hooks, too
		return event{}, false
	}
	e := event{Chat: w.text("session_id"), VendorTurn: w.text("prompt_id")}
	switch w.text("hook_event_name") {
	case "SessionStart":
		e.Kind, e.Reason, e.VendorTurn = session, w.text("source"), ""
	case "SessionEnd":
		e.Kind, e.Reason, e.VendorTurn = left, w.text("reason"), ""
	case "UserPromptSubmit":
		e = promptEvent(e.Chat, e.VendorTurn, w.text("prompt"))
	case "Stop":
		e.Kind, e.Text = done, w.text("last_assistant_message")
		if w.many("background_tasks") {
			e.Reason = "the turn ended; work that it began goes on in the background"
		}
	case "StopFailure":
		e.Kind, e.Text, e.Error = failed, w.text("last_assistant_message"), clipped(w.text("error", "last_assistant_message"))
		e.Limited = isLimit(w.text("error") + " " + w.text("last_assistant_message"))
	case "PermissionRequest":
		e.Kind, e.Reason = waits, w.text("tool_name")
	default:
		return event{}, false
	}
	return e, true
}

// claudeLook reads the screen: the composer is what stands between the last two
// lines across it, and a dialog is what stands below the last one instead.
func claudeLook(s terminal.Screen) look {
	rows, cursor := rowsOf(s)
	var rules []int
	for i, row := range rows {
		if isRule(row) {
			rules = append(rules, i)
		}
	}
	for i := len(rules) - 1; i > 0; i-- {
		top, bottom := rules[i-1], rules[i]
		if bottom-top < 2 || !strings.HasPrefix(rows[top+1], "❯") {
			continue
		}
		inside := rows[top+1 : bottom]
		l := look{state: stateReady, composer: composerText(inside, "❯"), under: under(inside, cursor-top-1)}
		l.empty = cursor == top+1 && s.Cursor.Column <= 2
		for _, row := range rows[bottom+1:] { // only what the vendor draws below it, never what was printed
			if strings.Contains(row, "esc to interrupt") {
				l.state = stateBusy
			}
		}
		if i == len(rules)-1 || !dialogBelow(rows[bottom+1:]) {
			return l
		}
	}
	if len(rules) > 0 {
		if d := numbered(rows[rules[len(rules)-1]+1:]); d != nil {
			return look{state: stateDialog, dialog: d.classed()}
		}
	}
	if d := numbered(lastBlock(rows)); d != nil { // the questions before the first composer have no line
		return look{state: stateDialog, dialog: d.classed()}
	}
	return look{state: stateStarting}
}

func dialogBelow(rows []string) bool { return numbered(rows) != nil }

// composerText is a composer's text without its mark and indentation.
func composerText(rows []string, mark string) string {
	lines := make([]string, 0, len(rows))
	for i, row := range rows {
		if i == 0 {
			row = strings.TrimPrefix(row, mark)
		}
		lines = append(lines, strings.TrimSpace(row))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// lastBlock is the end of a screen from the last heading that a choice can have.
func lastBlock(rows []string) []string {
	for i := len(rows) - 1; i >= 0; i-- {
		if m := aChoice().FindStringSubmatch(rows[i]); m != nil && m[2] == "1" {
			from := i
			for from > 0 && i-from < 12 && !isRule(rows[from-1]) {
				from--
			}
			return rows[from:]
		}
	}
	return nil
}

// checkClaude: the menu that can change the model for a session writes an effort
// that is chosen in it into the person's settings all the same.
func checkClaude(_, effort string) (detail, hint string) {
	if effort != "" {
		return "Claude Code makes every change of its effort the person's default", "launch another agent with the effort, or ask the person to change it"
	}
	return "", ""
}

// configureClaude chooses in Claude Code's menu with the key that means this
// session only.
func configureClaude(ctx context.Context, h *hands, model, _ string) (string, error) {
	d, err := h.menu(ctx)
	if err != nil {
		return "", err
	}
	want, ok := d.entry(model)
	if !ok {
		return "", h.unknownModel(d, "model", model)
	}
	if err := h.mark(ctx, want); err != nil {
		return "", err
	}
	if err := h.press(ctx, "s", want.marked); err != nil {
		return "", err
	}
	l, came, err := h.await(ctx, drawPatience, still, func(l look) bool {
		return l.state == stateReady && l.empty || l.dialog != nil && l.dialog.has(h.vendor.menus[1])
	})
	if err != nil || !came {
		return "", h.unexpected("its menu did not take the choice", err)
	}
	if l.dialog != nil { // asked once there is a conversation; its first row is yes, for what was chosen
		switches := func(l look) bool { return l.dialog != nil && l.dialog.has(h.vendor.menus[1]) }
		if err := h.press(ctx, l.dialog.choices[0].key, switches); err != nil {
			return "", err
		}
		if _, came, err := h.await(ctx, drawPatience, still, func(l look) bool { return l.state == stateReady && l.empty }); err != nil || !came {
			return "", h.unexpected("it did not take the change", err)
		}
	}
	return h.shows(ctx, "Set model to", "for this session only")
}
