package agent

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
	"termpilot/terminal"
)

// sluggish is a terminal that takes its time to show a screen, each of the screens
// in turn and the last one for good.
type sluggish struct {
	terminal.Backend
	takes   time.Duration
	screens []string
}

func (s *sluggish) Screen(ctx context.Context, _ terminal.ID, _ terminal.Range) (terminal.Screen, error) {
	pause(ctx, s.takes)
	shown := screenOf(s.screens[0])
	s.screens = s.screens[min(1, len(s.screens)-1):]
	return shown, ctx.Err()
}

func (s *sluggish) Prompt(context.Context, terminal.ID, string) (terminal.Prompt, error) {
	return terminal.Prompt{}, nil
}

func (s *sluggish) Watch(ctx context.Context, _ terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	return func(yield func(terminal.Event, error) bool) { <-ctx.Done() }, nil
}

func TestWhatIsSaidOfAComposerIsWhatItShows(t *testing.T) { // TURN-6
	const empty, typed, none = across + "\n❯\u00a0▏\n" + across, across + "\n❯\u00a0one▏\n" + across, "starting"
	for name, one := range map[string]struct {
		takes   time.Duration // a look
		given   time.Duration // the call; 0 is no end
		screens []string
		want    fault.Code // "" is free
	}{
		"empty":                              {0, 0, []string{empty}, ""},
		"empty, and each look takes so long": {2 * clearPatience, 0, []string{empty}, ""},
		"empty in the end":                   {clearPatience - 10*time.Millisecond, 0, []string{none, empty}, ""},
		"holds text":                         {0, 0, []string{typed}, fault.TypedText},
		"holds text, seen slowly":            {2 * clearPatience, 0, []string{typed}, fault.TypedText},
		"holds text in the end":              {clearPatience, 0, []string{empty, typed}, fault.TypedText},
		"no composer":                        {0, 0, []string{none}, fault.NotReady},
		"the call ends before the first":     {time.Second, time.Millisecond, []string{empty}, fault.Deadline},
		"the call ends before the second":    {time.Second, 1100 * time.Millisecond, []string{empty}, fault.Deadline},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if one.given > 0 {
					short, cancel := context.WithTimeout(ctx, one.given)
					defer cancel()
					ctx = short
				}
				h := &hands{a: New(Options{Env: []string{}}), op: "turn", vendor: &claude, seen: pilot.Seen{On: &sluggish{takes: one.takes, screens: one.screens}}}
				if err := h.clear(ctx, newStory(Launch{Provider: claude.name})); one.want == "" && err != nil || one.want != "" && fault.CodeOf(err) != one.want {
					t.Errorf("%v, want %s", err, one.want)
				}
			})
		})
	}
}

func TestATextThatStaysInTheComposerIsWaitedForAndThenSaidToStand(t *testing.T) { // TURN-5
	synctest.Test(t, func(t *testing.T) {
		h := &hands{op: "turn", vendor: &claude}
		p := &sent{text: "one", at: time.Now()}
		shown := look{state: stateReady, composer: "one"}
		for range 10 * int(takePatience/time.Second) { // ten looks a second
			if over, left, err := h.became(t.Context(), p, 0, shown, nil); over || left != nil || err != nil {
				t.Fatalf("after %v: %v %v", time.Since(p.at), left, err)
			}
			time.Sleep(time.Second / 10) // of a synthetic clock
		}
		time.Sleep(time.Millisecond) // of a synthetic clock
		if over, left, err := h.became(t.Context(), p, 0, shown, nil); !over || left == nil || !*left || err != nil {
			t.Errorf("%v %v %v", over, left, err)
		}
	})
}
