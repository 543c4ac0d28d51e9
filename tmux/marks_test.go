package tmux

import (
	"strings"
	"testing"

	"termpilot/shellint"
	"termpilot/terminal"
	"termpilot/testneeds"
)

// install puts our script into a shell's start-up file. tmux starts login
// shells; a person's .profile has those of bash read .bashrc, too.
func (s *server) install(t *testing.T, shell string) {
	t.Helper()
	s.write(".profile", "[ -n \"$BASH_VERSION\" ] && [ -r ~/.bashrc ] && . ~/.bashrc\n")
	if _, err := shellint.Install(shell, s.home); err != nil {
		t.Fatal(err)
	}
}

// awaitPrompt waits until the session's last prompt stands, and is another than
// before.
func awaitPrompt(t *testing.T, b *Backend, id terminal.ID, before string) terminal.Prompt {
	t.Helper()
	var p terminal.Prompt
	until(t, "a prompt stands", func() bool {
		var err error
		p, err = b.Prompt(ctx(t), id, "")
		must(t, err)
		return p.State == terminal.Editing && p.ID != before
	})
	return p
}

// ran types a command and returns its prompt when it has ended and the next stands.
func ran(t *testing.T, b *Backend, id terminal.ID, command string) terminal.Prompt {
	t.Helper()
	at := awaitPrompt(t, b, id, "")
	must(t, b.Send(ctx(t), id, []byte(command+"\r")))
	awaitPrompt(t, b, id, at.ID)
	p, err := b.Prompt(ctx(t), id, at.ID)
	must(t, err)
	return p
}

func output(t *testing.T, b *Backend, id terminal.ID, p terminal.Prompt) string {
	t.Helper()
	got, err := b.Screen(ctx(t), id, terminal.Range{Kind: terminal.Cells, Span: p.Output})
	must(t, err)
	return strings.TrimSuffix(text(got.Rows), "\n")
}

func TestAnInstalledShellHasMarksInTmux(t *testing.T) { // TMUX-30, MARK-42
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			s := newServer(t)
			s.install(t, shell)
			// As from inside of other terminals, which would bring marks themselves.
			s.env = append(s.env, "KITTY_WINDOW_ID=1", "TERM_PROGRAM=vscode")
			s.run("new-session", "-d", "-x", "80", "-y", "24", "sleep 600")
			b := s.backend()
			only(t, b)
			s.run("new-window", "-d", shell)
			s.run("kill-window", "-t", "@0")
			p := only(t, b)
			for command, want := range map[string]int{"false": 1, "true": 0, "sh -c 'exit 7'": 7} {
				if got := ran(t, b, p.ID, command); got.Exit == nil || *got.Exit != want || got.Marks != terminal.MarksPlain {
					t.Errorf("%s: %+v", command, got)
				}
			}
			if got := output(t, b, p.ID, ran(t, b, p.ID, "printf abc")); got != "abc" {
				t.Errorf("the output is %q", got)
			}
			if got := only(t, b); got.Marks != terminal.MarksPlain || got.Cwd == "" {
				t.Errorf("listed as %+v", got)
			}
		})
	}
}

func TestAPaneThatWeOpenHasMarksOfItsOwn(t *testing.T) { // TMUX-31
	for _, shell := range []string{"bash", "zsh", "fish"} {
		for _, installed := range []bool{false, true} {
			name := shell
			if installed {
				name += ", installed"
			}
			t.Run(name, func(t *testing.T) {
				testneeds.Program(t, shell)
				s := newServer(t)
				if installed {
					s.install(t, shell)
				}
				s.run("new-session", "-d")
				b := s.backend()
				p, err := b.Open(ctx(t), terminal.OpenSpec{Profile: shell, Columns: 60, Rows: 20})
				must(t, err)
				if got := ran(t, b, p.ID, "printf 'a\\nb'; false"); got.Exit == nil || *got.Exit != 1 || got.Marks != terminal.MarksNonce || output(t, b, p.ID, got) != "a\nb" {
					t.Errorf("%+v with %q", got, output(t, b, p.ID, got))
				}
			})
		}
	}
}

func TestAPromptOfBeforeWeCameIsNotMadeUp(t *testing.T) { // TMUX-32
	s := newServer(t)
	s.install(t, "bash")
	s.run("new-session", "-d", "-x", "80", "-y", "24")
	s.run("split-window", "-d", "PS1='bare ' exec bash --norc --noprofile")
	until(t, "the shells stand at their prompts", func() bool {
		return strings.Contains(s.try("capture-pane", "-p", "-t", "%1"), "bare") &&
			strings.Contains(s.try("display-message", "-p", "-t", "%0", "#{pane_path}"), "file:")
	})
	b := s.backend()
	list, err := b.Sessions(ctx(t))
	must(t, err)
	for i, want := range []terminal.Marks{1: terminal.MarksNone, 0: terminal.MarksUnknown} {
		p, err := b.Prompt(ctx(t), list[i].ID, "")
		must(t, err)
		if p != (terminal.Prompt{}) {
			t.Errorf("pane %d: %+v", i, p)
		}
		until(t, "the marks are judged", func() bool {
			list, err := b.Sessions(ctx(t))
			must(t, err)
			return list[i].Marks == want
		})
	}
	must(t, b.Send(ctx(t), list[0].ID, []byte("\r")))
	if p := awaitPrompt(t, b, list[0].ID, ""); p.Typed != terminal.No || p.Marks != terminal.MarksPlain {
		t.Errorf("after Enter: %+v", p)
	}
}

func TestRowsThatTmuxLostAreNotNumberOne(t *testing.T) { // TMUX-23
	s := newServer(t)
	s.write(".tmux.conf", "set -g history-limit 2000\nset -g default-shell /bin/bash\n")
	s.install(t, "bash")
	s.run("new-session", "-d", "-x", "80", "-y", "24", "sleep 600")
	b := s.backend(func(o *Options) { o.Scrollback = 2000 })
	only(t, b)
	s.run("new-window", "-d", "bash")
	s.run("kill-window", "-t", "@0")
	id := only(t, b).ID
	p := ran(t, b, id, "seq 1 5000")
	got, err := b.Screen(ctx(t), id, terminal.Range{Kind: terminal.Cells, Span: p.Output})
	must(t, err)
	if p.Output.Start.Row >= got.Oldest || got.First != got.Oldest || got.Rows[0].Text == "1" || !strings.HasSuffix(text(got.Rows), "\n5000\n") {
		t.Errorf("the output starts in row %d, the oldest is %d: %q", p.Output.Start.Row, got.Oldest, got.Rows[0].Text)
	}
}
