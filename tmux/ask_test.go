package tmux

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termpilot/terminal"
	"termpilot/testneeds"
)

// people are users' own settings.
var people = map[string]map[string]string{
	"plain": {".zshrc": ""},
	"fancy": {
		".bash_profile": "PS1='\\[\\e[1m\\]\\w\\[\\e[m\\]\\n\\u \\D{%H}\\n$(true)> '\n",
		".zshrc":        "setopt prompt_subst; PS1=$'%~\\n%B$(true)%b> '; RPS1='%F{red}right%f'; bindkey -v\n",
		".config/fish/config.fish": "fish_vi_key_bindings\nfunction fish_prompt; echo (prompt_pwd); echo -n '> '; end\n" +
			"function fish_right_prompt; echo -n right; end\nfunction fish_mode_prompt; end\n",
	},
	"vi": {".bash_profile": "set -o vi\nbind 'set show-mode-in-prompt on'\n", ".zshrc": "bindkey -v\n", ".config/fish/config.fish": "fish_vi_key_bindings\n"},
}

// looks is all that a person sees of a pane.
func (s *server) looks(id terminal.ID) string {
	at, _, _ := strings.Cut(string(id), "@")
	return s.run("capture-pane", "-e", "-p", "-S", "-", "-t", at, ";",
		"display-message", "-p", "-t", at, "#{cursor_x} #{cursor_y} #{history_size} #{cursor_flag} #{cursor_shape}")
}

// columnIn is that of the cursor in what looks told.
func columnIn(look string) int {
	var n int
	_, _ = fmt.Sscan(look[strings.LastIndexByte(look, '\n')+1:], &n)
	return n
}

// behind is the column behind a text of one row, all of it ASCII.
func (s *server) behind(id terminal.ID, text string) int {
	at, _, _ := strings.Cut(string(id), "@")
	for row := range strings.Lines(s.run("capture-pane", "-p", "-t", at)) {
		if i := strings.LastIndex(row, text); i >= 0 {
			return i + len(text)
		}
	}
	return -1
}

// stays checks that a person sees the same as before, once the shell has drawn its line again.
func (s *server) stays(t *testing.T, id terminal.ID, before string) {
	t.Helper()
	after := s.looks(id)
	for end := time.Now().Add(patience); after != before && time.Now().Before(end); after = s.looks(id) {
	}
	if after != before {
		t.Errorf("it looked like\n%s\nand now\n%s", before, after)
	}
}

func (s *server) press(id terminal.ID, keys ...string) {
	at, _, _ := strings.Cut(string(id), "@")
	s.run(append([]string{"send-keys", "-t", at}, keys...)...)
}

// everyPerson opens a shell of each kind in a process that then ends.
func everyPerson(t *testing.T, test func(t *testing.T, s *server, id terminal.ID)) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		for name, files := range people {
			t.Run(shell+", "+name, func(t *testing.T) {
				testneeds.Program(t, shell)
				s := newServer(t)
				for file, text := range files {
					s.write(file, text)
				}
				s.run("new-session", "-d", "-x", "80", "-y", "24", "sleep 600")
				b := s.backend()
				p, err := b.Open(ctx(t), terminal.OpenSpec{Profile: shell, Columns: 60, Rows: 20})
				must(t, err)
				awaitPrompt(t, b, p.ID, "")
				ran(t, b, p.ID, "true")
				must(t, b.Disconnect())
				test(t, s, p.ID)
			})
		}
	}
}

func TestWhoComesLaterKnowsThePrompt(t *testing.T) { // TMUX-33, TMUX-34
	everyPerson(t, func(t *testing.T, s *server, id terminal.ID) {
		before := s.looks(id)
		b := s.backend()
		p, err := b.Prompt(ctx(t), id, "")
		must(t, err)
		if p.State != terminal.Editing || p.Marks != terminal.MarksNonce || p.Typed != terminal.No || p.Touched != terminal.No ||
			p.Paste != terminal.Yes || p.Cwd != s.home {
			t.Errorf("%+v", p)
		}
		s.stays(t, id, before)
		if got := ran(t, b, id, "printf abc; false"); got.ID != p.ID || got.Exit == nil || *got.Exit != 1 || output(t, b, id, got) != "abc" {
			t.Errorf("%+v with %q", got, output(t, b, id, got))
		}
	})
}

func TestTypedTextStaysAndIsTold(t *testing.T) { // TMUX-33, TMUX-34
	everyPerson(t, func(t *testing.T, s *server, id terminal.ID) {
		file := filepath.Join(s.home, "typed")
		s.press(id, "-l", "echo 'a   b' >"+file)
		until(t, "the text is drawn", func() bool {
			now := s.looks(id)
			plain := strings.Contains(t.Name(), "fish") && strings.Contains(now, " echo 'a") // it is coloured later
			return strings.Contains(now, "typed") && !plain
		})
		s.press(id, "Left", "Left")
		before := s.looks(id)
		until(t, "the text stands", func() bool {
			now := s.looks(id)
			same := now == before && columnIn(now) == s.behind(id, "typed")-2
			before = now
			return same
		})
		b := s.backend()
		p, err := b.Prompt(ctx(t), id, "")
		must(t, err)
		if p.State != terminal.Editing || p.Typed != terminal.Yes || p.Touched != terminal.Yes {
			t.Errorf("%+v", p)
		}
		s.stays(t, id, before)
		s.press(id, "End")
		for range 60 {
			s.press(id, "BSpace")
		}
		until(t, "the line is empty", func() bool {
			p, err := b.Prompt(ctx(t), id, "")
			must(t, err)
			return p.Typed == terminal.No
		})
	})
}

// runs starts a command in a process that then ends, and returns its prompt.
func (s *server) runs(t *testing.T, id terminal.ID, command string) terminal.Prompt {
	t.Helper()
	b := s.backend()
	at := awaitPrompt(t, b, id, "")
	must(t, b.Send(ctx(t), id, []byte(command+"\r")))
	var p terminal.Prompt
	until(t, "the command runs", func() bool {
		var err error
		p, err = b.Prompt(ctx(t), id, at.ID)
		must(t, err)
		return p.State != terminal.Editing
	})
	must(t, b.Disconnect())
	return p
}

// everyShell opens a shell of each kind in a process that then ends.
func everyShell(t *testing.T, test func(t *testing.T, s *server, id terminal.ID)) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			testneeds.Program(t, shell)
			s := newServer(t)
			s.write(".zshrc", "")
			s.run("new-session", "-d", "-x", "80", "-y", "24", "sleep 600")
			b := s.backend()
			p, err := b.Open(ctx(t), terminal.OpenSpec{Profile: shell, Columns: 60, Rows: 20})
			must(t, err)
			awaitPrompt(t, b, p.ID, "")
			must(t, b.Disconnect())
			test(t, s, p.ID)
		})
	}
}

func TestACommandOfBeforeEndsWithItsStatus(t *testing.T) { // TMUX-35, TMUX-36
	everyShell(t, func(t *testing.T, s *server, id terminal.ID) {
		fifo := filepath.Join(s.home, "fifo")
		must(t, unix.Mkfifo(fifo, 0o600))
		ran := s.runs(t, id, "sh -c 'read x <"+fifo+"; exit 7'")
		b := s.backend()
		p, err := b.Prompt(ctx(t), id, "")
		must(t, err)
		if p.ID != ran.ID || p.State != terminal.Running || !p.Unseen || !p.Output.Empty() {
			t.Errorf("%+v, and it was %+v", p, ran)
		}
		must(t, os.WriteFile(fifo, []byte("on\n"), 0))
		next := awaitPrompt(t, b, id, ran.ID)
		if p, err = b.Prompt(ctx(t), id, ran.ID); err != nil || p.Exit == nil || *p.Exit != 7 || p.State != terminal.Finished || next.Typed != terminal.No {
			t.Errorf("%+v, %v, then %+v", p, err, next)
		}
	})
}

func TestTheLastEndOfBeforeIsKnown(t *testing.T) { // TMUX-35, TMUX-36
	everyShell(t, func(t *testing.T, s *server, id terminal.ID) {
		fifo := filepath.Join(s.home, "fifo")
		must(t, unix.Mkfifo(fifo, 0o600))
		ran := s.runs(t, id, "sh -c 'read x <"+fifo+"; exit 7'")
		must(t, os.WriteFile(fifo, []byte("on\n"), 0))
		at, _, _ := strings.Cut(string(id), "@")
		stands := func(before string) string {
			var path string
			until(t, "the next prompt", func() bool {
				path = s.run("display-message", "-p", "-t", at, "#{pane_path}")
				return strings.Contains(path, ";at=") && path != before
			})
			return path
		}
		path := stands("")
		s.press(id, "Enter") // an empty line changes nothing of it
		path = stands(path)
		b := s.backend()
		p, err := b.Prompt(ctx(t), id, ran.ID)
		must(t, err)
		if p.ID != ran.ID || p.State != terminal.Finished || p.Exit == nil || *p.Exit != 7 || !p.Unseen {
			t.Errorf("%+v", p)
		}
		must(t, b.Disconnect())
		s.press(id, "true", "Enter")
		stands(path)
		if p, err = s.backend().Prompt(ctx(t), id, ran.ID); err != nil || p.State != terminal.Lost || p.Exit != nil {
			t.Errorf("after another command: %+v, %v", p, err)
		}
	})
}

func TestPromptsWithoutASecretAreOfOneProcess(t *testing.T) { // TMUX-36
	s := newServer(t)
	s.install(t, "bash")
	s.run("new-session", "-d", "-x", "80", "-y", "24", "sleep 600")
	first, second := s.backend(), s.backend()
	only(t, first)
	only(t, second)
	s.run("new-window", "-d", "bash")
	s.run("kill-window", "-t", "@0")
	id := only(t, first).ID
	p, q := awaitPrompt(t, first, id, ""), awaitPrompt(t, second, id, "")
	if p.ID == q.ID {
		t.Errorf("both are %q", p.ID)
	}
	if got, err := second.Prompt(ctx(t), id, p.ID); err != nil || got.State != terminal.Lost {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOtherModesAndUnfinishedLinesAreTold(t *testing.T) { // TMUX-33
	everyPerson(t, func(t *testing.T, s *server, id terminal.ID) {
		if strings.Contains(t.Name(), "vi") || strings.Contains(t.Name(), "fancy") && !strings.Contains(t.Name(), "bash") {
			s.press(id, "Escape")
			time.Sleep(time.Second) // the editor waits for more of what ESC may begin, and tells nobody
			p, err := s.backend().Prompt(ctx(t), id, "")
			must(t, err)
			if p.Typed != terminal.No || p.Touched != terminal.Yes {
				t.Errorf("in command mode: %+v", p)
			}
			s.press(id, "i")
		}
		if strings.Contains(t.Name(), "fish") {
			return
		}
		s.press(id, "-l", "echo 'a")
		s.press(id, "Enter")
		at, _, _ := strings.Cut(string(id), "@")
		until(t, "the line goes on", func() bool {
			return strings.Contains(s.run("display-message", "-p", "-t", at, "#{pane_path}"), ";more=")
		})
		before := s.looks(id)
		if p, err := s.backend().Prompt(ctx(t), id, ""); err != nil || p.State != terminal.Continuation || p.Typed != terminal.Yes {
			t.Errorf("an unfinished line: %+v, %v", p, err)
		}
		s.stays(t, id, before)
	})
}

// bash waits for what Escape may begin. When it is asked meanwhile it leaves the insert
// mode first, and draws its prompt for that.
func TestAnEmptyLineIsEmptyWhileEscapeIsPending(t *testing.T) { // TMUX-33
	s := newServer(t)
	s.write(".bash_profile", people["vi"][".bash_profile"]+"PS1='> '\n")
	s.run("new-session", "-d", "-x", "80", "-y", "24", "sleep 600")
	b := s.backend()
	shell, err := b.Open(ctx(t), terminal.OpenSpec{Profile: "bash", Columns: 60, Rows: 20})
	must(t, err)
	awaitPrompt(t, b, shell.ID, "")
	for range 6 {
		must(t, b.Disconnect())
		until(t, "the insert mode is drawn", func() bool {
			now := s.looks(shell.ID)
			return strings.HasPrefix(now, "(ins)>\n") && columnIn(now) == len("(ins)> ")
		})
		s.press(shell.ID, "Escape")
		b = s.backend()
		if p, err := b.Prompt(ctx(t), shell.ID, ""); err != nil || p.State != terminal.Editing || p.Typed != terminal.No {
			t.Errorf("%+v, %v", p, err)
		}
		s.press(shell.ID, "i")
	}
}

// What reads is not asked, whatever it prints.
func TestOnlyALineEditorIsAsked(t *testing.T) { // TMUX-34
	everyShell(t, func(t *testing.T, s *server, id terminal.ID) {
		at, _, _ := strings.Cut(string(id), "@")
		path := s.run("display-message", "-p", "-t", at, "#{pane_path}")
		url, _, _ := strings.Cut(path, "#")
		for i, c := range []struct{ name, prints string }{
			{"a program", ""},
			{"a program that forges a directory", `\033]7;` + url + "#n=AAAAAAAAAAAAAAAAAAAAAAAAAA;at=1.1-1;tell=1" + `\a`},
			{"a program that forges an answer", `\033]133;A;aid=1.1-1\a\033]133;S;aid=1.1-1\a\033]133;B;aid=1.1-1\a`},
			{"a program that has read the directory", `\033]7;` + path + `\a`},
		} {
			got, reads := filepath.Join(s.home, "got"), fmt.Sprint("reads ", i)
			must(t, os.WriteFile(filepath.Join(s.home, "reader"), []byte("stty raw -echo\nprintf '"+c.prints+"'\necho "+reads+"\ndd bs=64 count=1 of="+got+" 2>/dev/null\nstty sane\n"), 0o600))
			s.runs(t, id, "clear; sh "+s.home+"/reader")
			until(t, "it reads", func() bool { return strings.Contains(s.looks(id), reads) })
			b := s.backend()
			p, err := b.Prompt(ctx(t), id, "")
			must(t, err)
			if _, err := b.Prompts(ctx(t)); err != nil {
				t.Error(err)
			}
			if p.State == terminal.Editing {
				t.Errorf("%s: %+v", c.name, p)
			}
			must(t, b.Disconnect())
			s.press(id, "q")
			var typed []byte
			until(t, "it has read", func() bool { typed, _ = os.ReadFile(got); return len(typed) > 0 })
			if string(typed) != "q" {
				t.Errorf("%s: it read %q", c.name, typed)
			}
			must(t, os.Remove(got))
			until(t, "the shell is back", func() bool {
				return strings.Contains(s.run("display-message", "-p", "-t", at, "#{pane_path}"), ";at=")
			})
		}
	})
}

func TestNobodyIsAskedBehindAMode(t *testing.T) { // TMUX-34
	everyShell(t, func(t *testing.T, s *server, id terminal.ID) {
		at, _, _ := strings.Cut(string(id), "@")
		s.run("copy-mode", "-t", at)
		b := s.backend()
		if p, err := b.Prompt(ctx(t), id, ""); err != nil || p.State != terminal.NoPrompt {
			t.Errorf("in copy mode: %+v, %v", p, err)
		}
		if got := s.run("display-message", "-p", "-t", at, "#{pane_in_mode}"); got != "1" {
			t.Errorf("the mode is %s", got)
		}
		s.run("send-keys", "-t", at, "-X", "cancel")
		if p := awaitPrompt(t, b, id, ""); p.Typed != terminal.No {
			t.Errorf("behind it: %+v", p)
		}
	})
}
