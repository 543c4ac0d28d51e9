package pilot

import (
	"context"
	"errors"
	"iter"
	"testing"

	"termpilot/fault"
	"termpilot/terminal"
	"termpilot/terminal/terminaltest"
)

// cellFake is a Fake that tells what is typed from the screen, as a host does:
// the line holds text when the cursor has left its beginning.
type cellFake struct {
	*terminaltest.Fake
	prompt string // the prompt over which something was printed
}

func (f *cellFake) view(p terminal.Prompt) terminal.Prompt {
	if p.ID == f.prompt && p.State == terminal.Editing {
		p.Typed = terminal.Yes
	}
	return p
}

func (f *cellFake) Prompt(ctx context.Context, id terminal.ID, promptID string) (terminal.Prompt, error) {
	p, err := f.Fake.Prompt(ctx, id, promptID)
	return f.view(p), err
}

func (f *cellFake) Watch(ctx context.Context, id terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	seq, err := f.Fake.Watch(ctx, id)
	if err != nil {
		return nil, err
	}
	return func(yield func(terminal.Event, error) bool) {
		for e, err := range seq {
			e.Prompt = f.view(e.Prompt)
			if !yield(e, err) {
				return
			}
		}
	}, nil
}

func TestWhatAJobPrintedOverThePromptIsNotTypedText(t *testing.T) { // RUN-12, RUN-29
	for _, shell := range shellsToTry {
		synctestRun(t, func(t *testing.T) {
			f := &cellFake{Fake: terminaltest.NewFake(t, terminaltest.Options{Shell: shell})}
			p, _ := New(Options{Backends: []terminal.Backend{f}, Processes: fakeProcesses{f: f.Fake}})
			b := bench{Pilot: p, t: t, f: f.Fake}
			s, err := f.Open(t.Context(), terminal.OpenSpec{})
			if err != nil {
				t.Fatal(err)
			}
			b.id = string(s.ID)
			b.settle()
			now, _ := f.Fake.Prompt(t.Context(), s.ID, "")
			f.prompt = now.ID
			f.Print(s.ID, "noise") // the cursor is behind it: it could have been typed ahead
			if err := b.runErr(RunRequest{Command: "echo next"}); !errors.Is(err, fault.NotReady) {
				t.Errorf("%s: got %v", shell, err)
			}
			f.Print(s.ID, "\n")
			res := b.run("echo next")
			if res.Status != Completed || res.ExitCode == nil || *res.ExitCode != 0 {
				t.Errorf("%s: got %+v", shell, res)
			}
			if sent := f.Sent(s.ID); len(sent) != 2 && shell != "fish" || string(sent[0]) != "\x03" {
				t.Errorf("%s: sent %q", shell, sent)
			}
			f.Shutdown()
		})
	}
}
