package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"termpilot/closing"
	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/process"
	"termpilot/terminal"
)

func TestWhatCannotBeLaunchedIsRefusedBeforeASessionIs(t *testing.T) { // LAUNCH-6
	w := newWorld(t)
	file := filepath.Join(w.home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		change  func(*LaunchRequest)
		standin string
		want    fault.Code
	}{
		"no such agent":      {func(r *LaunchRequest) { r.Preset = "eliza" }, "", fault.InvalidArgument},
		"a missing folder":   {func(r *LaunchRequest) { r.Cwd = filepath.Join(w.home, "none") }, "", fault.InvalidArgument},
		"a relative folder":  {func(r *LaunchRequest) { r.Cwd = "." }, "", fault.InvalidArgument},
		"a file as folder":   {func(r *LaunchRequest) { r.Cwd = file }, "", fault.InvalidArgument},
		"a blank prompt":     {func(r *LaunchRequest) { r.Prompt = " \n" }, "", fault.InvalidArgument},
		"a huge prompt":      {func(r *LaunchRequest) { r.Prompt = strings.Repeat("x", 40<<10) }, "", fault.TooLarge},
		"an odd model":       {func(r *LaunchRequest) { r.Model = "--yolo" }, "", fault.ModelUnknown},
		"an unknown effort":  {func(r *LaunchRequest) { r.Effort = "extreme" }, "", fault.InvalidArgument},
		"an odd scope":       {func(r *LaunchRequest) { r.WriteScope = "src" }, "", fault.InvalidArgument},
		"an odd variable":    {func(r *LaunchRequest) { r.Env = map[string]string{"A=B": ""} }, "", fault.InvalidArgument},
		"our own variable":   {func(r *LaunchRequest) { r.Env = map[string]string{launchVariable: "x"} }, "", fault.InvalidArgument},
		"another's variable": {func(r *LaunchRequest) { r.Env = map[string]string{"NO_COLOR": "1"} }, "", fault.InvalidArgument},
		"a set variable":     {func(r *LaunchRequest) { r.Preset, r.Env = "grok", map[string]string{"GROK_DISABLE_AUTOUPDATER": "0"} }, "", fault.InvalidArgument},
		"a relative program": {func(r *LaunchRequest) { r.Env = map[string]string{"TERMPILOT_CLAUDE_BIN": "agent.test"} }, "", fault.AgentMissing},
		"no such session":    {func(r *LaunchRequest) { r.SessionID, r.Env = "nobody", nil }, "", fault.SessionNotFound},
		"nobody logged in":   {nil, "loggedout", fault.NotLoggedIn},
		"grok's model":       {func(r *LaunchRequest) { r.Preset, r.Model = "grok", "grok-9" }, "", fault.ModelUnknown},
		"composer without":   {func(r *LaunchRequest) { r.Preset = "composer" }, "", fault.ModelUnknown},
		"a missing program":  {func(r *LaunchRequest) { r.Env = map[string]string{"PATH": "/nowhere"} }, "", fault.AgentMissing},
		"a named program":    {func(r *LaunchRequest) { r.Env = map[string]string{"TERMPILOT_CLAUDE_BIN": "/none"} }, "", fault.AgentMissing},
		"a broken program":   {func(r *LaunchRequest) { r.Env = map[string]string{"TERMPILOT_CLAUDE_BIN": "/bin/false"} }, "", fault.AgentMissing},
	} {
		request := w.request("claude", one.standin, "")
		if one.change != nil {
			one.change(&request)
		}
		_, err := w.agents.Launch(t.Context(), request)
		if fault.CodeOf(err) != one.want {
			t.Errorf("%s: %v, want %s", name, err, one.want)
		}
	}
	if all, err := w.host.Sessions(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("sessions %v %v", all, err)
	}
	if all, _ := w.agents.launches(); len(all) != 0 {
		t.Errorf("launches %v", all)
	}
}

func TestTheComposerPresetIsGrokWithItsModel(t *testing.T) { // LAUNCH-7
	w := newWorld(t)
	r := w.launch("composer", "composer", "")
	if argv := w.noted("argv"); len(argv) != 1 || !strings.Contains(argv[0], "-m\ngrok-composer-2.5-fast") || r.Provider != "grok" {
		t.Errorf("%q %+v", argv, r)
	}
}

func TestAReadOnlyAgentIsHeldToItAsFarAsItsVendorCan(t *testing.T) { // LAUNCH-8
	every(t, func(t *testing.T, w *world, preset string) {
		request := w.request(preset, "", "")
		request.WriteScope = "read_only"
		r, err := w.agents.Launch(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if preset == "opencode" { // what its plugin then does, another test says
			w.wantNoted("readOnly", "true")
			return
		}
		want := map[string]string{"claude": "--disallowedTools\nBash,Write", "codex": "-s\nread-only\n-a\nnever", "grok": "--sandbox\nread-only"}[preset]
		if argv := w.noted("argv"); !strings.Contains(argv[0], want) || !strings.Contains(r.WriteScope, vendorOf(preset).readOnly) {
			t.Errorf("%q %q", argv, r.WriteScope)
		}
	})
}

func TestALaunchOfOneOperationIsDoneOnce(t *testing.T) { // LAUNCH-9
	w := newWorld(t)
	request := w.request("claude", "", "hello")
	request.OperationID = "op"
	first, err := w.agents.Launch(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.agents.Launch(t.Context(), request)
	if err != nil || again.SessionID != first.SessionID || again.LaunchID != first.LaunchID || again.TurnID != first.TurnID || again.Cursor != first.Cursor {
		t.Errorf("%+v %v, want %+v", again, err, first)
	}
	if err := os.Remove(filepath.Join(w.home, "bin", "claude")); err != nil { // it is told about whatever could be launched now
		t.Fatal(err)
	}
	if again, err := w.agents.Launch(t.Context(), request); err != nil || again.LaunchID != first.LaunchID {
		t.Errorf("%+v %v", again, err)
	}
	request.Prompt = "something else"
	_, err = w.agents.Launch(t.Context(), request)
	w.refuses(err, fault.OperationTaken)
	if n := len(w.noted("argv")); n != 1 {
		t.Errorf("launched %d times", n)
	}
}

func TestALaunchInsideASessionIsToldAboutWhileItsAgentIsThere(t *testing.T) { // LAUNCH-9, LAUNCH-15
	w := newWorld(t)
	dir := filepath.Join(w.home, "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	opened, err := w.pilot.Open(t.Context(), pilot.OpenRequest{Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	request := LaunchRequest{Preset: "claude", SessionID: opened.SessionID, OperationID: "op", Delegate: true}
	first, err := w.agents.Launch(t.Context(), request)
	if err != nil || first.Resume.Cwd != dir {
		t.Fatalf("%+v %v", first, err)
	}
	running, _ := readProcess(w.agents.folder(first.LaunchID))
	if p, err := process.Lookup(running.PID); err != nil || p.Cwd != dir {
		t.Errorf("it works in %s, %v", p.Cwd, err)
	}
	again, err := w.agents.Launch(t.Context(), request)
	if err != nil || again.LaunchID != first.LaunchID || again.TurnID != "" || again.State != "ready" {
		t.Errorf("%+v %v", again, err)
	}
	narrow, err := pilot.New(pilot.Options{Backends: []terminal.Backend{w.host}, Dir: filepath.Join(w.home, "tp", "runs"), Allow: []terminal.ID{"another"}})
	if err != nil {
		t.Fatal(err)
	}
	defer narrow.Close()
	w.agents.pilot = narrow
	again, err = w.agents.Launch(t.Context(), request)
	if w.refuses(err, fault.NotAllowed); again.LaunchID != "" {
		t.Errorf("told to who may not see it: %+v", again)
	}
}

func TestOneLaunchOfManyAtOnceIsDone(t *testing.T) { // LAUNCH-9
	w := newWorld(t)
	request := w.request("claude", "", "")
	request.OperationID = "op"
	release, err := w.pilot.Hold(t.Context(), "test", "operation op", 0) // as another process that launches
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.agents.Launch(t.Context(), request)
	w.refuses(err, fault.Busy)
	release()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := w.agents.Launch(t.Context(), request); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(w.noted("argv")); n != 1 {
		t.Errorf("launched %d times", n)
	}
}

func TestALaunchWhoseLauncherWasKilledIsFound(t *testing.T) { // LAUNCH-9, TURN-9
	w := newWorld(t)
	request := w.request("claude", "", "")
	request.OperationID = "op"
	first, err := w.agents.Launch(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	killed := func() {
		t.Helper()
		l, err := readLaunch(w.agents.folder(first.LaunchID))
		l.Session = ""
		if err == nil {
			err = w.agents.save(l)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	killed() // before it wrote down the session
	again, err := w.agents.Launch(t.Context(), request)
	if err != nil || again.SessionID != first.SessionID || again.LaunchID != first.LaunchID {
		t.Errorf("%+v %v", again, err)
	}
	killed()
	w.ends(first.SessionID, "SAY:found", Done)
	w.keys(first.SessionID, "/exit")
	w.keys(first.SessionID, "\r")
	w.until("the agent has ended", func() bool {
		s, err := w.agents.Status(t.Context(), first.SessionID, "")
		return err == nil && s.State == "ended"
	})
	killed() // and now nobody can tell in which session it was
	again, err = w.agents.Launch(t.Context(), request)
	if err != nil || again.SessionID != "" || again.LaunchID != first.LaunchID || again.WaitCommand != "" || again.State != "ended" {
		t.Errorf("%+v %v", again, err)
	}
	if n := len(w.noted("argv")); n != 1 {
		t.Errorf("launched %d times", n)
	}
}

func TestAnAgentWhoseFolderWentIsGone(t *testing.T) { // LAUNCH-6, FOLLOW-3
	a := New(Options{Pilot: blindPilot{}, Dir: t.TempDir(), Env: []string{}})
	l := Launch{Schema: launchSchema, ID: "l-0000000000000001", Provider: "claude", Binary: "/bin/true", Cwd: filepath.Join(a.dir, "none")}
	if err := a.save(l); err != nil {
		t.Fatal(err)
	}
	err := Exec(t.Context(), a.folder(l.ID), []string{})
	if fault.CodeOf(err) != fault.AgentMissing || fault.HintOf(err) == "" {
		t.Error(err)
	}
	if s, err := a.tale(t.Context(), l); err != nil || !s.gone || !strings.Contains(s.why, "could not be started") {
		t.Errorf("%+v %v", s, err)
	}
}

func TestAgentsAreNotStackedWithoutEnd(t *testing.T) { // LAUNCH-4
	w := newWorld(t)
	parent := w.launch("claude", "", "")
	below := func(depth, allowed string) *Agents {
		env := append(slices.Clone(w.env), launchVariable+"="+parent.LaunchID, depthVariable+"="+depth, delegationVariable+"="+allowed)
		return New(Options{Pilot: w.pilot, Dir: w.agents.dir, Self: w.agents.self, Env: env})
	}
	if l, err := below("1", "yes").next(true); err != nil || l.Depth != 2 || l.Role != "subagent" || l.Parent != parent.SessionID || !l.Delegation {
		t.Errorf("%+v %v", l, err)
	}
	if l, err := below("2", "yes").next(true); err != nil || l.Depth != 3 || l.Delegation {
		t.Errorf("%+v %v", l, err)
	}
	for depth, allowed := range map[string]string{"3": "yes", "1": "no", "x": "yes", "0": "yes"} {
		_, err := below(depth, allowed).Launch(t.Context(), w.request("claude", "", ""))
		w.refuses(err, fault.NotAllowed)
	}
}

func TestAnAgentIsLaunchedAtThePromptOfASession(t *testing.T) { // LAUNCH-10
	every(t, func(t *testing.T, w *world, preset string) {
		opened, err := w.pilot.Open(t.Context(), pilot.OpenRequest{Cwd: w.home})
		if err != nil {
			t.Fatal(err)
		}
		request := w.request(preset, "", "SAY:inside")
		request.SessionID, request.Env = opened.SessionID, nil
		r, err := w.agents.Launch(t.Context(), request)
		if err != nil || r.SessionID != opened.SessionID {
			t.Fatalf("%+v %v", r, err)
		}
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Done {
			t.Fatalf("%+v", got)
		}
		_, err = w.agents.Launch(t.Context(), request)
		w.refuses(err, fault.NotReady)
		w.keys(r.SessionID, "/quit")
		w.keys(r.SessionID, "\r")
		w.until("the prompt is back", func() bool {
			now, err := w.pilot.Sessions(t.Context(), "")
			return err == nil && now.Sessions[0].Readiness.State == pilot.Ready
		})
		if got := w.wait(r.SessionID, ""); got.Outcome != Done {
			t.Errorf("%+v", got)
		}
		again, err := w.agents.Launch(t.Context(), request) // another one, where the first has ended
		if err != nil || again.LaunchID == r.LaunchID {
			t.Fatalf("%+v %v", again, err)
		}
		if got := w.wait(again.SessionID, again.Cursor); got.Outcome != Done {
			t.Errorf("%+v", got)
		}
	})
}

func TestWhatAnAgentLeftOnTheScreenIsNotTheNextOne(t *testing.T) { // LAUNCH-16
	every(t, func(t *testing.T, w *world, preset string) {
		opened, err := w.pilot.Open(t.Context(), pilot.OpenRequest{Cwd: w.home})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.pilot.Run(t.Context(), pilot.RunRequest{SessionID: opened.SessionID, Command: "export STANDIN=slow=1000"}); err != nil {
			t.Fatal(err)
		}
		request := w.request(preset, "", "")
		request.SessionID, request.Env = opened.SessionID, nil
		if _, err := w.agents.Launch(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		w.keys(opened.SessionID, "/quit")
		w.keys(opened.SessionID, "\r")
		w.until("the prompt is back", func() bool {
			now, err := w.pilot.Sessions(t.Context(), "")
			return err == nil && now.Sessions[0].Readiness.State == pilot.Ready
		})
		request.Prompt = "SAY:inside"
		again, err := w.agents.Launch(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.wait(again.SessionID, again.Cursor); got.Outcome != Done {
			t.Errorf("%+v behind %+v\n%s", got, again, w.screen(again.SessionID))
		}
		w.wantNoted("lost")
	})
}

func TestClosingIsToldOfTheChatsThatWereLaunched(t *testing.T) { // LAUNCH-11
	every(t, func(t *testing.T, w *world, preset string) {
		r := w.launch(preset, "", "")
		running, _ := readProcess(w.agents.folder(r.LaunchID))
		told := func(state closing.Activity, saved string) closing.Chat {
			t.Helper()
			var chats []closing.Chat
			w.until("closing is told that it is "+string(state), func() bool {
				chats = w.agents.Launched(r.SessionID)
				return len(chats) == 1 && chats[0].State == state && chats[0].Persistence == saved
			})
			if chats[0].CLI != preset || chats[0].PID != running.PID {
				t.Errorf("%+v", chats)
			}
			return chats[0]
		}
		told(closing.Idle, closing.Empty)
		w.ends(r.SessionID, "SAY:x", Done)
		if chat := told(closing.Idle, closing.Saved); chat.ChatID == "" {
			t.Errorf("%+v", chat)
		}
		w.send(r.SessionID, "SLOW:60000")
		told(closing.Busy, closing.Saved)
		w.keys(r.SessionID, "\x1b")
		told(closing.Idle, closing.Saved)
		w.asks(r.SessionID, "RUN:curl x")
		told(closing.Waiting, closing.Saved)
		if got := w.agents.Launched("another"); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// hookOf runs the hook as a program, as a vendor does.
func (w *world) hookOf(vendor, payload string, env ...string) (took time.Duration, err error) {
	cmd := w.program([]string{"hook", vendor}, env...)
	cmd.Stdin = strings.NewReader(payload)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if len(out) > 0 {
		w.t.Errorf("the hook said %q", out)
	}
	return time.Since(began), err
}

func TestAHookHarmsNoVendorWhateverItGets(t *testing.T) { // HOOK-1, HOOK-2
	w := newWorld(t)
	r := w.launch("claude", "", "")
	folder := w.agents.folder(r.LaunchID)
	events := filepath.Join(folder, "events.000001.jsonl")
	before, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	stop := `{"hook_event_name":"Stop","session_id":"` + r.ChatID + `","prompt_id":"p","last_assistant_message":"x"}`
	ours := []string{folderVariable + "=" + folder, launchVariable + "=" + r.LaunchID}
	for name, one := range map[string]struct {
		vendor, payload string
		env             []string
	}{
		"no launch":               {"claude", stop, nil},
		"no JSON":                 {"claude", "{", ours},
		"nothing":                 {"claude", "", ours},
		"no object":               {"claude", "[1]", ours},
		"odd types":               {"claude", `{"hook_event_name":7,"session_id":{}}`, ours},
		"an unknown event":        {"claude", `{"hook_event_name":"MessageDisplay"}`, ours},
		"a part's end":            {"claude", strings.Replace(stop, "Stop", "SubagentStop", 1), ours},
		"another vendor":          {"grok", `{"hookEventName":"stop","sessionId":"x","lastAssistantMessage":"y"}`, ours},
		"no vendor":               {"eliza", stop, ours},
		"a folder elsewhere":      {"claude", stop, []string{folderVariable + "=/tmp", launchVariable + "=" + r.LaunchID}},
		"a launch that never was": {"claude", stop, []string{folderVariable + "=" + w.agents.folder("l-0000000000000000"), launchVariable + "=l-0000000000000000"}},
		"two launches":            {"claude", stop, []string{folderVariable + "=" + folder, launchVariable + "=l-0000000000000000"}},
		"too much":                {"claude", `{"hook_event_name":"Stop","last_assistant_message":"` + strings.Repeat("x", 9<<20) + `"}`, ours},
	} {
		if _, err := w.hookOf(one.vendor, one.payload, one.env...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	after, err := os.ReadFile(events)
	if err != nil || len(after) != len(before) {
		t.Errorf("something was written down: %s", after[len(before):])
	}
	if _, err := w.hookOf("claude", stop, ours...); err != nil {
		t.Error(err)
	}
	if after, _ = os.ReadFile(events); len(after) == len(before) {
		t.Error("what is right was not written down")
	}
}

func TestAHookEndsThoughNobodyEndsWhatItReads(t *testing.T) { // HOOK-1
	w := newWorld(t)
	r := w.launch("claude", "", "")
	cmd := w.program([]string{"hook", "claude"}, folderVariable+"="+w.agents.folder(r.LaunchID), launchVariable+"="+r.LaunchID)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Errorf("it reads for ever: %v", <-ended)
	}
}

func TestAnAgentThatAnAgentRunsByItselfIsNotTakenForIt(t *testing.T) { // HOOK-3
	w := newWorld(t)
	r := w.launch("claude", "", "")
	running, _ := readProcess(w.agents.folder(r.LaunchID))
	if own, _ := ofLaunch(&claude, w.agents.folder(r.LaunchID)); !own {
		t.Error("a hook below no agent is not let in: its chat decides")
	}
	e, ok := claudeHook([]byte(`{"hook_event_name":"Stop","session_id":"11111111-0000-0000-0000-000000000000","prompt_id":"q","last_assistant_message":"of the inner one"}`))
	if !ok {
		t.Fatal("not read")
	}
	sent := w.send(r.SessionID, "SLOW:1000\nSAY:of the outer one")
	if err := record(t.Context(), w.agents.folder(r.LaunchID), false, e); err != nil {
		t.Fatal(err)
	}
	if got := w.wait(r.SessionID, sent.Cursor); got.Outcome != Done {
		t.Fatalf("%+v", got)
	}
	if got := w.result(r.SessionID); got != "of the outer one" {
		t.Errorf("answer %q of process %s", got, strconv.Itoa(running.PID))
	}
}

func TestALaunchPassesNoAliasesAndNoHistory(t *testing.T) { // LAUNCH-12
	every(t, func(t *testing.T, w *world, preset string) {
		for _, name := range []string{".bashrc", ".bash_profile"} {
			text := "echo welcome\nset -o history\nshopt -s expand_aliases\nalias " + preset + "='exit 3'\n" + preset + "() { exit 4; }\n"
			if err := os.WriteFile(filepath.Join(w.home, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := w.launch(preset, "", "SAY:unharmed")
		if got := w.wait(r.SessionID, r.Cursor); got.Outcome != Done {
			t.Fatalf("%+v\n%s", got, w.screen(r.SessionID))
		}
		w.keys(r.SessionID, "/exit")
		w.keys(r.SessionID, "\r")
		if got := w.wait(r.SessionID, ""); got.Outcome != Done {
			t.Errorf("%+v", got)
		}
		w.until("its session has ended with it", func() bool {
			all, err := w.host.Sessions(t.Context())
			return err == nil && len(all) == 0
		})
		if data, err := os.ReadFile(filepath.Join(w.home, ".bash_history")); err == nil {
			t.Errorf("history: %q", data)
		}
	})
}
