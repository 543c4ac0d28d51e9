package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termpilot/lazy"
	"termpilot/process"
	"termpilot/terminal"
)

// codex is OpenAI's Codex. It is followed by its own record alone: its hooks
// would need the person's trust, and the switch that goes without it goes without
// it for the hooks of every project, too. Without --no-daemon its chat would live in
// a background process that is nobody's.
var codex = vendor{
	name: "codex", title: "Codex", programs: []string{"codex", "codex.exe"},
	places:         []string{".local/bin/codex"},
	folderVariable: "CODEX_HOME", folderBelow: ".codex",
	readOnly: "its sandbox is read-only and asks for no exception",

	preflight: codexPreflight,
	argv: func(l Launch, _, _ string) []string {
		args := []string{"--no-daemon"}
		if l.Model != "" {
			args = append(args, "-m", l.Model)
		}
		if l.Effort != "" {
			args = append(args, "-c", "model_reasoning_effort="+l.Effort)
		}
		if l.WriteScope == readOnlyScope {
			args = append(args, "-s", "read-only", "-a", "never")
		}
		return args
	},
	leaks: []string{
		"CODEX_CI", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_VERSION", "CODEX_SANDBOX",
		"CODEX_SANDBOX_NETWORK_DISABLED", "NO_COLOR", "PAGER", "GIT_PAGER", "GH_PAGER",
	},
	hook:           codexHook,
	look:           codexLook,
	watched:        codexWatched,
	record:         codexRecord,
	identify:       codexChat,
	asksOnScreen:   true,
	menus:          []string{"Select Model", "Select Reasoning"},
	configure:      configureCodex,
	checkConfigure: func(_, _ string) (detail, hint string) { return "", "" },
	resume:         []string{"resume", "--no-daemon"},
	breaks:         "escape",
}

func codexPreflight(ctx context.Context, p probe) (facts, error) {
	out, err := p.run(ctx, "--version")
	if err != nil {
		return facts{}, err
	}
	f := facts{login: loginUnknown, why: "Codex tells of logins, not of keys for other providers"}
	for line := range strings.Lines(out) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "codex-cli "); ok {
			f.version = version
		}
	}
	return f, nil
}

// codexHook reads what a person may have set up in config.toml by themselves: the
// JSON of notify, or that of a hook.
func codexHook(data []byte) (event, bool) {
	w, ok := parseWords(data)
	if !ok {
		return event{}, false
	}
	if w.text("type") == "agent-turn-complete" {
		return event{
			Kind: done, Chat: w.text("thread-id"), VendorTurn: w.text("turn-id"), Text: w.text("last-assistant-message"),
		}, true
	}
	e := event{Chat: w.text("session_id"), VendorTurn: w.text("turn_id")}
	switch w.text("hook_event_name") {
	case "UserPromptSubmit":
		e = promptEvent(e.Chat, e.VendorTurn, w.text("prompt"))
	case "Stop":
		e.Kind, e.Text = done, w.text("last_assistant_message")
	case "Interrupt":
		e.Kind = interrupted
	case "PermissionRequest":
		e.Kind, e.Reason = waits, w.text("tool_name")
	case "PostToolUse":
		e.Kind = goesOn
	default:
		return event{}, false
	}
	return e, true
}

// codexStatus is the line below the composer: a model, an effort, a folder.
var codexStatus = lazy.Regexp(`^  \S.* · [/~]`)

// codexBusy is the row above the composer while a turn starts.
var codexBusy = lazy.Regexp(`^• .*\(.*esc to interrupt\)`)

// codexLook reads the screen. The composer is drawn before it can be used: only
// with the status line below it is it ready. A dialog stands in its place.
func codexLook(s terminal.Screen) look {
	rows, cursor := rowsOf(s)
	status := -1
	for i := len(rows) - 1; i >= 0 && i >= len(rows)-4; i-- {
		if codexStatus().MatchString(rows[i]) {
			status = i
			break
		}
	}
	if status < 0 {
		if l, ok := codexScrolled(rows, cursor); ok {
			return l
		}
		block := lastBlock(rows)
		from := 0
		for i, row := range block { // what was said before stands at the left edge, a question does not
			if aChoice().MatchString(row) {
				break
			}
			if row != "" && row[0] != ' ' {
				from = i + 1
			}
		}
		block = block[from:]
		if d := numbered(block); d != nil {
			return look{state: stateDialog, dialog: d.classed()}
		}
		return look{state: stateStarting}
	}
	for i := status - 1; i >= 0; i-- {
		if !strings.HasPrefix(rows[i], "›") {
			if text := rows[i]; text != "" && !strings.HasPrefix(text, "  ") {
				break // something else than a composer stands above the status line
			}
			continue
		}
		l := look{state: stateReady, composer: composerText(rows[i:status], "›"), under: under(rows[i:status], cursor-i)}
		if aChoice().MatchString(rows[i]) && numbered(rows[i:status]) != nil { // or a prompt that is such a list
			l.state, l.dialog = stateDialog, numbered(rows[i:status]).classed()
			return l
		}
		l.empty = cursor == i && s.Cursor.Column <= 2
		for _, row := range rows[max(0, i-4):i] {
			if codexBusy().MatchString(row) {
				l.state, l.work = stateBusy, row
			}
		}
		return l
	}
	return look{state: stateStarting}
}

// codexAbove is the first row of a composer that holds more rows than it shows.
var codexAbove = lazy.Regexp(`^›.*\s↑$`)

// codexScrolled reads a composer that holds so many rows that it leaves no room for
// the status line: all that stands below its first row is its own.
func codexScrolled(rows []string, cursor int) (look, bool) {
	for i := len(rows) - 1; i >= 0; i-- {
		switch {
		case codexAbove().MatchString(rows[i]):
			inside := slices.Clone(rows[i:])
			inside[0] = strings.TrimSuffix(inside[0], "↑")
			return look{state: stateReady, composer: composerText(inside, "›"), under: under(inside, cursor-i)}, cursor >= i
		case rows[i] != "" && !strings.HasPrefix(rows[i], "  "):
			return look{}, false
		}
	}
	return look{}, false
}

var uuidShape = lazy.Regexp(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// codexChat finds the chat of the process by the locks that it keeps open. It
// keeps those of earlier ones, too: then the chat is the one that the last prompt
// went to, by its record, which begins with the first.
func codexChat(s *story) string {
	held, records := codexHolds(s.pid)
	if len(held) == 0 {
		if table, err := process.Snapshot(); err == nil {
			for _, e := range table.Where(func(e process.Entry) bool { return e.PPID == s.pid }) { // a wrapper's child is the program itself
				if held, records = codexHolds(e.PID); len(held) > 0 {
					break
				}
			}
		}
	}
	chat := s.chat
	if chat == "" && len(held) > 0 {
		chat = held[0]
	}
	if _, alone := records[chat]; len(records) == 0 || alone && len(records) == 1 {
		return chat
	}
	var last time.Time
	for _, id := range held {
		if at := lastPrompt(records[id]); at.After(last) {
			chat, last = id, at
		}
	}
	return chat
}

// codexHolds are the chats that a process has locked, and their records as far as
// it has them open. What cannot be read names no chat.
func codexHolds(pid int) (chats []string, records map[string]string) {
	files, _ := process.OpenFiles(pid)
	records = map[string]string{}
	for _, path := range files {
		id := uuidShape().FindString(filepath.Base(path))
		switch {
		case id == "":
		case filepath.Base(filepath.Dir(path)) == "thread-writer-locks":
			chats = append(chats, id)
		case strings.HasPrefix(filepath.Base(path), "rollout-"):
			records[id] = path
		}
	}
	return chats, records
}

// lastPrompt is when a person's chat took its last prompt, by its record; zero is
// none, and what an agent of Codex's own gets counts for none.
func lastPrompt(record string) (at time.Time) {
	f, err := os.Open(record)
	if err != nil {
		return at
	}
	defer f.Close()
	var first struct {
		Payload struct {
			Source any `json:"source"`
		} `json:"payload"`
	}
	if json.NewDecoder(limited(f)).Decode(&first) != nil || first.Payload.Source != "cli" {
		return at
	}
	for line := range bytes.Lines(tail(f)) {
		if e, ok := codexLine(line); ok && e.Kind == prompted {
			at = e.Happened
		}
	}
	return at
}

// tail is the end of a record, at most maxRollout bytes.
func tail(f *os.File) []byte {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	data := make([]byte, min(info.Size(), maxRollout))
	n, _ := f.ReadAt(data, info.Size()-int64(len(data)))
	return data[:n]
}

// rollout returns the chat's record. It begins with the first prompt.
func rollout(s *story) string {
	if s.chat == "" || !uuidShape().MatchString(s.chat) {
		return ""
	}
	if strings.Contains(filepath.Base(s.recorded.path), s.chat) {
		return s.recorded.path
	}
	name := "rollout-*" + s.chat + ".jsonl"
	for _, day := range []string{time.Now().Format("2006/01/02"), s.launch.At.Format("2006/01/02"), "*/*/*"} { // there may be years of them
		sessions := filepath.Join(s.launch.Folder, "sessions") // which may hold what a pattern would read
		if found, _ := fs.Glob(os.DirFS(sessions), day+"/"+name); len(found) == 1 {
			return filepath.Join(sessions, found[0])
		}
	}
	return ""
}

func codexWatched(s *story) string {
	if path := rollout(s); path != "" {
		return filepath.Dir(path)
	}
	// before the first prompt: the record's folder, or the nearest that is there
	day := filepath.Join(s.launch.Folder, "sessions", time.Now().Format("2006/01/02"))
	for range 4 {
		if info, err := os.Stat(day); err == nil && info.IsDir() {
			return day
		}
		day = filepath.Dir(day)
	}
	return s.launch.Folder
}

// maxRollout is the most bytes of a record that are held at once.
const maxRollout = 8 << 20

// codexRecord reads what was added to the record since it was last read: prompts
// that were accepted, turns that ended.
func codexRecord(s *story, r *recorded) []event {
	path := rollout(s)
	if path == "" {
		return nil
	}
	if r.path != path {
		r.path, r.offset = path, 0
	}
	f, err := os.Open(path)
	if err != nil {
		r.path = "" // it may have been moved
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	if r.offset > info.Size() {
		r.offset = 0 // it is another one
	}
	var news []event
	for r.offset < info.Size() {
		data := make([]byte, min(info.Size()-r.offset, maxRollout))
		n, _ := f.ReadAt(data, r.offset)
		end := bytes.LastIndexByte(data[:n], '\n') + 1
		switch {
		case end > 0:
		case n == maxRollout:
			end = n // a line without end is passed over
		default:
			return news // it is being written
		}
		for line := range bytes.Lines(data[:end]) {
			r.offset += int64(len(line))
			if e, ok := codexLine(line); ok && !e.before(s.launch.At) { // of a chat that was taken up again it tells all
				e.Chat, e.Source, e.Record, e.Read = s.chat, fromRecord, path, r.offset
				news = append(news, e)
			}
		}
	}
	return news
}

// codexPayload is what a line of a record tells, as far as it is news.
type codexPayload struct {
	Type   string `json:"type"`
	TurnID string `json:"turn_id"`
	Last   string `json:"last_agent_message"`
	Reason string `json:"reason"`
	Error  *struct {
		Message string          `json:"message"`
		Info    json.RawMessage `json:"codex_error_info"`
	} `json:"error"`
	Item struct {
		Type    string `json:"type"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"item"`
}

// codexLine reads one line of a record. ok is false for what is no news.
func codexLine(line []byte) (e event, ok bool) {
	if !bytes.Contains(line, []byte(`"event_msg"`)) {
		return event{}, false
	}
	var one struct {
		Timestamp string       `json:"timestamp"`
		Type      string       `json:"type"`
		Payload   codexPayload `json:"payload"`
	}
	if json.Unmarshal(line, &one) != nil || one.Type != "event_msg" {
		return event{}, false
	}
	e, ok = one.Payload.event()
	e.Happened, _ = time.Parse(time.RFC3339, one.Timestamp) // zero says that it does not tell
	return e, ok
}

func (p codexPayload) event() (event, bool) {
	switch p.Type {
	case "item_completed":
		if p.Item.Type != "UserMessage" {
			return event{}, false
		}
		var text strings.Builder
		for _, c := range p.Item.Content {
			text.WriteString(c.Text)
		}
		return promptEvent("", p.TurnID, text.String()), true
	case "task_complete":
		if p.Error != nil {
			return event{
				Kind: failed, VendorTurn: p.TurnID, Text: p.Last, Error: clipped(p.Error.Message),
				Limited: isLimit(p.Error.Message + " " + string(p.Error.Info)),
			}, true
		}
		return event{Kind: done, VendorTurn: p.TurnID, Text: p.Last}, true
	case "turn_aborted":
		return event{Kind: interrupted, VendorTurn: p.TurnID, Reason: p.Reason}, true
	}
	return event{}, false
}

// configureCodex chooses in Codex's two menus; in the second the key s means this
// session only.
func configureCodex(ctx context.Context, h *hands, model, effort string) (string, error) {
	d, err := h.menu(ctx)
	if err != nil {
		return "", err
	}
	want := d.choices[max(d.marked-1, 0)]
	if model != "" {
		var ok bool
		if want, ok = d.entry(model); !ok {
			return "", h.unknownModel(d, "model", model)
		}
	}
	if want.key == "" {
		return "", h.unexpected("no key chooses "+want.label+" in its menu", nil)
	}
	offered := func(l look) bool { return l.dialog != nil && slices.Contains(l.dialog.choices, want) }
	if err := h.press(ctx, want.key, offered); err != nil {
		return "", err
	}
	l, came, err := h.await(ctx, drawPatience, still, func(l look) bool { return l.dialog != nil && l.dialog.has(h.vendor.menus[1]) })
	if err != nil || !came {
		return "", h.unexpected("its menu of efforts did not open", err)
	}
	row := l.dialog.choices[max(l.dialog.marked-1, 0)]
	if effort != "" {
		var ok bool
		if row, ok = l.dialog.entry(effort); !ok {
			return "", h.unknownModel(l.dialog, "effort", effort)
		}
		if err := h.mark(ctx, row); err != nil {
			return "", err
		}
	}
	if err := h.press(ctx, "s", row.marked); err != nil {
		return "", err
	}
	if _, came, err := h.await(ctx, drawPatience, still, func(l look) bool { return l.state == stateReady && l.empty }); err != nil || !came {
		return "", h.unexpected("its menu did not take the choice", err)
	}
	return h.shows(ctx, "Model changed to", "for this session only")
}
