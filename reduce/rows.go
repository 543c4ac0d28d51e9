package reduce

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

var rowReducers = []reducer{
	{names: "docker ps, docker images, docker-compose ps, docker container, docker image, podman ps, podman images, kubectl get, kubectl top, oc get, helm list", reduce: stateRows},
	{names: "systemctl list-units, systemctl list-unit-files, systemctl list-timers, systemctl ", reduce: stateRows},
	{names: "ps, top", reduce: processRows},
	{names: "df", reduce: dfRows},
}

// grid is a table with a head: columns begin where their names do.
type grid struct {
	head   int // the line of the head
	names  []string
	starts []int // in characters
	rows   []int // lines
	cells  [][]string
	rest   []int // lines that are no rows
}

// readGrid reads a table whose columns stand two blanks apart in its head, or
// one blank when its names are single words.
func readGrid(in *input) (g grid, ok bool) {
	for i, line := range in.lines[:min(6, len(in.lines))] {
		if line == strings.ToUpper(line) && len(strings.Fields(line)) >= 3 && strings.ContainsAny(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			g.head = i
			break
		}
		if i == 5 {
			return g, false
		}
	}
	head := []rune(in.lines[g.head])
	wide := strings.Count(strings.TrimSpace(string(head)), "  ") >= 2 && !strings.HasPrefix(strings.TrimSpace(string(head)), "UNIT")
	for i := 0; i < len(head); i++ {
		if head[i] != ' ' && (i == 0 || head[i-1] == ' ' && (!wide || i < 2 || head[i-2] == ' ')) {
			g.starts = append(g.starts, i)
		}
	}
	if len(g.starts) < 3 {
		return g, false
	}
	g.names = g.cut(in.lines[g.head])
	for i := range in.lines {
		if i == g.head || in.lines[i] == "" {
			continue
		}
		cells := g.cut(in.lines[i])
		if i < g.head || strings.TrimSpace(cells[0]+cells[1]) == "" || len(g.rows) > 0 && i > g.rows[len(g.rows)-1]+1 {
			g.rest = append(g.rest, i)
			continue
		}
		g.rows = append(g.rows, i)
		g.cells = append(g.cells, cells)
	}
	return g, len(g.rows) > 0
}

// cut cuts a line at the columns, or at the blanks nearest before them.
func (g *grid) cut(line string) []string {
	cells := make([]string, len(g.starts))
	runes := []rune(line)
	from := 0
	for i := range g.starts {
		to := len(runes)
		if i+1 < len(g.starts) {
			for to = min(to, g.starts[i+1]); to > from && to < len(runes) && runes[to-1] != ' '; to-- {
			}
		}
		cells[i] = strings.TrimSpace(string(runes[from:max(from, to)]))
		from = max(from, to)
	}
	return cells
}

// column is the first column of one of the names, or 0.
func (g *grid) column(names ...string) int {
	for _, n := range names {
		if i := slices.Index(g.names, n); i >= 0 {
			return i
		}
	}
	return 0
}

// stateRows draws a table of many things of a few states: rows of a rare state
// as they are, of the others the names.
func stateRows(in *input) (draft, bool) {
	var d draft
	if len(in.lines) <= 25 {
		return d, false
	}
	g, ok := readGrid(in)
	if !ok {
		return d, false
	}
	states := g.states()
	name := g.column("NAME", "NAMES", "UNIT", "TAG")
	d.keep(in, g.head)
	room := in.tight()*dense/100 - chars(in.lines[g.head]) - 1
	keys := make([]string, len(g.rows))
	n := map[string]int{}
	for r := range g.rows {
		var key []string
		for _, c := range states {
			if c != name && g.cells[r][c] != "" {
				key = append(key, g.cells[r][c])
			}
		}
		keys[r] = strings.Join(key, ", ")
		n[keyOf(keys[r])]++
	}
	// Rows of a rare state come whole, bad ones and the rarest first.
	few := max(2, len(g.rows)/12)
	var rare []int
	for r := range g.rows {
		if k := keyOf(keys[r]); n[k] <= few || weight(k) > 2 {
			rare = append(rare, r)
		}
	}
	slices.SortStableFunc(rare, func(a, b int) int {
		ka, kb := keyOf(keys[a]), keyOf(keys[b])
		if wa, wb := weight(ka), weight(kb); wa != wb {
			return wb - wa
		}
		return n[ka] - n[kb]
	})
	whole := map[int]bool{}
	left := room * 3 / 5
	for _, r := range rare {
		cost := chars(shorten(in.lines[g.rows[r]])) + 1
		if cost > left || len(whole) >= min(in.rows/2, 20) {
			break
		}
		whole[r] = true
		left, room = left-cost, room-cost
	}
	var common []string
	byKey := map[string][]int{}
	for r, i := range g.rows {
		k := keyOf(keys[r])
		if whole[r] {
			d.keep(in, i)
			d.tells(2)
			continue
		}
		if byKey[k] == nil {
			common = append(common, k)
		}
		byKey[k] = append(byKey[k], r)
	}
	if len(states) == 0 {
		return draft{}, false
	}
	for _, k := range common {
		list := byKey[k]
		text := fmt.Sprintf("%s × %s: ", in.count(len(list)), keys[list[0]])
		share := room/len(common) - chars(text)
		for at, r := range list {
			if at > 0 {
				text += ", "
			}
			called := g.cells[r][name]
			if at > 0 && len(called) > share-20 || len(text) > longNames {
				text += fmt.Sprintf("… %d more", len(list)-at)
				break
			}
			share -= len(called) + 2
			text += called
		}
		d.note(g.rows[list[0]], text)
		d.tells(1)
	}
	for _, i := range g.rest {
		if !strings.Contains(in.lines[i], " = ") { // the legend of systemctl
			d.keep(in, i)
		}
	}
	return d, true
}

// keyOf is a state without its figures: "Up 8 seconds" and "Up 9 seconds" are one.
func keyOf(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			if b.Len() == 0 || b.String()[b.Len()-1] != '0' {
				b.WriteByte('0')
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// states are the columns that have few values, but for ages and sizes.
func (g *grid) states() []int {
	var cols []int
	for c := range g.names {
		values := map[string]int{}
		for _, row := range g.cells {
			values[keyOf(row[c])]++
		}
		switch g.names[c] {
		case "AGE", "CREATED", "SIZE", "CONTAINER ID", "IMAGE ID", "IP", "NODE", "CPU(cores)", "MEMORY(bytes)":
			continue
		}
		if len(values) <= max(4, len(g.rows)/8) && len(values) <= 12 {
			cols = append(cols, c)
		}
	}
	return cols
}

// processRows draws ps and top: the head, those that use most, and of the others
// how many of each name there are.
func processRows(in *input) (draft, bool) {
	var d draft
	head := -1
	for i, line := range in.lines[:min(12, len(in.lines))] {
		f := strings.Fields(line)
		if slices.Contains(f, "PID") && (slices.Contains(f, "COMMAND") || slices.Contains(f, "CMD")) {
			head = i
		}
	}
	if head < 0 || len(in.lines)-head < 30 {
		return d, false
	}
	names := strings.Fields(in.lines[head])
	col := func(name string) int { return slices.Index(names, name) }
	cpu, mem, last := col("%CPU"), max(col("RSS"), col("RES")), len(names)-1
	if mem < 0 {
		mem = col("%MEM")
	}
	type process struct {
		at       int
		cpu, mem float64
		name     string
	}
	var all []process
	for i := head + 1; i < len(in.lines); i++ {
		f := strings.Fields(in.lines[i])
		if len(f) < len(names) {
			if in.lines[i] == "" {
				continue
			}
			return d, false
		}
		p := process{at: i, name: strings.TrimSuffix(base(f[last]), ":")}
		if strings.HasPrefix(f[last], "[") || strings.HasPrefix(f[last], "kworker") {
			p.name = "kernel threads"
		}
		if cpu >= 0 {
			p.cpu = sizeOf(f[cpu])
		}
		if mem >= 0 {
			p.mem = sizeOf(strings.ToUpper(f[mem]))
		}
		all = append(all, p)
	}
	const most = 8
	cpus := max(0.5, nthLargest(len(all), most, func(i int) float64 { return all[i].cpu }))
	mems := max(1, nthLargest(len(all), most, func(i int) float64 { return all[i].mem }))
	for i := 0; i <= head; i++ {
		if in.lines[i] != "" {
			d.keep(in, i)
			d.tells(2)
		}
	}
	others := map[string]int{}
	byCPU, byMem := 0, 0
	for _, p := range all {
		switch {
		case p.cpu >= cpus && cpu >= 0 && byCPU < most:
			byCPU++
		case p.mem >= mems && mem >= 0 && byMem < most:
			byMem++
		default:
			others[p.name]++
			continue
		}
		line := in.lines[p.at]
		if chars(line) > 160 {
			d.note(p.at, line[:byteOf(line, 150)]+"…")
			continue
		}
		d.keep(in, p.at)
	}
	d.note(len(in.lines)-1, "… "+in.count(len(all)-byCPU-byMem)+" more processes: "+tally(others, 12))
	d.tells(2)
	return d, byCPU+byMem > 0
}

// tally spells how many there are of each, the most first.
func tally(n map[string]int, most int) string {
	names := make([]string, 0, len(n))
	for name := range n {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		return n[names[i]] > n[names[j]] || n[names[i]] == n[names[j]] && names[i] < names[j]
	})
	var b strings.Builder
	for i, name := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d others", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if utf8.RuneCountInString(name) > 40 {
			name = name[:byteOf(name, 39)] + "…"
		}
		b.WriteString(name)
		if n[name] > 1 {
			fmt.Fprintf(&b, " ×%d", n[name])
		}
	}
	return b.String()
}

// dfRows leaves out of a long df what is no disk.
func dfRows(in *input) (draft, bool) {
	var d draft
	left := map[string]int{}
	if !strings.Contains(in.lines[0], "%") || len(in.lines) < 15 {
		return d, false
	}
	for i, line := range in.lines {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		full := slices.ContainsFunc(f, func(s string) bool { return len(s) > 2 && strings.HasSuffix(s, "%") && s >= "90%" })
		switch f[0] {
		case "tmpfs", "devtmpfs", "overlay", "shm", "udev", "none", "squashfs":
			if i > 0 && !full {
				left[f[0]]++
				continue
			}
		}
		if i > 0 && strings.HasPrefix(f[0], "/dev/loop") {
			left["loop"]++
			continue
		}
		d.keep(in, i)
	}
	if len(left) == 0 {
		return d, false
	}
	d.note(len(in.lines)-1, "… left out: "+tally(left, 8))
	return d, true
}
