package agent

import (
	"strings"
	"testing"

	"termpilot/terminal"
)

// screenOf makes a screen of rows; the cursor stands where "▏" does, else at its end.
func screenOf(text string) terminal.Screen {
	var s terminal.Screen
	rows := strings.Split(strings.Trim(text, "\n"), "\n")
	s.Cursor.Row = int64(len(rows) - 1)
	for i, row := range rows {
		if at := strings.Index(row, "▏"); at >= 0 {
			s.Cursor = terminal.Point{Row: int64(i), Column: len([]rune(row[:at]))}
			row = strings.Replace(row, "▏", "", 1)
		}
		s.Rows = append(s.Rows, terminal.Row{Text: row})
	}
	return s
}

const across = "────────────────────────────────────────────────────────────"

func TestScreensOfTheVendorsAreRead(t *testing.T) { // TURN-6, TURN-7, APPROVE-1, APPROVE-4
	for name, one := range map[string]struct {
		vendor *vendor
		screen string
		state  state
		empty  bool
		kind   string // of the dialog
		rows   int    // of the dialog
	}{
		"claude, ready":                    {&claude, "● esc to interrupt, it said\n\n" + across + "\n❯\u00a0▏\n" + across + "\n  ? for shortcuts · ← for agents      ● high · /effort", stateReady, true, "", 0},
		"claude, a hint":                   {&claude, across + "\n❯\u00a0▏Try \"edit main.go to…\"\n" + across + "\n  ? for shortcuts", stateReady, true, "", 0},
		"claude, typed":                    {&claude, across + "\n❯\u00a0one\n  two▏\n" + across + "\n", stateReady, false, "", 0},
		"claude, busy":                     {&claude, "· Kneading… (2s · ↓ 12 tokens)\n\n" + across + "\n❯\u00a0▏\n" + across + "\n  esc to interrupt · ← for agents", stateBusy, true, "", 0},
		"claude, asks":                     {&claude, "❯ do it\n\n● Bash(curl x)\n  ⎿  Waiting…\n\n" + across + "\n Bash command\n\n   curl x\n\n This command requires approval\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. Yes, and don’t ask again for: curl *\n   3. No\n\n Esc to cancel · Tab to amend", stateDialog, false, "permission", 3},
		"claude, a menu":                   {&claude, "❯ /model\n" + across + "\n  Select model\n  Switch between models. Your pick becomes the default for new sessions.\n\n  ❯ 1. Default (recommended) ✔  Use the default\n    2. Opus                     Best\n\n  ● High effort (default) ←/→ to adjust\n\n  Enter to set as default · s to use this session only · Esc to cancel", stateDialog, false, "other", 2},
		"claude, trust":                    {&claude, " Do you trust this folder?\n\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm", stateDialog, false, "other", 2},
		"claude, a quoted question":        {&claude, "● It looks so:\n" + across + "\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n" + across + "\n❯\u00a0▏\n" + across + "\n  ? for shortcuts", stateReady, true, "", 0},
		"claude, a shell":                  {&claude, "Resume this session with:\nclaude --resume 1\n$ ▏", stateStarting, false, "", 0},
		"codex, ready":                     {&codex, "  >_ Codex\n\n\n› ▏Ask Codex to do anything\n\n  gpt-5.1-codex default · /tmp/project\n  ← for agents · ? for shortcuts", stateReady, true, "", 0},
		"codex, drawn before it is ready":  {&codex, "  >_ Codex\n\n› ▏Ask Codex to do anything\n\n", stateStarting, false, "", 0},
		"codex, typed":                     {&codex, "› one\n  two▏\n\n  gpt-5.1-codex default · ~/project · a title", stateReady, false, "", 0},
		"codex, busy":                      {&codex, "› do it\n\n• Working (3s • esc to interrupt)\n\n› ▏Ask Codex to do anything\n\n  gpt high · /tmp", stateBusy, true, "", 0},
		"codex, asks":                      {&codex, "• Running curl x\n\n  Would you like to run the following command?\n\n  $ curl x\n\n› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for commands that start with `curl x` (p)\n  3. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel", stateDialog, false, "permission", 3},
		"codex, a menu":                    {&codex, "  Select Model and Effort\n\n\n› 1. One    Fast, go-to model for coding and everyday\n            work.\n  2. Two    Capable.\n↓\n  enter select · esc back", stateDialog, false, "other", 2},
		"codex, scrolled":                  {&codex, "• said\n\n› l1                         ↑\n  l2\n  l3▏\n ", stateReady, false, "", 0},
		"codex, an arrow in what was said": {&codex, "› go ↑\n\n• said\n\n  Would you like it?\n\n› 1. Yes, proceed (y)\n  2. No (esc)", stateDialog, false, "permission", 2},
		"grok, ready":                      {&grok, "  ╭──────────────────────╮\n  │ ❯ ▏                  │\n  ╰──────── fake-model ─╯\n\n  Shift+Tab:mode", stateReady, true, "", 0},
		"grok, a suggestion":               {&grok, "  ╭──────────────────────╮\n  │ ❯ ▏title              │\n  ╰──────── fake-model ─╯\n  Tab/→:accept suggestion", stateReady, true, "", 0},
		"grok, typed":                      {&grok, "  ╭──────────────────────╮\n  │ ❯ one                │\n  │   two▏               │\n  ╰──────── fake-model ─╯", stateReady, false, "", 0},
		"grok, busy":                       {&grok, "    ⠋ Responding… 3.0s             3.0s ⇣40 [stop]\n\n  ╭────────────────╮\n  │ ❯ ▏            │\n  ╰──── fake ─╯\n  Ctrl+c:cancel", stateBusy, true, "", 0},
		"grok, asks":                       {&grok, "    ◆ Fake tool run… 4.3s\n\n  ┃\n  ┃  Fake tool run\n  ┃  curl x\n  ┃\n  ┃  1 (●) Yes, and don't ask again for anything (always-approve mode)\n  ┃  2 (○) Always allow: curl\n  ┃  3 (○) Yes, proceed\n  ┃  4 (○) No, reject (type to add feedback)\n  ┃  5 (○) Never allow: curl\n  ┃\n\n  1/5:select  │  Tab:next option", stateDialog, false, "permission", 5},
	} {
		got := one.vendor.look(screenOf(one.screen))
		kind, rows := "", 0
		if got.dialog != nil {
			kind, rows = got.dialog.kind, len(got.dialog.choices)
		}
		if got.state != one.state || got.empty != one.empty || kind != one.kind || rows != one.rows {
			t.Errorf("%s: %s, empty %v, dialog %q of %d; want %s, %v, %q of %d", name, got.state, got.empty, kind, rows, one.state, one.empty, one.kind, one.rows)
		}
	}
}

func TestTheMarkedRowAndWhatStandsAboveAreNoPartOfAQuestion(t *testing.T) { // APPROVE-1
	first := claude.look(screenOf(across + "\n Go on?\n ❯ 1. Yes\n   2. No")).dialog.digest()
	second := claude.look(screenOf(across + "\n Go on?\n   1. Yes\n ❯ 2. No")).dialog.digest()
	other := claude.look(screenOf(across + "\n Go back?\n ❯ 1. Yes\n   2. No")).dialog.digest()
	later := claude.look(screenOf("● what was said since\n12:00:01\n" + across + "\n Go on?\n ❯ 1. Yes\n   2. No")).dialog.digest()
	if first != later {
		t.Errorf("%s, with other words above it %s", first, later)
	}
	if first != second || first == other {
		t.Errorf("%s, with another row marked %s, another question %s", first, second, other)
	}
}

func TestNoRowIsChosenByTheFirstOfTwoDigits(t *testing.T) { // APPROVE-2, CONFIGURE-1
	rows := across + "\n Which?\n ❯ 1. Allow always\n"
	for i := range 8 {
		rows += "   " + string(rune('2'+i)) + ". Other\n"
	}
	d := claude.look(screenOf(rows + "   10. Yes\n   11. No")).dialog
	if d == nil || len(d.choices) != 11 || d.choices[8].key != "9" || d.choices[9].key != "" || d.kind != "other" {
		t.Errorf("%+v", d)
	}
}

func TestAComposerHoldsATextOnlyWhereItIsAllThatItHolds(t *testing.T) { // TURN-2, TURN-13
	long := strings.Repeat("a line of many\n", 20)
	for _, one := range []struct {
		composer, text string
		want           bool
	}{
		{"yes", "yes", true},
		{"yes and", "yes", false},
		{"[Pasted text #1 +20 lines]", long, true},
		{"[Pasted text #1 +20 lines]", "yes", false},
		{"yes[Pasted text #1 +3 lines]", "yes", false},
		{"[Pasted text #1 +20 lines] and a person's words", long, false},
		{"[Pasted Content 1980 chars]", long, true},
		{strings.Repeat("l\n", 9) + "end", strings.Repeat("l\n", 30) + "end", true},
		{strings.Repeat("l\n", 9) + "end", strings.Repeat("l\n", 30) + "and", false},
		{"end", strings.Repeat("l\n", 30) + "end", false},
	} {
		if got := holds(one.composer, one.text); got != one.want {
			t.Errorf("%q holds %q: %v", one.composer, one.text, got)
		}
	}
}
