package pilot

import (
	"errors"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/terminal/terminaltest"
)

func TestReadRefusesBadRequests(t *testing.T) { // READ-7
	on(t, terminaltest.Options{}, func(b bench) {
		for i, c := range []struct {
			req  ReadRequest
			code fault.Code
		}{
			{ReadRequest{Source: "tape"}, fault.InvalidArgument},
			{ReadRequest{Source: SourceSince}, fault.InvalidArgument},
			{ReadRequest{MaxLines: MaxLines + 1}, fault.InvalidArgument},
			{ReadRequest{MaxChars: -1}, fault.InvalidArgument},
			{ReadRequest{Source: SourceCommand, RunID: "r0000000000000000"}, fault.RunNotFound},
			{ReadRequest{Source: SourceCommand, RunID: "../x"}, fault.RunNotFound},
			{ReadRequest{Source: SourceCommand}, fault.RunNotFound},
		} {
			c.req.SessionID = b.id
			if _, err := b.Read(b.t.Context(), c.req); !errors.Is(err, c.code) {
				b.t.Errorf("%d: got %v", i, err)
			}
		}
	})
}

func TestAnEndedSessionCanBeRead(t *testing.T) { // READ-8
	on(t, terminaltest.Options{}, func(b bench) {
		res := b.run("echo boom; exit 9")
		b.want(res, SessionEnded, 9, "boom")
		got := b.read(ReadRequest{Reduce: true})
		if !strings.Contains(got.Content, "boom") || got.Readiness.State != EndedState || !strings.Contains(got.Readiness.Reason, "code 9") { // GATE-9
			b.t.Errorf("got %+v", got)
		}
		if got := b.read(ReadRequest{Source: SourceCommand, RunID: res.RunID}); got.Content != "boom" {
			b.t.Errorf("got %q", got.Content)
		}
	})
}

func TestSecretsAreMaskedUnlessTold(t *testing.T) { // READ-10
	secret := "sk-" + strings.Repeat("a1", 20)
	for _, open := range []bool{false, true} {
		onWith(t, terminaltest.Options{}, Options{NoMask: open}, func(b bench) {
			b.f.On("show", terminaltest.Prints("key "+secret+"\n", 0))
			outputs := []string{b.run("show").Output, b.read(ReadRequest{}).Content, b.read(ReadRequest{Source: SourceAll, Reduce: true}).Content}
			for _, text := range append(outputs, b.read(ReadRequest{Source: SourceCommand}).Content) {
				if strings.Contains(text, secret) != open {
					b.t.Errorf("NoMask %v: got %q", open, text)
				}
			}
		})
	}
}

func TestSinceFollowsAFullScreenProgram(t *testing.T) { // READ-11
	on(t, terminaltest.Options{}, func(b bench) {
		b.f.On("vim", func(p *terminaltest.Program) int {
			p.FullScreen(true)
			p.Print("\x1b[Hone")
			p.ReadKey()
			p.Print("\x1b[Htwo")
			p.ReadKey()
			p.FullScreen(false)
			return 0
		})
		before := b.read(ReadRequest{}).Cursor
		b.run("vim")
		first := b.read(ReadRequest{Source: SourceSince, Cursor: before})
		same := b.read(ReadRequest{Source: SourceSince, Cursor: first.Cursor})
		b.f.Type(b.sid(), "x")
		b.settle()
		second := b.read(ReadRequest{Source: SourceSince, Cursor: same.Cursor})
		if first.Content != "one" || same.Content != "" || second.Content != "two" || !first.Alternate {
			b.t.Errorf("got %q %q %q", first.Content, same.Content, second.Content)
		}
		b.f.Type(b.sid(), "x")
		b.settle()
		b.run("echo after")
		if got := b.read(ReadRequest{Source: SourceSince, Cursor: second.Cursor, Reduce: true}); !strings.Contains(got.Content, "echo after\nafter") {
			b.t.Errorf("got %q", got.Content)
		}
	})
}

func TestManyLinesRunAsSeveralCommandsAreReadTogether(t *testing.T) { // READ-6, RUN-7
	on(t, terminaltest.Options{Shell: "fish", NoPaste: true}, func(b bench) {
		res := b.run("echo one\necho two")
		if got := b.read(ReadRequest{Source: SourceCommand, RunID: res.RunID}); got.Content != "one\ntwo" {
			b.t.Errorf("got %q", got.Content)
		}
	})
}

func TestACommandsOutputBeginsNoEarlierThanItDoes(t *testing.T) { // READ-6
	on(t, terminaltest.Options{}, func(b bench) {
		b.run("echo before")
		early := b.read(ReadRequest{}).Cursor
		b.run("echo between")
		res := b.run("seq 4")
		late := b.read(ReadRequest{}).Cursor
		for cursor, want := range map[string]string{early: "1\n2\n3\n4", late: ""} {
			got := b.read(ReadRequest{Source: SourceCommand, RunID: res.RunID, Cursor: cursor})
			if got.Content != want {
				b.t.Errorf("got %q, want %q", got.Content, want)
			}
		}
	})
}
