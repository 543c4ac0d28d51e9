package pilot

import (
	"crypto/rand"
	"encoding/hex"
	"runtime"
	"slices"
	"sync"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// run is one command that was typed. It holds no output: that stays in the
// terminal, found by the ids of the prompts.
type run struct {
	ID       string
	Session  terminal.ID
	Backend  string
	Command  string // empty for a run of another process: the terminal knows it
	Prompts  []string
	Left     string // the prompt at which text of ours may still stand
	Began    time.Time
	Evidence []string
	shell    string   // the name of the shell at which it was typed; "" is not known
	pasted   bool     // typed as one paste
	untyped  []string // lines that are typed when the shell asks for them
	unsent   int      // how many such lines a process had left that is gone: nobody knows them now
	recorded bool     // it is on record

	// The last outcome that anybody saw.
	Status RunStatus
	Exit   *int
	Reason string
	Ended  time.Time
}

// over reports whether the outcome is final. RunUnknown is not: an end mark may
// still come.
func (r run) over() bool {
	return r.Status == Completed || r.Status == Rejected || r.Status == SessionEnded
}

// store keeps runs where other processes find them.
type store interface {
	// save records the run as it is now. It returns when a crash of this
	// process can no longer lose it.
	save(r run) error
	// load returns a run, also one of another process.
	load(runID string) (run, bool, error)
	// last returns the newest run of a session, also one of another process.
	last(id terminal.ID) (run, bool, error)
	close() error
}

// keptRuns is how many runs a process remembers.
const keptRuns = 1024

// runs is the memory of runs: this process's own, and behind it the store.
type runs struct {
	store store // nil: nothing outlives this process

	mu      sync.Mutex
	byID    map[string]run
	order   []string
	outcome []run      // on their way to the store, in this order
	writing bool       // a goroutine writes them
	written *sync.Cond // signalled when it has
}

func newRuns(dir string) (*runs, error) {
	r := &runs{byID: map[string]run{}}
	r.written = sync.NewCond(&r.mu)
	if dir == "" {
		return r, nil
	}
	s, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	r.store = s
	return r, nil
}

func (r *runs) close() error {
	if r.store == nil {
		return nil
	}
	r.mu.Lock()
	r.await()
	r.mu.Unlock()
	return r.store.close()
}

// newRunID returns an id that no other run has.
func newRunID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return "r" + hex.EncodeToString(b[:])
}

// save keeps the run. Storage when the record cannot be written.
func (r *runs) save(op string, one run) error {
	r.mu.Lock()
	r.await() // what comes later in the store is newer
	r.keep(one)
	r.mu.Unlock()
	if r.store == nil {
		return nil
	}
	if err := r.store.save(one); err != nil {
		return &fault.Error{
			Op: op, Session: string(one.Session), Code: fault.Storage, Detail: "the run cannot be recorded",
			Hint: "check the free space and the rights of termpilot's folder", Err: err,
		}
	}
	return nil
}

// report keeps the outcome of a run whose end the terminal has marked. It is
// recorded beside what the caller does next: until then, another process finds that
// the run was typed, and in the terminal how it ended. failed hears of an outcome
// that cannot be recorded.
func (r *runs) report(one run, failed func(run, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(one)
	if r.store == nil {
		return
	}
	r.outcome = append(r.outcome, one)
	if !r.writing {
		r.writing = true
		go r.record(failed)
	}
}

// record writes outcomes until there are none.
func (r *runs) record(failed func(run, error)) {
	runtime.Gosched() // on one processor, too, the answer goes out first
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.outcome) > 0 {
		one := r.outcome[0]
		r.outcome = r.outcome[1:]
		r.mu.Unlock()
		err := r.store.save(one)
		if err != nil {
			failed(one, err)
		}
		r.mu.Lock()
	}
	r.outcome, r.writing = nil, false
	r.written.Broadcast()
}

// await waits until all outcomes are recorded. mu is held.
func (r *runs) await() {
	for r.writing {
		r.written.Wait()
	}
}

// keep remembers a run. mu is held.
func (r *runs) keep(one run) {
	one.Prompts = slices.Clone(one.Prompts)
	if _, ok := r.byID[one.ID]; !ok {
		r.order = append(r.order, one.ID)
		if len(r.order) > keptRuns {
			delete(r.byID, r.order[0])
			r.order = r.order[1:]
		}
	}
	r.byID[one.ID] = one
}

// find returns a run by its id. RunNotFound when nobody knows it.
func (r *runs) find(op, runID string) (run, error) {
	r.mu.Lock()
	one, ok := r.byID[runID]
	r.mu.Unlock()
	if ok {
		return one, nil
	}
	if r.store != nil && validRunID(runID) {
		one, ok, err := r.store.load(runID)
		if err != nil {
			return run{}, &fault.Error{
				Op: op, Code: fault.Storage, Detail: "the run journal cannot be read", Err: err,
				Hint: "read the session with read_terminal source=history",
			}
		}
		if ok {
			return one, nil
		}
	}
	return run{}, &fault.Error{
		Op: op, Code: fault.RunNotFound, Detail: "no run has this id",
		Hint: "pass the run_id that run_command returned, or read the session with read_terminal source=command",
	}
}

// last returns the newest run of a session, by whichever process.
func (r *runs) last(id terminal.ID) (run, bool) {
	if r.store != nil {
		if one, ok, err := r.store.last(id); err == nil && ok {
			r.mu.Lock()
			defer r.mu.Unlock()
			if own, mine := r.byID[one.ID]; mine {
				return own, true
			}
			return one, true
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Backward(r.order) {
		if one := r.byID[name]; one.Session == id {
			return one, true
		}
	}
	return run{}, false
}

func validRunID(s string) bool {
	if len(s) != 17 || s[0] != 'r' {
		return false
	}
	_, err := hex.DecodeString(s[1:])
	return err == nil
}
