package tmux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termpilot/terminal"
)

// listed is what tmux tells of a pane.
type listed struct {
	pane, pid, columns, rows               int
	session, window                        string
	dead, active, inMode, shared, noInput  bool
	opened                                 bool // by us, or by another process of ours
	idle                                   bool // its program is yet to be started, by us or by another process of ours
	fragile, exits                         bool // as of its session
	activity                               int64
	tty, name, title, folder, exit, signal string
	where                                  string // what people call its session and window
}

// paneFormat tells a pane in one line. The words of people and programs come
// last, with blanks and the like escaped.
const paneFormat = "P #{pane_id} #{pane_pid} #{pane_width} #{pane_height} #{session_id} #{window_id} " +
	"#{pane_dead} #{&&:#{pane_active},#{window_active}} #{pane_in_mode} #{pane_synchronized} #{pane_input_off} " +
	"#{destroy-unattached} #{exit-unattached} #{session_activity} #{?session_group_size,#{session_group_size},0} #{pane_dead_status} #{pane_dead_signal} " +
	"#{?#{==:#{pane_start_command}," + idle + "},2,#{?@termpilot_opened,1,0}} #{q:pane_tty} #{q:@termpilot_name} #{q:pane_path} #{q:session_name}:#{q:window_name} #{q:pane_title}"

const paneWords = 24

// clientFormat tells a client.
const clientFormat = "C #{client_control_mode} #{session_id} #{client_activity}"

// clients says who looks at which session. Connections in control mode do not count.
type clients struct {
	attached map[string]int
	newest   string // the session of the client that was used last
}

// parsePane reads a line in paneFormat.
func parsePane(line string) (p listed, ok bool) {
	f := fields(line)
	if len(f) != paneWords || f[0] != "P" {
		return p, false
	}
	var err error
	number := func(s string) int {
		n, e := strconv.Atoi(s)
		if e != nil {
			err = e
		}
		return n
	}
	pane, known := paneNumber([]byte(f[1]))
	p = listed{
		pane: pane, pid: number(f[2]), columns: number(f[3]), rows: number(f[4]), session: f[5], window: f[6],
		dead: f[7] == "1", active: f[8] == "1", inMode: f[9] != "0" && f[9] != "", shared: f[10] == "1", noInput: f[11] == "1",
		fragile: passing(f[12], f[15]), exits: isOn(f[13]), exit: f[16], signal: f[17], opened: f[18] == "1", idle: f[18] == "2", tty: f[19], name: f[20], folder: f[21], where: f[22], title: f[23],
	}
	p.activity, _ = strconv.ParseInt(f[14], 10, 64)
	ok = known && err == nil && len(p.session) > 1 && p.session[0] == '$' && len(p.window) > 1 && p.window[0] == '@'
	return p, ok
}

// parseLists reads the answers that tell panes and clients. A pane whose window
// stands in several sessions counts where it is listed first. All of it is read or
// none: what is not listed has ended.
func parseLists(answers []answer) ([]listed, clients, error) {
	who := clients{attached: map[string]int{}}
	if len(answers) != 2 {
		return nil, who, errSpeech
	}
	records, err := answers[0].records("P ")
	if err != nil {
		return nil, who, err
	}
	var panes []listed
	seen := map[int]bool{}
	for _, line := range records {
		p, ok := parsePane(line)
		if !ok {
			return nil, who, unread(line)
		}
		if !seen[p.pane] {
			seen[p.pane] = true
			panes = append(panes, p)
		}
	}
	var latest int64 = -1
	for _, raw := range answers[1].lines {
		line := string(raw)
		f := strings.Split(line, " ")
		if len(f) != 4 || f[0] != "C" {
			return nil, who, unread(line)
		}
		at, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return nil, who, unread(line)
		}
		if f[1] == "1" {
			continue
		}
		who.attached[f[2]]++
		if at > latest {
			latest, who.newest = at, f[2]
		}
	}
	return panes, who, nil
}

// records puts the lines of a list together whose records may hold text of several
// lines. Each begins with the same word: in such text tmux puts a backslash before
// the blank.
func (a answer) records(word string) ([]string, error) {
	var list []string
	for _, raw := range a.lines {
		switch line := string(raw); {
		case strings.HasPrefix(line, word):
			list = append(list, line)
		case len(list) == 0:
			return nil, unread(line)
		default:
			list[len(list)-1] += "\n" + line
		}
	}
	return list, nil
}

// unread is the error for a line of tmux's that is not in the form that was asked for.
func unread(line string) error { return fmt.Errorf("%w: %q", errUnread, oneLine(line)) }

// refresh reads the lists: new panes are listened to, vanished ones have ended.
// What is known afterwards is no older than the call. tmux tells of no change in
// time, and of some not at all, so they are read for each caller, unless another
// one's reading has begun since it came.
func (l *link) refresh(ctx context.Context) error {
	before := l.readings.Load()
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	if l.readings.Load() > before && l.readErr == nil && !l.isLost() {
		return nil
	}
	return l.reread(ctx)
}

// reread is refresh for a caller that holds refreshing.
func (l *link) reread(ctx context.Context) error {
	l.readings.Add(1)
	answers, err := l.do(ctx, "list-panes -a -F "+quote(paneFormat)+" ; list-clients -F "+quote(clientFormat))
	if err == nil {
		err = l.take(ctx, answers)
	}
	l.readErr = err
	return err
}

// take brings what is known in line with the lists.
func (l *link) take(ctx context.Context, answers []answer) error {
	panes, who, err := parseLists(answers)
	if err != nil {
		return err
	}
	var homes []home
	for _, p := range panes {
		if !slices.ContainsFunc(homes, func(h home) bool { return h.id == p.session }) {
			homes = append(homes, home{id: p.session, activity: p.activity, fragile: p.fragile, exits: p.exits})
		}
	}
	l.leaveFragile(ctx, homes, who)
	for _, p := range l.match(homes, panes, who) {
		l.gone(ctx, p, panes)
	}
	l.hearAll(ctx, homes, who)
	return nil
}

// match takes over what is listed, and returns the panes that are not there any more.
func (l *link) match(homes []home, panes []listed, who clients) (gone []*pane) {
	now := map[int]*pane{}
	var order []*pane
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil { // and all panes are told so already
		return nil
	}
	l.homes, l.clients = homes, who
	for _, seen := range panes {
		p := l.panes[seen.pane]
		switch {
		case p != nil && p.same(seen):
		case seen.dead: // it ended before we came
			if seen.opened {
				l.clear(seen.pane)
			}
			continue
		case seen.idle && !l.opens(seen.pane): // it gets its process, and so its id, later
			continue
		default:
			p = l.newPane(seen)
		}
		if p.place(seen, who) {
			now[seen.pane] = p
			order = append(order, p)
		}
	}
	for number, p := range l.panes {
		if now[number] != p {
			gone = append(gone, p)
		}
	}
	l.panes, l.order = now, order
	return gone
}

// leaveFragile lets go of the sessions that only our connections keep alive.
//
// While a client leaves a session, tmux counts it no more but still looks at its
// session. When tmux destroys that in between, because another client happens to
// end, some versions (3.3a for one) crash, and all of the user's sessions are
// gone. So a connection first moves to a session that stays, which tmux does in
// one step, and leaves from there.
func (l *link) leaveFragile(ctx context.Context, homes []home, who clients) {
	doomed := map[string]bool{}
	var stays home
	for _, h := range homes {
		doomed[h.id] = h.doomed(who)
		if !doomed[h.id] && (stays.id == "" || h.activity > stays.activity) { // it stays the most active
			stays = h
		}
	}
	move := func(c *conn) {
		if stays.id != "" && doomed[c.at()] {
			_, _ = c.do(ctx, "switch-client -E -t "+quote(stays.id)) // where it fails, the connection or the session is gone
		}
	}
	if c := l.present(); c != nil && doomed[c.at()] {
		if move(c); stays.id == "" {
			l.b.part(c)
		}
	}
	var leave []*conn
	l.mu.Lock()
	for session, h := range l.listeners {
		if h.conn == nil {
			continue
		}
		if at := h.conn.at(); doomed[at] || at != "" && at != session { // or tmux has moved it
			leave = append(leave, h.conn)
			delete(l.listeners, session)
		}
	}
	l.mu.Unlock()
	for _, c := range leave {
		move(c)
		l.b.part(c)
	}
}

// hearAll listens to every session whose panes nobody listens to yet, in the
// order of their activity.
func (l *link) hearAll(ctx context.Context, homes []home, who clients) {
	slices.SortStableFunc(homes, func(a, b home) int { return int(min(1, max(-1, a.activity-b.activity))) })
	for _, h := range homes {
		if h.doomed(who) {
			continue
		}
		var deaf []*pane
		l.mu.Lock()
		for _, p := range l.order {
			if p.session() == h.id && !p.heard() {
				deaf = append(deaf, p)
			}
		}
		l.mu.Unlock()
		if len(deaf) == 0 {
			continue
		}
		at := l.listen(ctx, h.id)
		if at == nil {
			continue
		}
		for _, p := range deaf {
			if !at.adopt(p) {
				l.seed(at, p)
			}
		}
	}
}

// gone tells the end of a pane that is not listed any more, or is dead, after
// what it still printed: that comes on another connection than the lists.
func (l *link) gone(ctx context.Context, p *pane, panes []listed) {
	p.mu.Lock()
	h, ours, opened := p.listener, p.ours, p.seen.opened
	p.mu.Unlock()
	exit := terminal.Exit{At: time.Now()}
	dead := false
	for _, seen := range panes {
		if seen.pane == p.number && seen.dead {
			dead = true
			exit.Code, exit.Signal = seen.ending()
		}
	}
	if h != nil && h.conn != nil {
		var last *call
		if dead && ours {
			last = l.picture(h.conn, p, p.lastWords)
		} else {
			last = &call{}
			h.conn.post(last, nothing)
		}
		select {
		case <-last.done: // or it has ended, and then all was read
		case <-ctx.Done():
		}
	}
	switch {
	case dead && ours:
		l.remove("kill-pane -t " + p.target())
	case dead && opened:
		l.clear(p.number)
	}
	p.end(exit)
	l.b.bury(p)
}

// clearing is how long a dead pane stays that another process of ours opened:
// that one may want to read it.
const clearing = 3 * time.Second

// clear closes such a pane after a while. refreshing is held.
func (l *link) clear(number int) {
	if l.cleared[number] {
		return
	}
	l.cleared[number] = true
	l.run(func() {
		select {
		case <-l.done:
		case <-time.After(clearing): // the other process has no way to say that it is done
			l.remove(fmt.Sprintf("if-shell -F -t %%%d '#{pane_dead}' 'kill-pane -t %%%d'", number, number))
		}
	})
}

// ending is how a dead pane's program ended, as far as tmux says.
func (p listed) ending() (code *int, signal string) {
	if n, err := strconv.Atoi(p.exit); err == nil {
		code = &n
	}
	if n, err := strconv.Atoi(p.signal); err == nil {
		signal = unix.SignalName(syscall.Signal(n))
	}
	return code, signal
}

// remove closes something that is ours. Whether it was there does not matter.
func (l *link) remove(line string) {
	ctx, cancel := context.WithTimeout(context.Background(), l.b.o.Deadline)
	defer cancel()
	if _, err := l.alone(ctx, true, line); err != nil {
		l.b.o.Log.Info("tmux did not close what is not used any more", "cause", err.Error())
	}
}

// present is the command connection as it stands; nil is none.
func (l *link) present() *conn {
	l.mainMu.Lock()
	defer l.mainMu.Unlock()
	return l.command
}

// current says where the keyboard is: the active pane of the session that the
// client which was used last shows.
func (w clients) current(p listed) bool { return p.active && p.session == w.newest }
