package terminaltest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"termpilot/fault"
	"termpilot/process"
	"termpilot/terminal"
)

// in runs a test in a bubble with a fake and one session that has shown its prompt.
func in(t *testing.T, o Options, test func(t *testing.T, f *Fake, id terminal.ID)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := NewFake(t, o)
		s, err := f.Open(t.Context(), terminal.OpenSpec{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		test(t, f, s.ID)
	})
}

// log collects the events of a session, as words, until stop.
func log(t *testing.T, f *Fake, id terminal.ID) (stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events, err := f.Watch(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range events {
			if err != nil {
				words = append(words, string(fault.CodeOf(err)))
				return
			}
			words = append(words, word(e)...)
		}
	}()
	return func() string {
		synctest.Wait()
		cancel()
		<-done
		return strings.Join(words, " ")
	}
}

func word(e terminal.Event) []string {
	switch e.Kind {
	case terminal.PromptShown:
		return []string{"B"}
	case terminal.Continued:
		return []string{"k"}
	case terminal.Started:
		return []string{"C(" + e.Prompt.Command + ")"}
	case terminal.Ended:
		return []string{"D" + itoa(*e.Prompt.Exit)}
	case terminal.Aborted:
		return []string{"x"}
	case terminal.Gone:
		return []string{"gone"}
	case terminal.Resync:
		return []string{"resync"}
	}
	return nil
}

func TestFakeShellsSendTheMarksOfTheirKind(t *testing.T) {
	paste := func(s string) string { return "\x1b[200~" + s + "\x1b[201~\r" }
	for _, c := range []struct{ name, typed, bash, zsh, fish string }{
		{"a command", "false\r", "C(false) D1 B", "C(false) D1 B", "C(false) D1 B"},
		{"enter", "\r", "C() D0 B", "C() D0 B", "x B"},
		{"ctrl-c", "half\x03", "C(half^C) D130 B", "C(half^C) D130 B", "x B"},
		{"open quote", "echo 'a\rb'\r", "k C(echo 'a\n> b') D0 B", "k C(echo 'a\n> b') D0 B", "C(echo 'a\n  b') D0 B"},
		{"refused", "echo \"a!b\"\r", "x B", "C(echo \"a!b\") D1 B", "x B"},
		{"three lines typed", "true\rfalse\r(exit 3)\r", "C(true) D0 B C(false) D1 B C((exit 3)) D3 B", "C(true) D0 B C(false) D1 B C((exit 3)) D3 B", "C(true) D0 B C(false) D1 B C((exit 3)) D3 B"},
		{"three lines pasted", paste("true\nfalse\n(exit 3)"), "C(true\nfalse\n(exit 3)) D3 B", "C(true\nfalse\n(exit 3)) D3 B", "C(true\nfalse\n(exit 3)) D3 B"},
		{"interrupted", "sleep 9\r\x03", "C(sleep 9) D130 B", "C(sleep 9) D130 B", "C(sleep 9) D130 B"},
		{"stopped", "sleep 9\r\x1a", "C(sleep 9) D148 B", "C(sleep 9) D148 B", "C(sleep 9) D148 B"},
		{"nested with marks", "bash\rexit 4\r", "C(bash) B C(exit 4) D4 B", "C(bash) B C(exit 4) D4 B", "C(bash) B C(exit 4) D4 B"},
		{"nested without marks", "sh\rfalse\rexit\r", "C(sh) D1 B", "C(sh) D1 B", "C(sh) D1 B"},
		{"marks lost", "unset PROMPT_COMMAND\rtrue\r", "C(unset PROMPT_COMMAND)", "C(unset PROMPT_COMMAND)", "C(unset PROMPT_COMMAND)"},
		{"exit", "exit 42\r", "C(exit 42) gone", "C(exit 42) gone", "C(exit 42) gone"},
		{"background", "sleep 60 &\r", "C(sleep 60 &) D0 B", "C(sleep 60 &) D0 B", "C(sleep 60 &) D0 B"},
		{"forged", "printf '\\033]133;D;7\\007'\r", "C(printf '\\033]133;D;7\\007') D0 B", "C(printf '\\033]133;D;7\\007') D0 B", "C(printf '\\033]133;D;7\\007') D0 B"},
	} {
		for shell, want := range map[string]string{"bash": c.bash, "zsh": c.zsh, "fish": c.fish} {
			t.Run(c.name+" in "+shell, func(t *testing.T) {
				in(t, Options{Shell: shell}, func(t *testing.T, f *Fake, id terminal.ID) {
					f.Refuse(`echo "a!b"`, "event not found")
					stop := log(t, f, id)
					for _, part := range strings.SplitAfter(c.typed, "\r") {
						f.Type(id, part)
						synctest.Wait()
					}
					if got := stop(); got != want {
						t.Errorf("got  %s\nwant %s", got, want)
					}
				})
			})
		}
	}
}

func TestFakeOutputIsExactlyWhatTheCommandPrinted(t *testing.T) {
	in(t, Options{Columns: 10}, func(t *testing.T, f *Fake, id terminal.ID) {
		f.Type(id, "printf '0123456789abc\\n\\nx'\r")
		synctest.Wait()
		p := prompts(t, f, id)[0]
		got := f.sessions[id].grid.between(p.Output.Start, p.Output.End)
		if want := "0123456789abc\n\nx"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func prompts(t *testing.T, f *Fake, id terminal.ID) (list []terminal.Prompt) {
	t.Helper()
	for _, p := range f.sessions[id].prompts {
		v, err := f.Prompt(t.Context(), id, p.id)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

func TestFakeOutputKeepsItsPlaceWhenTheWidthChanges(t *testing.T) {
	in(t, Options{Columns: 20, Rows: 5}, func(t *testing.T, f *Fake, id terminal.ID) {
		f.Type(id, "printf 'a wide 日本語 line that wraps\\nend'\r")
		synctest.Wait()
		want := "a wide 日本語 line that wraps\nend"
		for _, columns := range []int{7, 40, 3, 80, 20} {
			f.SetSize(id, columns, 5)
			p := prompts(t, f, id)[0]
			if got := f.sessions[id].grid.between(p.Output.Start, p.Output.End); got != want {
				t.Errorf("%d columns: got %q, want %q", columns, got, want)
			}
		}
	})
}

func TestFakeTellsWhoReads(t *testing.T) {
	in(t, Options{}, func(t *testing.T, f *Fake, id terminal.ID) {
		f.On("login", func(p *Program) int {
			p.Print("Password: ")
			if pw, _ := p.ReadPassword(); pw != "secret" {
				return 1
			}
			return 0
		})
		f.On("vim", func(p *Program) int {
			p.FullScreen(true)
			for p.ReadKey() != 'q' {
			}
			p.FullScreen(false)
			return 0
		})
		s, _ := f.Sessions(t.Context())
		look := func() (group int, job string, flags process.TTY, alternate bool) {
			synctest.Wait()
			s, _ = f.Sessions(t.Context())
			group, err := f.Foreground(s[0].ShellPID)
			if err != nil {
				t.Fatal(err)
			}
			flags, err = f.Flags(s[0].TTY)
			if err != nil {
				t.Fatal(err)
			}
			return group, s[0].Job, flags, s[0].Alternate
		}
		shell := s[0].ShellPID
		for _, c := range []struct {
			typed     string
			job       string
			flags     process.TTY
			alternate bool
		}{
			{"half", "bash", process.TTY{}, false},
			{"\x15login\r", "login", process.TTY{Canonical: true}, false},
			{"secret\r", "bash", process.TTY{}, false},
			{"cat\r", "cat", process.TTY{Echo: true, Canonical: true}, false},
			{"\x04vim\r", "vim", process.TTY{}, true},
			{"\x03xq", "bash", process.TTY{}, false},
		} {
			for _, part := range strings.SplitAfter(c.typed, "\x04") {
				f.Type(id, part)
				synctest.Wait()
			}
			group, job, flags, alternate := look()
			if got, want := f.Facts().Reads(group, s[0].TTY), terminal.KnownOf(job != "bash"); got != want {
				t.Errorf("%q: %s reads is %d, want %d", c.typed, job, got, want)
			}
			if job != c.job || flags != c.flags || alternate != c.alternate || (group == shell) != (job == "bash") {
				t.Errorf("%q: got %s %+v alternate %v group %d (shell %d)", c.typed, job, flags, alternate, group, shell)
			}
		}
		screen, _ := f.Screen(t.Context(), id, terminal.Range{})
		var text []string
		for _, r := range screen.Rows {
			text = append(text, r.Text)
		}
		want := "$ login\nPassword: $ cat\n$ vim\n$ "
		if got := strings.TrimRight(strings.Join(text, "\n"), "\n"); got != want {
			t.Error(cmp.Diff(got, want))
		}
	})
}

func TestFakeBelievesForgedMarksOnlyWherePlainMarksCount(t *testing.T) {
	in(t, Options{Marks: terminal.MarksPlain}, func(t *testing.T, f *Fake, id terminal.ID) {
		stop := log(t, f, id)
		f.Type(id, "printf '\\033]133;D;7\\007\\033]133;A\\007\\033]133;B\\007'; sleep 1\r")
		time.Sleep(time.Minute) // in a bubble: its clock passes the command's own second
		if got, want := stop(), "D7 B x B"; !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want it to end in %q", got, want)
		}
	})
}

func TestFakeKnowsWhatIsTyped(t *testing.T) {
	in(t, Options{}, func(t *testing.T, f *Fake, id terminal.ID) {
		p, _ := f.Prompt(t.Context(), id, "")
		if p.State != terminal.Editing || p.Typed != terminal.No || p.Touched != terminal.No || p.Paste != terminal.Yes {
			t.Errorf("fresh prompt: %+v", p)
		}
		f.Type(id, "ls")
		p, _ = f.Prompt(t.Context(), id, "")
		if p.Typed != terminal.Yes || p.Touched != terminal.Yes || p.Command != "ls" {
			t.Errorf("after typing: %+v", p)
		}
		f.Type(id, "\x7f\x7f")
		p, _ = f.Prompt(t.Context(), id, "")
		if p.Typed != terminal.No || p.Touched != terminal.Yes {
			t.Errorf("after erasing: %+v", p)
		}
	})
}

func TestFakeHangsAndLosesAnswers(t *testing.T) {
	in(t, Options{Timeout: time.Second}, func(t *testing.T, f *Fake, id terminal.ID) {
		f.Hang("send")
		begin := time.Now()
		err := f.Send(t.Context(), id, []byte("a"))
		if !errors.Is(err, fault.Deadline) || time.Since(begin) != time.Second {
			t.Errorf("hang: %v after %v", err, time.Since(begin))
		}
		f.LoseAnswer("send")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := f.Send(ctx, id, []byte("b")); !errors.Is(err, fault.Deadline) {
			t.Errorf("lost answer: %v", err)
		}
		f.Answer("send")
		if err := f.Send(t.Context(), id, []byte("c")); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(f.Sent(id), [][]byte{[]byte("b"), []byte("c")}); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFakeDisconnectsAndComesBack(t *testing.T) {
	in(t, Options{}, func(t *testing.T, f *Fake, id terminal.ID) {
		stop := log(t, f, id)
		f.Disconnect()
		if got, want := stop(), "backend_unavailable"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, err := f.Sessions(t.Context()); !errors.Is(err, fault.BackendUnavailable) {
			t.Error(err)
		}
		f.Reconnect()
		if err := f.Send(t.Context(), id, []byte("true\r")); err != nil {
			t.Error(err)
		}
	})
}

func TestFakeRunsTheBuiltInCommands(t *testing.T) {
	for typed, want := range map[string]string{
		"echo one; echo two && false || echo three": "one\ntwo\nthree\n",
		"false; echo $?":                           "1\n",
		"x=5; echo \"<$x>\" '$x'":                  "<5> $x\n",
		"cat <<EOF\nhello\nworld\nEOF\necho after": "hello\nworld\nafter\n",
		"nosuch; echo $?":                          "nosuch: command not found\n127\n",
		"printf '\\u65e5\\x\\101%s%%' b":           "日xAb%",
		"seq 3":                                    "1\n2\n3\n",
		"# nothing":                                "",
		"cd /tmp; pwd":                             "/tmp\n",
	} {
		in(t, Options{}, func(t *testing.T, f *Fake, id terminal.ID) {
			f.Type(id, "\x1b[200~"+typed+"\x1b[201~\r")
			synctest.Wait()
			p := prompts(t, f, id)[0]
			if got := f.sessions[id].grid.between(p.Output.Start, p.Output.End); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
				t.Errorf("%q: got %q, want %q", typed, got, want)
			}
		})
	}
}

func TestFakeResyncsAWatcherThatFallsBehind(t *testing.T) {
	in(t, Options{Queue: 4}, func(t *testing.T, f *Fake, id terminal.ID) {
		events, err := f.Watch(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			f.Type(id, "true\r")
			synctest.Wait()
		}
		f.End(id, terminal.Exit{})
		var kinds []terminal.EventKind
		for e := range events {
			kinds = append(kinds, e.Kind)
		}
		if len(kinds) > 5 || kinds[0] != terminal.State || kinds[len(kinds)-1] != terminal.Gone {
			t.Errorf("got %v", kinds)
		}
		found := false
		for _, k := range kinds {
			found = found || k == terminal.Resync
		}
		if !found {
			t.Errorf("no Resync in %v", kinds)
		}
	})
}
