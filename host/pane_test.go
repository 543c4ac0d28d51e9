package host

import (
	"slices"
	"testing"
)

// leaf is a session of a size that a tree can hold, without anything that runs.
func leaf(columns, rows int) *pane {
	return &pane{session: &session{}, size: Size{columns, rows}}
}

func sizes(p *pane) (list []Size) {
	for _, at := range p.places(0, 0) {
		list = append(list, Size{at.w, at.h})
	}
	return list
}

func TestDivisionsAndRemovalsKeepTheTreeWhole(t *testing.T) { // HOST-102
	root := leaf(81, 25)
	a := root.session
	b, c, d, e := &session{}, &session{}, &session{}, &session{}
	for _, step := range []struct {
		beside, fresh    *session
		vertical, before bool
		want             []Size
	}{
		{a, b, true, false, []Size{{40, 25}, {40, 25}}},
		{b, c, false, false, []Size{{40, 25}, {40, 12}, {40, 12}}},
		{a, d, true, true, []Size{{20, 25}, {19, 25}, {40, 12}, {40, 12}}},
		{c, e, true, false, []Size{{20, 25}, {19, 25}, {40, 12}, {20, 12}, {19, 12}}},
	} {
		if !root.split(step.beside, step.fresh, step.vertical, step.before) || !slices.Equal(sizes(root), step.want) || !root.whole() {
			t.Fatalf("got %v, want %v", sizes(root), step.want)
		}
	}
	// Without b, what was right of a row joins that row.
	root.remove(b)
	if want := []Size{{20, 25}, {19, 25}, {20, 25}, {19, 25}}; !slices.Equal(sizes(root), want) || !root.whole() || len(root.parts) != 4 {
		t.Errorf("without b: got %v, want %v", sizes(root), want)
	}
	for _, s := range []*session{d, e, c} {
		root.remove(s)
	}
	if root.session != a || root.size != (Size{81, 25}) {
		t.Errorf("a alone: %v", root.size)
	}
}

func TestWhatIsTooSmallOrTooDeepIsNotDivided(t *testing.T) { // HOST-102
	for _, test := range []struct {
		size     Size
		vertical bool
		want     bool
	}{
		{Size{5, 1}, true, true}, {Size{4, 1}, true, false}, {Size{2, 3}, false, true}, {Size{2, 2}, false, false},
	} {
		p := leaf(test.size.Columns, test.size.Rows)
		if got := p.split(p.session, &session{}, test.vertical, false); got != test.want || !p.whole() {
			t.Errorf("%v, vertical %v: %v", test.size, test.vertical, got)
		}
	}
	root, depth := leaf(21, 21), 1
	last := root.session
	for ; depth < 100; depth++ {
		fresh := &session{}
		if !root.split(last, fresh, depth%2 == 0, false) {
			break
		}
		last = fresh
		next, ok := root.resized(last, Size{21, 21})
		if !ok {
			t.Fatalf("at depth %d it cannot be as large as before", depth)
		}
		root = next
	}
	if depth != maxDepth || !root.whole() {
		t.Errorf("divided %d times", depth)
	}
}

func TestOneSessionsSizeIsFollowedOrRefused(t *testing.T) { // HOST-103
	root := leaf(81, 25)
	a, b, c := root.session, &session{}, &session{}
	root.split(a, b, true, false)
	root.split(b, c, false, false)
	next, ok := root.resized(a, Size{60, 40})
	if want := []Size{{60, 40}, {40, 20}, {40, 19}}; !ok || !slices.Equal(sizes(next), want) {
		t.Errorf("a: %v", sizes(next))
	}
	next, ok = root.resized(c, Size{10, 30})
	if want := []Size{{40, 43}, {10, 12}, {10, 30}}; !ok || !slices.Equal(sizes(next), want) {
		t.Errorf("c: %v", sizes(next))
	}
	if _, ok := root.resized(a, Size{60, 2}); ok {
		t.Error("two rows were given to two sessions and a divider")
	}
	if want := []Size{{40, 25}, {40, 12}, {40, 12}}; !slices.Equal(sizes(root), want) {
		t.Errorf("after a refusal: %v", sizes(root))
	}
}

func TestNeighboursAreWhereTheBorderIsLongest(t *testing.T) { // HOST-121
	root := leaf(81, 25)
	a, b, c := root.session, &session{}, &session{}
	root.split(a, b, true, false)
	root.split(b, c, false, false)
	root, _ = root.resized(b, Size{40, 5})
	for _, test := range []struct {
		from      *session
		direction string
		want      *session
	}{
		{a, "right", c},
		{b, "left", a},
		{c, "left", a},
		{b, "below", c},
		{c, "above", b},
		{a, "left", nil},
		{b, "above", nil},
		{a, "sideways", nil},
	} {
		if got := root.neighbour(test.from, test.direction); got != test.want {
			t.Errorf("%s", test.direction)
		}
	}
}

// FuzzTheLayoutStaysWhole drives the model alone: every byte is a step.
func FuzzTheLayoutStaysWhole(f *testing.F) { // HOST-102, HOST-109, HOST-122
	f.Add([]byte{0, 0, 10, 20, 30, 1, 2, 3, 44, 55, 66, 77})
	f.Add([]byte("\x00\x01\x11\x21\x02\x12\x22\x03\x04\x05\x06\x07\x17\x27\x37\x47"))
	f.Add([]byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
	f.Fuzz(func(t *testing.T, steps []byte) {
		l := newLayout()
		var live []*session
		pick := func(n byte) *session {
			if len(live) == 0 {
				return nil
			}
			return live[int(n)%len(live)]
		}
		for i := 0; i+2 < min(len(steps), 3*400); i += 3 {
			kind, x, y := steps[i]%10, steps[i+1], steps[i+2]
			l.step(kind, x, y, pick(x), pick(y), func(s *session) { live = append(live, s) }, func(s *session) {
				live = slices.DeleteFunc(live, func(o *session) bool { return o == s })
			})
			l.check(t, live)
		}
	})
}

func (l *layout) step(kind, x, y byte, s, other *session, born, dead func(*session)) {
	fresh := &pane{session: &session{}, size: Size{2 + int(x)%200, 1 + int(y)%60}}
	switch {
	case kind == 0 || s == nil:
		w := l.key
		if w == nil || x%2 == 0 {
			w = l.addWindow()
		}
		l.addTab(w, fresh, int(y%5)-1)
		born(fresh.session)
	case kind == 1 || kind == 2:
		if l.split(s, fresh.session, kind == 1, y%2 == 0) {
			born(fresh.session)
		}
	case kind == 3:
		l.remove(s)
		dead(s)
	case kind == 4:
		had := l.current()
		l.moveBeside(s, other, x%2 == 0, y%2 == 0)
		if had != l.current() {
			panic("the focus moved")
		}
	case kind == 5 && l.inTab[s] != nil:
		l.bury(s)
	case kind == 6:
		l.restore(s)
	case kind == 7 && l.inTab[s] != nil:
		if next, ok := l.inTab[s].root.resized(s, fresh.size); ok {
			l.inTab[s].root = next
		}
	case kind == 8 && l.inTab[s] != nil && l.inTab[other] != nil:
		l.moveTab(l.inTab[s], l.inTab[other].window, int(x%3))
	case kind == 9 && l.inTab[s] != nil:
		if y%2 == 0 && l.inTab[s].root.session == nil {
			l.moveOut(s, l.addWindow(), 0)
		} else {
			l.inTab[s].window.reshape(rect{0, 0, int(x) * 40, int(y) * 20})
		}
	}
}

func (l *layout) check(t *testing.T, live []*session) {
	t.Helper()
	seen := map[*session]bool{}
	for _, w := range l.windows {
		if len(w.tabs) == 0 || !slices.Contains(w.tabs, w.selected) || l.bySerial[w.id] != w {
			t.Fatal("an empty window, or one without a selected tab")
		}
		for _, tab := range w.tabs {
			if tab.window != w || !tab.root.whole() || tab.root.leaf(tab.active) == nil {
				t.Fatalf("a broken tab: %v", sizes(tab.root))
			}
			tab.root.each(func(s *session) {
				if seen[s] || l.inTab[s] != tab {
					t.Fatal("a session in two places")
				}
				seen[s] = true
			})
		}
	}
	for _, g := range l.buried {
		if seen[g.session] || l.inTab[g.session] != nil {
			t.Fatal("a session buried and in a tab")
		}
		seen[g.session] = true
	}
	if len(seen) != len(live) || (l.key == nil) != (len(l.windows) == 0) || l.key != nil && l.bySerial[l.key.id] != l.key {
		t.Fatalf("%d of %d sessions have a place", len(seen), len(live))
	}
}
