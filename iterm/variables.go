package iterm

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// The session variables that are read. Those with the prefix are termpilot's
// own: iTerm2 answers null.
const (
	varNickname   = "user.goals_iterm_mcp_nickname"
	varWindowName = "terminalWindowName"
	varIconName   = "terminalIconName"
	varProfile    = "profileName"
	varJob        = "jobName"
	varJobPID     = "jobPid"
	varPID        = "pid"
	varTTY        = "tty"
	varPath       = "path"
	varHost       = "hostname"
	varUser       = "username"
	varAlternate  = "showingAlternateScreen"
	varTmuxRole   = "tmuxRole"
	varColumns    = "columns"
	varRows       = "rows"
	varMarks      = "termpilot.marks"
	varPrompt     = "termpilot.prompt"
	varExit       = "termpilot.exit"
	varCursorKeys = "termpilot.cursor_keys"
	varRest       = "termpilot.rest." // and the id of a prompt

	appProtocol = "termpilot.protocol"
	appPrompts  = "termpilot.prompts"
)

// sessionVariables are read together, in one request per session.
var sessionVariables = []string{
	varNickname, varWindowName, varIconName, varProfile, varJob, varJobPID, varPID, varTTY, varPath, varHost, varUser,
	varAlternate, varTmuxRole, varColumns, varRows, varMarks, varPrompt, varExit,
}

// promptVariables are those that decide whether a command may be typed. They
// are read anew with every prompt: the kernel tells nobody of a change of the
// foreground job, so notifications of it come late.
var promptVariables = []string{varJob, varJobPID, varPID, varTTY, varAlternate, varMarks, varPrompt, varExit}

// watchedVariables are those that change in a session's life and are told by
// notification. The size is told by the layout.
var watchedVariables = []string{
	varNickname, varWindowName, varIconName, varProfile, varJob, varJobPID, varPID, varTTY, varPath, varHost, varUser,
	varAlternate, varTmuxRole, varMarks, varPrompt, varExit,
}

// maxRest is the most of a row that was painted over, in bytes.
const maxRest = 16 << 10

// maxValue is how much of a variable is kept; a title or path has no use for more.
const maxValue = 4096

// plain turns the JSON text of a variable into text: a string without its
// quotes, a number or boolean as it is written, an object or array as JSON.
// The variable is unset when ok is false; one whose text is too long counts as that.
// An error means that the text is no JSON.
func plain(text string) (value string, ok bool, err error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || text == "null" || len(text) > 8*maxValue:
		return "", false, nil
	case !json.Valid([]byte(text)):
		return "", false, violation("a variable's value is no JSON")
	case text[0] != '"':
		return clip(text), true, nil
	}
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return "", false, violation("a variable's value is no JSON")
	}
	return clip(s), true, nil
}

func clip(s string) string {
	if len(s) > maxValue {
		s = s[:maxValue]
	}
	return strings.ToValidUTF8(s, "")
}

// variables reads the values of the variables that a call asked for; one that is
// unset is not among them, and none where the terminal refuses to tell.
func (c *call) variables() (map[string]string, error) {
	r := c.answer.GetVariableResponse()
	if r.GetStatus() != api.VariableResponse_OK {
		return nil, nil
	}
	values := r.GetValues()
	if len(values) != len(c.names) {
		return nil, violation(fmt.Sprintf("%d values were told of %d variables", len(values), len(c.names)))
	}
	vars := make(map[string]string, len(c.names))
	for i, name := range c.names {
		v, ok, err := plain(values[i])
		if err != nil {
			return nil, err
		}
		if ok {
			vars[name] = v
		}
	}
	return vars, nil
}

// truth reads a boolean, which the terminal writes as 1, 0, true or false.
func truth(s string) bool { return s == "1" || s == "true" }

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// livePrompt is the value of termpilot.prompt.
type livePrompt struct {
	ID      string   `json:"id"`
	State   string   `json:"state"`
	Typed   *bool    `json:"typed"` // nil: the host cannot tell
	Touched bool     `json:"touched"`
	Paste   bool     `json:"paste"`
	Silent  *bool    `json:"silent"` // nil from a host that does not tell
	Cwd     *string  `json:"cwd"`    // nil from a host that does not tell
	Strewn  []string `json:"strewn"` // prompts of which a part of the output stands elsewhere
}

func parseLivePrompt(s string) (p livePrompt, ok bool) {
	if s == "" || json.Unmarshal([]byte(s), &p) != nil {
		return livePrompt{}, false
	}
	return p, true
}

var promptStates = map[string]terminal.PromptState{
	"editing": terminal.Editing, "continuation": terminal.Continuation, "running": terminal.Running, "finished": terminal.Finished,
}

// parseExit reads termpilot.exit; ok is false while the session lives.
func parseExit(s string) (e terminal.Exit, ok bool) {
	var x struct {
		Code   *int      `json:"code"`
		Signal string    `json:"signal"`
		At     time.Time `json:"at"`
	}
	if s == "" || json.Unmarshal([]byte(s), &x) != nil {
		return terminal.Exit{}, false
	}
	return terminal.Exit{Code: x.Code, Signal: terminal.OneLine(x.Signal, 32), At: x.At}, true
}

// marks says whose prompt marks a session has. A terminal that does not say is
// believed to have plain ones once it has shown a prompt.
func marks(value string, sawPrompt bool) terminal.Marks {
	switch value {
	case "nonce":
		return terminal.MarksNonce
	case "plain":
		return terminal.MarksPlain
	case "none":
		return terminal.MarksNone
	case "lost":
		return terminal.MarksLost
	case "":
		if sawPrompt {
			return terminal.MarksPlain
		}
	}
	return terminal.MarksUnknown
}

// maxTitle is how many characters of a name or title are shown.
const maxTitle = 256

// session makes the contract's view of a record.
func (r *record) session(backend string, current bool) terminal.Session {
	v := r.vars
	s := terminal.Session{
		ID: r.id, Backend: backend, Window: r.window, Tab: r.tab,
		Name: terminal.OneLine(v[varNickname], maxTitle), Title: terminal.OneLine(v[varWindowName], maxTitle), Profile: terminal.OneLine(v[varProfile], maxTitle),
		Current: current,
		Job:     terminal.OneLine(v[varJob], maxTitle), JobPID: number(v[varJobPID]), ShellPID: number(v[varPID]), TTY: terminal.OneLine(v[varTTY], maxTitle),
		// A pane of tmux -CC has its processes on the tmux server's machine.
		Local: v[varTmuxRole] != "client",
		Cwd:   v[varPath], Host: terminal.OneLine(v[varHost], maxTitle), User: terminal.OneLine(v[varUser], maxTitle),
		Rows: r.rows, Columns: r.columns,
		Alternate: truth(v[varAlternate]), Marks: marks(v[varMarks], r.sawPrompt),
	}
	if s.Title == "" {
		s.Title = terminal.OneLine(v[varIconName], maxTitle)
	}
	if s.Rows == 0 || s.Columns == 0 { // a buried session is in no layout
		s.Rows, s.Columns = number(v[varRows]), number(v[varColumns])
	}
	return s
}

// fetch is a call that reads all variables of a session into the state.
func (l *link) fetch(id terminal.ID) *call { return l.ask(id, sessionVariables) }

// refresh is a call that reads what decides over a prompt, and everything else
// as well while it is not known.
func (l *link) refresh(id terminal.ID) *call {
	if l.state.isFetched(id) {
		return l.ask(id, promptVariables)
	}
	return l.fetch(id)
}

func (l *link) ask(id terminal.ID, names []string) *call {
	c := askVariables(id, names)
	c.apply = func(m *api.ServerOriginatedMessage) error {
		r := m.GetVariableResponse()
		if r == nil || r.GetStatus() != api.VariableResponse_OK {
			return nil
		}
		c.answer = m
		vars, err := c.variables()
		if err == nil {
			l.state.setVariables(id, names, vars, l.details.isDone())
		}
		return err
	}
	return c
}

// setVariables stores variables of a session. The session counts as known when
// all were read and changes to them are told.
func (s *state) setVariables(id terminal.ID, names []string, vars map[string]string, followed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	if r == nil {
		return // ended meanwhile, or asked for by an id that is no session
	}
	for _, name := range names {
		if v, ok := vars[name]; ok {
			r.vars[name] = v
		} else {
			delete(r.vars, name)
		}
	}
	r.fetched = r.fetched || followed && len(names) == len(sessionVariables)
	r.prompt, _ = parseLivePrompt(r.vars[varPrompt])
	s.touch()
}

func (s *state) isFetched(id terminal.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	return r != nil && r.fetched
}
