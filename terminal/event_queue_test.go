package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"termpilot/terminal"
)

var (
	gone   = terminal.Event{Kind: terminal.Gone}
	output = terminal.Event{Kind: terminal.Output}
)

func of(kind terminal.EventKind, id string, state terminal.PromptState) terminal.Event {
	return terminal.Event{Kind: kind, Prompt: terminal.Prompt{ID: id, State: state}}
}

// read ranges over all events of a queue: their kinds and prompts, and the error.
func read(ctx context.Context, q *terminal.EventQueue) string {
	names := map[terminal.EventKind]string{
		terminal.State: "state", terminal.PromptShown: "shown", terminal.Started: "started", terminal.Ended: "ended",
		terminal.Aborted: "aborted", terminal.Output: "output", terminal.Gone: "gone", terminal.Resync: "resync",
	}
	var told []string
	for e, err := range q.Events(ctx, func() {}) {
		if err != nil {
			told = append(told, err.Error())
			continue
		}
		told = append(told, names[e.Kind]+e.Prompt.ID)
	}
	return strings.Join(told, " ")
}

func TestAnEventQueueTellsEachEventOnceInOrder(t *testing.T) { // TERM-21, TERM-25, TERM-28
	lost := errors.New("lost")
	for name, c := range map[string]struct {
		fill func(q *terminal.EventQueue)
		want string
	}{
		"in order": {func(q *terminal.EventQueue) {
			push(q, of(terminal.State, "1", terminal.Editing), of(terminal.Started, "1", terminal.Running), of(terminal.Ended, "1", terminal.Finished), gone)
		}, "state1 started1 ended1 gone"},
		"nothing after Gone": {func(q *terminal.EventQueue) {
			push(q, gone, output)
			q.Resync()
			q.Fail(lost)
		}, "gone"},
		"an error after what waits, and nothing more": {func(q *terminal.EventQueue) {
			push(q, output)
			q.Fail(lost)
			q.Fail(errors.New("later"))
			push(q, gone)
		}, "output lost"},
		"output folds": {func(q *terminal.EventQueue) {
			push(q, output, output, of(terminal.Aborted, "", 0), output, output, gone)
		}, "output aborted output gone"},
		"too many": {func(q *terminal.EventQueue) {
			push(q, of(terminal.State, "1", terminal.Editing))
			for i := range 40 {
				push(q, of(terminal.Started, fmt.Sprint(i), terminal.Running))
			}
			push(q, gone)
		}, "state1 resync started39 gone"},
		"too many after the State was read": {func(q *terminal.EventQueue) {
			for i := range 5 {
				push(q, of(terminal.Started, fmt.Sprint(i), terminal.Running))
			}
			push(q, gone)
		}, "resync started4 gone"},
		"the backend missed some": {func(q *terminal.EventQueue) {
			push(q, of(terminal.State, "1", terminal.Editing), of(terminal.Started, "1", terminal.Running))
			q.Resync()
			q.Resync()
			push(q, gone)
		}, "state1 resync gone"},
		"what the State tells is not told again": {func(q *terminal.EventQueue) {
			push(q, of(terminal.Ended, "1", terminal.Finished), of(terminal.PromptShown, "2", terminal.Editing))
			q.Begin(terminal.Prompt{ID: "2", State: terminal.Running})
			push(q, of(terminal.Started, "2", terminal.Running), of(terminal.Ended, "2", terminal.Finished), of(terminal.Gone, "2", terminal.Editing))
		}, "state2 ended1 ended2 gone2"},
	} {
		q := terminal.NewEventQueue(4)
		c.fill(q)
		if got := read(t.Context(), q); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func push(q *terminal.EventQueue, events ...terminal.Event) {
	for _, e := range events {
		q.Push(e)
	}
}

func TestLeavingAnEventQueueIsToldOnce(t *testing.T) { // TERM-26
	synctest.Test(t, func(t *testing.T) {
		var left []string
		for _, how := range []string{"loop left", "context ended in the loop", "never ranged over", "over"} {
			ctx, cancel := context.WithCancel(t.Context())
			q := terminal.NewEventQueue(4)
			events := q.Events(ctx, func() { left = append(left, how) })
			go func() {
				q.Push(output)
				if how == "over" {
					q.Push(gone)
				}
			}()
			if how != "never ranged over" {
				for _, err := range events {
					if err != nil {
						t.Errorf("%s: %v", how, err)
					}
					if how == "loop left" {
						break
					}
					if how == "context ended in the loop" {
						cancel()
					}
				}
			}
			cancel()
			synctest.Wait()
		}
		if want := []string{"loop left", "context ended in the loop", "never ranged over", "over"}; !slices.Equal(left, want) {
			t.Errorf("left: %q, want %q", left, want)
		}
	})
}
