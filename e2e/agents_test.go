package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// realAgent is one vendor's program as it was installed, with a home that asks
// nothing before its composer.
type realAgent struct {
	name   string
	env    []string // NAME=value for a launch
	files  func(url, dir string) map[string]string
	breaks []string // the keys that interrupt a turn
	model  []string // flags of agent configure that must succeed; nil: it must be refused
	quit   string
	tries  bool   // after a limit it tries again without end
	quiet  bool   // it tells nothing that closing could ask of one that a person started
	parts  bool   // it has agents of its own that can be had by TASK
	box    string // the program without which it cannot be held to reading
	temp   bool   // held to reading it still writes to temporary folders, as this home is one
}

const madeUpKey = "sk-made-up-key-000000000000000000001"

var realAgents = []realAgent{
	{
		name:   "claude",
		env:    []string{"ANTHROPIC_API_KEY=" + madeUpKey, "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1"},
		breaks: []string{"escape"}, model: []string{"--model", "sonnet"}, quit: "/exit",
		files: func(_, dir string) map[string]string {
			return map[string]string{".claude.json": fmt.Sprintf(`{"hasCompletedOnboarding":true,"theme":"dark","lastReleaseNotesSeen":"9.9.9",`+
				`"customApiKeyResponses":{"approved":[%q],"rejected":[]},"projects":{%q:{"hasTrustDialogAccepted":true}}}`, madeUpKey[len(madeUpKey)-20:], dir)}
		},
	},
	{
		name: "codex", env: []string{"MADE_UP_KEY=" + madeUpKey},
		breaks: []string{"escape"}, model: []string{"--model", "GPT-6.2-Astra", "--effort", "medium"}, quit: "/quit",
		files: func(url, dir string) map[string]string {
			return map[string]string{".codex/config.toml": "model=\"gpt-5.1-codex\"\nmodel_provider=\"mine\"\ncheck_for_update_on_startup=false\n" +
				"[model_providers.mine]\nname=\"mine\"\nbase_url=\"" + url + "/v1\"\nwire_api=\"responses\"\nenv_key=\"MADE_UP_KEY\"\n" +
				"[analytics]\nenabled=false\n[projects.\"" + dir + "\"]\ntrust_level=\"trusted\"\n"}
		},
	},
	{
		name: "opencode", env: []string{"MADE_UP_KEY=" + madeUpKey, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
		breaks: []string{"escape", "escape"}, quit: "/exit", tries: true, quiet: true, parts: true,
		files: func(url, _ string) map[string]string {
			return map[string]string{".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","model":"mine/fake","small_model":"mine/fake","enabled_providers":["mine"],` +
				`"provider":{"mine":{"npm":"@ai-sdk/anthropic","name":"Mine","options":{"baseURL":"` + url + `/v1","apiKey":"{env:MADE_UP_KEY}"},"models":{"fake":{"name":"Fake"}}}},` +
				`"permission":{"bash":"ask"}}`}
		},
	},
	{
		name: "grok", env: []string{"XAI_API_KEY=" + madeUpKey, "GROK_TELEMETRY_ENABLED=false"},
		breaks: []string{"ctrl_c"}, quit: "/quit", box: "bwrap", temp: true,
		files: func(url, _ string) map[string]string {
			one := func(id string) string {
				return "[model.\"" + id + "\"]\nmodel=\"" + id + "\"\nbase_url=\"" + url + "/v1\"\nenv_key=\"XAI_API_KEY\"\napi_backend=\"messages\"\ncontext_window=100000\n"
			}
			return map[string]string{".grok/config.toml": "[models]\ndefault=\"mine\"\n" + one("mine") + one("grok-composer-2.5-fast")}
		},
	},
}

// seat is one agent that was launched for real.
type seat struct {
	t       *testing.T
	home    home
	model   *model
	session string
	ears    *client // it subscribed to the agent
}

// call runs a command of ours and reads its JSON.
func (s *seat) call(want int, args ...string) map[string]any {
	s.t.Helper()
	out, errs, code := s.home.termpilot(s.t, append(args, "--json")...)
	if code != want {
		screen, _, _ := s.home.termpilot(s.t, "read", s.session)
		s.t.Fatalf("%q ended with %d, want %d: %s%s\n%s", args, code, want, errs, out, screen)
	}
	var v map[string]any
	if code == 0 || out != "" {
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			s.t.Fatal(err, out)
		}
	}
	return v
}

// ends gives a prompt and waits for the end of its turn.
func (s *seat) ends(prompt string, want int) (dispatch, late time.Duration) {
	s.t.Helper()
	began := time.Now()
	turn := s.call(0, "agent", "turn", s.session, prompt)
	dispatch = time.Since(began)
	s.call(want, "wait", "--session", s.session, "--cursor", text(turn["event_cursor"]), "--timeout", "60")
	late = time.Since(s.model.ended())
	s.hears(want)
	return dispatch, late
}

// listens has a client subscribe to the agent.
func (s *seat) listens() {
	s.t.Helper()
	s.ears = serve(s.t, s.home)
	s.ears.request("resources/subscribe", map[string]any{"uri": "termpilot://agents/" + s.session})
}

// hears waits until that client was told, and reads what a waiter's exit code says.
func (s *seat) hears(code int) {
	s.t.Helper()
	want := map[int][]string{0: {"done"}, 1: {"error", "interrupted"}, 5: {"waiting_approval"}, 6: {"rate_limited"}}[code]
	for now := s.ears.stands(s.session); !slices.Contains(want, now.Outcome); now = s.ears.stands(s.session) {
		s.ears.told("notifications/resources/updated")
	}
}

func (s *seat) answer(want string) {
	s.t.Helper()
	if got := text(s.call(0, "agent", "result", s.session)["text"]); !strings.HasPrefix(got, want) {
		s.t.Errorf("answer %q, want %q", got, want)
	}
}

// asked waits until the agent asks, and answers.
func (s *seat) asked(prompt, answer string, outcome int) {
	s.t.Helper()
	turn := s.call(0, "agent", "turn", s.session, prompt+"RUN:curl -s http://127.0.0.1:1/"+answer)
	s.call(5, "wait", "--session", s.session, "--cursor", text(turn["event_cursor"]), "--timeout", "60")
	s.hears(5)
	question := s.call(0, "agent", "approval", s.session)
	if question["kind"] != "permission" {
		s.t.Fatalf("%v", question)
	}
	s.t.Logf("it asks %q", question["question"])
	s.staysOpen("asking")
	s.call(0, "agent", "approval", s.session, "--digest", text(question["digest"]), "--answer", answer)
	s.call(outcome, "wait", "--session", s.session, "--cursor", text(turn["event_cursor"]), "--timeout", "60")
	s.hears(outcome)
}

// TestRealAgents drives the vendors' own programs; `task e2e:agents` installs
// them and says so in TERMPILOT_TEST_AGENTS. They see a made-up key and a model on
// the loopback interface.
func TestRealAgents(t *testing.T) {
	programs := os.Getenv("TERMPILOT_TEST_AGENTS")
	if programs == "" {
		t.Skip("TERMPILOT_TEST_AGENTS names no folder of the vendors' programs: run task e2e:agents")
	}
	for _, real := range realAgents {
		t.Run(real.name, func(t *testing.T) { driveRealAgent(t, programs, real) })
	}
}

func driveRealAgent(t *testing.T, programs string, real realAgent) {
	s := &seat{t: t, home: newHome(t), model: newModel(t)}
	for name, content := range real.files(s.model.URL, s.home.dir) {
		path := filepath.Join(s.home.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.home.extra = append(s.home.extra, "TERMPILOT_"+strings.ToUpper(real.name)+"_BIN="+filepath.Join(programs, real.name))
	launch := []string{"agent", "launch", real.name, "--cwd", s.home.dir}
	for _, entry := range append(real.env, "ANTHROPIC_BASE_URL="+s.model.URL) {
		launch = append(launch, "--env", entry)
	}
	s.call(0, "host", "start")
	began := time.Now()
	launched := s.launch("SAY:the first answer", launch)
	took := time.Since(began)
	s.call(0, "wait", "--session", s.session, "--cursor", text(launched["event_cursor"]), "--timeout", "60")
	s.answer("the first answer")
	t.Logf("launch with prompt to submitted: %v", took.Round(time.Millisecond))
	s.listens()

	dispatch, late := s.ends("SAY:the second answer\nand a second line\n\n# a heading\n\tindented", 0)
	s.answer("the second answer")
	t.Logf("next prompt: %v; the model's last byte to the waiter's exit: %v", dispatch.Round(time.Millisecond), late.Round(time.Millisecond))
	if !s.model.saw("and a second line\n\n# a heading\n\tindented") && !s.model.saw("and a second line\n\n# a heading\n    indented") {
		t.Errorf("the lines did not arrive as they were: %q", s.model.got)
	}
	long := "SAY:the long one\n" + strings.Repeat("one line of a long prompt, with öß and 日本\n", 180) + "the end"
	dispatch, late = s.ends(long, 0)
	s.answer("the long one")
	if !s.model.saw("日本\nthe end") {
		t.Error("the long prompt did not arrive whole")
	}
	t.Logf("a prompt of %d bytes: %v; end to exit: %v", len(long), dispatch.Round(time.Millisecond), late.Round(time.Millisecond))

	for _, rows := range []string{strings.Repeat("one\n", 40) + "the end", "1. first\n2. second"} { // more than a composer shows; like choices
		s.ends(rows, 0)
		if !s.model.saw(rows) {
			t.Errorf("%q arrived as %q", rows, s.model.got[len(s.model.got)-1])
		}
	}
	if err := os.WriteFile(filepath.Join(s.home.dir, "main.go"), []byte("package main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, named := range []string{"look at @mai", "SAY:named\nlook at @mai"} { // Enter would complete it
		s.ends(named, 0)
		if !s.model.saw(named) {
			t.Errorf("a name at the end arrived as %q", s.model.got[len(s.model.got)-1])
		}
	}

	for range 3 { // the waiter sleeps before the end comes
		_, late = s.ends("SLOW:2\nSAY:slowly", 0)
		t.Logf("the model's last byte to the exit of a waiter that slept: %v", late.Round(time.Millisecond))
	}

	s.asked("", "yes", 0)
	s.asked("", "no", 1)
	if real.parts { // what an agent of its own asks; it goes on after a no
		s.asked("TASK:", "yes", 0)
		s.asked("TASK:", "no", 0)
	}

	if real.model != nil {
		shows := text(s.call(0, append([]string{"agent", "configure", s.session}, real.model...)...)["shows"])
		if t.Logf("model: %s", shows); !strings.Contains(strings.ToLower(shows), strings.ToLower(real.model[1])) {
			t.Errorf("it was told to take %s", real.model[1])
		}
		s.call(7, "agent", "configure", s.session, "--model", "nonsense")
	} else {
		s.call(1, "agent", "configure", s.session, "--model", "nonsense")
	}

	turn := s.call(0, "agent", "turn", s.session, "SLOW:60\nSAY:never said")
	s.call(3, "wait", "--session", s.session, "--cursor", text(turn["event_cursor"]), "--timeout", "2")
	s.staysOpen("at work")
	began = s.interrupts(real)
	s.call(1, "wait", "--session", s.session, "--cursor", text(turn["event_cursor"]), "--timeout", "30")
	t.Logf("interrupt to the waiter's exit: %v", time.Since(began).Round(time.Millisecond))

	s.ends("FAIL:400", 1)
	s.ends("FAIL:429", 6)
	if real.tries {
		s.interrupts(real)
	}

	s.home.termpilot(t, "send", s.session, real.quit)
	time.Sleep(500 * time.Millisecond) // its list of commands comes down to this one
	s.home.termpilot(t, "keys", s.session, "enter")
	for end := time.Now().Add(20 * time.Second); s.call(0, "agent", "status", s.session)["state"] != "ended"; {
		if time.Now().After(end) {
			t.Fatal("it does not end")
		}
	}
	out, errs, code := s.home.termpilot(t, "agent", "turn", s.session, "echo nobody")
	if code != 4 {
		t.Errorf("a dead agent took a prompt: %d %s%s", code, out, errs)
	}
	resume, _ := s.call(0, "agent", "status", s.session)["resume"].(map[string]any)
	argv := []string{}
	for _, word := range resume["argv"].([]any) {
		argv = append(argv, text(word))
	}
	s.resumes(programs, real, argv)
	s.reads(real, launch)
}

// launch launches the agent with a prompt, which it gets later where the machine
// is so busy that its composer does not show in time. It returns the receipt.
func (s *seat) launch(prompt string, args []string) map[string]any {
	s.t.Helper()
	out, errs, code := s.home.termpilot(s.t, append(args, "--prompt", prompt, "--json")...)
	launched := map[string]any{}
	if err := json.Unmarshal([]byte(out), &launched); err != nil {
		s.t.Fatalf("%q ended with %d: %s%s", args, code, out, errs)
	}
	s.session = text(launched["session_id"])
	if code != 5 || launched["state"] != "starting" {
		if code != 0 {
			s.t.Fatalf("%q ended with %d: %s%s", args, code, out, errs)
		}
		return launched
	}
	for end := time.Now().Add(2 * time.Minute); s.call(0, "agent", "status", s.session)["state"] != "ready"; {
		if time.Now().After(end) {
			s.t.Fatal("it does not become ready")
		}
	}
	return s.call(0, "agent", "turn", s.session, prompt)
}

// reads launches another one that may not write, sees that it does not, and has it
// closed: its chat is in the receipt.
func (s *seat) reads(real realAgent, launch []string) {
	s.t.Helper()
	written := filepath.Join(s.home.dir, "written")
	if _, err := exec.LookPath(real.box); err != nil && real.box != "" {
		s.t.Logf("without %s it cannot be held to reading", real.box)
		return
	}
	launched := s.launch("RUN:touch "+written, append(launch, "--write-scope", "read_only"))
	out, errs, code := s.home.termpilot(s.t, "wait", "--session", s.session, "--cursor", text(launched["event_cursor"]), "--timeout", "60", "--json")
	if code == 5 { // it asks, and the answer is no
		question := s.call(0, "agent", "approval", s.session)
		s.call(0, "agent", "approval", s.session, "--digest", text(question["digest"]), "--answer", "no")
	} else if code != 0 {
		s.t.Errorf("a turn that may not write ended with %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(written); err == nil && !real.temp {
		s.t.Errorf("it wrote, under %v", launched["write_scope"])
	}
	s.t.Logf("read only, it answers %q with %d", s.call(0, "agent", "result", s.session)["text"], code)
	item := s.until(s.session, "idle")
	chat := item["cli_sessions"].([]any)[0].(map[string]any)
	if chat["chat_id"] == "" || chat["verified"] != true || chat["persistence"] != "saved" {
		s.t.Errorf("the chat is told as %v", chat)
	}
	r := s.closed(s.session)
	receipt := s.call(0, "recover", text(r["recovery_id"]))["recoveries"].([]any)[0].(map[string]any)
	if r["status"] != "closed" || !strings.Contains(fmt.Sprint(receipt), text(chat["chat_id"])) {
		s.t.Errorf("closed as %v with the receipt %v", r, receipt)
	}
	s.t.Logf("closed a launched %s, chat known by %v", real.name, chat["identity_source"])
}

// interrupts interrupts a turn, and says when. Where that takes two keys, the
// first may be forgotten on a busy machine before the second comes.
func (s *seat) interrupts(real realAgent) time.Time {
	s.t.Helper()
	at := s.breaks(real)
	for end := time.Now().Add(time.Minute); len(real.breaks) > 1; {
		now := s.call(0, "agent", "status", s.session)
		if now["outcome"] == "interrupted" {
			break
		}
		if time.Now().After(end) {
			s.t.Fatalf("it goes on: %v", now)
		}
		if time.Since(at) > 6*time.Second {
			at = s.breaks(real)
		}
	}
	return at
}

// breaks presses the keys that interrupt a turn, and says when.
func (s *seat) breaks(real realAgent) time.Time {
	for i, key := range real.breaks {
		if i > 0 {
			time.Sleep(500 * time.Millisecond) // two keys that come at once are a third one
		}
		s.home.termpilot(s.t, "keys", s.session, key)
	}
	return time.Now()
}

// resumes takes the chat up again by the command of the receipt, in a shell, and
// has it closed: idle, and again in the middle of a turn.
func (s *seat) resumes(programs string, real realAgent, argv []string) {
	s.t.Helper()
	id := s.resumed(programs, real, argv)
	if real.quiet {
		s.guesses(real, id)
		return
	}
	s.closes(real, id)
	id = s.resumed(programs, real, argv)
	s.home.termpilot(s.t, "send", id, "SLOW:60")
	time.Sleep(300 * time.Millisecond) // an Enter that comes at once may be taken for a part of the text
	s.home.termpilot(s.t, "keys", id, "enter")
	s.until(id, "busy")
	r := s.call(0, "close", "--all", "--force")
	item := map[string]any{}
	for _, one := range r["closed_sessions"].([]any) {
		if one.(map[string]any)["session_id"] == id {
			item = one.(map[string]any)
		}
	}
	if item["interruption"] != "interrupted" || item["exit"] != "exited" || len(item["survivors"].([]any)) != 0 {
		s.t.Errorf("forced in the middle of a turn: %v", r)
	}
}

// guesses has the session of an agent closed that tells nothing: that is refused,
// and by force its chat is in the receipt as far as it is known.
func (s *seat) guesses(real realAgent, id string) {
	s.t.Helper()
	item := s.until(id, "unknown")
	chat := item["cli_sessions"].([]any)[0].(map[string]any)
	if chat["cli"] != real.name || chat["chat_id"] == "" || chat["verified"] != false || chat["identity_source"] != "argv" {
		s.t.Errorf("the chat is told as %v", chat)
	}
	if r := s.call(7, "close", id); r["code"] != "activity_unknown" {
		s.t.Errorf("closed as %v", r)
	}
	r := s.call(0, "close", id, "--force")
	receipt := s.call(0, "recover", text(r["recovery_id"]))["recoveries"].([]any)[0].(map[string]any)
	if r["status"] != "closed" || !strings.Contains(fmt.Sprint(receipt), text(chat["chat_id"])) {
		s.t.Errorf("closed by force as %v with the receipt %v", r, receipt)
	}
}

// resumed takes the chat up again and returns its session when it shows.
func (s *seat) resumed(programs string, real realAgent, argv []string) string {
	s.t.Helper()
	line := "PATH=" + programs + ":$PATH"
	for _, entry := range append(real.env, "ANTHROPIC_BASE_URL="+s.model.URL) {
		line += " " + entry
	}
	line += " " + strings.Join(argv, " ")
	opened := s.call(0, "new", "--backend", "host", "--cwd", s.home.dir, "--rows", "50", "--columns", "120", line)
	id := text(opened["session_id"])
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(200 * time.Millisecond) { // between looks at the screen
		screen, _, _ := s.home.termpilot(s.t, "read", id)
		if strings.Contains(screen, "the second answer") || strings.Contains(screen, "the long one") || strings.Contains(screen, "FAIL") {
			s.t.Logf("resumed with %q", argv)
			return id
		}
		if time.Now().After(end) {
			s.t.Fatalf("%q does not show the chat:\n%s", argv, screen)
		}
	}
}

// staysOpen holds a close of an agent that has not ended to being refused.
func (s *seat) staysOpen(state string) {
	s.t.Helper()
	r := s.call(7, "close", s.session)
	s.t.Logf("a close while it is %s: %v, %v", state, r["code"], r["reason"])
	if r["recovery_id"] != "" {
		s.t.Errorf("something was begun: %v", r)
	}
}

// closes closes the session of an agent that waits for the next message: it is
// asked to end, and its chat is in the receipt.
func (s *seat) closes(real realAgent, id string) {
	s.t.Helper()
	item := s.until(id, "idle")
	chat := map[string]any{}
	if chats := item["cli_sessions"].([]any); len(chats) == 1 {
		chat = chats[0].(map[string]any)
	}
	if chat["cli"] != real.name || chat["chat_id"] == "" || chat["verified"] != true || chat["persistence"] != "saved" {
		s.t.Errorf("the chat is told as %v", chat)
	}
	if dry := s.call(0, "close", id, "--dry-run"); dry["status"] != "dry_run" || len(dry["closed_sessions"].([]any)) != 1 || dry["recovery_id"] != "" {
		s.t.Errorf("dry run: %v", dry)
	}
	began := time.Now()
	r := s.closed(id)
	closed := r["closed_sessions"].([]any)
	if r["status"] != "closed" || len(closed) != 1 || closed[0].(map[string]any)["exit"] != "exited" {
		s.t.Fatalf("close: %v", r)
	}
	receipt := s.call(0, "recover", text(r["recovery_id"]))["recoveries"].([]any)[0].(map[string]any)
	if !strings.Contains(fmt.Sprint(receipt), text(chat["chat_id"])) || receipt["status"] != "closed" {
		s.t.Errorf("the receipt: %v", receipt)
	}
	s.t.Logf("closed an idle %s in %v, chat known by %v", real.name, time.Since(began).Round(time.Millisecond), chat["identity_source"])
}

// closed closes a session, again where its agent has just started a helper.
func (s *seat) closed(id string) map[string]any {
	s.t.Helper()
	for range 5 {
		out, errs, code := s.home.termpilot(s.t, "close", id, "--json")
		r := map[string]any{}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			s.t.Fatalf("close ended with %d: %s%s", code, out, errs)
		}
		if code == 0 || r["code"] != "target_changed" {
			return r
		}
		s.t.Logf("not closed: %v", r["reason"])
	}
	return s.call(0, "close", id)
}

// until waits until a session is known to be in a state, and returns what is known.
func (s *seat) until(id, state string) map[string]any {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) { // between looks at it
		item := s.call(0, "close", id, "--inspect")["sessions"].([]any)[0].(map[string]any)
		if item["state"] == state {
			return item
		}
		if time.Now().After(end) {
			s.t.Fatalf("it is not known to be %s: %v", state, item)
		}
	}
}
