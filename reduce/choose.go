package reduce

import (
	"slices"
	"strings"
)

// choose keeps at most most lines, markers counted: the first, the last, and
// between them those that tell most.
func (t *table) choose(most int) {
	gap := boolInt(t.skipped > 0)
	if len(t.lines)+gap <= most {
		return
	}
	for i := range t.lines {
		t.lines[i].keep = false
	}
	head, tail := most/4, most*2/5
	room := most - head - tail - 1 - gap
	if most < 8 {
		head, tail, room = 1, most-2-gap, 0
	}
	for i := range head {
		t.lines[i].keep = true
	}
	for i := range tail {
		t.lines[len(t.lines)-1-i].keep = true
	}
	// Each line picked from the middle may cost a marker line too.
	picked := t.telling(head, len(t.lines)-tail, room/2)
	for _, i := range picked {
		t.lines[i].keep = true
	}
	for i := range room - 2*len(picked) { // what nothing in the middle claims goes to the beginning
		t.lines[min(head+i, len(t.lines)-1)].keep = true
	}
}

// telling returns the lines of [from, to) that tell most, at most n: the worst
// news first; of equal news the first two thirds and the last third, and of lines
// that differ in figures only, three.
func (t *table) telling(from, to, n int) []int {
	var byWeight [maxWeight + 1][]int
	seen := map[string]int{}
	for i := from; i < to; i++ {
		w := weight(t.lines[i].text)
		if w == 0 {
			continue
		}
		s := shape(t.lines[i].text[:min(len(t.lines[i].text), longLine)])
		if seen[s]++; seen[s] > 3 {
			continue
		}
		byWeight[w] = append(byWeight[w], i)
	}
	var picked []int
	for w := maxWeight; w > 0 && len(picked) < n; w-- {
		list := byWeight[w]
		room := n - len(picked)
		if len(list) > room {
			first := (room*2 + 2) / 3
			list = append(slices.Clone(list[:first]), list[len(list)-(room-first):]...)
		}
		picked = append(picked, list...)
	}
	return picked
}

const maxWeight = 3

// news are the words that make a line worth keeping, by weight.
var news = [maxWeight + 1][]string{
	3: {"error", "fatal", "panic", "exception", "traceback", "failed", "failure", "fail:", "--- fail", "not ok", "segmentation fault", "abort", "undefined reference", "cannot ", "can't ", "denied", "killed", "out of memory"},
	2: {"warning", "warn:", "deprecat", "not found", "no such file", "refused", "timed out", "timeout", "conflict", "unable to", "missing", "invalid", "unexpected"},
	1: {"passed", "success", "succeeded", "summary", "total", "finished", "completed", "done in", "built ", "compiled", "installed", "added ", "removed ", "changed", "skipped"},
}

// noNews are phrases in which a word of news says the opposite.
var noNews = strings.NewReplacer("0 errors", "", "no errors", "", "0 error", "", "0 failed", "", "0 failures", "", "no failures", "",
	"0 warnings", "", "no warnings", "", "errors: 0", "", "failures: 0", "", "failed: 0", "", "warnings: 0", "", "without error", "")

// weight says how much a line tells: 3 of an error, 2 of a warning, 1 of a
// result, 0 of nothing.
func weight(line string) int {
	line = strings.ToLower(line[:min(len(line), longLine)])
	for w := maxWeight; w > 0; w-- {
		for _, word := range news[w] {
			if strings.Contains(line, word) && (w == 1 || strings.Contains(noNews.Replace(line), word)) {
				return w
			}
		}
	}
	return 0
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
	n := chars(l.text)
	size := room - 1 - 2*markerChars
	if n <= size {
		return n + 1 + markerChars
	}
	first := size * share / shares
	l.text = l.text[:byteOf(l.text, first)] + "…[" + itoa(n-size) + " characters]…" + l.text[byteOf(l.text, n-(size-first)):]
	l.cut = true
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
			l.text, l.cut = l.text[byteOf(l.text, n-most):], true
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
