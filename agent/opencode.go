package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/private"
	"termpilot/terminal"
)

// opencode is OpenCode. A plugin of ours, which one variable of its environment
// names for the launch alone, tells what happens in it. Chats have no id before
// their first prompt, and one process may hold several.
var opencode = vendor{
	name: "opencode", title: "OpenCode", programs: []string{"opencode", "opencode.exe"},
	places:   []string{".opencode/bin/opencode", ".local/bin/opencode"},
	readOnly: "every tool but those that only read is refused by termpilot's plugin in it, those of MCP servers too",
	efforts:  []string{},

	preflight: opencodePreflight,
	argv: func(l Launch, _, _ string) []string {
		if l.Model != "" {
			return []string{"--model", l.Model}
		}
		return nil
	},
	install: func(l Launch, folder, self string) error {
		constants, err := json.Marshal(map[string]any{"self": self, "readOnly": l.WriteScope == readOnlyScope})
		if err != nil {
			return err
		}
		return private.Write(filepath.Join(folder, opencodeFile), []byte("const ours = "+string(constants)+"\n"+opencodePlugin))
	},
	leaks:  []string{"OPENCODE", "OPENCODE_PID", "OPENCODE_RUN_ID", "OPENCODE_PROCESS_ROLE", "AGENT"},
	adjust: opencodeEnvironment,
	hook:   opencodeHook,
	look:   opencodeLook,
	starts: 50 * time.Second, // it computes for 4 s, where others need less than one
	checkConfigure: func(_, _ string) (detail, hint string) {
		return "OpenCode begins with the model that was chosen last: every change of it is the person's default", "launch another agent with the model, or ask the person to change it"
	},
	resume: []string{"--session"},
	breaks: "escape, and escape again",
}

const (
	opencodeFile = "opencode.js"
	// opencodeConfig holds configuration for one start, which OpenCode adds to the
	// person's own.
	opencodeConfig = "OPENCODE_CONFIG_CONTENT"
	opencodePure   = "OPENCODE_PURE"
)

// opencodePlugin is what runs in OpenCode. It tells each event by a program of
// ours, one after the other, and does nothing where no launch of ours asked for it.
const opencodePlugin = `
import { spawn } from "node:child_process"

const reads = ["read", "glob", "grep", "list", "lsp", "webfetch", "websearch", "codesearch", "question", "todoread", "todowrite", "skill", "task", "invalid"]
let told = Promise.resolve()

function tell(event) {
  told = told.then(() => new Promise((done) => {
    try {
      const child = spawn(ours.self, ["hook", "opencode"], { stdio: ["pipe", "ignore", "ignore"] })
      child.on("error", done)
      child.on("close", done)
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(event))
    } catch {
      done()
    }
  }))
}

export const Termpilot = async () => {
  if (!process.env.TERMPILOT_LAUNCH_DIR) return {}
  const parents = new Map() // of chats that a chat began: what is asked there is asked in its own
  const turns = new Map() // of each chat, while it goes on
  const asked = new Map() // the chats of open questions

  const root = (chat) => {
    for (let steps = 0; parents.has(chat) && steps < 16; steps++) chat = parents.get(chat)
    return chat
  }
  const begin = (chat, { turn, text }) => {
    turns.set(chat, { turn, after: [], texts: new Map(), last: "", finish: "", error: null, refused: false, held: "" })
    tell({ event: "prompt", chat, turn, text })
  }
  const end = (chat, at) => {
    turns.delete(chat)
    const text = [...(at.texts.get(at.last) ?? new Map()).values()].join("")
    const about = { chat, turn: at.turn, text }
    if (at.error?.name === "MessageAbortedError") tell({ ...about, event: "interrupted", reason: "it was interrupted" })
    else if (at.error) tell({ ...about, event: "error", error: at.error.data?.message || at.error.name || "error", status: at.error.data?.statusCode ?? 0 })
    else if (at.finish && at.finish !== "tool-calls") tell({ ...about, event: "done" })
    else tell({ ...about, event: "interrupted", reason: at.refused ? "what it asked for was refused" : at.held ? "it was stopped while it tried again after: " + at.held : "it stopped before its answer" })
    if (at.after.length > 0) { // prompts that were given while it worked
      const [next, ...after] = at.after
      begin(chat, next)
      turns.get(chat).after = after
      return turns.get(chat)
    }
  }
  const ask = (id, chat, what) => {
    asked.set(id, root(chat))
    tell({ event: "asks", chat: root(chat), turn: turns.get(root(chat))?.turn ?? "", what })
  }
  const answer = (id, chat, no) => {
    asked.delete(id)
    if (no && turns.has(chat)) turns.get(chat).refused = true
    if (![...asked.values()].includes(root(chat))) tell({ event: "answered", chat: root(chat) })
  }

  const news = ({ type, properties: p }) => {
    const at = turns.get(p.sessionID)
    switch (type) {
      case "session.created":
        if (p.info?.parentID) parents.set(p.info.id, p.info.parentID)
        return
      case "permission.asked":
        return ask(p.id, p.sessionID, p.permission)
      case "question.asked":
        return ask(p.id, p.sessionID, "question")
      case "permission.replied":
        return answer(p.requestID, p.sessionID, p.reply === "reject")
      case "question.replied":
        return answer(p.requestID, p.sessionID, false)
      case "question.rejected":
        return answer(p.requestID, p.sessionID, true)
    }
    if (!at) return
    switch (type) {
      case "message.updated": {
        if (p.info.role !== "assistant") return
        let now = at
        while (now && p.info.parentID !== now.turn && now.after.some((one) => one.turn === p.info.parentID)) now = end(p.sessionID, now)
        if (now && p.info.parentID === now.turn) {
          now.last = p.info.id
          now.finish = p.info.finish ?? ""
        }
        return
      }
      case "message.part.updated":
        if (at.held) {
          at.held = ""
          tell({ event: "answered", chat: p.sessionID })
        }
        if (p.part.type !== "text" || p.part.synthetic || p.part.messageID !== at.last) return
        if (!at.texts.has(at.last)) at.texts = new Map([[at.last, new Map()]])
        at.texts.get(at.last).set(p.part.id, p.part.text)
        return
      case "session.status":
        if (p.status.type === "retry" && (p.status.attempt > 1 || p.status.next - Date.now() > 30000)) {
          at.held = p.status.message || "an error"
          tell({ event: "retry", chat: p.sessionID, turn: at.turn, error: at.held })
        }
        return
      case "session.error":
        at.error = p.error
        return
      case "session.idle":
        end(p.sessionID, at)
    }
  }

  tell({ event: "ready" })
  return {
    "chat.message": async (_, { message, parts }) => {
      if (parents.has(message.sessionID)) return
      const text = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("")
      const at = turns.get(message.sessionID)
      if (at) at.after.push({ turn: message.id, text })
      else begin(message.sessionID, { turn: message.id, text })
    },
    "tool.execute.before": async ({ tool }) => {
      if (ours.readOnly && !reads.includes(tool)) throw new Error("this agent may only read: termpilot launched it so")
    },
    event: async ({ event }) => {
      try {
        news(event)
      } catch {} // an event of another form is none that we know
    },
  }
}
`

// opencodeEnvironment adds the launch's plugin to the configuration that the
// environment may hold already.
func opencodeEnvironment(env []string, folder string) ([]string, error) {
	config := map[string]json.RawMessage{}
	kept := make([]string, 0, len(env)+1)
	for _, entry := range env {
		if entry == opencodePure+"=1" || strings.EqualFold(entry, opencodePure+"=true") {
			return nil, errors.New(opencodePure + " in its environment keeps termpilot's plugin out of it")
		}
		content, ours := strings.CutPrefix(entry, opencodeConfig+"=")
		if !ours {
			kept = append(kept, entry)
			continue
		}
		if content != "" && (json.Unmarshal([]byte(content), &config) != nil || config == nil) {
			return nil, errors.New(opencodeConfig + " in its environment is no JSON object, to which termpilot could add its plugin")
		}
	}
	var plugins []json.RawMessage
	if list := config["plugin"]; list != nil && json.Unmarshal(list, &plugins) != nil {
		return nil, errors.New("plugin in " + opencodeConfig + " is no list, to which termpilot could add its own")
	}
	own, err := json.Marshal("file://" + filepath.Join(folder, opencodeFile))
	if err != nil {
		return nil, err
	}
	if config["plugin"], err = json.Marshal(append(plugins, own)); err != nil {
		return nil, err
	}
	content, err := json.Marshal(config)
	return append(kept, opencodeConfig+"="+string(content)), err
}

// opencodePreflight asks for the version and, where a model is asked for, for the
// models: OpenCode uses another one without a word where there is none of the name.
func opencodePreflight(ctx context.Context, p probe) (facts, error) {
	type answer struct {
		out string
		err error
	}
	listed := make(chan answer, 1)
	go func() { // received below
		if p.model == "" {
			listed <- answer{}
			return
		}
		out, err := p.run(ctx, "models")
		listed <- answer{out, err}
	}()
	version, err := p.run(ctx, "--version")
	models := <-listed
	if err != nil {
		return facts{}, err
	}
	f := facts{version: strings.TrimSpace(version), login: loginUnknown, why: "OpenCode tells of logins, not of what works without one"}
	if p.model == "" || models.err != nil {
		return f, models.err
	}
	var known []string
	for line := range strings.Lines(models.out) {
		name := strings.TrimSpace(line)
		if name == p.model {
			return f, nil
		}
		known = append(known, name)
	}
	return f, refused("launch", "", fault.ModelUnknown, "OpenCode knows no model "+terminal.OneLine(p.model, 80)+"; it lists "+terminal.OneLine(strings.Join(known, ", "), 400),
		"pass one of these, as provider/model, or no model for the default")
}

// opencodeHook reads what our plugin tells.
func opencodeHook(data []byte) (event, bool) {
	w, ok := parseWords(data)
	if !ok {
		return event{}, false
	}
	e := event{Chat: w.text("chat"), VendorTurn: w.text("turn")}
	told := w.text("event")
	if (e.Chat == "") != (told == "ready") {
		return event{}, false
	}
	switch told {
	case "ready":
		e = event{Kind: session, Reason: "startup"}
	case "prompt":
		e = promptEvent(e.Chat, e.VendorTurn, w.text("text"))
		e.Moves = true
	case "done":
		e.Kind, e.Text = done, w.text("text")
	case "error":
		e.Kind, e.Text, e.Error = failed, w.text("text"), clipped(w.text("error"))
		e.Limited = string(w["status"]) == "429" || isLimit(e.Error)
	case "interrupted":
		e.Kind, e.Reason = interrupted, w.text("reason")
	case "retry":
		e.Kind, e.Error = held, clipped(w.text("error"))
		e.Limited = isLimit(e.Error)
	case "asks":
		e.Kind, e.Reason, e.VendorTurn = waits, w.text("what"), ""
	case "answered":
		e.Kind, e.VendorTurn = goesOn, ""
	default:
		return event{}, false
	}
	return e, true
}

// opencodeLook reads the screen: a block behind a bar that stands on a foot is the
// composer; one without a foot that ends the screen is a question in its place.
func opencodeLook(s terminal.Screen) look {
	rows, cursor := rowsOf(s)
	foot, last := -1, -1
	for i, row := range rows {
		switch text := strings.TrimLeft(row, " "); {
		case strings.HasPrefix(text, "╹▀▀▀▀"):
			foot = i
		case strings.HasPrefix(text, "┃"):
			last = i
		}
	}
	if last < 0 {
		return look{state: stateStarting}
	}
	first := last
	for first > 0 && strings.HasPrefix(strings.TrimLeft(rows[first-1], " "), "┃") && strings.Count(rows[first-1], "┃") == 1 {
		first-- // a list above the composer has a bar at its other side, too
	}
	indent := strings.Index(rows[last], "┃") // blanks alone stand before it
	block := opencodeBlock(rows[first:last+1], s.Columns > 120)
	if last != foot-1 {
		if len(rows)-last > 3 { // nothing but blank rows stands below a question
			return look{state: stateStarting}
		}
		return opencodeQuestion(block, click(int(s.First-s.Top)+first, indent+5))
	}
	mode := block[len(block)-1]
	text := block[:len(block)-1]
	l := look{state: stateReady, composer: strings.TrimSpace(strings.Join(text, "\n")), under: under(text, cursor-first)}
	inside := cursor >= first && cursor < last
	hint := strings.HasPrefix(l.composer, "Ask anything…") && inside && s.Cursor.Column <= indent+3
	l.empty = inside && mode != "Shell" && (l.composer == "" || hint)
	if !inside { // it is drawn before it takes keys, and behind a window of its own it takes none
		return look{state: stateStarting}
	}
	for _, row := range rows[foot+1:] {
		if strings.Contains(row, "esc interrupt") || strings.Contains(row, "esc again to interrupt") {
			l.state = stateBusy
		}
	}
	return l
}

// opencodeBlock is the text behind a bar. On a wide screen something else may stand
// beside it, behind a gap.
func opencodeBlock(rows []string, wide bool) []string {
	block := make([]string, 0, len(rows))
	for _, row := range rows {
		_, text, _ := strings.Cut(row, "┃")
		if at := strings.LastIndex(text, "     "); wide && at > len(text)/3 {
			text = text[:at]
		}
		block = append(block, strings.TrimSpace(text))
	}
	return block
}

// opencodeButtons are the words of the row that a permission ends with. Which of
// them is marked shows by its colour alone, so that each is pressed with the mouse
// where it stands; Escape refuses.
var opencodeButtons = []choice{
	{number: 1, label: "Allow once"},
	{number: 2, label: "Allow always"},
	{number: 3, label: "Reject", key: escape},
}

// click presses and releases the mouse on a cell of the screen, so many rows below
// another one.
func click(row, column int) func(below int) string {
	return func(below int) string {
		at := fmt.Sprintf("\x1b[<0;%d;%d", column+1, row+below+1)
		return at + "M" + at + "m"
	}
}

// opencodeQuestion reads a question. click presses what stands in one of its rows.
func opencodeQuestion(block []string, click func(row int) string) look {
	d := &dialog{kind: "other"}
	permission := false
	for i, text := range block {
		switch {
		case text == "":
		case strings.HasPrefix(text, "△"):
			permission = text == "△ Permission required"
			d.question = []string{text} // what stood above it was said before
			d.words = text == "△ Reject permission"
		case permission && strings.HasPrefix(text, "Allow once   Allow always   Reject"):
			d.choices = slices.Clone(opencodeButtons)
			d.choices[0].key = click(i)
		default:
			d.question = append(d.question, text)
		}
	}
	if len(d.choices) > 0 {
		d = d.classed()
	}
	return look{state: stateDialog, dialog: d}
}
