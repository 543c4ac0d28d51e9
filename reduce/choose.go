package reduce

import (
	"cmp"
	"slices"
	"strings"
)

// A fold shows so many lines of a text over defaultLines: the first and the last.
const (
	foldHead = 30
	foldTail = 20
)

// foldSize is how many characters the fold of the text has: what answers are
// measured against.
func (t *table) foldSize() int {
	n := max(0, markerChars*boolInt(t.skipped > 0)-1)
	add := func(list []entry) {
		for _, l := range list {
			n += chars(shorten(l.text)) + 1
		}
	}
	if len(t.lines) <= defaultLines {
		add(t.lines)
		return n
	}
	add(t.lines[:foldHead])
	add(t.lines[len(t.lines)-foldTail:])
	return n + chars(marker(len(t.lines)-foldHead-foldTail)) + 1
}

// choose keeps at most most lines, markers counted: the first, the last, and
// between them those that tell most. When not all have room, they take no more
// than room characters.
func (t *table) choose(most, room int) {
	gap := boolInt(t.skipped > 0)
	if len(t.lines)+gap <= most && t.size() <= room {
		return
	}
	if len(t.lines) > defaultLines {
		most -= most / 6 // no more than the fold
	}
	c := chooser{t: t, lines: most - gap, room: room + 1 - gap*markerChars, inner: t.inner()}
	for i := range t.lines {
		t.lines[i].keep = false
	}
	c.ends()
	c.telling()
}

// chooser is choose under way: what room is left.
type chooser struct {
	t     *table
	lines int
	room  int
	inner []bool
	from  int // the first line that the head does not hold
	to    int // the first line of the tail
}

// take keeps a line if it has room, with the marker that it may need.
func (c *chooser) take(i int) bool {
	list := c.t.lines
	lines, room := 1, chars(list[i].text)+1
	if i > 0 && !list[i-1].keep && (i+1 == len(list) || !list[i+1].keep) {
		lines, room = 2, room+markerChars
	}
	if c.lines < lines || c.room < room {
		return false
	}
	c.lines, c.room = c.lines-lines, c.room-room
	list[i].keep = true
	return true
}

// ends takes a quarter of the lines from the beginning and two fifths from the
// end, leaving out what stands inside of a run of lines of one kind.
func (c *chooser) ends() {
	n := len(c.t.lines)
	most, room := c.lines, c.room
	c.to = n
	for c.to > 0 && most-c.lines < max(1, most*2/5) && room-c.room < room*2/5 {
		if i := c.to - 1; !c.inner[i] && !c.take(i) {
			break
		}
		c.to--
	}
	most, room = c.lines, c.room
	for c.from < c.to && most-c.lines < max(1, most*2/5) && room-c.room < room*2/5 {
		if !c.inner[c.from] && !c.take(c.from) {
			break
		}
		c.from++
	}
}

// inner reports of each line whether it stands inside of a run of lines of one
// kind, of which the first and last few say what the others do.
func (t *table) inner() []bool {
	const ends = 4
	in := make([]bool, len(t.lines))
	begin, last := 0, uint64(0)
	for i := 0; i <= len(t.lines); i++ {
		var k uint64
		if i < len(t.lines) && (i != t.seam || t.skipped == 0) {
			if k = kind(t.lines[i].text); i > 0 && k == last && k != 0 && t.lines[i].weight == 0 {
				continue
			}
		}
		for j := begin + ends; j < i-ends; j++ {
			in[j] = true
		}
		begin, last = i, k
	}
	return in
}

// kind is a number for what a line has in common with others of its kind: its
// words but for those with figures in them. A blank line has none.
func kind(line string) uint64 {
	const prime, offset = 1099511628211, 14695981039346656037 // FNV-1a
	sum := uint64(offset)
	word := sum
	figures, any := false, false
	line = line[:min(len(line), longLine)]
	for i := 0; i <= len(line); i++ {
		c := byte(' ')
		if i < len(line) {
			c = line[i]
		}
		switch {
		case c >= '0' && c <= '9':
			figures = true
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= 0x80, c == '_':
			word = (word ^ uint64(c)) * prime
		default: // a word ends
			if figures {
				word = sum*prime + '0'
			}
			if c != ' ' && c != '\t' {
				word = (word ^ uint64(c)) * prime
			}
			sum, figures = word, false
			continue
		}
		any = true
	}
	if !any {
		return 0
	}
	return sum | 1
}

// telling takes of the lines between the ends those that tell most: the worst
// news first; of equal news the first two thirds and the last third, and of lines
// of one kind, three.
func (c *chooser) telling() {
	var byWeight [maxWeight + 1][]int
	seen := map[uint64]int{}
	for i := range c.t.lines {
		l := c.t.lines[i]
		if l.keep {
			continue
		}
		w := l.weight
		if w == 0 {
			w = weight(l.text)
		}
		if w <= 0 {
			continue
		}
		if l.weight == 0 {
			if k := kind(l.text); seen[k] < 3 {
				seen[k]++
			} else {
				continue
			}
		}
		byWeight[w] = append(byWeight[w], i)
	}
	for w := maxWeight; w > 0; w-- {
		list := byWeight[w]
		first := len(list)
		if room := c.lines / 2; len(list) > room {
			first = (room*2 + 2) / 3
		}
		for _, i := range list[:first] {
			c.take(i)
		}
		for _, i := range slices.Backward(list[first:]) {
			if !c.take(i) {
				break
			}
		}
	}
}

// ends keeps the first and the last lines, at most most of them with a marker.
func (t *table) ends(most int) {
	gap := boolInt(t.skipped > 0)
	if len(t.lines)+gap <= most {
		return
	}
	head := (most - 1 - gap) * 2 / 5
	tail := most - 1 - gap - head
	for i := range t.lines {
		t.lines[i].keep = i < head || i >= len(t.lines)-tail
	}
}

// limit drops kept lines from the middle until the text has at most most
// characters, markers counted.
func (t *table) limit(most int) {
	if t.size() <= most {
		return
	}
	if most <= tinyBudget {
		t.lastChars(most)
		return
	}
	// Two ends grow towards each other within their shares of the budget.
	budget := most - t.markers()
	headRoom := budget * 2 / 5
	var kept []int
	for i, l := range t.lines {
		if l.keep {
			kept = append(kept, i)
		}
	}
	cost := func(n int) int {
		return chars(t.lines[kept[n]].text) + 1 + markerChars*boolInt(t.gapBefore(kept, n))
	}
	a, b := 0, len(kept)
	for ; b > 0 && cost(b-1) <= budget-headRoom; b-- {
		budget -= cost(b - 1)
	}
	for ; a < b && cost(a) <= budget; a++ {
		budget -= cost(a)
	}
	switch {
	case budget < leastPart:
	case b-a == 1:
		t.part(kept[a], budget, 2, 5)
		a++
	default: // two lines stand where the cut is: the end of one, the beginning of the other
		b--
		budget -= t.part(kept[b], max(leastPart, budget*3/5), 0, 1)
		if budget >= leastPart {
			t.part(kept[a], budget, 1, 1)
			a++
		}
	}
	for _, i := range kept[a:b] {
		t.lines[i].keep = false
	}
}

// leastPart is the least room, in characters, for which a part of a line that
// does not fit is shown: a marker before it, what it lacks, and some text.
const leastPart = 3 * markerChars

// part cuts the middle out of a line so that it takes at most room characters
// with the marker before it, and returns how many it takes. Of what stays, share
// of shares is its beginning.
func (t *table) part(i, room, share, shares int) int {
	l := &t.lines[i]
	size := room - 1 - 2*markerChars
	if n := chars(l.text); n <= size {
		return n + 1 + markerChars
	}
	text := cmp.Or(l.whole, l.text) // of which all that does not show is counted
	first := size * share / shares
	l.text = middleOut(text, first, size-first)
	l.cut = l.text != text
	return chars(l.text) + 1 + markerChars
}

// markers is the room that a marker needs at the place where limit cuts.
func (t *table) markers() int { return 2 * markerChars }

// gapBefore reports whether lines are missing before kept[n].
func (t *table) gapBefore(kept []int, n int) bool {
	i := kept[n]
	prev := -1
	if n > 0 {
		prev = kept[n-1]
	}
	return i-prev > 1 || t.skipped > 0 && t.seam > prev && t.seam <= i
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// size is the characters of the text as it stands.
func (t *table) size() int {
	n := -1
	gap := false
	for i, l := range t.lines {
		gap = gap || !l.keep || i == t.seam && t.skipped > 0
		if !l.keep {
			continue
		}
		if gap {
			n += markerChars
		}
		gap = false
		n += chars(l.text) + 1
	}
	if gap || t.seam >= len(t.lines) && t.skipped > 0 {
		n += markerChars
	}
	return n
}

// lastChars keeps only the last lines, or the end of the last one: there is no
// room for more. Neither a part of a line nor a line from farther up stands
// beside others: with no marker between them they might look like a run.
func (t *table) lastChars(most int) {
	t.mute = true
	first, full := true, false
	for i := len(t.lines) - 1; i >= 0; i-- {
		l := &t.lines[i]
		if !l.keep {
			full = full || !first
			continue
		}
		n := chars(l.text)
		if n > most && first {
			text := cmp.Or(l.whole, l.text)
			l.text, l.cut = text[byteOf(text, chars(text)-most):], true
			n = most
		}
		full = full || n > most
		l.keep = !full
		most -= n + 1
		first = false
	}
	for i := range t.lines { // no blank lines at the front
		if l := &t.lines[i]; l.keep && strings.TrimRight(l.text, " \t") != "" {
			break
		}
		t.lines[i].keep = false
	}
}
