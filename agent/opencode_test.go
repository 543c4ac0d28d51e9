package agent

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/journal"
	"termpilot/terminal"
	"termpilot/testneeds"
)

// screenIn reads a screen that was recorded: the cursor stands where "▏" does.
func screenIn(t *testing.T, path string) (s terminal.Screen) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.Columns = 120
	for i, row := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if before, after, found := strings.Cut(row, "▏"); found {
			s.Cursor = terminal.Point{Row: int64(i), Column: len([]rune(before))}
			row = strings.TrimRight(before+after, " ")
		}
		if n := len([]rune(row)); n > s.Columns {
			s.Columns = 160
		}
		s.Rows = append(s.Rows, terminal.Row{Text: row})
	}
	return s
}

func TestScreensOfOpenCodeAreRead(t *testing.T) { // TURN-6, TURN-7, APPROVE-1, APPROVE-4
	for name, want := range map[string]struct {
		state    state
		composer string
		empty    bool
		kind     string
		question string
		press    string // for yes
	}{
		"home":              {stateReady, `Ask anything… "What is the tech stack of this project?"`, true, "", "", ""},
		"ready":             {stateReady, "", true, "", "", ""},
		"typed":             {stateReady, "SAY:hello, it said: △ Permission required", false, "", "", ""},
		"pasted":            {stateReady, "[Pasted ~4 lines]", false, "", "", ""},
		"list":              {stateReady, "/mod", false, "", "", ""},
		"wide":              {stateReady, "a text 日本 with it", false, "", "", ""},
		"shell":             {stateReady, "", false, "", "", ""},
		"busy":              {stateBusy, "", true, "", "", ""},
		"busy-again":        {stateBusy, "", true, "", "", ""},
		"retry":             {stateBusy, "", true, "", "", ""},
		"window":            {stateStarting, "", false, "", "", ""},
		"ended":             {stateStarting, "", false, "", "", ""},
		"asks":              {stateDialog, "", false, "permission", "△ Permission required|# Shell command|$ curl -s http://127.0.0.1:1/x", "\x1b[<0;8;38M\x1b[<0;8;38m"},
		"asks-other-marked": {stateDialog, "", false, "permission", "△ Permission required|# Shell command|$ curl -s http://127.0.0.1:1/x", "\x1b[<0;8;38M\x1b[<0;8;38m"},
		"asks-wide":         {stateDialog, "", false, "permission", "△ Permission required|# Shell command|$ curl -s http://127.0.0.1:1/x", "\x1b[<0;8;38M\x1b[<0;8;38m"},
		"asks-narrow":       {stateDialog, "", false, "permission", "△ Permission required|# Shell command|$ curl -s http://127.0.0.1:1/x|ctrl+f fullscreen  ⇆ select  enter confirm", "\x1b[<0;8;36M\x1b[<0;8;36m"},
		"asks-edit":         {stateDialog, "", false, "permission", "△ Permission required|→ Edit new.txt|1 + one|2 + two", "\x1b[<0;8;38M\x1b[<0;8;38m"},
		"reject":            {stateDialog, "", false, "other", "△ Reject permission|Tell OpenCode what to do differently|enter confirm  esc cancel", ""},
		"always":            {stateDialog, "", false, "other", "", ""},
		"question":          {stateDialog, "", false, "other", "May I?|1. Yes|do it|2. No|leave it|3. Type your own answer|↑↓ select  enter submit  esc dismiss", ""},
	} {
		got := opencode.look(screenIn(t, filepath.Join("testdata", "opencode", name+".txt")))
		kind, question, press := "", "", ""
		if d := got.dialog; d != nil {
			kind = d.kind
			if want.question != "" {
				question = strings.Join(d.question, "|")
			}
			for _, c := range d.choices {
				if c.class == "once" {
					press = c.key
				}
			}
		}
		if got.state != want.state || got.composer != want.composer && want.composer != "" || got.empty != want.empty || kind != want.kind || question != want.question || press != want.press {
			t.Errorf("%s: %s, %q, empty %v, dialog %q %q %q; want %+v", name, got.state, got.composer, got.empty, kind, question, press, want)
		}
	}
}

func TestAPluginIsAddedToThePersonsOwn(t *testing.T) { // LAUNCH-13
	for content, want := range map[string]string{
		"":   `{"plugin":["file:///f/opencode.js"]}`,
		"{}": `{"plugin":["file:///f/opencode.js"]}`,
		`{"plugin":["mine",["other",{"a":1}]],"model":"m"}`: `{"model":"m","plugin":["mine",["other",{"a":1}],"file:///f/opencode.js"]}`,
		"[]":                "",
		"null":              "",
		"// mine":           "",
		`{"plugin":"mine"}`: "",
	} {
		got, err := opencodeEnvironment([]string{"A=1", opencodeConfig + "=" + content, "B=2"}, "/f")
		if want == "" && err == nil || want != "" && (err != nil || strings.Join(got, "|") != "A=1|B=2|"+opencodeConfig+"="+want) {
			t.Errorf("%q: %q %v", content, got, err)
		}
	}
	for _, pure := range []string{"1", "true", "TRUE"} {
		if _, err := opencodeEnvironment([]string{"OPENCODE_PURE=" + pure}, "/f"); err == nil {
			t.Errorf("OPENCODE_PURE=%s is taken", pure)
		}
	}
	if _, err := opencodeEnvironment([]string{"OPENCODE_PURE=0"}, "/f"); err != nil {
		t.Error(err)
	}
	w := newWorld(t)
	w.added[opencodeConfig] = `{"plugin":["mine"]}`
	r := w.launch("opencode", "", "")
	w.wantNoted("plugins", "mine\nfile://"+filepath.Join(w.agents.folder(r.LaunchID), opencodeFile))
	w.added[opencodeConfig] = "// mine"
	_, err := w.agents.Launch(t.Context(), w.request("opencode", "", ""))
	w.refuses(err, fault.InvalidArgument)
}

func TestAModelThatOpenCodeDoesNotListIsRefused(t *testing.T) { // LAUNCH-6
	w := newWorld(t)
	request := w.request("opencode", "", "")
	request.Model = "mine/none"
	_, err := w.agents.Launch(t.Context(), request)
	w.refuses(err, fault.ModelUnknown)
	request.Model = "mine/other"
	if _, err := w.agents.Launch(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	w.wantNoted("argv", "--model\nmine/other")
}

func TestALimitThatIsTriedAgainIsToldAndIsNoEnd(t *testing.T) { // FOLLOW-15
	w := newWorld(t)
	r := w.launch("opencode", "", "")
	sent := w.send(r.SessionID, "SLOW:60000\nSAY:never")
	running := func(e event) {
		t.Helper()
		s, err := w.agents.Status(t.Context(), r.SessionID, "")
		if err != nil {
			t.Fatal(err)
		}
		l, err := w.agents.find(t.Context(), "status", r.SessionID)
		if err != nil {
			t.Fatal(err)
		}
		tale, err := w.agents.tale(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		e.Chat, e.VendorTurn = s.ChatID, tale.atWork().vendorTurn
		if err := record(t.Context(), w.agents.folder(r.LaunchID), false, e); err != nil {
			t.Fatal(err)
		}
	}
	look := func() Waited {
		t.Helper()
		got, err := w.agents.Wait(t.Context(), WaitRequest{Sessions: []string{r.SessionID}, Cursors: []string{sent.Cursor}})
		if err != nil {
			t.Fatal(err)
		}
		return got.Sessions[0]
	}
	running(event{Kind: held, Error: "cannot connect"})
	if got := look(); got.Outcome != Pending || !strings.Contains(got.Reason, "cannot connect") {
		t.Errorf("%+v", got)
	}
	running(event{Kind: held, Error: "this request would exceed the rate limit", Limited: true})
	if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != RateLimited || !strings.Contains(got.Reason, "tries again by itself") {
		t.Errorf("%+v", got)
	}
	_, err := w.agents.Send(t.Context(), SendRequest{SessionID: r.SessionID, Text: "second"})
	w.refuses(err, fault.AgentBusy)
	running(event{Kind: goesOn})
	if got := look(); got.Outcome != Pending || got.Reason != "" {
		t.Errorf("%+v", got)
	}
	w.keys(r.SessionID, "\x1b")
	if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != Interrupted {
		t.Errorf("%+v", got)
	}
}

// TestThePluginTellsWhatWasRecorded gives the plugin events as OpenCode gave them,
// and reads what it tells.
func TestThePluginTellsWhatWasRecorded(t *testing.T) { // FOLLOW-1, FOLLOW-3, LAUNCH-8
	t.Parallel()
	node := os.Getenv("TERMPILOT_TEST_NODE")
	if node == "" {
		testneeds.Missing(t, "node22")
	}
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	self := filepath.Join(dir, "self")
	script := "#!/bin/sh\n[ \"$1 $2\" = 'hook opencode' ] || exit 1\ncat >> '" + told + "'\necho >> '" + told + "'\n"
	if err := os.WriteFile(self, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	if err := opencode.install(Launch{WriteScope: readOnlyScope}, dir, self); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, opencodeFile), filepath.Join(dir, "opencode.mjs")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, env string }{{"told", "TERMPILOT_LAUNCH_DIR=" + dir}, {"not ours", "TERMPILOT_LAUNCH_DIR="}} {
		events, err := filepath.Abs(filepath.Join("testdata", "opencode", "events.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", pluginPlayer, filepath.Join(dir, "opencode.mjs"), events)
		cmd.Env = append(os.Environ(), c.env)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if c.name == "not ours" {
			if strings.TrimSpace(string(out)) != "nothing" {
				t.Errorf("it does something for others: %s", out)
			}
			continue
		}
		if got := strings.TrimSpace(string(out)); got != "bash: this agent may only read: termpilot launched it so" {
			t.Errorf("a tool that writes: %q", got)
		}
	}
	data, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	s := newStory(Launch{Provider: "opencode"})
	var kinds []string
	for line := range strings.Lines(string(data)) {
		var what map[string]any
		if err := json.Unmarshal([]byte(line), &what); err != nil {
			t.Fatal(err, line)
		}
		kinds = append(kinds, what["event"].(string))
		e, ok := opencodeHook([]byte(line))
		if !ok {
			t.Errorf("%s is no event", line)
		}
		e.Source = fromHook
		s.add(e, time.Time{}, journal.Position{Offset: int64(len(kinds))})
	}
	want := "ready prompt done prompt asks answered done prompt asks answered interrupted prompt interrupted prompt error prompt retry retry interrupted " +
		"prompt done prompt done prompt asks answered done prompt asks answered done prompt done"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	var turns []string
	for _, one := range s.turns {
		outcome, reason := one.state()
		turns = append(turns, string(outcome)+": "+strings.TrimRight(one.text, ". ")+"|"+reason)
	}
	ends := []string{
		"done: hello|", "done: the command was run|", "interrupted: |what it asked for was refused", "interrupted: |it was interrupted",
		"error: |it fails as it was told to", "interrupted: |it was stopped while it tried again after: it fails as it was told to",
		"done: well|", "done: queued|", "done: the command was run|", "done: the command was run|", "done: in a new chat|",
	}
	if !slices.Equal(turns, ends) {
		t.Errorf("turns\n%q\nwant\n%q", turns, ends)
	}
	if !s.ready || s.chat != "ses_dd2bd7999ffe2JfwOvm4QGfEtK" || s.waiting || s.asked != 4 {
		t.Errorf("ready %v, chat %s, waiting %v, asked %d", s.ready, s.chat, s.waiting, s.asked)
	}
}

// pluginPlayer loads a plugin, gives it events that were recorded, and calls tools.
const pluginPlayer = `
import { readFileSync } from "node:fs"
const [plugin, events] = process.argv.slice(1)
const { Termpilot } = await import(plugin)
const hooks = await Termpilot({})
if (!hooks.event) {
  console.log("nothing")
} else {
  for (const line of readFileSync(events, "utf8").trim().split("\n")) {
    const [kind, what] = JSON.parse(line)
    if (kind === "event") await hooks.event({ event: what })
    else await hooks[kind](...what)
  }
  for (const odd of [{}, { type: "message.updated" }, { type: "session.error", properties: {} }]) await hooks.event({ event: odd })
  for (const tool of ["read", "bash"]) {
    try {
      await hooks["tool.execute.before"]({ tool })
    } catch (e) {
      console.log(tool + ": " + e.message)
    }
  }
}
`
