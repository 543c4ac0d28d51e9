package host

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"termpilot/shellint"
	"termpilot/vt"
)

// sessionVariables are the variables of a session, by name. A function returns
// a string, a number, a JSON value as json.RawMessage, or nil for null. None
// may hold a lock when it returns. Booleans are told as 0 and 1, as the API's
// own server tells them.
var sessionVariables map[string]func(*session) any

func init() {
	sessionVariables = map[string]func(*session) any{
		"id":                 func(s *session) any { return s.id },
		"name":               func(s *session) any { return s.name() },
		"autoName":           func(s *session) any { return s.autoName() },
		"presentationName":   func(s *session) any { return s.name() },
		"profileName":        func(s *session) any { return s.profile.Name },
		"terminalWindowName": func(s *session) any { return s.titleOrNil() },
		"terminalIconName":   func(s *session) any { return s.titleOrNil() },
		"path":               func(s *session) any { return textOrNil(s.path()) },
		"hostname":           func(s *session) any { host, _ := s.where(); return textOrNil(host) },
		"username":           func(s *session) any { _, user := s.where(); return textOrNil(user) },
		"homeDirectory":      func(s *session) any { return textOrNil(lookup(s.program.env, "HOME")) },
		"shell":              func(s *session) any { return s.profile.Shell },
		"tty":                func(s *session) any { return s.device.path },
		"termid":             func(s *session) any { return textOrNil(s.host.termid(s)) },
		"pid":                func(s *session) any { return s.pid },
		"effective_root_pid": func(s *session) any { return s.pid },
		"jobPid":             func(s *session) any { return numberOrNil(s.jobPID()) },
		"jobName":            func(s *session) any { return textOrNil(s.job().name) },
		"deepestJob":         func(s *session) any { return textOrNil(s.job().name) },
		"processTitle":       func(s *session) any { return textOrNil(s.job().name) },
		"commandLine":        func(s *session) any { return textOrNil(s.commandLine()) },
		"lastCommand": func(s *session) any {
			s.facts.mu.Lock()
			defer s.facts.mu.Unlock()
			return textOrNil(s.facts.lastCommand)
		},
		"columns":                func(s *session) any { c, _ := s.facts.size(); return c },
		"rows":                   func(s *session) any { _, r := s.facts.size(); return r },
		"bellCount":              func(s *session) any { s.facts.mu.Lock(); defer s.facts.mu.Unlock(); return s.facts.bells },
		"showingAlternateScreen": func(s *session) any { return bit(s.facts.alternateNow()) },
		"isLocalhost":            func(s *session) any { return 1 },
		"creationTimeString":     func(s *session) any { return s.facts.created.Format(time.RFC3339) },
		"sshIntegrationLevel":    func(*session) any { return 0 },
		nicknameVariable:         func(s *session) any { return textOrNil(s.facts.label()) },
		"isBroadcastSource":      func(s *session) any { return bit(len(s.host.copies(s)) > 0) },
		"badge":                  func(s *session) any { return s.badge() },
		"termpilot.exit":         func(s *session) any { return raw(s.facts.ended()) },
		"termpilot.survivors":    func(s *session) any { s.facts.mu.Lock(); defer s.facts.mu.Unlock(); return raw(s.facts.survivors) },
	}
	for name, f := range drawnVariables {
		sessionVariables[name] = func(s *session) any { s.mu.Lock(); defer s.mu.Unlock(); return f(s) }
	}
}

// drawnVariables are those that follow from what was drawn. mu is held.
var drawnVariables = map[string]func(*session) any{
	"selection":             func(s *session) any { return textOrNil(s.selectionText()) },
	"selectionLength":       func(s *session) any { return utf8.RuneCountInString(s.selectionText()) },
	"mouseReportingMode":    func(s *session) any { return mouseModes[s.term.Modes().Mouse] },
	"applicationKeypad":     func(s *session) any { return bit(s.term.Modes().ApplicationKeypad) },
	"termpilot.marks":       func(s *session) any { return s.marksState() },
	promptVariable:          func(s *session) any { return raw(s.promptView()) },
	"termpilot.cursor_keys": func(s *session) any { return s.cursorKeys() },
}

// mouseModes are the API's numbers for the reports that a program asked for.
var mouseModes = map[vt.Mouse]int{vt.MouseOff: -1, vt.MouseX10: 0, vt.MouseNormal: 0, vt.MouseButton: 2, vt.MouseAny: 3}

// appVariables are the variables of the application.
var appVariables = map[string]func(*server) any{
	"pid":                func(*server) any { return os.Getpid() },
	"localhostName":      func(*server) any { return hostname() },
	"effectiveTheme":     func(*server) any { return "dark" },
	"termpilot.version":  func(h *server) any { return h.options.Version },
	"termpilot.protocol": func(*server) any { return extensionProtocol },
}

// extensionProtocol is the version of what the host adds to the iTerm2 API.
const extensionProtocol = 1

// variable returns a variable of the session as JSON.
func (s *session) variable(name string) string {
	name = strings.TrimPrefix(name, "session.") // a kindness to clients that say so
	if f, ok := sessionVariables[name]; ok {
		return encode(f(s))
	}
	if rest, ok := strings.CutPrefix(name, "iterm2."); ok {
		return s.host.variable(rest)
	}
	if rest, ok := strings.CutPrefix(name, "tab."); ok {
		return s.host.tabVariableOf(s, rest)
	}
	if id, ok := strings.CutPrefix(name, restVariable); ok {
		return encode(textOrNil(s.restOf(id)))
	}
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	return orNull(s.facts.user[name])
}

// all returns every variable as one JSON object of strings, as "*" asks.
func (s *session) all() string {
	m := map[string]string{}
	for name, f := range sessionVariables {
		flatten(m, name, encode(f(s)))
	}
	for name, f := range appVariables {
		flatten(m, "iterm2."+name, encode(f(s.host)))
	}
	s.facts.mu.Lock()
	for name, value := range s.facts.user {
		flatten(m, name, value)
	}
	s.facts.mu.Unlock()
	return encode(m)
}

// flatten adds a JSON value as a string; a null is left out.
func flatten(m map[string]string, name, value string) {
	if value == "null" {
		return
	}
	var text string
	if json.Unmarshal([]byte(value), &text) != nil {
		text = value
	}
	m[name] = text
}

// restVariable and the id of a prompt are the session variable that tells the end
// of what its command printed, when that was painted over; see [track.Places.Rest].
// It is not among those that "*" tells.
const restVariable = "termpilot.rest."

func (s *session) restOf(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, _ := s.promptBy(id)
	return s.marks.places.Rest(p)
}

// promptVariable is the session variable that tells how the last prompt stands.
const promptVariable = "termpilot.prompt"

// promptsVariable is the application variable with the prompts of all live
// sessions, by id. It is not among those that "*" tells.
const promptsVariable = "termpilot.prompts"

// toldPrompt is what termpilot.prompts tells of one session.
type toldPrompt struct {
	promptView
	Marks string `json:"marks"`
}

func (h *server) prompts() map[string]toldPrompt {
	live := h.everyone()
	all := make(map[string]toldPrompt, len(live))
	for _, s := range live {
		all[s.id] = s.toldPrompt()
	}
	return all
}

func (s *session) toldPrompt() toldPrompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return toldPrompt{s.promptView(), s.marksState()}
}

func (h *server) variable(name string) string {
	if name == promptsVariable {
		return encode(h.prompts())
	}
	if f, ok := appVariables[name]; ok {
		return encode(f(h))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return orNull(h.user[name])
}

// name is what a person sees: the name given, else that of the job.
func (s *session) name() string {
	if name := s.facts.label(); name != "" {
		return name
	}
	return s.autoName()
}

func (s *session) autoName() string {
	if s.facts.ended() == nil {
		if job := s.job().name; job != "" {
			return job
		}
	}
	return s.profile.Name
}

// cursorKeys is the session variable termpilot.cursor_keys: in which form the
// program wants them (DECCKM). mu is held.
func (s *session) cursorKeys() string {
	if s.term.Modes().ApplicationCursor {
		return "application"
	}
	return "normal"
}

// badge is the text that a client gave as the session's badge.
func (s *session) badge() any {
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	text := ""
	strictly([]byte(s.facts.properties["Badge Text"]), &text)
	return textOrNil(text)
}

func (s *session) titleOrNil() any {
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	return textOrNil(s.facts.title)
}

// path is the working directory: the shell's own word, else the foreground
// program's, else the last one known.
func (s *session) path() string {
	s.mu.Lock()
	_, _, dir := s.marks.machine.Where()
	s.mu.Unlock()
	if dir == "" {
		dir = s.jobFolder()
	}
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	if dir == "" {
		dir = s.facts.cwd
	}
	s.facts.cwd = clean(dir)
	return s.facts.cwd
}

// where returns the host and user that the shell told, else this machine's.
func (s *session) where() (host, name string) {
	s.mu.Lock()
	name, host, _ = s.marks.machine.Where()
	s.mu.Unlock()
	if host == "" {
		host = hostname()
	}
	if name == "" {
		name = lookup(s.program.env, "USER")
	}
	return clean(host), clean(name)
}

// nameOfMachine is what hostname last found, and until when it is taken for true: it
// is asked for with everything that a shell prints.
var nameOfMachine struct {
	sync.Mutex
	name  string
	until time.Time
}

func hostname() string {
	m := &nameOfMachine
	m.Lock()
	defer m.Unlock()
	now := time.Now()
	if now.Before(m.until) {
		return m.name
	}
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	m.name, m.until = name, now.Add(time.Second)
	return name
}

// userVariable keeps a user variable that a program set (OSC 1337 SetUserVar).
// mu is held.
func (s *session) userVariable(mark shellint.Mark) {
	if mark.Name == "" || strings.ContainsAny(mark.Name, ".\x00") || "user."+mark.Name == nicknameVariable {
		return // the name is not for programs to give
	}
	value := encode(mark.Text)
	if mark.Unset {
		value = "null"
	}
	s.facts.mu.Lock()
	setUser(s.facts.user, "user."+mark.Name, value, maxOfPrograms)
	s.facts.mu.Unlock()
	s.tellVariables()
}

// setUser sets or, with null, unsets a user variable. false when it is too long, or
// one more than most.
func setUser(m map[string]string, name, value string, most int) bool {
	if value == "null" {
		delete(m, name)
		return true
	}
	if _, has := m[name]; !has && len(m) >= most || len(name)+len(value) > 64<<10 {
		return false
	}
	m[name] = clean(value)
	return true
}

func raw(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}

func encode(v any) string { return string(raw(v)) }

func orNull(value string) string {
	if value == "" {
		return "null"
	}
	return value
}

func textOrNil(text string) any {
	if text == "" {
		return nil
	}
	return clean(text)
}

func numberOrNil(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
