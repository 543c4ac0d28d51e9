package closing

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"termpilot/lazy"
	"termpilot/process"
	"termpilot/terminal"
)

// Words of Chat.Persistence.
const (
	Saved = "saved" // the chat can be taken up again
	Empty = "empty" // nothing was said in it
)

// The words of Chat.Source, and of Chat.Persistence where nothing is known of it.
const (
	fromRegistration = "registration" // the agent has written down that this process holds this chat
	fromOpenFile     = "open_file"    // this process has the chat's file open
	fromLaunch       = "launch"       // termpilot started it with this chat
	fromArgv         = "argv"         // it was started with this chat, and may hold another by now
	persistUnknown   = "unknown"
)

// agent is how one kind of coding agent is recognised and asked.
type agent struct {
	cli    string
	names  []string // of its program
	script func() *regexp.Regexp
	// find binds a process to its chat by what the agent itself keeps; nil where it
	// keeps nothing that would. The chat comes back without an id when nothing does.
	find func(l look) Chat
	// flags are those after which argv may name the chat that it was started with.
	flags  []string
	resume []string // the command that takes a chat up again, without its id
}

// agents are those that are known. The names of scripts are those of the
// packages that the vendors publish.
var agents = []agent{
	{
		cli: "claude", names: []string{"claude", "claude.exe"}, script: lazy.Regexp(`(^|/)claude(-code)?(/|\.js$|\.exe$|$)`),
		find: findClaude, flags: []string{"--session-id", "--resume", "-r"}, resume: []string{"claude", "--resume"},
	},
	{
		cli: "codex", names: []string{"codex", "codex.exe", "codex-cli"}, script: lazy.Regexp(`(^|/)codex(/|\.js$|$)`),
		find: findCodex, flags: []string{"resume", "--session-id"}, resume: []string{"codex", "resume", "--no-daemon"}, // with its daemon the next process could not be told from it
	},
	{
		cli: "grok", names: []string{"grok"}, script: lazy.Regexp(`(^|/)grok(/|\.js$|$)`),
		find: findGrok, flags: []string{"--session-id", "-s", "--resume"}, resume: []string{"grok", "--resume"},
	},
	{
		cli: "cursor", names: []string{"cursor-agent"}, script: lazy.Regexp(`(^|/)cursor-agent(/|$)`),
		find: findCursor, flags: []string{"--resume"}, resume: []string{"cursor-agent", "--resume"},
	},
	{
		cli: "kiro", names: []string{"kiro-cli", "kiro-cli-chat"}, script: lazy.Regexp(`(^|/)kiro-cli(/|$)`),
		flags: []string{"--resume-id", "--resume"}, resume: []string{"kiro-cli", "chat", "--resume-id"},
	},
	{
		cli: "gemini", names: []string{"gemini"}, script: lazy.Regexp(`(^|/)gemini(-cli)?(/|\.js$|$)`),
		flags: []string{"--resume", "-r"}, resume: []string{"gemini", "--resume"},
	},
	{
		cli: "opencode", names: []string{"opencode"}, script: lazy.Regexp(`(^|/)opencode(-ai)?(/|\.js$|$)`),
		flags: []string{"--session", "-s"}, resume: []string{"opencode", "--session"},
	},
	{
		cli: "copilot", names: []string{"copilot"}, script: lazy.Regexp(`(^|/)@github/copilot(/|$)|(^|/)copilot(\.js)?$`),
		flags: []string{"--resume"}, resume: []string{"copilot", "--resume"},
	},
}

// runners are programs that run an agent's script.
var runners = []string{"node", "nodejs", "bun", "deno", "MainThread"}

// versionName is how a program's file is called that an installer keeps by version.
var versionName = lazy.Regexp(`^[0-9]+(\.[0-9]+)+`)

// waiters are programs that start another one and only wait for it. The names of
// npm's and its like begin with the word.
var waiters = []string{"npm", "npx", "pnpm", "yarn", "bunx", "sudo", "doas", "env", "nice", "time", "script", "caffeinate", "direnv", "mise", "bwrap"}

// waits reports whether a process does nothing after what it started has ended: a
// runner of scripts, a waiter, or a shell that was given one simple command.
func waits(p process.Process) bool {
	name := programName(p.Name)
	first, _, _ := strings.Cut(name, " ")
	if slices.Contains(waiters, first) || slices.Contains(runners, first) {
		return true
	}
	return isShell(name) && len(p.Argv) > 2 && p.Argv[1] == "-c" && !strings.ContainsAny(p.Argv[2], ";&|\n")
}

// recognise returns the agent that a process is, told by its program's name or
// by the script that a runner runs.
func recognise(p process.Process) (agent, bool) {
	name := strings.TrimPrefix(filepath.Base(p.Name), "-")
	if len(p.Argv) > 0 {
		whole := filepath.Base(p.Argv[0])
		if strings.HasPrefix(whole, name) || versionName().MatchString(name) && !versionName().MatchString(whole) {
			name = whole
		} else if versionName().MatchString(name) {
			name = filepath.Base(filepath.Dir(filepath.Dir(p.Argv[0]))) // …/claude/versions/2.1.197
		}
	}
	for _, a := range agents {
		if slices.Contains(a.names, name) {
			return a, true
		}
	}
	if !slices.Contains(runners, name) && !(len(p.Argv) > 0 && slices.Contains(runners, filepath.Base(p.Argv[0]))) {
		return agent{}, false
	}
	for _, word := range p.Argv[min(1, len(p.Argv)):] {
		if strings.HasPrefix(word, "-") {
			continue
		}
		for _, a := range agents {
			if a.script().MatchString(filepath.ToSlash(word)) {
				return a, true
			}
		}
		return agent{}, false // the first word that is no flag is the script
	}
	return agent{}, false
}

// look is one process of an agent, and how to find out more of it.
type look struct {
	agent   agent
	process process.Process
	machine Machine
	home    string
}

// variable is a variable of the process, or of this one where that is not told.
func (l look) variable(name string) string {
	if value, known := l.machine.Variable(l.process.PID, name); known {
		return value
	}
	return os.Getenv(name)
}

// folder is the agent's own folder: where a variable says, else below home.
func (l look) folder(variable, below string) string {
	if dir := l.variable(variable); filepath.IsAbs(dir) {
		return dir
	}
	return l.below(below)
}

// below is a folder in the process's home.
func (l look) below(folder string) string {
	home := l.variable("HOME")
	if !filepath.IsAbs(home) {
		home = l.home
	}
	return filepath.Join(home, folder)
}

// candidate is a process that is an agent by its name, and the chat that it holds.
type candidate struct {
	entry process.Entry
	chat  Chat
}

// findChats finds the agents among a session's processes, and their chats.
func (c *Closer) findChats(v *verdict, table *process.Table) {
	var found []candidate
	home, _ := os.UserHomeDir() // "" finds nothing
	for _, e := range v.census.work {
		full, err := c.machine.Lookup(e.PID)
		if err != nil && !errors.Is(err, process.ErrGone) {
			v.unread = e.PID
		}
		if err != nil || !full.Start.Equal(e.Start) {
			continue
		}
		if a, ok := recognise(full); ok {
			found = append(found, candidate{e, c.chatOf(string(v.seen.ID), look{agent: a, process: full, machine: c.machine, home: home})})
		} else if waits(full) {
			v.wrappers = append(v.wrappers, e.PID)
		}
	}
	for _, one := range found {
		wraps, own := false, false
		for _, other := range found {
			if other.entry.PID == one.entry.PID || other.chat.CLI != one.chat.CLI {
				continue
			}
			wraps = wraps || !one.chat.Verified && other.entry.PGID == one.entry.PGID && slices.Contains(table.Ancestors(other.entry.PID), one.entry.PID)
			own = own || other.chat.Verified && !one.chat.Verified && slices.Contains(table.Ancestors(one.entry.PID), other.entry.PID)
		}
		switch {
		case wraps: // it started the one that holds the chat
			v.wrappers = append(v.wrappers, one.entry.PID)
		case own: // a helper that the agent started under its own name
		default:
			v.agents = append(v.agents, one.entry)
			v.chats = append(v.chats, one.chat)
		}
	}
}

var idShape = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// isChatID reports whether a word may be the id of a chat.
func isChatID(word string) bool {
	return len(word) >= 8 && len(word) <= 128 && idShape().MatchString(word)
}

// chatOf binds one process to its chat by the best evidence there is.
func (c *Closer) chatOf(session string, l look) Chat {
	chat := Chat{}
	if l.agent.find != nil {
		chat = l.agent.find(l)
	}
	chat.CLI, chat.PID = l.agent.cli, l.process.PID
	if chat.Cwd == "" {
		chat.Cwd = l.process.Cwd
	}
	if !isChatID(chat.ChatID) {
		chat.ChatID, chat.Source, chat.Verified = "", "", false
	}
	if chat.ChatID == "" || chat.State == "" || chat.Persistence == "" {
		for _, launched := range c.launched(session) {
			if launched.CLI != chat.CLI || launched.PID != chat.PID {
				continue
			}
			if chat.ChatID == "" && isChatID(launched.ChatID) {
				chat.ChatID, chat.Source, chat.Verified = launched.ChatID, fromLaunch, true
			}
			if chat.ChatID == launched.ChatID {
				chat.State = cmp.Or(chat.State, launched.State)
				chat.Persistence = cmp.Or(chat.Persistence, launched.Persistence)
			}
		}
	}
	chat.State = cmp.Or(chat.State, Unknown)
	chat.Persistence = cmp.Or(chat.Persistence, persistUnknown)
	if chat.ChatID == "" {
		if id := startedWith(l.process.Argv, l.agent.flags); isChatID(id) {
			chat.ChatID, chat.Source = id, fromArgv
		}
	}
	chat.Cwd = terminal.OneLine(chat.Cwd, 1024)
	if chat.ChatID != "" && chat.Persistence != Empty {
		chat.Resume = &Resume{Executable: l.agent.resume[0], Argv: append(slices.Clone(l.agent.resume), chat.ChatID)}
	}
	return chat
}

// startedWith returns the word that follows one of the flags, or "". A word that
// is no flag is a command of the agent's, whose own flags may come in between.
func startedWith(argv, flags []string) string {
	for i, word := range argv {
		for _, flag := range flags {
			next := i + 1
			for !strings.HasPrefix(flag, "-") && next < len(argv) && strings.HasPrefix(argv[next], "-") {
				next++
			}
			if word == flag && next < len(argv) {
				return argv[next]
			}
			if rest, ok := strings.CutPrefix(word, flag+"="); ok && strings.HasPrefix(flag, "--") {
				return rest
			}
		}
	}
	return ""
}

// maxAgentFile is the most bytes of an agent's file that are read.
const maxAgentFile = 1 << 20

// readAgentFile reads the end of a file that an agent keeps: at most
// maxAgentFile bytes of a regular file.
func readAgentFile(path string, tail bool) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("not a regular file"))
	}
	if size := info.Size(); size > maxAgentFile {
		if !tail {
			return nil, errors.New("too large")
		}
		if _, err := f.Seek(size-maxAgentFile, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(f, maxAgentFile))
}

// lastRecord calls take with the records of a JSONL file, the last first, until
// it returns true. A line that is torn, or is just being written, ends it: what it
// would have said is not known.
func lastRecord(path string, take func(line []byte) bool) {
	data, err := readAgentFile(path, true)
	if err != nil {
		return
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	for _, line := range slices.Backward(lines) {
		if !json.Valid([]byte(line)) || take([]byte(line)) {
			return
		}
	}
}

// inEach returns the paths of a file in the folders of a folder: none where that is
// not there. An error when not all of them could be looked into: then a file that is
// not among them may be there.
func inEach(dir, name string) ([]string, error) {
	folders, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, folder := range folders {
		path := filepath.Join(dir, folder.Name(), name)
		switch _, err := os.Stat(path); {
		case err == nil:
			paths = append(paths, path)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return nil, err
		}
	}
	return paths, nil
}
