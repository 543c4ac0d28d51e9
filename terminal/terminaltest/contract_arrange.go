package terminaltest

import (
	"fmt"
	"slices"
	"strings"

	"termpilot/fault"
	"termpilot/terminal"
)

// small is a spec for a session that is to be arranged: a size that can be
// divided, unless sizes are not ours to choose.
func (r *rig) small() terminal.OpenSpec {
	spec := terminal.OpenSpec{Profile: r.can.Profile, Columns: 40, Rows: 12}
	if r.can.FixedSize {
		spec.Columns, spec.Rows = 0, 0
	}
	return spec
}

// now is a session as Sessions lists it.
func (r *rig) now(id terminal.ID) terminal.Session {
	r.Helper()
	s, ok := r.session(id)
	if !ok {
		r.Fatalf("session %s is not listed", id)
	}
	return s
}

func (r *rig) arranger() terminal.Arranger {
	r.Helper()
	a, ok := r.b.(terminal.Arranger)
	if !ok {
		r.Skip("this backend does not arrange sessions")
	}
	return a
}

func placesAreObeyed(r *rig) { // TERM-52
	if r.can.NoPlaces {
		r.Skip("this backend opens windows alone")
	}
	first := r.openSpec(r.small())
	other := r.openSpec(r.small())
	if first.Window == "" || first.Tab == "" || first.Window == other.Window || first.Tab == other.Tab {
		r.Fatalf("two windows: %q tab %q and %q tab %q", first.Window, first.Tab, other.Window, other.Tab)
	}
	spec := r.small()
	spec.Place, spec.Window = terminal.InTab, first.Window
	tab := r.openSpec(spec)
	if tab.Window != first.Window || tab.Tab == "" || tab.Tab == first.Tab || tab.Tab == other.Tab {
		r.Errorf("a tab of window %q beside tab %q is in window %q, tab %q", first.Window, first.Tab, tab.Window, tab.Tab)
	}
	p := r.run(tab.ID, "echo in a tab")
	if got := strings.TrimSpace(r.text(tab.ID, p.Output)); got != "in a tab" {
		r.Errorf("the new tab answers %q", got)
	}
	if now := r.now(first.ID); now.Window != first.Window || now.Tab != first.Tab {
		r.Errorf("the first session moved from %q, %q to %q, %q", first.Window, first.Tab, now.Window, now.Tab)
	}
}

func splitsDivide(r *rig) { // TERM-53
	if r.can.NoPlaces {
		r.Skip("this backend opens windows alone")
	}
	for d, name := range map[terminal.Direction]string{terminal.Right: "right", terminal.Left: "left", terminal.Below: "below", terminal.Above: "above"} {
		before := r.now(r.openSpec(r.small()).ID)
		half := r.now(r.openSpec(terminal.OpenSpec{Profile: r.can.Profile, Place: terminal.InSplit, Beside: before.ID, Direction: d}).ID)
		after := r.now(before.ID)
		if half.Window != before.Window || half.Tab != before.Tab {
			r.Errorf("%s: in window %q, tab %q, not beside its neighbour in %q, %q", name, half.Window, half.Tab, before.Window, before.Tab)
		}
		same, shared, whole := [2]int{half.Rows, after.Rows}, [2]int{half.Columns, after.Columns}, before.Columns
		if d == terminal.Below || d == terminal.Above {
			same, shared, whole = shared, same, before.Rows
		}
		if same[0] != same[1] || shared[0] < 1 || shared[1] < 1 || shared[0]+shared[1] > whole {
			r.Errorf("%s: %dx%d was divided into %dx%d and %dx%d", name, before.Columns, before.Rows, after.Columns, after.Rows, half.Columns, half.Rows)
		}
		list, err := r.b.Sessions(r.ctx())
		r.must(err)
		at := func(id terminal.ID) int {
			return slices.IndexFunc(list, func(s terminal.Session) bool { return s.ID == id })
		}
		first := d == terminal.Left || d == terminal.Above
		if (at(half.ID) < at(before.ID)) != first {
			r.Errorf("%s: it is listed on the other side", name)
		}
	}
}

// current lists the sessions that have the focus.
func (r *rig) current() (ids []terminal.ID) {
	r.Helper()
	list, err := r.b.Sessions(r.ctx())
	r.must(err)
	for _, s := range list {
		if s.Current {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

func (r *rig) focused(what string, want terminal.ID) {
	r.Helper()
	if got := r.current(); !slices.Equal(got, []terminal.ID{want}) {
		r.Errorf("%s: the focus is at %q, want %q", what, got, want)
	}
}

func focusIsKept(r *rig) { // TERM-54
	if r.can.NoFocus {
		r.Skip("this backend tells of no focus")
	}
	spec := r.small()
	spec.Focus = true
	first := r.openSpec(spec)
	r.focused("a window with focus", first.ID)
	r.openSpec(r.small())
	r.focused("a window without", first.ID)
	if _, ok := r.b.(terminal.Arranger); !ok || r.can.NoPlaces {
		return // a terminal that focuses each new pane must be able to give the focus back
	}
	for _, focus := range []bool{false, true} {
		want := first.ID
		for what, spec := range map[string]terminal.OpenSpec{
			"tab":   {Profile: r.can.Profile, Place: terminal.InTab, Window: first.Window, Focus: focus},
			"split": {Profile: r.can.Profile, Place: terminal.InSplit, Beside: first.ID, Focus: focus},
		} {
			s := r.openSpec(spec)
			if focus {
				want = s.ID
			}
			r.focused(fmt.Sprintf("a %s, focus %v", what, focus), want)
		}
	}
}

func focusMoves(r *rig) { // TERM-55
	a := r.arranger()
	if r.can.NoFocus {
		r.Skip("this backend tells of no focus")
	}
	window := r.openSpec(r.small())
	all := []terminal.ID{window.ID, r.openSpec(r.small()).ID}
	if !r.can.NoPlaces {
		for _, spec := range []terminal.OpenSpec{
			{Profile: r.can.Profile, Place: terminal.InTab, Window: window.Window},
			{Profile: r.can.Profile, Place: terminal.InSplit, Beside: window.ID},
		} {
			all = append(all, r.openSpec(spec).ID)
		}
	}
	for range 2 {
		for _, id := range all {
			r.must(a.Focus(r.ctx(), id))
			r.focused("after Focus", id)
		}
	}
	r.must(a.Focus(r.ctx(), all[0]))
	r.must(a.Focus(r.ctx(), all[0]))
	r.focused("after Focus again", all[0])
}

func resizeIsTold(r *rig) { // TERM-56
	a := r.arranger()
	s := r.openSpec(r.small())
	before := r.now(s.ID)
	r.must(a.Resize(r.ctx(), s.ID, 9, 33))
	now := r.now(s.ID)
	if !r.can.FixedSize && (now.Rows != 9 || now.Columns != 33) {
		r.Errorf("asked for 33x9, got %dx%d", now.Columns, now.Rows)
	}
	if screen := r.read(s.ID, terminal.Range{}); screen.Columns != now.Columns || len(screen.Rows) != now.Rows {
		r.Errorf("listed as %dx%d, read as %dx%d", now.Columns, now.Rows, screen.Columns, len(screen.Rows))
	}
	p := r.run(s.ID, "stty size")
	if got, want := strings.TrimSpace(r.text(s.ID, p.Output)), fmt.Sprintf("%d %d", now.Rows, now.Columns); got != want {
		r.Errorf("the program sees %q, listed is %q", got, want)
	}
	for _, bad := range [][2]int{{0, 80}, {24, 0}, {-1, -1}, {1 << 20, 1 << 20}} {
		r.code(fmt.Sprintf("a size of %v", bad), a.Resize(r.ctx(), s.ID, bad[0], bad[1]), fault.InvalidArgument)
	}
	if then := r.now(s.ID); then.Rows != now.Rows || then.Columns != now.Columns {
		r.Errorf("a refused size changed %dx%d to %dx%d", now.Columns, now.Rows, then.Columns, then.Rows)
	}
	if r.now(s.ID).Window != before.Window {
		r.Error("resizing moved the session")
	}
	if r.can.NoPlaces {
		return
	}
	half := r.openSpec(terminal.OpenSpec{Profile: r.can.Profile, Place: terminal.InSplit, Beside: s.ID})
	r.must(a.Resize(r.ctx(), half.ID, 5, 10)) // it gets what its neighbour leaves it, and Sessions tells the truth
	now = r.now(half.ID)
	p = r.run(half.ID, "stty size")
	if got, want := strings.TrimSpace(r.text(half.ID, p.Output)), fmt.Sprintf("%d %d", now.Rows, now.Columns); got != want {
		r.Errorf("in a split the program sees %q, listed is %q", got, want)
	}
}

func renameIsTold(r *rig) { // TERM-57
	a := r.arranger()
	spec := r.small()
	nameless := r.openSpec(spec)
	spec.Name = "first"
	s := r.openSpec(spec)
	if got := r.now(nameless.ID).Name; got != "" {
		r.Errorf("nobody named it, and its name is %q", got)
	}
	r.run(s.ID, `printf '\033]2;a title\007'`)
	title := r.now(s.ID).Title
	for _, name := range []string{"second", "日本 é", strings.Repeat("x", 64), `"quoted" \(x) $HOME`, "", "third"} {
		r.must(a.Rename(r.ctx(), s.ID, name))
		if now := r.now(s.ID); now.Name != name || now.Title != title {
			r.Errorf("after Rename(%q) it has the name %q and the title %q, not %q", name, now.Name, now.Title, title)
		}
	}
	if got := r.now(nameless.ID).Name; got != "" {
		r.Errorf("the other session is now %q", got)
	}
}

func arrangingNamesWhatItDoesNotFind(r *rig) { // TERM-58
	a := r.arranger()
	s := r.openSpec(r.small())
	r.must(r.b.Close(r.ctx(), s.ID, terminal.Force))
	for _, c := range []struct {
		id   terminal.ID
		want fault.Code
	}{{"", fault.SessionNotFound}, {"nosuch", fault.SessionNotFound}, {s.ID[:len(s.ID)-1], fault.SessionNotFound}, {s.ID, fault.SessionEnded}} {
		r.code(fmt.Sprintf("Focus of %q", c.id), a.Focus(r.ctx(), c.id), c.want)
		r.code(fmt.Sprintf("Resize of %q", c.id), a.Resize(r.ctx(), c.id, 9, 33), c.want)
		r.code(fmt.Sprintf("Rename of %q", c.id), a.Rename(r.ctx(), c.id, "x"), c.want)
	}
}

func groupsClose(r *rig) { // TERM-59
	g, ok := r.b.(terminal.GroupCloser)
	if !ok {
		r.Skip("this backend closes sessions alone")
	}
	for _, how := range []terminal.CloseMode{terminal.Hangup, terminal.Force} {
		other := r.openSpec(r.small())
		window := r.openSpec(r.small())
		ofWindow, ofTab := []terminal.ID{window.ID}, []terminal.ID{}
		tab := window
		if !r.can.NoPlaces {
			tab = r.openSpec(terminal.OpenSpec{Profile: r.can.Profile, Place: terminal.InTab, Window: window.Window})
			half := r.openSpec(terminal.OpenSpec{Profile: r.can.Profile, Place: terminal.InSplit, Beside: tab.ID})
			ofTab = []terminal.ID{tab.ID, half.ID}
			r.begin(half.ID, "sleep 60")
		}
		for _, wrong := range []string{"", "nosuch", " " + tab.Tab} {
			r.code(fmt.Sprintf("CloseTab of %q", wrong), g.CloseTab(r.ctx(), wrong, how), fault.TabNotFound)
			r.code(fmt.Sprintf("CloseWindow of %q", wrong), g.CloseWindow(r.ctx(), wrong, how), fault.WindowNotFound)
		}
		if len(ofTab) > 0 {
			r.must(g.CloseTab(r.ctx(), tab.Tab, how))
			r.gone(how, ofTab)
			r.now(window.ID)
			r.code("CloseTab again", g.CloseTab(r.ctx(), tab.Tab, how), fault.TabNotFound)
			more := r.openSpec(terminal.OpenSpec{Profile: r.can.Profile, Place: terminal.InTab, Window: window.Window})
			ofWindow = append(ofWindow, more.ID)
		}
		r.must(g.CloseWindow(r.ctx(), window.Window, how))
		r.gone(how, ofWindow)
		r.code("CloseWindow again", g.CloseWindow(r.ctx(), window.Window, how), fault.WindowNotFound)
		if now := r.now(other.ID); now.Window != other.Window {
			r.Errorf("another window's session moved from %q to %q", other.Window, now.Window)
		}
	}
}

// gone checks that sessions ended and are listed no more.
func (r *rig) gone(how terminal.CloseMode, ids []terminal.ID) {
	r.Helper()
	for _, id := range ids {
		if _, ok := r.session(id); ok {
			r.Errorf("mode %d: %s is still listed", how, id)
		}
		r.code("Send to a session of the group", r.b.Send(r.ctx(), id, []byte("x")), fault.SessionEnded)
	}
}
