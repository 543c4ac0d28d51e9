package reduce

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// leaf is a path of a list, with what the list says of it.
type leaf struct {
	path  string
	label string // stands behind the name: " 12", " +3 −4"
	at    int    // its line
	n     [2]int // figures that are summed up for folders
}

// folder is a folder of a list of paths.
type folder struct {
	path    string // with a slash at its end; "" is the top
	files   []int  // leaves directly in it
	folders []*folder
	count   int // leaves in it and below
	at      int
	sum     [2]int
	open    bool
	shown   int // of an open folder with too many in it, how many folders show
	exts    map[string]int
}

// listing draws many paths in little room: folder by folder, names behind the
// folder's; folders for whose names there is no room with how many they have.
type listing struct {
	leaves []leaf
	unit   string                // what is counted: "files"
	sum    func(n [2]int) string // how a folder's figures are spelled; may be nil
	room   int
	rows   int
	part   bool // the lines say more than their paths and labels do
}

// draw adds the list to d.
func (l listing) draw(d *draft) {
	if len(l.leaves) == 0 {
		return
	}
	if len(l.leaves) > defaultLines {
		l.room = l.room * dense / 100 // names and figures are dense, too
	}
	top := l.tree()
	room, rows := l.room-len(l.closed(top)), l.rows-1
	queue := []*folder{top}
	for len(queue) > 0 {
		// The folder with the most in it first: of it the least is known.
		slices.SortStableFunc(queue, func(a, b *folder) int { return b.count - a.count })
		f := queue[0]
		queue = queue[1:]
		text, lines := l.opened(f)
		cost := text - len(l.closed(f)) - 1
		more := lines - 1
		for _, sub := range f.folders {
			cost += len(l.closed(sub)) + 1
			more++
		}
		if cost > room || more > rows {
			if f == top && len(f.folders) > 0 {
				l.openPart(f, room, rows)
			}
			continue
		}
		f.open, f.shown = true, len(f.folders)
		room, rows = room-cost, rows-more
		queue = append(queue, f.folders...)
	}
	l.emit(d, top)
}

// openPart opens a folder that has more folders than there is room for: the
// largest show.
func (l listing) openPart(f *folder, room, rows int) {
	slices.SortStableFunc(f.folders, func(a, b *folder) int { return b.count - a.count })
	room -= 40 // the count of the others
	for _, sub := range f.folders {
		cost := len(l.closed(sub)) + 1
		if cost > room || f.shown+2 > rows {
			break
		}
		room -= cost
		f.shown++
	}
	f.open = f.shown > 0
}

// tree sorts the leaves into folders. Folders with nothing but one folder in
// them are one with it.
func (l listing) tree() *folder {
	top := &folder{}
	byPath := map[string]*folder{"": top}
	var in func(path string, at int) *folder
	in = func(path string, at int) *folder {
		if f := byPath[path]; f != nil {
			return f
		}
		f := &folder{path: path, at: at}
		byPath[path] = f
		parent := in(path[:strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1], at)
		parent.folders = append(parent.folders, f)
		return f
	}
	for i, leaf := range l.leaves {
		dir := leaf.path[:strings.LastIndexByte(strings.TrimSuffix(leaf.path, "/"), '/')+1]
		if strings.Count(dir, "/") > mostDepth {
			dir = ""
		}
		f := in(dir, leaf.at)
		f.files = append(f.files, i)
	}
	top.total(l.leaves)
	return top.straight()
}

// mostDepth is how deep folders are told apart.
const mostDepth = 64

func (f *folder) total(leaves []leaf) {
	f.exts = map[string]int{}
	for _, i := range f.files {
		f.count++
		f.sum[0] += leaves[i].n[0]
		f.sum[1] += leaves[i].n[1]
		f.exts[ext(leaves[i].path)]++
	}
	for _, sub := range f.folders {
		sub.total(leaves)
		f.count += sub.count
		f.sum[0] += sub.sum[0]
		f.sum[1] += sub.sum[1]
		for e, n := range sub.exts {
			f.exts[e] += n
		}
	}
}

func (f *folder) straight() *folder {
	for len(f.files) == 0 && len(f.folders) == 1 {
		f = f.folders[0]
	}
	for i := range f.folders {
		f.folders[i] = f.folders[i].straight()
	}
	return f
}

// ext is the ending of a file's name; a folder's is "/".
func ext(path string) string {
	if strings.HasSuffix(path, "/") {
		return "/"
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= 8 {
		return name[i:]
	}
	return ""
}

// closed is a folder as one line: how many files it has, and of what kind.
func (l listing) closed(f *folder) string {
	name := f.path
	if name == "" {
		name = "./"
	}
	text := fmt.Sprintf("%s %d %s", name, f.count, l.unit)
	if l.sum != nil {
		return text + l.sum(f.sum)
	}
	type kind struct {
		ext string
		n   int
	}
	var kinds []kind
	for e, n := range f.exts {
		if e != "" && e != "/" {
			kinds = append(kinds, kind{e, n})
		}
	}
	sort.Slice(kinds, func(i, j int) bool {
		return kinds[i].n > kinds[j].n || kinds[i].n == kinds[j].n && kinds[i].ext < kinds[j].ext
	})
	for i, k := range kinds[:min(3, len(kinds))] {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		text += fmt.Sprintf("%s%d %s", sep, k.n, k.ext)
	}
	return text
}

// longNames is the most bytes of a line of names; longer lines are cut.
const longNames = longLine - 100

// names are the lines for a folder's own files.
func (l listing) names(f *folder) []drafted {
	if len(f.files) == 0 {
		return nil
	}
	prefix := ""
	if f.path != "" {
		prefix = f.path + ": "
	}
	var lines []drafted
	var b strings.Builder
	at, of := l.leaves[f.files[0]].at, 0
	flush := func() {
		if of > 0 {
			lines = append(lines, drafted{text: b.String(), at: at, of: of * boolInt(!l.part)})
		}
		b.Reset()
		of = 0
	}
	for _, i := range f.files {
		name := strings.TrimPrefix(l.leaves[i].path, f.path) + l.leaves[i].label
		if of > 0 && b.Len()+len(name)+2 > longNames {
			flush()
		}
		if of == 0 {
			at = l.leaves[i].at
			b.WriteString(prefix)
		} else {
			b.WriteString(", ")
		}
		b.WriteString(name)
		of++
	}
	flush()
	return lines
}

// opened is how much room a folder's own files take, without its folders.
func (l listing) opened(f *folder) (size, lines int) {
	for _, line := range l.names(f) {
		size += len(line.text) + 1
		lines++
	}
	return size, lines
}

func (l listing) emit(d *draft, f *folder) {
	if !f.open {
		d.note(f.first(l.leaves), l.closed(f))
		return
	}
	if f.shown == len(f.folders) {
		d.lines = append(d.lines, l.names(f)...)
	}
	for _, sub := range f.folders[:f.shown] {
		l.emit(d, sub)
	}
	if rest := f.folders[f.shown:]; len(rest) > 0 {
		n := len(f.files)
		for _, sub := range rest {
			n += sub.count
		}
		d.note(f.first(l.leaves), fmt.Sprintf("… %d more folders; %d more %s", len(rest), n, l.unit))
	}
}

// first is the line of a folder's first leaf.
func (f *folder) first(leaves []leaf) int {
	if len(f.files) > 0 {
		return leaves[f.files[0]].at
	}
	if len(f.folders) > 0 {
		return f.folders[0].first(leaves)
	}
	return f.at
}
