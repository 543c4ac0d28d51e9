package reduce

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"
)

// report gathers what a run of tests, a build or a check found, and makes of it
// the draft with the most detail that has room. Every finding survives, if only
// by its name; what has no room at all is counted.
type report struct {
	in    *input
	lines []drafted // what shows whatever was found: totals, the last line
	found []finding
	brief bool // of findings that are alike a few names do:
	most  int  // so many of each
}

// finding is one thing that was found: a test that failed, an error, a warning.
type finding struct {
	at    int    // the line of the input that it stands at
	title string // what and where, in one line
	name  string // what tells it from others that are alike
	place string // where it must be for others to be alike; "": anywhere
	why   []detail
	mild  bool // a warning: shows after all that is worse has room
	same  bool // its name says all of it beside another with the same reason
	// The name is but its place.
	nameless bool
}

// detail is a line that says why.
type detail struct {
	at   int
	text string
	rank int // 1 is the reason, 2 explains it, 3 is context, 4 does not show
}

// counted spells a number of things with their name.
func (in *input) counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return in.count(n) + " " + what
}

// say adds a line that shows whatever was found, standing for line at.
func (r *report) say(at int, text string) {
	r.lines = append(r.lines, drafted{text: text, at: at, of: 1, weight: maxWeight})
}

// note adds a line that is not in the input.
func (r *report) note(at int, text string) {
	r.lines = append(r.lines, drafted{text: text, at: at, weight: maxWeight})
}

// depth is how much of findings shows.
type depth struct {
	most  int // findings for which this is worth its price
	first int // lines of why for the first finding
	other int // and for each other
	rank  int // the rank that these may have
}

// depths are tried in this order.
var depths = []depth{
	{most: 2, first: 14, other: 12, rank: 3},
	{most: 5, first: 10, other: 6, rank: 3},
	{most: 15, first: 8, other: 3, rank: 2},
	{most: 25, first: 6, other: 1, rank: 1},
}

// briefNames is how many names of findings that are alike a brief report shows.
const briefNames = 40

// draft makes the draft: as deep as has room, findings that are alike as one if
// they need most of it, and at last every finding by its name.
func (r *report) draft() draft {
	all := r.budget()
	r.most = briefNames / 5
	if shown, ok := r.deepest(r.groups(false), all.part(2, 3)); ok {
		return r.with(shown)
	}
	groups := r.groups(true)
	r.most = max(2, briefNames/max(1, len(groups)))
	if shown, ok := r.deepest(groups, all); ok {
		return r.with(shown)
	}
	return r.with(r.shortest(groups, all))
}

// deepest shows groups as deep as has room.
func (r *report) deepest(groups []group, room budget) ([]drafted, bool) {
	for _, d := range depths {
		if len(groups) > d.most {
			continue
		}
		if shown := r.at(d, groups); fits(shown, room) {
			return shown, true
		}
	}
	return nil, false
}

// with joins the lines of findings with those that show anyway, in their order.
func (r *report) with(shown []drafted) draft {
	all := append(slices.Clone(r.lines), shown...)
	slices.SortStableFunc(all, func(a, b drafted) int { return a.at - b.at })
	return draft{lines: all}
}

func fits(list []drafted, room budget) bool {
	for _, l := range list {
		if !room.take(l.text) {
			return false
		}
	}
	return true
}

// at shows every group with the reasons that a depth allows.
func (r *report) at(d depth, groups []group) []drafted {
	var out []drafted
	for n, g := range groups {
		most, rank := d.other, d.rank
		if n == 0 {
			most, rank = d.first, 3
		} else if g.mild {
			most = 0
		}
		why := telling(g.why, most, rank)
		text := g.title
		if len(why) == 1 && why[0].rank == 1 && d.most > depths[0].most {
			text, why = text+": "+g.inBrief(), nil
		}
		out = append(out, drafted{text: text, at: g.at, of: 1, weight: maxWeight})
		for _, w := range why {
			short := middleOut(w.text, 160, 80)
			if w.rank == 1 && len(why) > 1 && len(w.text) > longLine {
				short = middleOut(w.text, 80, 40) // the others say what is in the middle
			}
			out = append(out, drafted{text: "  " + short, at: max(g.at, w.at), of: boolInt(short == w.text)})
		}
		names := lister{report: r, room: budget{rows: len(g.names), chars: r.in.room, price: r.in.room}}
		names.alike(g, names.room, "more alike")
		for _, l := range names.out {
			out = append(out, drafted{text: l.text, at: out[len(out)-1].at, weight: maxWeight})
		}
	}
	return out
}

// manyLines is how many lines without a rank make a dump of two values.
const manyLines = 8

// rankOnce ranks the lines of a long message that have no rank: in what was had
// and what was wanted, printed one after the other, the lines that stand there
// once are those that differ, and the others do not show.
func rankOnce(list []detail) {
	seen := map[string]int{}
	for _, d := range list {
		if d.rank == 0 {
			seen[strings.TrimSpace(d.text)]++
		}
	}
	if len(seen) < manyLines {
		return
	}
	for i := range list {
		text := strings.TrimSpace(list[i].text)
		switch d := &list[i]; {
		case d.rank != 0:
		case strings.HasPrefix(text, "---"), strings.HasPrefix(text, "+++"):
			d.rank = 3
		case seen[text] > 1:
			d.rank = 4
		}
	}
}

// middleOut cuts the middle out of a text over so many characters at its ends.
func middleOut(text string, first, last int) string {
	n := chars(text)
	if n <= first+last+markerChars {
		return text
	}
	return text[:byteOf(text, first)] + "…[" + itoa(n-first-last) + " characters]…" + text[byteOf(text, n-last):]
}

// telling returns most details up to a rank, of the lowest ranks first, in their order.
func telling(why []detail, most, rank int) []detail {
	var out []detail
	for k := 1; k <= rank; k++ {
		for _, w := range why {
			if w.rank == k && len(out) < most {
				out = append(out, w)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b detail) int { return a.at - b.at })
	return out
}

// reason is the line that says why, if there is one.
func (f finding) reason() string {
	if first := telling(f.why, 1, 1); len(first) == 1 {
		return strings.TrimSpace(first[0].text)
	}
	return ""
}

// inBrief is the reason in one line, with what was wanted and had where that
// stands on lines of its own.
func (f finding) inBrief() string {
	text := middleOut(f.reason(), 160, 80)
	if sides := f.sides(); len(sides) > 0 && !(says(text, sides[0]) && says(text, sides[1])) {
		text += " " + strings.Join(sides, " ")
	}
	return strings.TrimSpace(text)
}

// says reports whether a reason holds the value that a side tells.
func says(reason, side string) bool {
	_, value, ok := strings.Cut(side, ": ")
	if !ok {
		value = strings.TrimLeft(side, "+- ")
	}
	return strings.Contains(reason, strings.Trim(value, `"',`))
}

// sides are the first two lines that differ, if both are there.
func (f finding) sides() []string {
	var sides []string
	for _, w := range f.why {
		t := strings.TrimSpace(w.text)
		if w.rank != 2 || !isSide(t) || len(sides) > 0 && sides[0][0] == t[0] {
			continue
		}
		if sides = append(sides, middleOut(strings.Join(strings.Fields(t), " "), 60, 20)); len(sides) == 2 {
			return sides
		}
	}
	return nil
}

// isSide reports whether a line is one of the two that differ.
func isSide(text string) bool {
	for _, p := range []string{"- ", "+ ", "-", "+", "left: ", "right: ", "Expected", "Received", "expected", "actual", "Actual", "got", "want"} {
		if strings.HasPrefix(text, p) && len(text) > 2 && text[1] != text[0] {
			return true
		}
	}
	return false
}

// group is findings that differ in their figures and names alone.
type group struct {
	finding
	names []string
}

// groups are the findings by likeness, the worse ones first. Of these only the
// same are together unless all are to be.
func (r *report) groups(all bool) []group {
	var list []group
	known := map[uint64]int{}
	for _, mild := range []bool{false, true} {
		for _, f := range r.found {
			if f.mild != mild {
				continue
			}
			key := likeness(f)
			if i, ok := known[key]; ok && (all || mild || f.same) {
				list[i].names = append(list[i].names, f.name)
				continue
			}
			known[key] = len(list)
			list = append(list, group{finding: f})
		}
	}
	return list
}

// likeness is equal for findings that say the same of different things.
func likeness(f finding) uint64 {
	text := f.reason()
	if text == "" {
		text = strings.Replace(f.title, f.name, "", 1)
	}
	if f.same {
		return kind(unquoted(text))
	}
	return kind(unquoted(text)) ^ kindOf(f.place)
}

// kindOf is a number for a text as it is.
func kindOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// unquoted takes out what stands in quotes: the names that a message is about.
func unquoted(text string) string {
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "'\"`‘“»«")
		if i < 0 {
			break
		}
		open, size := utf8.DecodeRuneInString(text[i:])
		b.WriteString(text[:i])
		rest := text[i+size:]
		j := strings.IndexAny(rest, closing[open])
		if j < 0 {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteByte('\'')
		_, n := utf8.DecodeRuneInString(rest[j:])
		text = rest[j+n:]
	}
	b.WriteString(text)
	return b.String()
}

var closing = map[rune]string{'\'': "'", '"': "\"", '`': "`'", '‘': "’", '“': "”", '»': "«", '«': "»"}
