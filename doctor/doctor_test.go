package doctor

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func is(s State) func(context.Context) Result {
	return func(context.Context) Result { return Result{State: s} }
}

func TestAReportIsAsBadAsItsWorstResult(t *testing.T) {
	for _, c := range []struct {
		states []State
		want   State
	}{
		{nil, Pass},
		{[]State{Skipped}, Pass},
		{[]State{Pass, Skipped}, Pass},
		{[]State{Warn, Pass}, Warn},
		{[]State{Unknown, Pass}, Unknown},
		{[]State{Unknown, Warn}, Warn},
		{[]State{Pass, Fail, Warn}, Fail},
		{[]State{Pass, ""}, Fail},
	} {
		var checks []Check
		for _, s := range c.states {
			checks = append(checks, Check{Run: is(s)})
		}
		if got := Run(t.Context(), checks).State; got != c.want {
			t.Errorf("%q: got %s, want %s", c.states, got, c.want)
		}
	}
}

func TestACheckThatPanicsHasFailed(t *testing.T) { // MCP-23
	r := Run(t.Context(), []Check{
		{ID: "a", Run: func(context.Context) Result { panic("told to") }},
		{ID: "b", Run: is(Pass)},
	})
	if a, b := r.Results[0], r.Results[1]; a.ID != "a" || a.State != Fail || a.Summary == "" || a.Evidence != "told to" || a.Next == "" || b.State != Pass {
		t.Errorf("got %+v", r)
	}
}

func TestTheFirstFailureIsToBeMendedFirst(t *testing.T) {
	for _, c := range []struct {
		states []State
		want   string
	}{
		{nil, ""},
		{[]State{Pass, Skipped}, ""},
		{[]State{Pass, Unknown, Skipped}, "b"},
		{[]State{Unknown, Warn}, "b"},
		{[]State{Warn, Fail, Fail}, "b"},
	} {
		var r Report
		for i, s := range c.states {
			r.Results = append(r.Results, Result{ID: string(rune('a' + i)), State: s})
		}
		got, found := r.First()
		if got.ID != c.want || found != (c.want != "") {
			t.Errorf("%q: got %q, want %q", c.states, got.ID, c.want)
		}
	}
}

func TestResultsKeepTheOrderOfTheirChecks(t *testing.T) {
	r := Run(t.Context(), []Check{{ID: "a", Run: is(Fail)}, {ID: "b", Run: is(Pass)}, {ID: "c", Run: is(Warn)}})
	var got []string
	for _, one := range r.Results {
		got = append(got, one.ID)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChecksRunAtOnceAndHaveTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := func(ctx context.Context) Result {
			<-ctx.Done()
			return Result{State: Fail, Evidence: ctx.Err().Error()}
		}
		began := time.Now()
		r := Run(t.Context(), []Check{{Run: stuck}, {Run: stuck}, {Run: is(Pass)}})
		if took := time.Since(began); took != Patience {
			t.Errorf("took %v, want %v", took, Patience)
		}
		if r.Results[0].State != Fail || r.Results[2].State != Pass {
			t.Errorf("got %+v", r.Results)
		}
	})
}
