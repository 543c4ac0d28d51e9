package reduce

import (
	"slices"
	"strings"

	"termpilot/shellwords"
)

// program is a program of a command line, as it was called.
type program struct {
	name string   // without folder and version: python3.12 is python
	sub  string   // its subcommand, if it has such: "diff" of git -C x diff
	args []string // what follows these
}

// mostCommand is how much of a command line is looked at.
const mostCommand = 16 << 10

// programs returns the programs of a command line whose output shows, in their
// order: of a pipe the last, or what comes before programs that only pass on;
// none that print nothing.
func programs(command string) []program {
	if len(command) > mostCommand {
		command = command[:mostCommand]
	}
	return programsIn(command, 4)
}

// programsIn looks into the scripts of shells, depth deep.
func programsIn(command string, depth int) []program {
	var shown []program
	var pipe []program // the programs of the present pipe
	flush := func() {
		if p, ok := speaker(pipe); ok {
			shown = append(shown, p)
		}
		pipe = nil
	}
	for _, c := range shellwords.Parse(command) {
		words := seeThrough(shellwords.Program(c))
		script, ok := shellwords.Script(words, c.Stdin)
		switch {
		case c.Quiet || len(words) == 0:
			pipe = append(pipe, program{})
		case ok && depth > 0:
			inner := programsIn(script, depth-1)
			if len(inner) > 0 { // before a pipe, only the last can be told apart
				shown = append(shown, inner[:len(inner)-1]...)
				pipe = append(pipe, inner[len(inner)-1])
			}
		default:
			pipe = append(pipe, called(words))
		}
		if c.Op != "|" && c.Op != "|&" {
			flush()
		}
	}
	flush()
	return shown
}

// speaker is the program of a pipe whose words show.
func speaker(pipe []program) (program, bool) {
	for i := len(pipe) - 1; i >= 0; i-- {
		p := pipe[i]
		if i > 0 && slices.Contains(passers, p.name) {
			continue
		}
		return p, p.name != "" && !slices.Contains(silent, p.name)
	}
	return program{}, false
}

// passers are programs that pass on what they read, or some lines of it.
var passers = []string{"cat", "tee", "less", "more", "head", "tail", "sort", "uniq", "tac", "sed", "ts", "column", "ccze", "bat", "fold", "iconv", "pv", "unbuffer"}

// silent are programs whose output, if any, says nothing of what follows.
var silent = []string{
	"cd", "pushd", "popd", "export", "unset", "set", "source", ".", "true", "false", ":", "echo", "printf", "sleep", "clear", "mkdir", "touch", "rm", "cp",
	"mv", "ln", "chmod", "chown", "alias", "shopt", "trap", "wait", "exit", "test", "[", "[[", "read", "local", "declare", "umask", "ulimit", "module", "nvm",
	"conda", "fi", "done", "esac", "}", "for", "case", "function", "return", "break", "continue", "stty", "tput", "date", "which", "pwd",
}

// called names a program and its subcommand.
func called(words []string) program {
	p := program{name: base(words[0]), args: words[1:]}
	if p.name == "python" || p.name == "py" {
		if i := slices.Index(p.args, "-m"); i >= 0 && i+1 < len(p.args) && options(p.args[:i], "") == i {
			return called(p.args[i+1:])
		}
	}
	values, has := parents[p.name]
	if !has {
		return p
	}
	n := options(p.args, values)
	if n < len(p.args) {
		p.sub, p.args = p.args[n], p.args[n+1:]
	}
	if p.name == "docker" && p.sub == "compose" {
		return called(append([]string{"docker-compose"}, p.args...))
	}
	return p
}

// parents are programs with subcommands, and those of their own options that
// take a value.
var parents = map[string]string{
	"git": "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix", "go": "-C", "cargo": "--color --config -Z -C", "make": "-C -f -j -I",
	"docker": "-H --host --context -c --config -l --log-level", "podman": "-H --log-level --connection -c", "nerdctl": "-n --namespace -H --host",
	"docker-compose": "-f --file -p --project-name --profile --env-file", "kubectl": "-n --namespace --context --kubeconfig -s --server --cluster --user",
	"oc": "-n --namespace --context", "helm": "-n --namespace --kube-context", "npm": "--prefix -w --workspace -C --loglevel", "pnpm": "-C --dir --filter -F",
	"yarn": "--cwd", "bun": "--cwd", "pip": "--log --proxy", "uv": "--directory --project --cache-dir", "poetry": "-C --directory", "apt": "-o -c", "apt-get": "-o -c",
	"systemctl": "-H --host -M --machine", "ip": "", "ruff": "--config", "node": "", "dotnet": "", "gradle": "", "mvn": "", "brew": "", "dnf": "", "yum": "", "apk": "", "terraform": "",
}

// options is how many of the first words are options and their values.
func options(words []string, values string) int {
	n := 0
	for n < len(words) && len(words[n]) > 1 && (words[n][0] == '-' || words[n][0] == '+') {
		if words[n] == "--" {
			return n + 1
		}
		if values != "" && slices.Contains(strings.Fields(values), words[n]) {
			n++
		}
		n++
	}
	return min(n, len(words))
}

// base is a program's name: without folder, version and Windows ending.
func base(word string) string {
	name := strings.TrimSuffix(shellwords.Base(word), ".exe")
	for _, versioned := range []string{"python", "pip"} {
		if rest, ok := strings.CutPrefix(name, versioned); ok && strings.Trim(rest, "0123456789.") == "" {
			return versioned
		}
	}
	return name
}

// runner is a program that runs another: after its subcommand, if it has one,
// options, and a number of words of its own.
type runner struct {
	name, sub string
	values    string // its options that take a value
	skip      int
}

var runners = []runner{
	{name: "npx", values: "-p --package -c"},
	{name: "bunx"},
	{name: "uvx", values: "--from --with --python -p"},
	{name: "pipx", sub: "run", values: "--spec"},
	{name: "npm", sub: "exec"},
	{name: "npm", sub: "x"},
	{name: "pnpm", sub: "exec"},
	{name: "pnpm", sub: "dlx"},
	{name: "yarn", sub: "exec"},
	{name: "yarn", sub: "dlx"},
	{name: "bundle", sub: "exec"},
	{name: "uv", sub: "run", values: "--with --python -p --extra --group --env-file --directory --project --with-requirements"},
	{name: "poetry", sub: "run"},
	{name: "pdm", sub: "run"},
	{name: "rye", sub: "run"},
	{name: "hatch", sub: "run"},
	{name: "pipenv", sub: "run"},
	{name: "pixi", sub: "run", values: "-e --environment"},
	{name: "conda", sub: "run", values: "-n --name -p --prefix"},
	{name: "mise", sub: "exec"},
	{name: "direnv", sub: "exec", skip: 1},
	{name: "docker", sub: "exec", values: dockerValues, skip: 1},
	{name: "docker", sub: "run", values: dockerValues, skip: 1},
	{name: "podman", sub: "exec", values: dockerValues, skip: 1},
	{name: "podman", sub: "run", values: dockerValues, skip: 1},
	{name: "docker-compose", sub: "exec", values: dockerValues, skip: 1},
	{name: "docker-compose", sub: "run", values: dockerValues, skip: 1},
	{name: "kubectl", sub: "exec", values: "-c --container -n --namespace", skip: 1},
	{name: "chroot", skip: 1},
	{name: "watch", values: "-n --interval"},
	{name: "caffeinate"},
	{name: "faketime", skip: 1},
	{name: "rlwrap"},
	{name: "winpty"},
	{name: "systemd-run", values: "-p -u --unit --property"},
}

const dockerValues = "-e --env -u --user -w --workdir -v --volume -p --publish --name --network --env-file --entrypoint --mount -m --memory --cpus --platform --index -h --hostname -l --label"

// seeThrough takes the programs that run another off the front of a command.
func seeThrough(words []string) []string {
	for range 8 { // as deep as anybody nests them
		inner, ok := carried(words)
		if !ok {
			return words
		}
		words = shellwords.Program(shellwords.Simple{Words: inner})
	}
	return words
}

// carried is the command that a runner runs.
func carried(words []string) ([]string, bool) {
	if len(words) == 0 {
		return nil, false
	}
	p := called(words)
	for _, r := range runners {
		if r.name != p.name {
			continue
		}
		rest := p.args
		if r.sub != p.sub && r.sub != "" {
			if p.sub != "" || len(rest) == 0 || rest[0] != r.sub {
				continue
			}
			rest = rest[1:]
		}
		rest = rest[options(rest, r.values):]
		if len(rest) < r.skip {
			return nil, false
		}
		rest = rest[r.skip:]
		if len(rest) > 0 && rest[0] == "--" {
			rest = rest[1:]
		}
		return rest, len(rest) > 0
	}
	return nil, false
}
