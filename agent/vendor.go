package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"termpilot/terminal"
)

// vendor is a row of the table: what is peculiar to one coding agent.
type vendor struct {
	name     string
	title    string   // as people call it
	presets  []preset // further launchers of the same program
	programs []string // names of its program, the usual one first
	places   []string // where it is usually installed, below the person's home
	// folder is where the vendor keeps its records: a variable, and what stands
	// below the person's home without it.
	folderVariable, folderBelow string

	// readOnly is how its write_scope=read_only is enforced; "" where it is not.
	readOnly string
	efforts  []string // those that it knows; nil takes any word
	// ownChat says that the id of the chat can be chosen at launch.
	ownChat bool

	// preflight asks the installed program what can be known before a launch.
	preflight func(ctx context.Context, p probe) (facts, error)
	// argv is how the program is started for a launch. folder is the launch's own.
	argv func(l Launch, folder, self string) []string
	// install prepares what a launch needs beside argv; nil is nothing.
	install func(l Launch, folder, self string) error
	set     []string // NAME=value for its environment
	// leaks are the variables that it sets for the programs that it runs. They must
	// not reach another agent: a Claude that inherits CLAUDE_CODE_CHILD_SESSION keeps
	// no record of its chat.
	leaks []string
	// adjust changes the environment of a launch where a variable of the person's own
	// has to be kept, too; nil is nothing. It fails where that cannot be.
	adjust func(env []string, folder string) ([]string, error)

	// starts is how long the program may take to show its composer; 0 is the usual time.
	starts time.Duration

	// hook reads what the program tells `termpilot hook`. ok is false for what is
	// no news.
	hook func(data []byte) (e event, ok bool)
	// look reads the screen.
	look func(s terminal.Screen) look
	// watched is the folder of the vendor's records in which an end may show that no
	// hook tells, and record reads them: what is news for this story.
	watched func(s *story) string
	record  func(s *story, r *recorded) []event
	// rewinds says that a prompt which is interrupted before the first word of an
	// answer comes back into the composer, and that nothing else tells of it.
	rewinds bool
	// waits asks the vendor's record whether an approval is open now; nil where it
	// does not say.
	waits func(s *story) (open, known bool)
	// asksOnScreen says that nothing but the screen tells of an approval that is asked for.
	asksOnScreen bool
	// identify finds the chat that the process holds now, which runs; nil where hooks tell it.
	identify func(s *story) string

	// menus is how those begin by which configure changes something: the one of models, and
	// what is asked behind it.
	menus []string
	// configure changes the model or effort by the vendor's own menu, and returns how
	// it confirms that. nil where checkConfigure refuses everything: it says what the
	// vendor cannot change for one session alone.
	configure      func(ctx context.Context, h *hands, model, effort string) (string, error)
	checkConfigure func(model, effort string) (detail, hint string)

	resume []string // what takes a chat up again, before its id
	breaks string   // the keys that interrupt a turn, as send_keys takes them
}

// vendors is the table.
var vendors = []*vendor{&claude, &codex, &grok, &opencode}

func vendorOf(name string) *vendor {
	i := slices.IndexFunc(vendors, func(v *vendor) bool { return v.name == name })
	if i < 0 {
		return nil
	}
	return vendors[i]
}

// preset is a launcher: a vendor's program, and the model that is meant.
type preset struct {
	name   string
	title  string
	model  string // where the caller names none
	vendor *vendor
}

// launchers are the vendors and their presets.
func launchers() []preset {
	var all []preset
	for _, v := range vendors {
		all = append(all, preset{name: v.name, title: v.title, vendor: v})
		for _, p := range v.presets {
			p.vendor = v
			all = append(all, p)
		}
	}
	return all
}

func presetOf(name string) (preset, bool) {
	all := launchers()
	i := slices.IndexFunc(all, func(p preset) bool { return p.name == name })
	if i < 0 {
		return preset{}, false
	}
	return all[i], true
}

// Launchers returns the names that [LaunchRequest].Preset may have, and how people
// call what each launches.
func Launchers() (names, titles []string) {
	for _, p := range launchers() {
		names, titles = append(names, p.name), append(titles, p.title)
	}
	return names, titles
}

// facts is what a preflight found.
type facts struct {
	version string
	login   string // yes, no or unknown
	why     string // login is not yes
}

// The words of facts.login.
const (
	loggedIn     = "yes"
	notLoggedIn  = "no"
	loginUnknown = "unknown"
)

// leaked reports whether an entry NAME=value, or a NAME, is of the environment that
// an agent gives to what it runs.
func leaked(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return name == "AI_AGENT" || slices.ContainsFunc(vendors, func(v *vendor) bool { return slices.Contains(v.leaks, name) })
}

// state is what a screen shows of an agent.
type state string

const (
	stateStarting state = "starting" // nothing that is known
	stateReady    state = "ready"    // a composer, and nothing at work that shows
	stateBusy     state = "busy"     // a composer, and a turn at work
	stateDialog   state = "dialog"   // a question stands in the way
)

// look is what a screen shows.
type look struct {
	state    state
	composer string // what it holds, as far as it shows, without its frame
	// empty says that the composer holds nothing, whatever hint it may show.
	empty bool
	// under is how many rows below its text the composer's cursor stands: an Enter that
	// it takes for the end of a line puts it one lower.
	under  int
	dialog *dialog
	// work is the row by which it is busy, where an answer may end in such a row;
	// at work it tells the time. "" is certain.
	work string
}

// dialog is a question that an agent asks, with its choices.
type dialog struct {
	kind     string // permission, or other for what a person must answer
	words    bool   // it asks what to say with an answer that was given: Enter says nothing
	marked   int    // number of the selected row
	question []string
	choices  []choice
}

// choice is one row of a dialog.
type choice struct {
	number int
	label  string
	class  string // once, always, no or other
	key    string // what chooses it at once
}

// recorded is how far a vendor's record was read.
type recorded struct {
	path   string
	offset int64
	since  time.Time // when it first said what has to hold for a while
}
