package shellint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What each shell can tell of itself, one file for each kind.
var stateOf = map[string]string{
	"bash": `{ set -o; shopt; echo "$-"; } >$OUT/options; trap -p >$OUT/traps; env | sort >$OUT/environment; ` +
		`{ declare -p PS1 PS2 PS4 PROMPT_COMMAND; declare -p PS0; } 2>&1 >$OUT/prompts; ` +
		`{ alias; bind -v; bind -p; complete -p; stty -a; umask; ulimit -a; jobs; } >$OUT/rest 2>&1; ` +
		`{ declare -F; compgen -v; } | sort >$OUT/names; echo "$HISTFILE $HISTCMD $HISTSIZE $SHLVL $0 $LINENO \! $BASH_SUBSHELL $#" >$OUT/numbers; ` +
		`shopt -p login_shell >$OUT/login; history >$OUT/history; : last; echo "$_ ${PIPESTATUS[*]}" >$OUT/last`,
	"zsh": `setopt >$OUT/options; echo $- >>$OUT/options; trap >$OUT/traps; env | sort >$OUT/environment; ` +
		`typeset -p PS1 PS2 PS3 PS4 PROMPT RPROMPT >$OUT/prompts 2>&1; ` +
		`{ alias; bindkey -L; zle -lL; zstyle -L; stty -a; umask; ulimit -a; jobs; hash -d; } >$OUT/rest 2>&1; ` +
		`print -l ${(k)functions} ${(k)parameters} | sort >$OUT/names; echo "$HISTFILE $HISTCMD $HISTSIZE $SHLVL $0 $ZDOTDIR $#" >$OUT/numbers; ` +
		`[[ -o login ]]; echo $? >$OUT/login; fc -l 1 >$OUT/history; : last; echo "$_ $pipestatus" >$OUT/last`,
	"fish": `status features >$OUT/options; env | sort >$OUT/environment; functions fish_prompt fish_right_prompt >$OUT/prompts; ` +
		`begin; bind; abbr; complete; stty -a; umask; jobs; end >$OUT/rest 2>&1; ` +
		`begin; functions -n | string split ,; set -n; end | sort >$OUT/names; echo "$SHLVL $fish_greeting" >$OUT/numbers; ` +
		`status is-login; echo $status >$OUT/login; status is-interactive-job-control >$OUT/jobcontrol; functions --handlers >$OUT/traps; history >$OUT/history; true | false; echo $pipestatus $status >$OUT/last`,
}

// Files of a user who has set things up.
var userFiles = map[string]map[string]string{
	"bash": {".bash_profile": ". ~/.bashrc\nexport FROM_PROFILE=1\n", ".bashrc": `
export SHELL_NOTE=x
shopt -s histappend cdspell; set -o vi; set +o histexpand
trap 'echo bye >>~/exit' EXIT; trap 'true err' ERR; trap 'true usr' USR1
PS1='\u:\w\$ '; PS2='more> '; HISTSIZE=500; HISTCONTROL=ignorespace
f() { :; }; alias ll='ls -l'
`},
	"zsh": {".zshenv": "export FROM_ENV=1\n", ".zprofile": "export FROM_PROFILE=1\n", ".zshrc": `
setopt prompt_subst extended_glob share_history no_beep; HISTFILE=~/.zhist; SAVEHIST=100
bindkey -v; trap 'true usr' USR1; TRAPINT() { return $((128+$1)) }
PROMPT='%n:%~%# '; RPROMPT='%T'; alias ll='ls -l'; f() { : }
autoload -Uz add-zsh-hook; g() { : }; add-zsh-hook precmd g; add-zsh-hook preexec g
`, ".zlogin": "export FROM_LOGIN=1\n"},
	"fish": {".config/fish/config.fish": `
set -gx FROM_CONFIG 1; fish_vi_key_bindings; abbr -a gs git status
function fish_prompt; echo -n (prompt_pwd)'> '; end
function fish_right_prompt; echo -n right; end
function f --on-event fish_prompt; true; end
`},
}

// The same as it would be without us: only names of our own are added, and
// bash has the marks' wrappers in its prompts and hooks in PROMPT_COMMAND.
var (
	ours      = regexp.MustCompile(`(?m)^.*__termpilot_.*\n`)
	hooks     = regexp.MustCompile(`(?m)^(PROMPT_COMMAND|PS0|precmd_functions|preexec_functions)\n`)
	definedIn = regexp.MustCompile(`(?m)^# Defined .*\n`)
)

func TestTheShellIsAsItWouldBeWithoutUs(t *testing.T) { // MARK-30
	eachShell(t, func(t *testing.T, shell string) {
		// An empty .zshrc, because zsh has a dialog for those who have no file at all.
		for i, files := range []map[string]string{{".zshrc": ""}, userFiles[shell], userFiles[shell]} {
			var env []string
			if i == 2 {
				env = inTmux
			}
			with, home := shellState(t, shell, setup{files: files, env: env})
			without, plainHome := shellState(t, shell, setup{files: files, env: env, plain: true})
			for name, got := range with {
				want := without[name]
				got, want = neutral(got, home), neutral(want, plainHome)
				switch name {
				case "prompts":
					got = unwrapped(got)
					// fish does not keep where a copied function was defined.
					got, want = definedIn.ReplaceAllString(got, ""), definedIn.ReplaceAllString(want, "")
				case "names":
					got, want = hooks.ReplaceAllString(got, ""), hooks.ReplaceAllString(want, "")
				}
				got = ours.ReplaceAllString(got, "")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (- without, + with us):\n%s", name, diff)
				}
			}
		}
	})
}

// inTmux is what tmux sets for a pane's program, as far as it matters.
var inTmux = []string{"TMUX=/nowhere,1,0", "TERM=tmux-256color"}

// neutral takes out what differs between any two shells.
func neutral(text, home string) string {
	text = strings.ReplaceAll(text, home, "~")
	return regexp.MustCompile(`(?m)^(_|OUT)=.*\n`).ReplaceAllString(text, "")
}

// unwrapped takes our wrappers out of bash's prompts and PROMPT_COMMAND.
func unwrapped(text string) string {
	text = strings.ReplaceAll(text, `\\[\${__termpilot_a[__termpilot_p]}\${__termpilot_w:__termpilot_p=__termpilot_p?2:0:0}\\]`, "")
	text = regexp.MustCompile(`\\\\\[\\\$\{__termpilot_[be]\[__termpilot_p\]\}\\\\\]`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)^declare -- PS0=.*__termpilot_c.*\n`).ReplaceAllString(text, "")
	return regexp.MustCompile(`(?m)^declare -[-a] PROMPT_COMMAND=.*__termpilot.*\n`).ReplaceAllString(text, "")
}

// shellState has a shell write down its state, during the third command typed.
func shellState(t *testing.T, shell string, with setup) (state map[string]string, home string) {
	t.Helper()
	out := t.TempDir()
	with.env = append(with.env, "OUT="+out)
	s := start(t, shell, with)
	for i, line := range []string{"true one", "true two", stateOf[shell]} {
		if with.plain {
			s.await("a prompt", func() bool { return strings.Contains(s.afterOutput(fmt.Sprintf("don%de", i-1)), "\x1b[?2004h") })
			s.send(line + fmt.Sprintf("; echo don'%d'e\r", i))
			s.await("the state", func() bool { return s.afterOutput(fmt.Sprintf("don%de", i)) != "" })
		} else {
			s.run(line + fmt.Sprintf("; echo don'%d'e", i))
		}
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	state = map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(out, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		state[f.Name()] = string(text)
	}
	return state, s.home
}

// afterOutput is what came since a line that is just this word; the whole
// stream for don-1e, which stands for the start.
func (s *session) afterOutput(word string) string {
	if word == "don-1e" {
		return string(s.stream)
	}
	at := regexp.MustCompile(`[\r\n]` + word).FindIndex(s.stream)
	if at == nil {
		return ""
	}
	return string(s.stream[at[1]:])
}
