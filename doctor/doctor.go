// Package doctor holds the shape of a health check and runs checks. A package
// that can be ill exports its own checks; this one knows none of them.
package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// State is the outcome of a check.
type State string

// The outcomes. Unknown means that the check could not be made, which is no
// proof of health; Skipped that it does not apply here.
const (
	Pass    State = "pass"
	Warn    State = "warn"
	Fail    State = "fail"
	Unknown State = "unknown"
	Skipped State = "skipped"
)

// Check is one question about the system's health.
type Check struct {
	ID  string // stable name: "host.socket"
	Run func(ctx context.Context) Result
}

// Result is a check's answer: what is so, how that is known, and what to do next.
type Result struct {
	ID       string `json:"id"`
	State    State  `json:"state"`
	Summary  string `json:"summary"`
	Evidence string `json:"evidence"` // what was seen; never a secret
	Next     string `json:"next"`     // one imperative sentence, or "" when nothing needs doing
}

// Report is the outcome of several checks, in the order given.
type Report struct {
	State   State    `json:"state"` // the worst of the results; Pass when there are none but skipped ones
	Results []Result `json:"results"`
}

// First returns the result to act on first: checks stand from the ground up, so
// that is the first that failed, else the first that is in doubt. false when
// nothing needs doing.
func (r Report) First() (Result, bool) {
	for _, bad := range []State{Fail, Warn, Unknown} {
		for _, one := range r.Results {
			if one.State == bad {
				return one, true
			}
		}
	}
	return Result{}, false
}

// Patience is how long one check may take: then its context ends.
const Patience = 5 * time.Second

// Run runs the checks at once, each with a context that ends after [Patience],
// and returns when all have returned: a check must end when its context does.
// One that returns no State counts as failed.
func Run(ctx context.Context, checks []Check) Report {
	results := make([]Result, len(checks))
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, Patience)
			defer cancel()
			results[i] = c.run(ctx)
			results[i].ID = c.ID
			if results[i].State == "" {
				results[i].State = Fail
			}
		})
	}
	wg.Wait()
	return Report{State: worst(results), Results: results}
}

// run asks the question. One that panics has failed, and the others are asked.
func (c Check) run(ctx context.Context) (r Result) {
	defer func() {
		if v := recover(); v != nil {
			r = Result{State: Fail, Summary: "the check broke", Evidence: fmt.Sprint(v), Next: "report it with the evidence"}
		}
	}()
	return c.Run(ctx)
}

func worst(results []Result) State {
	rank := map[State]int{Skipped: 0, Pass: 1, Unknown: 2, Warn: 3, Fail: 4}
	w := Pass
	for _, r := range results {
		if rank[r.State] > rank[w] {
			w = r.State
		}
	}
	return w
}
