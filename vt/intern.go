package vt

// A cell has 32 bits for its character and 16 for what is rare in a style.
// What does not fit is kept in two tables and named by index. Both tables are
// bounded: when one is full, what no screen uses any more is swept out.
// The scrollback uses neither table (see packed.go), so a sweep is a walk over
// the screens alone.

const (
	maxClusterBytes = 64      // longer clusters lose their last marks; iTerm2 keeps 20 UTF-16 units
	minClusters     = 4096    // sweeping starts here, however small the screen
	maxExtras       = 1 << 14 // distinct pairs of link and underline colour on the screens
	maxExtraBytes   = 4 << 20 // all links on the screens together
	maxLinkBytes    = 2083    // as VTE's hyperlink document recommends
)

// clusters holds the grapheme clusters of more than one rune.
type clusters struct {
	text  []string
	index map[string]uint32
	limit int // sweep when this many are held
}

// find returns the index of b, or false when it must be added.
func (c *clusters) find(b []byte) (uint32, bool) {
	i, ok := c.index[string(b)]
	return i, ok
}

func (c *clusters) add(s string) uint32 {
	if c.index == nil {
		c.index = make(map[string]uint32)
	}
	if i, ok := c.index[s]; ok {
		return i
	}
	i := uint32(len(c.text))
	c.text = append(c.text, s)
	c.index[s] = i
	return i
}

// extra is the part of a style that few cells have.
type extra struct {
	color Color // of the underline
	link  string
}

// extras holds the extra styles; index 0 is none.
type extras struct {
	list  []extra
	index map[extra]uint32
	bytes int
	limit int // sweep when this many are held
	spare int // additions to refuse before trying another sweep
}

func (e *extras) add(x extra) uint32 {
	if e.index == nil {
		e.index = make(map[extra]uint32)
	}
	i := uint32(len(e.list))
	e.list = append(e.list, x)
	e.index[x] = i
	e.bytes += len(x.link)
	return i
}

// internCluster returns the cell character for the cluster b.
func (t *Terminal) internCluster(b []byte) uint32 {
	if i, ok := t.clusters.find(b); ok {
		return clusterBit | i
	}
	if len(t.clusters.text) >= t.clusters.limit && !t.reflowing {
		t.sweepClusters()
	}
	return clusterBit | t.clusters.add(string(b))
}

// sweepClusters forgets the clusters that no screen shows. The next sweep
// comes only after as many additions as the screens have cells to walk, or
// nearly, so that sweeping costs a constant amount for each addition.
func (t *Terminal) sweepClusters() {
	old := t.clusters.text
	t.clusters.text, t.clusters.index = nil, nil
	keep := func(ch uint32) uint32 {
		if ch&clusterBit == 0 {
			return ch
		}
		return ch&^charMask | t.clusters.add(old[ch&charMask])
	}
	t.eachRow(func(r *row) {
		for i := range r.cells[:r.used] {
			r.cells[i].ch = keep(r.cells[i].ch)
		}
	})
	t.repeat.ch = keep(t.repeat.ch)
	t.clusters.limit = max(minClusters, t.columns*t.rows/4) + 2*len(t.clusters.text)
}

// internExtra returns the index of x, or 0 (no link, no colour) when the
// screens already show as many different ones as are kept.
func (t *Terminal) internExtra(x extra) uint32 {
	e := &t.extras
	if x == (extra{}) {
		return 0
	}
	if i, ok := e.index[x]; ok {
		return i
	}
	full := func() bool { return len(e.list) >= maxExtras || e.bytes+len(x.link) > maxExtraBytes }
	if (len(e.list) >= e.limit || full()) && !t.reflowing {
		if e.spare > 0 {
			e.spare--
			return 0
		}
		t.sweepExtras()
		if full() {
			e.spare = maxExtras / 4
		}
	}
	if full() {
		return 0
	}
	return e.add(x)
}

// sweepExtras forgets the extras that no screen and no pen uses.
func (t *Terminal) sweepExtras() {
	e := &t.extras
	old := e.list
	*e = extras{}
	e.add(extra{})
	keep := func(at uint32) uint32 {
		i := at >> extraShift
		if i == 0 {
			return at
		}
		n, ok := e.index[old[i]]
		if !ok {
			n = e.add(old[i])
		}
		return at&attributeMask | n<<extraShift
	}
	t.eachRow(func(r *row) {
		for i := range r.cells[:r.used] {
			r.cells[i].at = keep(r.cells[i].at)
		}
	})
	t.pen.at = keep(t.pen.at)
	t.main.saved.pen.at = keep(t.main.saved.pen.at)
	t.alternate.saved.pen.at = keep(t.alternate.saved.pen.at)
	e.limit = min(maxExtras, max(1024, t.columns*t.rows/8)+2*len(e.list))
	t.history.forgetStyles() // its cache is keyed by the old indexes
}

// eachRow calls f for every row whose cells may name table entries.
func (t *Terminal) eachRow(f func(*row)) {
	for _, r := range t.main.rows {
		f(r)
	}
	for _, r := range t.alternate.rows {
		f(r)
	}
	for _, r := range t.frame.rows {
		f(r)
	}
}
