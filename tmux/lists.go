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
	fragile                                bool // its session would be destroyed when nobody is attached
	activity                               int64
	tty, name, title, folder, exit, signal string
}

// paneFormat tells a pane in one line. The words of people and programs come
// last, with blanks and the like escaped.
const paneFormat = "P #{pane_id} #{pane_pid} #{pane_width} #{pane_height} #{session_id} #{window_id} " +
	"#{pane_dead} #{&&:#{pane_active},#{window_active}} #{pane_in_mode} #{pane_synchronized} #{pane_input_off} " +
	"#{destroy-unattached} #{exit-unattached} #{session_activity} #{pane_dead_status} #{pane_dead_signal} " +
	"#{?#{==:#{pane_start_command}," + idle + "},2,#{?@termpilot_opened,1,0}} #{q:pane_tty} #{q:@termpilot_name} #{q:pane_path} #{q:pane_title}"

const paneWords = 22

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
		fragile: isOn(f[12]) || isOn(f[13]), exit: f[15], signal: f[16], opened: f[17] == "1", idle: f[17] == "2", tty: f[18], name: f[19], folder: f[20], title: f[21],
	}
	p.activity, _ = strconv.ParseInt(f[14], 10, 64)
	ok = known && err == nil && len(p.session) > 1 && p.session[0] == '$' && len(p.window) > 1 && p.window[0] == '@'
	return p, ok
}

// parseLists reads the answers that tell panes and clients. A pane whose window
// stands in several sessions counts where it is listed first.
func parseLists(answers []answer) ([]listed, clients) {
	var panes []listed
	seen := map[int]bool{}
	who := clients{attached: map[string]int{}}
	var latest int64 = -1
	for _, a := range answers {
		for _, raw := range a.lines {
			line := string(raw)
			if p, ok := parsePane(line); ok {
				if !seen[p.pane] {
					seen[p.pane] = true
					panes = append(panes, p)
				}
				continue
			}
			f := strings.Fields(line)
			if len(f) != 4 || f[0] != "C" || f[1] == "1" {
				continue
			}
			who.attached[f[2]]++
			if at, err := strconv.ParseInt(f[3], 10, 64); err == nil && at > latest {
				latest, who.newest = at, f[2]
			}
		}
	}
	return panes, who
}

// refresh reads the lists: new panes are listened to, vanished ones have ended.
func (l *link) refresh(ctx context.Context) error {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	return l.reread(ctx)
}

// fresh is how long the lists are believed when tmux tells of no change: it does
// not tell all, such as which client a person used last.
const fresh = time.Second

// update is refresh when the lists may have changed.
func (l *link) update(ctx context.Context) error {
	l.mu.Lock()
	current := l.known == l.changes.Load() && time.Since(l.read) < fresh && l.lost == nil
	l.mu.Unlock()
	if current {
		return nil
	}
	return l.refresh(ctx)
}

// reread is refresh for a caller that holds refreshing.
func (l *link) reread(ctx context.Context) error {
	changes := l.changes.Load()
	answers, err := l.do(ctx, "list-panes -a -F "+quote(paneFormat)+" ; list-clients -F "+quote(clientFormat))
	if err != nil {
		return err
	}
	panes, who := parseLists(answers)
	l.take(ctx, panes, who)
	l.mu.Lock()
	l.known, l.read = changes, time.Now()
	l.mu.Unlock()
	return nil
}

// take brings what is known in line with the lists.
func (l *link) take(ctx context.Context, panes []listed, who clients) {
	var homes []home
	for _, p := range panes {
		if !slices.ContainsFunc(homes, func(h home) bool { return h.id == p.session }) {
			homes = append(homes, home{id: p.session, activity: p.activity, fragile: p.fragile})
		}
	}
	l.leaveFragile(homes, who)

	now := map[int]*pane{}
	var order, gone []*pane
	l.mu.Lock()
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
	l.mu.Unlock()
	for _, p := range gone {
		l.gone(ctx, p, panes)
	}
	l.hearAll(ctx, homes, who)
}

// leaveFragile lets go of the sessions that only our listening keeps alive.
func (l *link) leaveFragile(homes []home, who clients) {
	l.mu.Lock()
	var leave []*conn
	for _, h := range homes {
		if at := l.listeners[h.id]; h.fragile && who.attached[h.id] == 0 && at != nil && at.conn != nil {
			leave = append(leave, at.conn)
			delete(l.listeners, h.id)
		}
	}
	l.mu.Unlock()
	for _, c := range leave {
		c.close()
	}
}

// hearAll listens to every session whose panes nobody listens to yet, in the
// order of their activity.
func (l *link) hearAll(ctx context.Context, homes []home, who clients) {
	slices.SortStableFunc(homes, func(a, b home) int { return int(min(1, max(-1, a.activity-b.activity))) })
	for _, h := range homes {
		if h.fragile && who.attached[h.id] == 0 {
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
			h.conn.post(last, "display-message -p ''")
		}
		select {
		case <-last.done: // or it has ended, and then all was read
		case <-ctx.Done():
		}
	}
	switch {
	case dead && ours:
		l.post("kill-pane -t " + p.target())
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
	l.wg.Go(func() {
		select {
		case <-l.done:
		case <-time.After(clearing): // the other process has no way to say that it is done
			l.post(fmt.Sprintf("if-shell -F -t %%%d '#{pane_dead}' 'kill-pane -t %%%d'", number, number))
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

// post hands in a command whose answer does not matter.
func (l *link) post(line string) {
	l.mainMu.Lock()
	c := l.command
	l.mainMu.Unlock()
	if c != nil {
		c.post(&call{}, line)
	}
}

// current says where the keyboard is: the active pane of the session that the
// client which was used last shows.
func (w clients) current(p listed) bool { return p.active && p.session == w.newest }
