package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// registered is what Claude Code says of one process, in sessions/PID.json of its
// folder: it is removed when the process ends.
type registered struct {
	SessionID       string `json:"sessionId"`
	Status          string `json:"status"`
	StatusUpdatedAt int64  `json:"statusUpdatedAt"` // milliseconds since 1970
	WaitingFor      string `json:"waitingFor"`
}

func readRegistered(s *story) (r registered, ok bool) {
	pid := s.pid
	if s.agentPID != 0 {
		pid = s.agentPID
	}
	f, err := os.Open(filepath.Join(s.launch.Folder, "sessions", strconv.Itoa(pid)+".json"))
	if err != nil {
		return registered{}, false
	}
	defer f.Close()
	if json.NewDecoder(limited(f)).Decode(&r) != nil || r.SessionID == "" || s.chat != "" && r.SessionID != s.chat {
		return registered{}, false
	}
	return r, true
}

// claudeRecord finds the ends that no hook tells of: of turns that a person
// interrupted, or ended by refusing a tool, and of those whose hook could not write
// down what it was told. Claude is idle when it has run its hooks, and its transcript
// then says how the turn ended, or soon will. Where that says nothing, as of a turn
// that was interrupted before an answer began, it was interrupted.
func claudeRecord(s *story, r *recorded) []event {
	since := r.since
	r.since = time.Time{}
	t := s.atWork()
	if t == nil {
		return nil
	}
	now, ok := readRegistered(s)
	idle := time.UnixMilli(now.StatusUpdatedAt)
	if !ok || now.Status != "idle" || idle.Before(t.began) {
		return nil
	}
	news := t.transcribed(s.transcript())
	for i := range news {
		news[i].Chat, news[i].Source = s.chat, fromRecord
	}
	if n := len(news); n > 0 && news[n-1].Kind != prompted {
		return news
	}
	if !t.accepted { // that it has the prompt is not known
		return news
	}
	r.since = idle
	if since.After(idle) {
		r.since = since
	}
	if time.Since(r.since) < idleFor {
		return news
	}
	if s.telling() {
		r.since = time.Now() // what it tells wakes whoever waits
		return news
	}
	return append(news, event{
		Kind: interrupted, Chat: s.chat, VendorTurn: t.vendorTurn, Source: fromRecord, Concluded: true,
		Reason: "Claude Code is idle again and reported no end: it was interrupted or refused",
	})
}

// transcript is the end of the chat's record, as far as it is held at once; nil is none.
func (s *story) transcript() []byte {
	if uuidShape().FindString(s.chat) != s.chat || s.chat == "" {
		return nil
	}
	projects := os.DirFS(filepath.Join(s.launch.Folder, "projects")) // one folder for each that it worked in
	found, _ := fs.Glob(projects, "*/"+s.chat+".jsonl")
	if len(found) != 1 {
		return nil
	}
	f, err := os.Open(filepath.Join(s.launch.Folder, "projects", found[0]))
	if err != nil {
		return nil
	}
	defer f.Close()
	return tail(f)
}

// claudeLine is what a line of a transcript tells, as far as it is news.
type claudeLine struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	PromptID  string `json:"promptId"`
	Part      bool   `json:"isSidechain"` // of an agent of Claude's own
	Timestamp string `json:"timestamp"`
	Origin    struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Failed  bool            `json:"isApiErrorMessage"`
	Status  int             `json:"apiErrorStatus"`
	Error   json.RawMessage `json:"error"`
	Message struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// text is what the line says: of several blocks those that are text.
func (l claudeLine) text() string {
	var whole string
	if json.Unmarshal(l.Message.Content, &whole) == nil {
		return whole
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(l.Message.Content, &blocks) // what is of another form has no text
	var b strings.Builder
	for _, one := range blocks {
		if one.Type == "text" {
			b.WriteString(one.Text)
		}
	}
	return b.String()
}

// interruption is how the line begins by which Claude Code notes that a turn was
// interrupted. No prompt is told from a person by such a line.
const interruption = "[Request interrupted by user"

// transcribed is what a transcript tells of a turn: that its prompt was accepted,
// where that is not known, and how it ended. A line that ends it follows its prompt
// before any other one.
func (t *turn) transcribed(transcript []byte) (news []event) {
	var prompt, last string
	var answer claudeLine
	text := ""
	for line := range bytes.Lines(transcript) {
		var l claudeLine
		if json.Unmarshal(line, &l) != nil || l.Part {
			continue
		}
		switch {
		case l.Type == "user" && l.Origin.Kind == "human":
			e := promptEvent("", l.PromptID, l.text())
			e.Happened, _ = time.Parse(time.RFC3339, l.Timestamp) // zero says that it does not tell
			mine := l.PromptID == t.vendorTurn
			if !t.accepted {
				mine = e.Loose == t.loose && !e.before(t.began)
			}
			prompt, last, text, answer = "", "", "", claudeLine{}
			if mine && l.PromptID != "" {
				prompt, news = l.PromptID, nil
				if !t.accepted {
					news = append(news, e)
				}
			}
		case prompt == "":
		case l.Type == "assistant":
			if l.Message.ID != last { // of one answer there may be several lines
				text = ""
			}
			last, answer, text = l.Message.ID, l, text+l.text()
		case l.Type == "user" && l.PromptID == prompt && strings.HasPrefix(l.text(), interruption):
			news = append(news, event{Kind: interrupted, VendorTurn: prompt, Reason: "it was interrupted, or what it asked for was refused"})
			prompt = ""
		case l.Type == "system" && l.Subtype == "turn_duration":
			news = append(news, answer.end(prompt, text))
			prompt = ""
		}
	}
	return news
}

// end is the end of a turn whose answer this is.
func (l claudeLine) end(prompt, text string) event {
	if !l.Failed {
		return event{Kind: done, VendorTurn: prompt, Text: text}
	}
	var word string
	_ = json.Unmarshal(l.Error, &word) // what is of another form is no word
	return event{
		Kind: failed, VendorTurn: prompt, Text: text, Error: clipped(cmp.Or(word, text)),
		Limited: l.Status == 429 || isLimit(word+" "+text),
	}
}
