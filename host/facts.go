package host

import (
	"maps"
	"sync"
	"time"
)

// facts are the small things that lists and variables show of a session. They
// have a lock of their own, so that a list never waits for a session that is
// drawing. It is the innermost lock.
type facts struct {
	mu          sync.Mutex
	name        string // given by a client
	title       string // set by programs
	columns     int
	rows        int
	alternate   bool
	lastCommand string
	bells       int
	user        map[string]string // user.* variables as JSON
	properties  map[string]string // profile properties set for this session, as JSON
	exit        *exit             // nil while the program lives
	survivors   []survivor
	cwd         string // the last working directory known
	created     time.Time
	job         shownJob
}

// exit is how a session's program ended.
type exit struct {
	Code   *int      `json:"code"`
	Signal string    `json:"signal"`
	At     time.Time `json:"at"`
}

// survivor is a process that outlived its closed session.
type survivor struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// maxUserVariables bounds what is kept at one object, maxOfPrograms what programs
// may fill of that: the rest is for clients.
const maxUserVariables, maxOfPrograms = 512, 256

func (f *facts) setLastCommand(command string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastCommand = clean(command)
}

func (f *facts) size() (columns, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.columns, f.rows
}

// alternateNow reports whether the alternate screen is told to show.
func (f *facts) alternateNow() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alternate
}

// label is the name that a person or client gave, or "".
func (f *facts) label() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.name
}

// keep reports whether profile properties can be kept with those that are, and
// with add keeps them.
func (f *facts) keep(properties map[string]string, add bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	fits := fit(f.properties, properties)
	if fits && add {
		maps.Copy(f.properties, properties)
	}
	return fits
}

func (f *facts) ended() *exit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exit
}
