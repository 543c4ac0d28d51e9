package shellint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/terminal"
	"termpilot/testneeds"
)

func TestInstallPutsOneBlockAndUninstallTakesIt(t *testing.T) { // MARK-40
	for _, shell := range Shells() {
		for _, before := range []string{"", "alias x=y\n", "no final newline", "\r\n# dos\r\n"} {
			home := t.TempDir()
			file := startupFile(shell.Name, home)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(before), 0o640); err != nil {
				t.Fatal(err)
			}
			if in, err := Installed(shell.Name, home); err != nil || in.Present {
				t.Fatalf("got %+v %v", in, err)
			}
			in, err := Install(shell.Name, home)
			if err != nil || !in.Present || !in.Current || !in.Changed || in.File != file {
				t.Fatalf("got %+v %v", in, err)
			}
			first, _ := os.ReadFile(file)
			if strings.Count(string(first), blockStart) != 1 || !strings.HasPrefix(string(first), before) {
				t.Errorf("got %q", first)
			}
			if old, _ := os.ReadFile(in.Backup); string(old) != before {
				t.Errorf("the backup is %q", old)
			}
			if info, _ := os.Stat(file); info.Mode().Perm() != 0o640 {
				t.Errorf("got mode %o", info.Mode().Perm())
			}
			if in, err := Install(shell.Name, home); err != nil || in.Changed {
				t.Errorf("a second time: %+v %v", in, err)
			}
			if in, err := Installed(shell.Name, home); err != nil || !in.Present || !in.Current {
				t.Errorf("got %+v %v", in, err)
			}
			if in, err := Uninstall(shell.Name, home); err != nil || in.Present {
				t.Errorf("got %+v %v", in, err)
			}
			if _, err := os.Stat(filepath.Join(home, ".local", "share", "termpilot")); !os.IsNotExist(err) {
				t.Errorf("the folder of the scripts is left behind: %v", err)
			}
			after, _ := os.ReadFile(file)
			if string(after) != before && string(after) != before+"\n" {
				t.Errorf("got %q, want %q", after, before)
			}
			if in, err := Uninstall(shell.Name, home); err != nil || in.Changed {
				t.Errorf("a second time: %+v %v", in, err)
			}
		}
	}
}

func TestInstallReplacesAnOldBlock(t *testing.T) { // MARK-40
	home := t.TempDir()
	file := filepath.Join(home, ".bashrc")
	if err := os.WriteFile(file, []byte("a\n"+blockStart+"\nold\n"+blockEnd+"\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if in, err := Installed("bash", home); err != nil || !in.Present || in.Current {
		t.Errorf("got %+v %v", in, err)
	}
	if _, err := Install("bash", home); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "a\nb\n"+block("bash") {
		t.Errorf("got %q", text)
	}
}

func TestInstallFollowsLinksOfTheUserOnly(t *testing.T) { // MARK-41
	home := t.TempDir()
	dotfiles := filepath.Join(t.TempDir(), "zshrc")
	if err := os.WriteFile(dotfiles, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dotfiles, filepath.Join(home, ".zshrc")); err != nil {
		t.Fatal(err)
	}
	in, err := Install("zsh", home)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(home, ".zshrc")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if text, _ := os.ReadFile(dotfiles); !strings.Contains(string(text), blockStart) || !strings.HasSuffix(in.File, "zshrc") {
		t.Errorf("got %q", text)
	}

	for name, make := range map[string]func(path string) error{
		"a link into nothing": func(path string) error { return os.Symlink(filepath.Join(home, "none"), path) },
		"a folder":            func(path string) error { return os.Mkdir(path, 0o755) },
		"a device":            func(path string) error { return os.Symlink("/dev/null", path) },
		"half a block":        func(path string) error { return os.WriteFile(path, []byte(blockStart+"\nx\n"), 0o600) },
	} {
		home := t.TempDir()
		if err := make(filepath.Join(home, ".bashrc")); err != nil {
			t.Fatal(err)
		}
		if _, err := Install("bash", home); fault.CodeOf(err) != fault.Refused && fault.CodeOf(err) != fault.Storage {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, home := range []string{"", "here"} {
		if _, err := Installed("bash", home); fault.CodeOf(err) != fault.InvalidArgument || fault.HintOf(err) != "set HOME" {
			t.Errorf("%q: got %v, hint %q", home, err, fault.HintOf(err))
		}
	}
	for _, shell := range []string{"dash", "", "../bash", "bash-5"} {
		if _, err := Install(shell, home); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: got %v", shell, err)
		}
		if _, err := Script(shell); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: got %v", shell, err)
		}
	}
}

func TestAnInstalledScriptMarksPromptsElsewhereOnly(t *testing.T) { // MARK-42
	eachShell(t, func(t *testing.T, shell string) {
		for _, c := range []struct {
			env   string
			marks bool
		}{{"TERM_PROGRAM=other", true}, {"TERM_PROGRAM=" + HostProgram, false}, {"TERM_PROGRAM=vscode", false}, {"TERM=dumb", false}, {"KITTY_WINDOW_ID=1", false}} {
			if c.env == "TERM=dumb" && shell == "fish" {
				continue // fish prints no prompt there that the test could wait for
			}
			s := start(t, shell, setup{plain: true, nonce: "none", install: true, env: []string{c.env}})
			if !c.marks {
				s.send("echo rea''dy\r")
				s.await("the shell", func() bool { return strings.Contains(s.plainText(), "\nready") })
				s.mu.Lock()
				seen := s.machine.Seen()
				s.mu.Unlock()
				if seen {
					t.Errorf("%s: marks", c.env)
				}
				continue
			}
			p, output := s.run("echo x; false")
			if status(p) != 1 || output != "x\n" || s.last().State != terminal.Editing {
				t.Errorf("%s: got %+v %q", c.env, p, output)
			}
		}
	})
}

// Login shells of bash, as tmux starts them, read one of three files, and
// other shells may read the last of them, too.
func TestALoginBashHasTheScriptWhateverItReads(t *testing.T) { // MARK-43
	for _, c := range []struct{ file, text, want string }{
		{".bash_profile", "A=1\n", ".bash_profile"},
		{".bash_login", "A=1\n", ".bash_login"},
		{".profile", "A=1\n", ".profile"},
		{".profile", "[ -n \"$BASH_VERSION\" ] && . ~/.bashrc\n", ".bashrc"},
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, c.file), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		in, err := Install("bash", home)
		if err != nil || filepath.Base(in.File) != c.want {
			t.Errorf("%s with %q: installed in %s, %v", c.file, c.text, in.File, err)
		}
		for shell, want := range map[string]string{"bash": "yes", "sh": "no"} {
			path := testneeds.Program(t, shell)
			cmd := exec.Command(path, "-l", "-i", "-c", `[ -n "${__termpilot_p-}" ] && echo yes || echo no`)
			cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=tmux-256color"}
			if shell == "sh" {
				cmd.Args = []string{path, "-c", `. "$HOME/.profile" && :; echo no`}
				if c.file != ".profile" || c.want != ".profile" {
					continue
				}
			}
			out, err := cmd.Output()
			if err != nil || strings.TrimSpace(string(out)) != want {
				t.Errorf("%s with %q in %s: got %q, %v", c.file, c.text, shell, out, err)
			}
		}
	}
}
