package host

import (
	"slices"
	"strings"
	"time"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// constantVariables do not change in a session's life.
var constantVariables = []string{
	"id", "pid", "effective_root_pid", "tty", "profileName", "shell", "homeDirectory", "creationTimeString",
	"isLocalhost", "sshIntegrationLevel",
}

// jobVariables follow the foreground job. Only the kernel knows it, and tells
// nobody: they are looked at a moment after output, and from time to time.
var jobVariables = []string{
	"name", "autoName", "presentationName", "jobName", "jobPid", "deepestJob", "processTitle", "commandLine", "path", "termid",
}

// leading are the prefixes of variables that lead to those of something else,
// whose locks must not be taken under a session's: they are looked at as well.
var leading = []string{"session.", "tab.", "iterm2."}

// lookedAt reports whether a variable is one of those that are looked at from
// time to time, with no lock held.
func lookedAt(name string) bool {
	return slices.Contains(jobVariables, name) || slices.ContainsFunc(leading, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

const (
	// A program that was just started needs a moment until it is what runs.
	lookDelay = 20 * time.Millisecond
	// lookPause is the least time between two looks at a session that prints.
	lookPause = 100 * time.Millisecond
)

// tellVariables tells the changes of watched variables that follow from the
// session's own state, at once, and sees to it that the others are looked at
// soon. mu is held.
func (s *session) tellVariables() {
	look := false
	for _, name := range s.host.hub.watched(s.id) {
		if lookedAt(name) && !s.settledName(name) {
			look = true
		} else {
			s.tellIfChanged(name)
		}
	}
	if look && s.looking == nil && !s.over {
		wait := max(lookDelay, lookPause-time.Since(s.looked))
		s.looking = time.AfterFunc(wait, s.look)
	}
}

// remember takes the present value of a variable that nobody watched before as
// told, so that only changes are told from now on. What was told to those who
// watched the session once is forgotten: it is not kept up to date.
func (s *session) remember(name string, before watches) {
	value, looked := "", lookedAt(name)
	if looked {
		value = s.variable(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	still := before.of(s.id)
	for old := range s.told {
		if !slices.Contains(still, old) {
			delete(s.told, old)
			delete(s.seen, old)
		}
	}
	if _, known := s.told[name]; known {
		return
	}
	if !looked {
		value = s.variableLocked(name)
	}
	s.told[name] = value
}

// tellPromptState is tellVariables of what tells how the prompt stands. mu is held.
func (s *session) tellPromptState() {
	if slices.Contains(s.host.hub.watched(s.id), promptVariable) {
		s.tellIfChanged(promptVariable)
	}
}

// tellIfChanged tells a watched variable, unless it is as it was. mu is held.
func (s *session) tellIfChanged(name string) {
	before, known := s.told[name]
	if known && (slices.Contains(constantVariables, name) || s.unchanged(name)) {
		return
	}
	s.tellChange(name, before, known, s.variableLocked(name))
}

// unchanged reports whether what a variable is made of is known to be as it was
// when this was last asked. A session that prints is asked so for every variable
// again and again, and spelling all of them out costs more than drawing. mu is held.
func (s *session) unchanged(name string) bool {
	var now any
	switch name {
	case promptVariable:
		now = s.promptFacts()
	case "termpilot.marks":
		now = s.marksState()
	case nicknameVariable:
		now = s.facts.label()
	case "termpilot.exit":
		now = s.facts.ended()
	case "terminalWindowName", "terminalIconName":
		now = s.titleOrNil()
	case "showingAlternateScreen":
		now = s.facts.alternateNow() // not the emulator's mode, which is ahead of what is told
	case "path", "hostname", "username":
		now = s.whereLocked(name)
	default:
		return false
	}
	before, known := s.seen[name]
	s.seen[name] = now
	return known && before == now
}

func (s *session) tellChange(name, before string, known bool, value string) {
	if known && before == value {
		return
	}
	s.told[name] = value
	scope := api.VariableScope_SESSION
	s.tellMessage(variable(scope, s.id, name), func() message {
		m := notice(variableChanged(scope, s.id, name, value))
		// A client learns from it that a line goes on; of all else the last word is enough.
		if name == promptVariable && s.marks.machine.Last().State != terminal.Continuation {
			m.about = s.id
		}
		return m
	})
}

// settledName reports whether a job variable does not depend on the job now: a
// name that was given, a directory that the shell told. mu is held.
func (s *session) settledName(name string) bool {
	switch name {
	case "name", "presentationName":
		return s.facts.label() != ""
	case "path":
		_, _, dir := s.marks.machine.Where()
		return dir != ""
	}
	return false
}

// look tells the changes of watched variables that only the kernel knows.
func (s *session) look() {
	names := s.host.hub.watched(s.id)
	values := map[string]string{}
	for _, name := range names {
		if lookedAt(name) {
			values[name] = s.variable(name)
		}
	}
	front, _ := s.device.foreground()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looking = nil
	s.looked = time.Now()
	s.front.Store(int64(front))
	if s.over {
		return
	}
	for name, value := range values {
		before, known := s.told[name]
		s.tellChange(name, before, known, value)
		delete(s.seen, name)
	}
}

// lookIfMoved looks when another job is in front than at the last look.
func (s *session) lookIfMoved() {
	if front, err := s.device.foreground(); err == nil && int64(front) != s.front.Load() {
		s.look()
	}
}

// variableLocked is variable for a caller that holds mu, of one that is not
// looked at, or settled.
func (s *session) variableLocked(name string) string {
	if f, ok := drawnVariables[name]; ok {
		return encode(f(s))
	}
	switch name {
	case "path", "hostname", "username":
		return encode(textOrNil(s.whereLocked(name)))
	}
	return s.variable(name)
}

// whereLocked is the variable path, hostname or username: the shell's own word,
// else what the system says. mu is held.
func (s *session) whereLocked(name string) string {
	user, host, dir := s.marks.machine.Where()
	switch {
	case name == "path" && dir == "":
		return s.jobFolder()
	case name == "path":
		return dir
	case name == "hostname" && host == "":
		return hostname()
	case name == "hostname":
		return host
	case user == "":
		return lookup(s.program.env, "USER")
	}
	return user
}

// tellVariable tells a changed variable to those who watch it.
func (h *server) tellVariable(scope api.VariableScope, identifier, name, value string) {
	h.hub.publish(variable(scope, identifier, name), func() *api.Notification { return variableChanged(scope, identifier, name, value) })
}

func variableChanged(scope api.VariableScope, identifier, name, value string) *api.Notification {
	return &api.Notification{VariableChangedNotification: &api.VariableChangedNotification{
		Scope: &scope, Identifier: &identifier, Name: &name, JsonNewValue: &value,
	}}
}
