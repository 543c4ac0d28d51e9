package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termpilot/fault"
	"termpilot/private"
	"termpilot/shellint"
	"termpilot/terminal"
)

const maxColumns, maxRows = 1000, 1000

// Open starts a session. It alone starts a tmux server, when none runs.
//
// The pane is made with a program that does nothing, so that it is listened to
// and has its options before its own program begins: no output of that, not
// even its death, is missed. remain-on-exit is set on that pane alone.
func (b *Backend) Open(ctx context.Context, spec terminal.OpenSpec) (terminal.Session, error) {
	const op = "open"
	if ctx.Err() != nil {
		return terminal.Session{}, b.explain(op, "", errSilent)
	}
	if err := b.check(spec); err != nil {
		return terminal.Session{}, err
	}
	if home := variable(b.o.Env, "HOME"); spec.Place == terminal.InWindow && spec.Cwd == "" && filepath.IsAbs(home) {
		spec.Cwd = home
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	l, err := b.reach(ctx, spec.Place == terminal.InWindow)
	if err != nil {
		return terminal.Session{}, b.explain(op, "", err)
	}
	p, err := l.open(ctx, spec)
	if err != nil {
		return terminal.Session{}, b.explain(op, "", err)
	}
	if spec.Focus {
		if err := b.Focus(ctx, p.id); err != nil {
			return p.describe(), err
		}
	}
	return p.describe(), nil
}

// check refuses what cannot be opened, before anything is done.
func (b *Backend) check(spec terminal.OpenSpec) error {
	bad := func(code fault.Code, detail, hint string) error {
		return &fault.Error{Op: "open", Code: code, Detail: detail, Hint: hint}
	}
	if spec.Profile != "" && spec.Profile != defaultProfile && b.shell(spec.Profile) == "" {
		return bad(fault.ProfileNotFound, spec.Profile, "call list_profiles and pass one of its names")
	}
	if spec.Cwd != "" {
		if info, err := os.Stat(spec.Cwd); err != nil || !info.IsDir() || !filepath.IsAbs(spec.Cwd) {
			return bad(fault.InvalidArgument, "the working directory does not exist: "+spec.Cwd, "give an existing folder as cwd")
		}
	}
	if spec.Rows < 0 || spec.Columns < 0 || spec.Rows > maxRows || spec.Columns > maxColumns {
		return bad(fault.InvalidArgument, "such a size is not possible", "give at most 1000 rows and columns")
	}
	for name, value := range spec.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return bad(fault.InvalidArgument, "such an environment variable is not possible", "")
		}
	}
	if strings.Contains(spec.Command+spec.Name, "\x00") {
		return bad(fault.InvalidArgument, "there is a NUL in it", "")
	}
	return nil
}

// idle is the program that does nothing. It ends by itself when we do first.
// Nobody else would choose this number, by which other processes of ours know it.
const idle = "sleep 607.25"

// open makes a pane and starts its program.
func (l *link) open(ctx context.Context, spec terminal.OpenSpec) (*pane, error) {
	place, err := l.placeOf(ctx, spec)
	if err != nil {
		return nil, err
	}
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	answers, err := l.alone(ctx, false, place+" -d -P -F 'O #{pane_id}'"+folderArgument(spec.Cwd)+" "+idle)
	if err != nil {
		return nil, err
	}
	number, ok := paneNumber([]byte(strings.TrimPrefix(lastLine(answers), "O ")))
	if !ok {
		return nil, errSpeech
	}
	p, err := l.begin(ctx, number, spec)
	if err != nil {
		l.remove(fmt.Sprintf("kill-pane -t %%%d", number))
		return nil, err
	}
	l.mu.Lock()
	fresh := l.fresh
	l.fresh = ""
	l.mu.Unlock()
	if fresh != "" {
		l.remove("kill-session -t " + quote(fresh))
	}
	return p, nil
}

// placeOf is the command that makes the pane.
func (l *link) placeOf(ctx context.Context, spec terminal.OpenSpec) (string, error) {
	switch spec.Place {
	case terminal.InTab:
		at, panes, err := l.b.group(ctx, "open", func(p *pane) bool { return p.describe().Window == spec.Window })
		if err != nil {
			return "", err
		}
		if len(panes) == 0 || at != l {
			return "", windowNotFound("open", spec.Window)
		}
		return "new-window -t " + quote(bare(spec.Window)+":"), nil
	case terminal.InSplit:
		beside, err := l.b.live(ctx, "open", spec.Beside)
		if err != nil {
			return "", err
		}
		direction := map[terminal.Direction]string{
			terminal.Right: "-h", terminal.Left: "-h -b", terminal.Below: "-v", terminal.Above: "-v -b",
		}[spec.Direction]
		return "split-window " + direction + " -t " + beside.target(), nil
	}
	size := ""
	if spec.Columns > 0 {
		size += fmt.Sprintf(" -x %d", spec.Columns)
	}
	if spec.Rows > 0 {
		size += fmt.Sprintf(" -y %d", spec.Rows)
	}
	return "new-session -E" + size, nil
}

// folderArgument is -c for a folder, in which tmux would replace formats.
func folderArgument(folder string) string {
	if folder == "" {
		return ""
	}
	return " -c " + quote(strings.ReplaceAll(folder, "#", "##"))
}

// begin starts the program in the pane that was made for it. refreshing is held.
func (l *link) begin(ctx context.Context, number int, spec terminal.OpenSpec) (*pane, error) {
	words, nonce, err := l.start(ctx, spec)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	folder := l.folder
	l.folder = ""
	l.mu.Unlock()
	begun := false
	defer func() {
		if !begun && folder != "" {
			_ = os.RemoveAll(folder)
		}
	}()
	at := fmt.Sprintf("-t %%%d", number)
	options := "set-option -p " + at + " remain-on-exit on" + l.version.quietDeath(at)
	if spec.Name != "" {
		options += " ; set-option -p " + at + " @termpilot_name " + quote(spec.Name)
	}
	if _, err := l.do(ctx, options); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.nonceFor = map[int]string{number: nonce}
	l.mu.Unlock()
	if err := l.reread(ctx); err != nil {
		return nil, err
	}
	p := l.pane(number)
	if p == nil {
		return nil, errors.New("the new pane is gone")
	}
	if err := l.sized(ctx, p, spec); err != nil {
		return nil, err
	}
	if err := l.b.awaitPicture(ctx, "open", p); err != nil {
		return nil, err
	}
	answers, err := l.once(ctx, "set-option -p "+at+" @termpilot_opened 1 ; respawn-pane -k "+at+folderArgument(spec.Cwd)+words+" ; display-message -p "+at+" 'O #{pane_pid} #{pane_tty}'")
	if err != nil {
		return nil, err
	}
	var pid int
	var tty string
	if _, err := fmt.Sscanf(lastLine(answers), "O %d %s", &pid, &tty); err != nil {
		return nil, errSpeech
	}
	p.mu.Lock()
	p.pid, p.ours, p.seen.pid, p.seen.tty, p.folder = pid, true, pid, tty, folder
	p.mu.Unlock()
	begun = true
	l.run(func() { l.watchExit(p, pid) })
	return p, nil
}

// sized brings a new pane to its size, as far as its neighbours let it. Some
// versions do not take the size of a new session from a client in control mode.
func (l *link) sized(ctx context.Context, p *pane, spec terminal.OpenSpec) error {
	p.mu.Lock()
	seen := p.seen
	p.mu.Unlock()
	if (spec.Rows == 0 || spec.Rows == seen.rows) && (spec.Columns == 0 || spec.Columns == seen.columns) {
		return nil
	}
	return l.resize(ctx, p, spec.Rows, spec.Columns)
}

// start is the end of the command that starts the session's program: its
// environment and its words. The nonce is that of the shell's marks.
func (l *link) start(ctx context.Context, spec terminal.OpenSpec) (command, nonce string, err error) {
	shell := l.b.shell(spec.Profile)
	if shell == "" {
		if shell, err = l.defaultShell(ctx); err != nil {
			return "", "", err
		}
	}
	var env []string
	for name, value := range spec.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	argv := []string{shell, "-l"}
	switch {
	case spec.Command != "":
		argv = append(argv, "-c", spec.Command)
	case l.b.o.Dir != "":
		argv, env, nonce, err = l.inject(ctx, shell, argv, env)
		if err != nil {
			return "", "", err
		}
	}
	var b strings.Builder
	for _, entry := range env {
		b.WriteString(" -e " + quote(entry))
	}
	b.WriteString(" --")
	for _, word := range argv {
		b.WriteString(" " + quote(word))
	}
	return b.String(), nonce, nil
}

// defaultShell is the shell that tmux itself would start.
func (l *link) defaultShell(ctx context.Context) (string, error) {
	answers, err := l.do(ctx, "show-options -gv default-shell")
	if err != nil {
		return "", err
	}
	if shell := strings.TrimSpace(lastLine(answers)); filepath.IsAbs(shell) {
		return shell, nil
	}
	return "/bin/sh", nil
}

// inject makes the shell print prompt marks with a secret, where it is one that
// can. Its start-up files stay as they are.
func (l *link) inject(ctx context.Context, shell string, argv, env []string) (words, variables []string, nonce string, err error) {
	for _, folder := range []string{filepath.Dir(l.b.o.Dir), l.b.o.Dir} {
		if err := private.Folder(folder); err != nil {
			return nil, nil, "", err
		}
	}
	if err := private.Folder(l.b.o.Dir); err != nil {
		return nil, nil, "", err
	}
	dir, err := os.MkdirTemp(l.b.o.Dir, "s-")
	if err != nil {
		return nil, nil, "", &fault.Error{Op: "open", Code: fault.Storage, Detail: "the shell's folder cannot be made", Err: err}
	}
	known := slices.Clone(env)
	for _, name := range []string{"ENV", "ZDOTDIR", "POSIXLY_CORRECT"} {
		answers, err := l.do(ctx, "show-environment -g "+name)
		if value, ok := strings.CutPrefix(lastLine(answers), name+"="); err == nil && ok {
			known = append(known, name+"="+value)
		}
	}
	nonce = rand.Text()
	words, variables, ok, err := shellint.Inject(shell, dir, nonce, known)
	if err != nil {
		return nil, nil, "", err
	}
	if !ok {
		_ = os.Remove(dir)
		return argv, env, "", nil
	}
	l.mu.Lock()
	l.folder = dir
	l.mu.Unlock()
	return words, variables, nonce, nil
}
