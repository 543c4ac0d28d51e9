package host

import (
	"math"
	"slices"
)

// A tab is a tree of panes: a leaf is a session and its size in cells, a node
// a row or column of at least two panes with a divider of one cell between
// them. All panes of a row are equally high, all of a column equally wide, and
// no node lies in one of its own direction.
//
// Nothing here looks at a session: a tree is cells and pointers.
type pane struct {
	session  *session
	size     Size // of a leaf
	vertical bool // the dividers are vertical: panes are side by side
	parts    []*pane
}

const (
	// The least and the most that a session may be given.
	minColumns, minRows = 2, 1
	maxColumns, maxRows = 1000, 1000

	// maxDepth bounds the nesting of a tab's tree. The official client's protocol
	// library reads 100 nested messages, and a level of the tree is two of them.
	maxDepth = 32
)

// along is the size in the direction in which panes stand beside each other:
// columns where the dividers are vertical.
func (z Size) along(vertical bool) int {
	if vertical {
		return z.Columns
	}
	return z.Rows
}

func sized(vertical bool, along, across int) Size {
	if vertical {
		return Size{Columns: along, Rows: across}
	}
	return Size{Columns: across, Rows: along}
}

// within is the size nearest to z between two others.
func (z Size) within(least, most Size) Size {
	return Size{
		Columns: max(min(z.Columns, most.Columns), least.Columns),
		Rows:    max(min(z.Rows, most.Rows), least.Rows),
	}
}

// extent is the size of a pane in cells, dividers included.
func (p *pane) extent() Size {
	if p.session != nil {
		return p.size
	}
	along, across := len(p.parts)-1, 0
	for _, part := range p.parts {
		z := part.extent()
		along, across = along+z.along(p.vertical), max(across, z.along(!p.vertical))
	}
	return sized(p.vertical, along, across)
}

// limits are the least and the most that the pane can be given.
func (p *pane) limits() (least, most Size) {
	if p.session != nil {
		return Size{minColumns, minRows}, Size{maxColumns, maxRows}
	}
	low, high := len(p.parts)-1, len(p.parts)-1
	floor, ceiling := 0, math.MaxInt
	for _, part := range p.parts {
		a, b := part.limits()
		low, high = low+a.along(p.vertical), high+b.along(p.vertical)
		floor, ceiling = max(floor, a.along(!p.vertical)), min(ceiling, b.along(!p.vertical))
	}
	return sized(p.vertical, low, floor), sized(p.vertical, high, ceiling)
}

// fit gives the pane a size, nearest to it what its limits allow, and its
// parts their shares, in the proportions that they have.
func (p *pane) fit(to Size) {
	least, most := p.limits()
	to = to.within(least, most)
	if p.session != nil {
		p.size = to
		return
	}
	shares := make([]share, len(p.parts))
	for i, part := range p.parts {
		a, b := part.limits()
		shares[i] = share{part.extent().along(p.vertical), a.along(p.vertical), b.along(p.vertical)}
	}
	cells := divide(to.along(p.vertical)-len(p.parts)+1, shares)
	for i, part := range p.parts {
		part.fit(sized(p.vertical, cells[i], to.along(!p.vertical)))
	}
}

// share is a part's claim when cells are divided.
type share struct{ weight, least, most int }

// divide splits cells among shares, in proportion to their weights as far as
// their limits allow. The result adds up to cells when the limits do.
func divide(cells int, shares []share) []int {
	weights := 0
	for _, s := range shares {
		weights += max(1, s.weight)
	}
	out := make([]int, len(shares))
	left := cells
	for i, s := range shares {
		out[i] = max(s.least, min(s.most, cells*max(1, s.weight)/weights))
		left -= out[i]
	}
	for moved := true; left != 0 && moved; {
		moved = false
		for i, s := range shares {
			switch {
			case left > 0 && out[i] < s.most:
				out[i], left, moved = out[i]+1, left-1, true
			case left < 0 && out[i] > s.least:
				out[i], left, moved = out[i]-1, left+1, true
			}
		}
	}
	return out
}

// whole reports whether the tree is as the head of this file says.
func (p *pane) whole() bool {
	if p.session != nil {
		return p.size == p.size.within(Size{minColumns, minRows}, Size{maxColumns, maxRows})
	}
	z := p.extent()
	for _, part := range p.parts {
		if part.session == nil && part.vertical == p.vertical || !part.whole() ||
			part.extent().along(!p.vertical) != z.along(!p.vertical) {
			return false
		}
	}
	return len(p.parts) > 1
}

// mend makes a tree whole whose parts have lost their proportions.
func (p *pane) mend() {
	if !p.whole() {
		p.fit(p.extent())
	}
}

// resized is the tree with one session of exactly this size: what stands
// beside it follows in height, what stands above or below it in width. false
// when the others cannot.
func (p *pane) resized(s *session, to Size) (*pane, bool) {
	next := p.clone()
	if !next.give(s, to) || !next.whole() || next.leaf(s).size != to {
		return nil, false
	}
	return next, true
}

func (p *pane) give(s *session, to Size) bool {
	if p.session != nil {
		if p.session == s {
			p.size = to
		}
		return p.session == s
	}
	at := slices.IndexFunc(p.parts, func(part *pane) bool { return part.give(s, to) })
	if at < 0 {
		return false
	}
	across := p.parts[at].extent().along(!p.vertical)
	for i, part := range p.parts {
		if i != at {
			part.fit(sized(p.vertical, part.extent().along(p.vertical), across))
		}
	}
	return true
}

// halves are what a division of a size leaves, the first part and the second,
// with a divider between them. false when that is too little.
func (z Size) halves(vertical bool) (first, second Size, ok bool) {
	along, across := z.along(vertical), z.along(!vertical)
	first = sized(vertical, along/2, across)
	second = sized(vertical, along-along/2-1, across)
	return first, second, second.Columns >= minColumns && second.Rows >= minRows
}

// split divides the pane of a session and puts s right of or below it, or
// before it. false, and nothing changed, when there is no room.
func (p *pane) split(beside, s *session, vertical, before bool) bool {
	return p.splitAt(beside, s, vertical, before, 1)
}

func (p *pane) splitAt(beside, s *session, vertical, before bool, depth int) bool {
	if p.session == beside {
		first, second, ok := p.size.halves(vertical)
		if !ok || depth >= maxDepth {
			return false
		}
		old, fresh := &pane{session: beside, size: first}, &pane{session: s, size: second}
		*p = pane{vertical: vertical, parts: []*pane{old, fresh}}
		if before {
			old.size, fresh.size = second, first
			p.parts[0], p.parts[1] = fresh, old
		}
		return true
	}
	for i, part := range p.parts {
		if part.session != beside || p.vertical != vertical {
			if part.splitAt(beside, s, vertical, before, depth+1) {
				return true
			}
			continue
		}
		first, second, ok := part.size.halves(vertical)
		if !ok {
			return false
		}
		fresh := &pane{session: s, size: second}
		if before {
			part.size, fresh.size = second, first
		} else {
			part.size = first
			i++
		}
		p.parts = slices.Insert(p.parts, i, fresh)
		return true
	}
	return false
}

// remove takes a session out of a tree that has others; its room goes to those
// that stood in its row or column.
func (p *pane) remove(s *session) {
	if p.take(s) {
		p.mend()
	}
}

func (p *pane) take(s *session) bool {
	room := p.extent()
	for i, part := range p.parts {
		switch {
		case part.session == s:
			p.parts = slices.Delete(p.parts, i, i+1)
		case !part.take(s):
			continue
		}
		p.flatten()
		p.fit(room)
		return true
	}
	return false
}

// flatten takes out a node of one part, and nodes of the same direction.
func (p *pane) flatten() {
	if len(p.parts) == 1 {
		*p = *p.parts[0]
	}
	for i := 0; i < len(p.parts); i++ {
		if part := p.parts[i]; part.session == nil && part.vertical == p.vertical {
			p.parts = slices.Replace(p.parts, i, i+1, part.parts...)
		}
	}
}

func (p *pane) first() *session {
	for p.session == nil {
		p = p.parts[0]
	}
	return p.session
}

func (p *pane) each(f func(*session)) {
	if p.session != nil {
		f(p.session)
	}
	for _, part := range p.parts {
		part.each(f)
	}
}

// leaf is the pane of a session, or nil.
func (p *pane) leaf(s *session) *pane {
	if p.session != nil {
		if p.session == s {
			return p
		}
		return nil
	}
	for _, part := range p.parts {
		if found := part.leaf(s); found != nil {
			return found
		}
	}
	return nil
}

func (p *pane) clone() *pane {
	c := *p
	c.parts = make([]*pane, len(p.parts))
	for i, part := range p.parts {
		c.parts[i] = part.clone()
	}
	return &c
}

// spot is where a pane lies in its tab, in cells from the upper left corner.
type spot struct {
	session    *session
	x, y, w, h int
}

func (p *pane) places(x, y int) (list []spot) {
	if p.session != nil {
		return []spot{{p.session, x, y, p.size.Columns, p.size.Rows}}
	}
	for _, part := range p.parts {
		list = append(list, part.places(x, y)...)
		z := part.extent()
		if p.vertical {
			x += z.Columns + 1
		} else {
			y += z.Rows + 1
		}
	}
	return list
}

// neighbour is the session that borders on s in a direction (left, right,
// above, below), the one with the longest common border; nil when there is none.
func (p *pane) neighbour(s *session, direction string) (found *session) {
	all := p.places(0, 0)
	at := slices.IndexFunc(all, func(x spot) bool { return x.session == s })
	if at < 0 {
		return nil
	}
	from, longest := all[at], 0
	common := func(a, b, c, d int) int { return min(a+b, c+d) - max(a, c) }
	for _, to := range all {
		border := 0
		switch {
		case direction == "left" && to.x+to.w+1 == from.x, direction == "right" && from.x+from.w+1 == to.x:
			border = common(from.y, from.h, to.y, to.h)
		case direction == "above" && to.y+to.h+1 == from.y, direction == "below" && from.y+from.h+1 == to.y:
			border = common(from.x, from.w, to.x, to.w)
		}
		if border > longest {
			found, longest = to.session, border
		}
	}
	return found
}
