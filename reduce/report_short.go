package reduce

import (
	"slices"
	"strings"
)

// shortest shows every finding in one line, with as much of its reason as has
// room, and the names of those that are alike. Where even titles have no room,
// names do.
func (r *report) shortest(groups []group, room budget) []drafted {
	room.take("… and 12345 more")
	for _, most := range reasonSizes {
		l := lister{report: r, room: room}
		l.titles(groups, most)
		if l.left+l.unnamed == 0 || r.brief && most == 0 {
			return l.done()
		}
	}
	l := lister{report: r, room: room}
	l.named(groups)
	return l.done()
}

// reasonSizes are how many characters of reasons are tried.
var reasonSizes = []int{400, 300, 240, 190, 150, 120, 100, 80, 60, 45, 30, 0}

// lister makes lines as long as they have room.
type lister struct {
	*report
	room    budget
	out     []drafted
	left    int // findings that are not even counted
	unnamed int // those that are
}

func (l *lister) add(at int, text string) bool {
	room := l.room
	if !room.take(text) {
		return false
	}
	l.room = room
	l.out = append(l.out, drafted{text: text, at: at, of: 1, weight: maxWeight})
	return true
}

// done returns the lines in their order, with the count of what has none.
func (l *lister) done() []drafted {
	if l.left > 0 {
		l.out = append(l.out, drafted{text: "… and " + l.in.count(l.left) + " more", at: len(l.in.lines) - 1, weight: maxWeight})
	}
	slices.SortStableFunc(l.out, func(a, b drafted) int { return a.at - b.at })
	return l.out
}

// titles shows a line for every group, with most characters of its reason.
func (l *lister) titles(groups []group, most int) {
	for _, g := range groups {
		text := g.title
		if why := g.reasonIn(most); why != "" && !strings.Contains(text, why) {
			text += ": " + why
		}
		if l.brief && most == 0 && len(g.names) > 0 {
			text += repeatMark + l.in.count(1+len(g.names)) + ")"
		}
		if text = shorten(text); !l.add(g.at, text) {
			if l.left += 1 + len(g.names); most > 0 { // tried again with less
				return
			}
			continue
		}
		room := l.room
		if l.brief {
			if most == 0 { // a line for the number is too much
				l.unnamed += len(g.names)
				continue
			}
			room.chars = max(most/2, 40)
		}
		l.alike(g, room, "more alike")
	}
}

// reasonIn is the reason in most characters, with what differs if that has room.
func (f finding) reasonIn(most int) string {
	if most == 0 {
		return ""
	}
	for _, why := range []string{f.inBrief(), middleOut(f.reason(), 160, 80)} {
		if chars(why) <= most {
			return why
		}
	}
	why := f.reason()
	return why[:byteOf(why, most*3/4)] + "…" + why[byteOf(why, chars(why)-most/4):]
}

// named shows titles while there is room for the names of all that follow, and
// then names.
func (l *lister) named(groups []group) {
	after := make([]budget, len(groups)+1) // what the names from each group on need
	after[len(groups)] = budget{chars: 60, price: 30}
	for i := len(groups) - 1; i >= 0; i-- {
		after[i] = after[i+1]
		for _, name := range append([]string{groups[i].name}, groups[i].names...) {
			after[i].price += price(name) + 1
			after[i].chars += chars(name) + 2
		}
	}
	rest := group{}
	for i, g := range groups {
		text := shorten(g.title)
		need := after[i+1]
		for _, name := range g.names {
			need.price, need.chars = need.price+price(name)+1, need.chars+chars(name)+2
		}
		if l.room.price-price(text) < need.price || l.room.chars-chars(text) < need.chars || l.room.rows < need.chars/packed+3 || !l.add(g.at, text) {
			rest.at = g.at
			for _, g := range groups[i:] {
				rest.names = append(append(rest.names, g.name), g.names...)
			}
			break
		}
		l.alike(g, l.room, "more alike")
	}
	what := "more"
	if len(l.out) == 0 {
		what = "in all"
	}
	l.alike(rest, budget{chars: l.room.chars - 40, price: l.room.price - 20}, what)
}

// packed is the most bytes of a line of names: it is not shortened.
const packed = 400

// alike adds the names of a group, as many as have room, and their number.
func (l *lister) alike(g group, room budget, what string) {
	if len(g.names) == 0 {
		return
	}
	names := g.names
	if l.brief && len(names) > l.most {
		names = names[:l.most]
	}
	line := "  " + l.in.count(len(g.names)) + " " + what + ": "
	last := ""
	shown, told := 0, false // told: a line with the number is out
	for _, name := range names {
		short := sameFile(last, name)
		room.chars, room.price = room.chars-len(short)-2, room.price-price(short)
		if (room.chars < 0 || room.price < 0) && shown > 0 {
			break
		}
		if len(line)+len(short) > packed {
			if !l.add(g.at, strings.TrimSuffix(line, ", ")) {
				break
			}
			line, told = "  ", true
		}
		line += short + ", "
		last = name
		shown++
	}
	line = strings.TrimSuffix(line, ", ")
	if shown < len(g.names) {
		line += ", …"
		l.unnamed += boolInt(!l.brief)
	}
	if !l.add(g.at, line) && !told {
		l.left += len(g.names)
	}
}

// sameFile shortens a place to what differs from the one before it: its file in
// the same folder, or its line in the same file.
func sameFile(last, name string) string {
	n := strings.IndexAny(name, ":(")
	if n <= 0 || n+1 == len(name) || !isDigit(name[n+1]) || last == "" {
		return name
	}
	if strings.HasPrefix(last, name[:n+1]) {
		return name[n:]
	}
	if i := strings.LastIndexByte(name[:n], '/') + 1; strings.HasPrefix(last, name[:i]) && !strings.Contains(last[i:], "/") {
		return name[i:]
	}
	return name
}
