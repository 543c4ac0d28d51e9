package shellwords

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"termpilot/testneeds"
)

func TestQuotedWordsArriveInEveryShell(t *testing.T) {
	words := []string{
		"plain", "two words", "it's", `"double"`, "$HOME", "a;b", "*", `back\slash`, `ends\`, `\\twice`, "", "tab\there",
		"new\nline", "~", "=ls", "!!", "#no", "a=b", "é", `\'`, `'\''`, "-n", "{a,b}", "%1",
	}
	for _, shell := range []string{"sh", "bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path := testneeds.Program(t, shell)
			cmd := exec.Command(path, "-c", Join(append([]string{"printf", `%s\037`}, words...)))
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=") // fish makes folders there
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Split(strings.TrimSuffix(string(out), "\x1f"), "\x1f"); !slices.Equal(got, words) {
				t.Errorf("got %q, want %q", got, words)
			}
		})
	}
}

func TestPlainWordsStayAsTheyAre(t *testing.T) {
	if got, want := Join([]string{"claude", "--resume", "8c1f-0", "./a/b_c.txt"}), "claude --resume 8c1f-0 ./a/b_c.txt"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What is quoted is split into the same words again.
func FuzzQuotedWordsAreOneCommand(f *testing.F) {
	f.Add("it's", `a\b`)
	f.Add("", "$(x)\n#")
	f.Fuzz(func(t *testing.T, one, two string) {
		if strings.ContainsRune(one+two, 0) {
			t.Skip()
		}
		list := Parse(Join([]string{"echo", one, two}))
		if len(list) != 1 || !slices.Equal(list[0].Words, []string{"echo", one, two}) {
			t.Fatalf("%q and %q became %+v", one, two, list)
		}
	})
}
