package shellint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/fault"
	"termpilot/testneeds"
)

func TestTheSecretIsInNoEnvironmentFileOrList(t *testing.T) { // MARK-31, MARK-32
	lists := map[string]string{
		// bash shows all variables: there is no place in it that a list does not show.
		"bash": "env; export -p; declare -F; declare -f; alias; trap -p; history; printf '%s' \"$PS1$PS2$PS0$PROMPT_COMMAND\"",
		"zsh":  "env; export; set; typeset; typeset -p; functions; alias; trap; history; print -r -- $PS1 $PS2",
		"fish": "env; set; set -x; functions -n; functions fish_prompt; alias; history",
	}
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{files: userFiles[shell]})
		s.prompt()
		if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.cmd.Process.Pid)); err == nil && strings.Contains(string(data), testNonce) {
			t.Error("the secret is in the environment")
		}
		if strings.Contains(strings.Join(s.cmd.Args, " "), testNonce) {
			t.Error("the secret is in the command line")
		}
		if strings.Contains(strings.Join(s.cmd.Env, " "), testNonce) {
			t.Error("the secret is in the environment")
		}
		for _, list := range strings.Split(lists[shell], "; ") {
			if _, output := s.run(list); strings.Contains(output, testNonce) {
				t.Errorf("%s shows the secret", list)
			}
		}
		if _, output := s.run("env"); strings.Contains(output, "TERMPILOT_") || strings.Contains(output, "__termpilot") {
			t.Errorf("left in the environment: %s", output)
		}
		left := 0
		_ = filepath.Walk(s.dir, func(path string, info os.FileInfo, _ error) error {
			if info.Mode().IsRegular() {
				left++
				if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), testNonce) || filepath.Base(path) == "nonce" {
					t.Errorf("%s holds the secret", path)
				}
				if info.Mode().Perm() != 0o600 {
					t.Errorf("%s has mode %o", path, info.Mode().Perm())
				}
			}
			return nil
		})
		if left == 0 {
			t.Error("no script is left")
		}
	})
}

func TestAllexportExportsNothingOfOurs(t *testing.T) { // MARK-31
	for shell, file := range map[string]string{"bash": ".bash_profile", "zsh": ".zshrc"} {
		t.Run(shell, func(t *testing.T) {
			s := start(t, shell, setup{files: map[string]string{file: "set -a\n"}})
			s.run("true")
			if _, output := s.run("env"); strings.Contains(output, testNonce) {
				t.Errorf("got %s", output)
			}
		})
	}
}

func TestAnyNameOfAFolderServes(t *testing.T) { // MARK-33
	eachShell(t, func(t *testing.T, shell string) {
		s := start(t, shell, setup{folder: "it's $(touch x) `y` \\ é;*"})
		if p, output := s.run("ls"); status(p) != 0 || strings.Contains(output, "x\n") {
			t.Errorf("got %+v %q", p, output)
		}
		if _, err := os.Stat(filepath.Join(s.dir, "nonce")); err == nil {
			t.Error("the secret's file is there")
		}
	})
}

func TestInjectRefuses(t *testing.T) { // MARK-33
	private, open := t.TempDir(), t.TempDir()
	if os.Chmod(private, 0o700) != nil || os.Chmod(open, 0o755) != nil {
		t.Fatal("chmod")
	}
	if _, _, ok, err := Inject("/bin/dash", private, testNonce, nil); ok || err != nil {
		t.Error("dash", ok, err)
	}
	if _, _, ok, err := Inject("/bin/bash", private, testNonce, []string{"POSIXLY_CORRECT=y"}); ok || err != nil {
		t.Error("posix", ok, err)
	}
	for _, c := range []struct {
		dir, nonce string
		code       fault.Code
	}{
		{open, testNonce, fault.InvalidArgument},
		{private, "a;b", fault.InvalidArgument},
		{private, "a\a", fault.InvalidArgument},
		{filepath.Join(private, "none"), testNonce, fault.Storage},
		{".", testNonce, fault.InvalidArgument},
	} {
		if _, _, ok, err := Inject("/bin/bash", c.dir, c.nonce, nil); ok || fault.CodeOf(err) != c.code {
			t.Errorf("%+v: got %v %v", c, ok, err)
		}
	}
}

// Which start-up files are read, and in which order, is the shell's own affair.
func TestTheStartUpFilesAreReadAsByALoginShell(t *testing.T) { // MARK-34
	note := func(name string) string { return "echo '<" + name + ">'\n" }
	all := func(names ...string) map[string]string {
		files := map[string]string{}
		for _, n := range names {
			files[n] = note(n)
		}
		return files
	}
	zsh := all(".zshenv", ".zprofile", ".zshrc", ".zlogin", "z/.zshenv", "z/.zprofile", "z/.zshrc", "z/.zlogin")
	moved := all(".zprofile", ".zshrc", "z/.zshenv", "z/.zprofile", "z/.zshrc")
	moved[".zshenv"] = note(".zshenv") + "ZDOTDIR=~/z\n"
	early := all("z/.zshrc")
	early[".zshenv"] = note(".zshenv") + "return 3\n"
	for _, c := range []struct {
		name, shell string
		files       map[string]string
		env         []string
	}{
		{"all", "bash", all(".bash_profile", ".bash_login", ".profile", ".bashrc"), nil},
		{"login", "bash", all(".bash_login", ".profile", ".bashrc"), nil},
		{"profile", "bash", all(".profile", ".bashrc"), nil},
		{"return", "bash", map[string]string{".bash_profile": note("1") + "return 5\n" + note("2")}, nil},
		{"ENV", "bash", map[string]string{".profile": "echo \"<ENV=$ENV>\"\n"}, []string{"ENV=/none/x y"}},
		{"no ENV", "bash", map[string]string{".profile": "echo \"<ENV=${ENV-unset} ${POSIXLY_CORRECT-unset} $SHELLOPTS>\"\n"}, nil},
		{"history", "bash", map[string]string{".bash_history": "one\ntwo\n", ".profile": "echo \"<$HISTFILE>\"\n"}, nil},
		{"all", "zsh", zsh, nil},
		{"ZDOTDIR by .zshenv", "zsh", moved, nil},
		{"return", "zsh", early, nil},
		{"no rcs", "zsh", map[string]string{".zshenv": note("1") + "setopt no_rcs\n", ".zshrc": note("2")}, nil},
		{"all", "fish", all(".config/fish/config.fish", ".config/fish/conf.d/a.fish"), nil},
	} {
		t.Run(c.shell+" "+c.name, func(t *testing.T) {
			notes := func(plain bool) string {
				s := start(t, c.shell, setup{files: c.files, env: c.env, plain: plain})
				s.await("a prompt", func() bool { return strings.Contains(string(s.stream), "\x1b[?2004h") })
				text := ""
				for _, line := range strings.Split(s.visible(), "\n") {
					if i := strings.Index(line, "<"); i >= 0 && strings.HasSuffix(line, ">") {
						text += strings.ReplaceAll(line[i:], s.home, "~") + "\n"
					}
				}
				return text
			}
			if got, want := notes(false), notes(true); got != want || got == "" && c.name != "no rcs" {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
	t.Run("zsh with ZDOTDIR", func(t *testing.T) {
		s := start(t, "zsh", setup{files: zsh, env: []string{"ZDOTDIR=/none"}})
		if _, output := s.run("echo $ZDOTDIR; env | grep -c ^ZDOTDIR="); output != "/none\n1\n" {
			t.Errorf("got %q", output)
		}
	})
}

func TestABashThatIsNoLoginShellGetsThemByRcfile(t *testing.T) { // MARK-34
	path := testneeds.Program(t, "bash")
	s := start(t, "bash", setup{files: map[string]string{".bash_profile": "echo profile\n"}, rcfile: true})
	if p, output := s.run("(exit 3)"); status(p) != 3 || output != "" {
		t.Errorf("got %d %q", status(p), output)
	}
	if !strings.Contains(s.visible(), "profile\n") || path == "" {
		t.Error("no profile was read")
	}
	if _, output := s.run("env | grep -c TERMPILOT_"); output != "0\n" {
		t.Errorf("got %q", output)
	}
}
