package closing

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"termpilot/pilot"
	"termpilot/process"
)

func TestAgentsAreRecognisedHoweverTheyAreStarted(t *testing.T) { // CLOSE-14
	for _, c := range []struct {
		name string
		argv []string
		want string
	}{
		{"claude", []string{"claude"}, "claude"},
		{"claude.exe", []string{"/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", "--resume"}, "claude"},
		{"node", []string{"node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", "resume"}, "codex"},
		{"MainThread", []string{"node", "--no-warnings", "/x/@google/gemini-cli/dist/index.js"}, "gemini"},
		{"node", []string{"node", "/home/x/.local/bin/gemini"}, "gemini"},
		{"grok", []string{"grok", "-m", "x"}, "grok"},
		{"bun", []string{"bun", "/x/node_modules/opencode-ai/bin/opencode"}, "opencode"},
		{"node", []string{"node", "/x/@github/copilot/index.js"}, "copilot"},
		{"kiro-cli-chat", []string{"kiro-cli-chat", "chat"}, "kiro"},
		{"cursor-agent", []string{"cursor-agent"}, "cursor"},
		{"node", []string{"node", "/home/x/.local/share/cursor-agent/versions/1/index.js"}, "cursor"},
		{"node", []string{"node", "server.js", "/x/claude"}, ""},
		{"node", []string{"node", "/srv/claude-clone/app.js"}, ""},
		{"vim", []string{"vim", "claude.md"}, ""},
		{"bash", []string{"bash", "-c", "codex"}, ""},
		{"python3", []string{"python3", "grok.py"}, ""},
		{"node", nil, ""},
	} {
		a, _ := recognise(process.Process{Name: c.name, Argv: c.argv})
		if a.cli != c.want {
			t.Errorf("%s %q: got %q, want %q", c.name, c.argv, a.cli, c.want)
		}
	}
}

const chatID = "0192f3a1-1111-7222-8333-444444444444"

// put writes a file below a folder.
func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAChatIsBoundByEvidenceOfItsProcess(t *testing.T) { // CLOSE-15, CLOSE-16, CLOSE-17
	for _, c := range []struct {
		name    string
		program string
		set     func(w *world, e process.Entry, dir string)
		want    Chat
		code    string
		state   Activity
	}{
		{"claude, registered and idle", "claude", func(w *world, e process.Entry, dir string) {
			put(t, filepath.Join(dir, ".claude", "sessions", strconv.Itoa(e.PID)+".json"), fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/c","startedAt":%d,"status":"idle"}`, e.PID, chatID, e.Start.Add(time.Second).UnixMilli()))
			put(t, filepath.Join(dir, ".claude", "projects", "-c", chatID+".jsonl"), "{}")
		}, Chat{ChatID: chatID, Source: fromRegistration, Verified: true, Persistence: Saved, Cwd: "/c"}, "", Idle},
		{"claude, at work", "claude", func(w *world, e process.Entry, dir string) {
			put(t, filepath.Join(dir, ".claude", "sessions", strconv.Itoa(e.PID)+".json"), fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/c","startedAt":%d,"status":"busy"}`, e.PID, chatID, e.Start.Add(time.Second).UnixMilli()))
		}, Chat{ChatID: chatID, Source: fromRegistration, Verified: true, Persistence: Empty, Cwd: "/c"}, "", Busy},
		{"claude, of an earlier process", "claude", func(w *world, e process.Entry, dir string) {
			put(t, filepath.Join(dir, ".claude", "sessions", strconv.Itoa(e.PID)+".json"), fmt.Sprintf(`{"pid":%d,"sessionId":%q,"startedAt":%d,"status":"idle"}`, e.PID, chatID, e.Start.Add(-time.Hour).UnixMilli()))
		}, Chat{Persistence: persistUnknown}, codeChat, Unknown},
		{"claude, of another process", "claude", func(w *world, e process.Entry, dir string) {
			put(t, filepath.Join(dir, ".claude", "sessions", strconv.Itoa(e.PID)+".json"), fmt.Sprintf(`{"pid":1,"sessionId":%q,"status":"idle"}`, chatID))
		}, Chat{Persistence: persistUnknown}, codeChat, Unknown},
		{"claude, started with a chat", "claude", func(w *world, e process.Entry, _ string) {
			w.argv[e.PID] = []string{"claude", "--resume=" + chatID}
		}, Chat{ChatID: chatID, Source: fromArgv, Persistence: persistUnknown}, "", Unknown},
		{"codex, before the first prompt", "codex", func(w *world, e process.Entry, dir string) {
			w.files[e.PID] = []string{filepath.Join(dir, ".codex", "thread-writer-locks", chatID+".lock")}
		}, Chat{ChatID: chatID, Source: fromOpenFile, Verified: true, Persistence: Empty}, "", Idle},
		{"codex, at work", "codex", func(w *world, e process.Entry, dir string) {
			w.files[e.PID] = []string{put(t, filepath.Join(dir, ".codex", "sessions", "2026", "rollout-2026-01-02T03-04-05-"+chatID+".jsonl"), `{"type":"event_msg","payload":{"type":"task_complete"}}`+"\n"+`{"type":"event_msg","payload":{"type":"task_started"}}`+"\n"+`{"type":"response_item"}`+"\n")}
		}, Chat{ChatID: chatID, Source: fromOpenFile, Verified: true, Persistence: Saved}, "", Busy},
		{"codex, that writes just now", "codex", func(w *world, e process.Entry, dir string) {
			w.files[e.PID] = []string{put(t, filepath.Join(dir, ".codex", "sessions", "2026", "rollout-2026-01-02T03-04-05-"+chatID+".jsonl"), `{"type":"event_msg","payload":{"type":"task_complete"}}`+"\n"+`{"type":"event_msg","payl`)}
		}, Chat{ChatID: chatID, Source: fromOpenFile, Verified: true, Persistence: Saved}, "", Unknown},
		{"claude, with an id that is none", "claude", func(w *world, e process.Entry, dir string) {
			put(t, filepath.Join(dir, ".claude", "sessions", strconv.Itoa(e.PID)+".json"), fmt.Sprintf(`{"pid":%d,"sessionId":"short","startedAt":%d,"status":"idle"}`, e.PID, e.Start.Add(time.Second).UnixMilli()))
		}, Chat{Persistence: persistUnknown}, codeChat, Idle},
		{"claude, whose records cannot be looked into", "claude", func(w *world, e process.Entry, dir string) {
			put(t, filepath.Join(dir, ".claude", "sessions", strconv.Itoa(e.PID)+".json"), fmt.Sprintf(`{"pid":%d,"sessionId":%q,"startedAt":%d,"status":"idle"}`, e.PID, chatID, e.Start.Add(time.Second).UnixMilli()))
			put(t, filepath.Join(dir, ".claude", "projects"), "")
		}, Chat{ChatID: chatID, Source: fromRegistration, Verified: true, Persistence: persistUnknown}, "", Idle},
		{"claude, in a folder with a pattern for a name", "claude", func(w *world, e process.Entry, dir string) {
			dir = filepath.Join(dir, "[x]")
			w.vars["CLAUDE_CONFIG_DIR"] = dir
			put(t, filepath.Join(dir, "sessions", strconv.Itoa(e.PID)+".json"), fmt.Sprintf(`{"pid":%d,"sessionId":%q,"startedAt":%d,"status":"idle"}`, e.PID, chatID, e.Start.Add(time.Second).UnixMilli()))
			put(t, filepath.Join(dir, "projects", "-c", chatID+".jsonl"), "{}")
		}, Chat{ChatID: chatID, Source: fromRegistration, Verified: true, Persistence: Saved}, "", Idle},
		{"grok, that does not tell since when", "grok", func(w *world, e process.Entry, dir string) {
			put(t, filepath.Join(dir, ".grok", "active_sessions.json"), fmt.Sprintf(`[{"session_id":%q,"pid":%d,"opened_at":"just now"}]`, chatID, e.PID))
		}, Chat{ChatID: chatID, Source: fromRegistration, Persistence: Empty}, "", Idle},
		{"codex, resumed and not asked anything since", "codex", func(w *world, e process.Entry, dir string) {
			w.files[e.PID] = []string{filepath.Join(dir, ".codex", "thread-writer-locks", chatID+".lock")}
			put(t, filepath.Join(dir, ".codex", "sessions", "2025", "12", "31", "rollout-2025-12-31T03-04-05-"+chatID+".jsonl"), "{}\n")
		}, Chat{ChatID: chatID, Source: fromOpenFile, Verified: true, Persistence: Saved}, "", Idle},
		{"codex, two that contradict", "codex", func(w *world, e process.Entry, dir string) {
			w.files[e.PID] = []string{"/x/thread-writer-locks/" + chatID + ".lock", "/x/thread-writer-locks/" + strings.Replace(chatID, "4", "5", 1) + ".lock"}
		}, Chat{Persistence: persistUnknown}, codeChat, Unknown},
		{"codex, resumed with flags between", "codex", func(w *world, e process.Entry, _ string) {
			w.argv[e.PID] = []string{"codex", "resume", "--no-daemon", chatID}
		}, Chat{ChatID: chatID, Source: fromArgv, Persistence: persistUnknown}, "", Unknown},
		{"codex, with its daemon", "codex", func(*world, process.Entry, string) {}, Chat{Persistence: persistUnknown}, codeChat, Unknown},
		{"grok, waiting for an answer", "grok", func(w *world, e process.Entry, dir string) {
			put(t, filepath.Join(dir, ".grok", "active_sessions.json"), fmt.Sprintf(`[{"session_id":"other-one","pid":1},{"session_id":%q,"pid":%d,"cwd":"/c d","opened_at":%q}]`, chatID, e.PID, e.Start.Add(time.Second).Format(time.RFC3339Nano)))
			put(t, filepath.Join(dir, ".grok", "sessions", "%2Fc+d", chatID, "chat_history.jsonl"), "{}\n")
			put(t, filepath.Join(dir, ".grok", "sessions", "%2Fc+d", chatID, "events.jsonl"), `{"type":"turn_started"}`+"\n"+`{"type":"permission_requested"}`+"\n")
		}, Chat{ChatID: chatID, Source: fromRegistration, Verified: true, Persistence: Saved, Cwd: "/c d"}, "", Waiting},
		{"cursor, by its log", "cursor-agent", func(w *world, e process.Entry, dir string) {
			w.files[e.PID] = []string{put(t, filepath.Join(dir, "cursor-agent-logs-1", "session-1.log"), `x conversationClassification.init {"conversationId":"`+chatID+`"}`)}
			put(t, filepath.Join(dir, ".cursor", "chats", "a", chatID, "meta.json"), `{"hasConversation":true}`)
		}, Chat{ChatID: chatID, Source: fromOpenFile, Verified: true, Persistence: Saved}, "", Unknown},
		{"kiro, which keeps nothing", "kiro-cli", func(*world, process.Entry, string) {}, Chat{Persistence: persistUnknown}, codeChat, Unknown},
		{"an id that is none", "gemini", func(w *world, e process.Entry, _ string) {
			w.argv[e.PID] = []string{"gemini", "--resume", "; rm -rf /"}
		}, Chat{Persistence: persistUnknown}, codeChat, Unknown},
	} {
		w := newWorld(t)
		dir := t.TempDir()
		w.vars = map[string]string{"HOME": dir, "CLAUDE_CONFIG_DIR": "", "GROK_HOME": "", "CODEX_HOME": ""}
		s := w.add("s1", "t1", "w1")
		e := w.start(s, c.program, true)
		c.set(w, e, dir)
		items, err := w.closer().Inspect(t.Context(), "s1", "")
		if err != nil || len(items) != 1 || len(items[0].Chats) != 1 {
			t.Errorf("%s: got %+v %v", c.name, items, err)
			continue
		}
		got := items[0].Chats[0]
		if got.ChatID != c.want.ChatID || got.Source != c.want.Source || got.Verified != c.want.Verified || got.Persistence != c.want.Persistence || c.want.Cwd != "" && got.Cwd != c.want.Cwd || got.PID != e.PID || got.State != c.state {
			t.Errorf("%s: got %+v, want %+v and %s", c.name, got, c.want, c.state)
		}
		if (got.Resume != nil) != (c.want.ChatID != "" && c.want.Persistence != Empty) {
			t.Errorf("%s: resume: got %+v", c.name, got.Resume)
		}
		res := do(t, w, Request{Operation: CloseSession, SessionID: "s1", Force: true})
		if c.code != "" && (res.Status != Refused || res.Code != c.code || len(w.effects()) != 0) {
			t.Errorf("%s: forced: got %+v %v", c.name, res, w.effects())
		}
		if c.code == "" && res.Status != Closed {
			t.Errorf("%s: forced: got %+v", c.name, res)
		}
	}
}

func TestASandboxOnlyWaitsForTheAgentInIt(t *testing.T) { // CLOSE-14
	w := newWorld(t)
	dir := t.TempDir()
	w.vars = map[string]string{"HOME": dir, "GROK_HOME": ""}
	s := w.add("s1", "t1", "w1")
	box := w.start(s, "bwrap", true)
	w.argv[box.PID] = []string{"bwrap", "--ro-bind", "/", "/", "grok"}
	e := w.start(s, "grok", true)
	s.procs[2].PPID, s.procs[2].PGID = box.PID, box.PID
	for i := range s.procs {
		s.procs[i].Foreground = box.PID
	}
	put(t, filepath.Join(dir, ".grok", "active_sessions.json"), fmt.Sprintf(`[{"session_id":%q,"pid":%d,"opened_at":%q}]`, chatID, e.PID, e.Start.Add(time.Second).Format(time.RFC3339Nano)))
	items, err := w.closer().Inspect(t.Context(), "s1", "")
	if err != nil || len(items) != 1 || items[0].State != Idle {
		t.Errorf("got %+v %v", items, err)
	}
}

// Of two agents the first ends and the other does not.
func TestAnAgentThatEndedIsToldAlsoWhereAnotherDidNot(t *testing.T) { // CLOSE-24, CLOSE-35
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			budget time.Duration
			want   Status
			code   string
		}{
			"enough time":                        {time.Minute, Partial, codeExit},
			"time is over while one may yet end": {time.Second, Partial, codeTime},
		} {
			w := newWorld(t)
			s := w.add("s1", "t1", "w1")
			first, second := w.start(s, "codex", true), w.start(s, "codex", false)
			w.files[first.PID] = []string{"/x/thread-writer-locks/" + chatID + ".lock"}
			w.files[second.PID] = []string{"/x/thread-writer-locks/" + strings.Replace(chatID, "4", "5", 1) + ".lock"}
			w.stubborn[second.PID] = true
			closer := New(Options{Pilot: w, Dir: w.dir, Machine: w, Budget: c.budget})
			res, err := closer.Close(t.Context(), Request{Operation: CloseSession, SessionID: "s1", Force: true})
			if err != nil || res.Status != c.want || res.Code != c.code {
				t.Errorf("%s: got %+v %v", name, res, err)
			}
		}
		w := newWorld(t)
		e := w.start(w.add("s1", "t1", "w1"), "codex", true)
		w.files[e.PID] = []string{"/x/thread-writer-locks/" + chatID + ".lock"}
		w.stubborn[e.PID] = true
		closer := New(Options{Pilot: w, Dir: w.dir, Machine: w, Budget: time.Second})
		if res, err := closer.Close(t.Context(), Request{Operation: CloseSession, SessionID: "s1"}); err != nil || res.Status != UnknownStatus || res.Code != codeTime || res.Failed[0].Exit != unknown {
			t.Errorf("whether it ends after the time is not known: got %+v %v", res, err)
		}
	})
}

func TestWhatALaunchKnowsOfAnAgentIsTakenForWhatItDoes(t *testing.T) { // CLOSE-15, CLOSE-17
	for name, c := range map[string]struct {
		told Chat
		want Chat
		code string
	}{
		"idle":              {Chat{CLI: "opencode", ChatID: "ses_0123456789", State: Idle, Persistence: Saved}, Chat{ChatID: "ses_0123456789", State: Idle, Persistence: Saved}, ""},
		"at work":           {Chat{CLI: "opencode", ChatID: "ses_0123456789", State: Busy, Persistence: Saved}, Chat{ChatID: "ses_0123456789", State: Busy, Persistence: Saved}, codeBusy},
		"nothing said yet":  {Chat{CLI: "opencode", State: Idle, Persistence: Empty}, Chat{State: Idle, Persistence: Empty}, ""},
		"nothing told":      {Chat{CLI: "opencode", ChatID: "ses_0123456789"}, Chat{ChatID: "ses_0123456789", State: Unknown, Persistence: persistUnknown}, codeUnknown},
		"of another vendor": {Chat{CLI: "grok", ChatID: "ses_0123456789", State: Idle}, Chat{State: Unknown, Persistence: persistUnknown}, codeChat},
	} {
		w := newWorld(t)
		s := w.add("s1", "t1", "w1")
		e := w.start(s, "opencode", true)
		closer := w.closer()
		c.told.PID = e.PID
		closer.launched = func(string) []Chat { return []Chat{c.told} }
		items, err := closer.Inspect(t.Context(), "s1", "")
		if err != nil || len(items) != 1 || len(items[0].Chats) != 1 {
			t.Errorf("%s: got %+v %v", name, items, err)
			continue
		}
		got := items[0].Chats[0]
		if got.ChatID != c.want.ChatID || got.State != c.want.State || got.Persistence != c.want.Persistence || items[0].Code != c.code {
			t.Errorf("%s: got %+v with %q", name, got, items[0].Code)
		}
	}
}

func TestAnIdleAgentIsAskedToEndAndOneThatDoesNotKeepsItsSession(t *testing.T) { // CLOSE-17, CLOSE-24, CLOSE-33
	synctest.Test(t, func(t *testing.T) {
		for _, stubborn := range []bool{false, true} {
			w := newWorld(t)
			s := w.add("s1", "t1", "w1")
			wrapper := w.start(s, "node", true)
			w.argv[wrapper.PID] = []string{"node", "/x/@openai/codex/bin/codex.js"}
			e := w.start(s, "codex", true)
			s.procs[2].PPID, s.procs[2].PGID = wrapper.PID, wrapper.PID
			for i := range s.procs {
				s.procs[i].Foreground = wrapper.PID
			}
			w.files[e.PID] = []string{"/x/thread-writer-locks/" + chatID + ".lock"}
			w.stubborn[e.PID] = stubborn
			res := do(t, w, Request{Operation: CloseSession, SessionID: "s1"})
			for _, effect := range w.effects() {
				if strings.Contains(effect, "kill") || strings.HasPrefix(effect, "signal "+strconv.Itoa(wrapper.PID)) {
					t.Errorf("%s", effect)
				}
			}
			if stubborn {
				if res.Status != Refused || res.Code != codeExit || w.find("s1") == nil || res.Failed[0].Exit != failed {
					t.Errorf("stubborn: got %+v", res)
				}
				continue
			}
			if res.Status != Closed || res.Closed[0].Exit != exited || res.Closed[0].Interruption != notNeeded {
				t.Errorf("got %+v %v", res, w.effects())
			}
		}
	})
}

func TestInspectionTellsNothingThatProgramsWereTold(t *testing.T) { // CLOSE-18
	w := newWorld(t)
	s := w.add("s1", "t1", "w1")
	e := w.start(s, "curl", true)
	w.argv[e.PID] = []string{"curl", "-H", "Authorization: canary"}
	items, err := w.closer().Inspect(t.Context(), "", "")
	if text := fmt.Sprintf("%+v", items); err != nil || strings.Contains(text, "canary") || items[0].Processes[0].Name != "curl" || items[0].Processes[0].State != "foreground" {
		t.Errorf("got %s %v", text, err)
	}
	if _, err := w.closer().Inspect(t.Context(), "s1", "ns1"); err == nil {
		t.Error("two selectors were taken")
	}
}

func TestWhateverHappensNothingUnprovenIsClosed(t *testing.T) { // CLOSE-20, CLOSE-22, CLOSE-23, CLOSE-26
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		states := []pilot.ReadyState{pilot.Ready, pilot.Ready, pilot.BusyState, pilot.TypedText, pilot.NoIntegration}
		for i := range rapid.IntRange(1, 5).Draw(r, "sessions") {
			s := w.add(fmt.Sprintf("s%d", i), fmt.Sprintf("t%d", rapid.IntRange(0, 2).Draw(r, "tab")), "w0")
			s.state = rapid.SampledFrom(states).Draw(r, "state")
			s.hidden = rapid.IntRange(0, 9).Draw(r, "hidden") == 0
			if rapid.Bool().Draw(r, "job") {
				w.start(s, "job", false)
			}
		}
		force := rapid.Bool().Draw(r, "force")
		idle := map[string]bool{} // at the moment of its close
		own := map[int]string{}
		for _, s := range w.sessions {
			for _, p := range s.procs[1:] {
				own[p.PID] = s.id
			}
		}
		w.before = func(effect string) {
			list, err := w.closer().Recoveries("")
			if err != nil || len(list) != 1 {
				r.Fatalf("%s: %d receipts, %v", effect, len(list), err)
			}
			var pid int
			if n, _ := fmt.Sscanf(effect, "signal %d", &pid); n == 1 && own[pid] == "" {
				r.Fatalf("%s: that process was not counted", effect)
			}
			for _, s := range w.sessions {
				idle[s.id] = s.state == pilot.Ready && len(s.procs) == 1
			}
			victim := w.sessions[rapid.IntRange(0, len(w.sessions)-1).Draw(r, "victim")]
			switch rapid.IntRange(0, 5).Draw(r, "meanwhile") {
			case 0:
				victim.state = pilot.BusyState
			case 1:
				victim.tab = "moved"
			case 2:
				w.start(victim, "fresh", false)
			}
		}
		op := rapid.SampledFrom([]Operation{CloseSession, CloseTab, CloseWindow, CleanAll}).Draw(r, "operation")
		req := Request{Operation: op, Force: force}
		hidden := map[string]bool{}
		for _, s := range w.sessions {
			hidden[s.id] = s.hidden
		}
		if op != CleanAll {
			req.SessionID = w.sessions[0].id
		}
		short := New(Options{Pilot: w, Dir: w.dir, Machine: w, Budget: 200 * time.Millisecond}) // what is promised holds also when the time is over
		res, err := short.Close(t.Context(), req)
		if err != nil {
			return
		}
		for _, item := range res.Closed {
			if w.find(item.SessionID) != nil {
				r.Fatalf("%s is said to be closed and lives", item.SessionID)
			}
			if hidden[item.SessionID] || !force && !idle[item.SessionID] {
				r.Fatalf("%s was closed: hidden %v, idle %v, force %v", item.SessionID, hidden[item.SessionID], idle[item.SessionID], force)
			}
		}
		for id := range hidden {
			told := false
			for _, list := range [][]Item{res.Closed, res.Unknown} {
				for _, item := range list {
					told = told || item.SessionID == id
				}
			}
			if w.find(id) == nil && !told {
				r.Fatalf("%s is gone, and nobody said so: %+v", id, res)
			}
		}
	})
}

func FuzzNoAgentsFileBindsWhatItShouldNot(f *testing.F) {
	f.Add([]byte(`{"pid":7,"sessionId":"0192f3a1-1111-7222-8333-444444444444","startedAt":1767225601000,"status":"idle"}`), []byte(`[{"session_id":"x","pid":7}]`), []byte("{}\n{torn"))
	dir := f.TempDir()
	for _, sub := range []string{".claude/sessions", ".grok", "sessions"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	rollout := filepath.Join(dir, "sessions", "rollout-x-"+chatID+".jsonl")
	f.Fuzz(func(t *testing.T, claude, grok, events []byte) {
		w := newWorld(t)
		w.vars = map[string]string{"HOME": dir}
		for path, data := range map[string][]byte{".claude/sessions/7.json": claude, ".grok/active_sessions.json": grok} {
			if err := os.WriteFile(filepath.Join(dir, path), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(rollout, events, 0o600); err != nil {
			t.Fatal(err)
		}
		w.files[7] = []string{rollout}
		for _, a := range agents[:3] {
			chat := w.closer().chatOf("s", look{agent: a, process: process.Process{PID: 7, Start: born}, machine: w, home: dir})
			if chat.ChatID != "" && (!isChatID(chat.ChatID) || strings.ContainsAny(chat.ChatID, " ;'\"\n")) || strings.ContainsAny(chat.Cwd, "\n\x1b\x00") {
				t.Fatalf("%s: got %+v", a.cli, chat)
			}
		}
	})
}

func FuzzAReceiptIsReadAsWrittenOrNotAtAll(f *testing.F) {
	f.Add([]byte(`{"v":1,"recovery_id":"raaaaaaaaaaaaaaaaaaaaaaaaaa","sessions":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		const id = "raaaaaaaaaaaaaaaaaaaaaaaaaa"
		if r, err := parseReceipt(data, id); err == nil && (r.ID != id || r.V != receiptVersion || r.Sessions == nil) {
			t.Fatalf("%q was read as %+v", data, r)
		}
	})
}
