package tmux

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"termpilot/private"
)

var (
	errHangs = errors.New("the tmux program does not come to an end")
	errOld   = errors.New("this tmux is too old")
)

// versions remembers what each tmux program said of itself, by path.
var versions sync.Map

// versionOf asks a tmux program for its version.
func (b *Backend) versionOf(ctx context.Context, program string) (version, error) {
	if v, ok := versions.Load(program); ok {
		return v.(version), nil
	}
	out, err := b.once(ctx, program, "-V")
	if err != nil {
		return version{}, err
	}
	v := parseVersion(out)
	if v.old() {
		return v, fmt.Errorf("%w: %s", errOld, v.text)
	}
	versions.Store(program, v)
	return v, nil
}

// lastWait is for the last of what tmux said, which takes a busy machine some
// time. It is waited for after the deadline, too: a server that hangs has a copy
// of the output's end.
const lastWait = 400 * time.Millisecond

// once runs tmux for one answer: only while a link is made.
func (b *Backend) once(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, b.o.Deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = environment(b.o.Env), "/", lastWait
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err := cmd.Run()
	if ctx.Err() != nil {
		if args[0] == "-V" {
			return "", errHangs
		}
		return "", errSilent
	}
	if err != nil {
		if said := oneLine(errs.String()); said != "" {
			return "", fmt.Errorf("%s", said)
		}
		return "", err
	}
	return out.String(), nil
}

// home is a session that a connection can attach to.
type home struct {
	id       string
	activity int64
	fragile  bool // it is destroyed when nobody is attached to it
	exits    bool // the server ends when nobody is attached to anything
}

// doomed reports whether only our connections keep the session alive.
func (h home) doomed(who clients) bool {
	return h.fragile && who.attached[h.id] == 0 || h.exits && len(who.attached) == 0
}

// identityFormat tells a server apart from every other, and its sessions.
const identityFormat = "#{pid} #{start_time} #{session_id} #{session_activity} #{destroy-unattached} #{exit-unattached} #{?session_group_size,#{session_group_size},0} #{version}"

// dial makes a link to the server: one connection for commands, and one for
// each session that listens. Attaching counts as activity, so it is done in the
// order of the sessions' own, which so stays.
func (b *Backend) dial(ctx context.Context, epoch int, start bool) (*link, error) {
	program, err := b.program()
	if err != nil {
		return nil, err
	}
	v, err := b.versionOf(ctx, program)
	if err != nil {
		return nil, err
	}
	err = running(ctx, b.socket)
	var fresh string
	if err != nil {
		if !start || errors.Is(err, errAlien) {
			return nil, err
		}
		if fresh, err = b.launch(ctx, program); err != nil {
			return nil, err
		}
	}
	out, err := b.once(ctx, program, "-S", b.socket, "list-sessions", "-F", identityFormat)
	if err != nil {
		if gone := running(ctx, b.socket); gone != nil {
			return nil, gone // it has just ended
		}
		return nil, err
	}
	l := &link{
		b: b, program: program, version: v, epoch: epoch, fresh: fresh,
		panes: map[int]*pane{}, listeners: map[string]*listener{}, cleared: map[int]bool{},
		dirty: make(chan struct{}, 1), done: make(chan struct{}), closed: make(chan struct{}),
	}
	homes, err := l.identify(out)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(homes, func(a, b home) int { return int(min(1, max(-1, a.activity-b.activity))) })
	l.homes = homes
	if _, err := l.main(ctx); err != nil {
		return nil, err
	}
	if err := l.refresh(ctx); err != nil {
		l.close(err)
		return nil, err
	}
	l.run(l.keep)
	return l, nil
}

// launch starts a server with a session that only keeps it alive until the
// first real one is there. It returns the id of that session.
func (b *Backend) launch(ctx context.Context, program string) (string, error) {
	if dir := filepath.Dir(b.socket); filepath.Base(dir) == serverFolder() { // tmux makes it itself, but not when it is given a path
		if err := private.Folder(dir); err != nil {
			return "", err
		}
	}
	out, err := b.once(ctx, program, "-u", "-S", b.socket, "new-session", "-d", "-P", "-F", "#{session_id}", idle)
	return strings.TrimSpace(out), err
}

// identify reads the answer to identityFormat.
func (l *link) identify(out string) ([]home, error) {
	var homes []home
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		f := strings.SplitN(line, " ", 8)
		if len(f) < 8 {
			return nil, unread(line)
		}
		pid, err := strconv.Atoi(f[0])
		if err != nil {
			return nil, unread(line)
		}
		activity, _ := strconv.ParseInt(f[3], 10, 64)
		l.pid = pid
		sum := sha256.Sum256([]byte(l.b.socket + "\x00" + f[0] + "\x00" + f[1]))
		l.identity = hex.EncodeToString(sum[:6])
		if v := parseVersion(f[7]); v.n != 9999 || l.version.n == 9999 {
			l.version = v // the server's own
		}
		homes = append(homes, home{id: f[2], activity: activity, fragile: passing(f[4], f[6]), exits: isOn(f[5])})
	}
	if len(homes) == 0 {
		return nil, errors.New("the tmux server has no session")
	}
	return homes, nil
}

// passing reports whether tmux destroys a session when nobody is attached to it,
// by its option for that and the size of its group.
func passing(unattached, group string) bool {
	switch unattached {
	case "keep-last":
		return group != "" && group != "0" && group != "1"
	case "keep-group":
		return group != "1"
	}
	return isOn(unattached)
}

// isOn reads an option that can be off.
func isOn(value string) bool { return value != "" && value != "off" && value != "0" }

// main returns the connection that takes commands, attached to any session
// that nobody's leaving would destroy, if there is one.
func (l *link) main(ctx context.Context) (*conn, error) {
	l.mainMu.Lock()
	defer l.mainMu.Unlock()
	if l.command != nil && !l.command.isLost() {
		return l.command, nil
	}
	if l.isLost() {
		return nil, errLost
	}
	if l.command != nil {
		l.b.part(l.command)
		l.command = nil
		if err := running(ctx, l.b.socket); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	homes := slices.Clone(l.homes)
	l.mu.Unlock()
	slices.SortStableFunc(homes, func(a, b home) int { return boolInt(a.fragile || a.exits) - boolInt(b.fragile || b.exits) })
	var last error
	for _, h := range homes {
		c, err := l.connect(ctx, h.id, false, func(n note) { l.noted(nil, n) })
		if err == nil {
			l.command = c
			return c, nil
		}
		last = err
		if errors.Is(err, errSilent) {
			break
		}
	}
	if last == nil {
		last = errLost
	}
	return nil, last
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// part closes a connection, and returns when tmux has told everybody.
func (b *Backend) part(c *conn) {
	_ = b.calm.Lock(context.Background()) // it is to go in any case
	defer b.calm.Unlock()
	c.close()
}

// connect makes one connection, attached to a session.
func (l *link) connect(ctx context.Context, session string, listens bool, told func(note)) (*conn, error) {
	ctx, cancel := l.b.limited(ctx)
	defer cancel()
	if err := l.b.calm.Lock(ctx); err != nil {
		return nil, err
	}
	defer l.b.calm.Unlock()
	args := slices.Concat(l.version.flags(), []string{"-S", l.b.socket}, l.version.attach(session, listens))
	c, err := connect(ctx, l.program, !l.version.marksOwn(), args, little(l.b.o.Env), told)
	if err != nil {
		return nil, err
	}
	if !listens {
		for _, line := range l.version.settle() {
			c.post(&call{}, line)
		}
	}
	return c, nil
}
