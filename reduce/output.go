package reduce

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Output makes what a command printed shorter, by the rules for the program that
// ran, or for the text when that tells what it is; otherwise as [Plain] does. It
// is never longer than a fold of the text that shows its first 30 and its last 20
// lines. command is the command line; it may be unknown.
func Output(command, text string, o Options) Result {
	o = o.filled(defaultLines)
	t := read(text, o)
	for _, in := range t.inputs(command) {
		d, ok := in.by.reduce(in)
		if !ok || len(d.lines) == 0 {
			continue
		}
		got := t.drafted(d, o)
		if got.Dropped > o.Skipped && chars(got.Text)+worthACall > t.room {
			if plain := t.plain(o); plain.Dropped <= got.Dropped && plain.Dropped == o.Skipped {
				return plain
			}
		}
		return got
	}
	return t.plain(o)
}

// worthACall is about how many characters it takes to say how the lines that are
// left out can be had: who saves less by it shows them.
const worthACall = 160

// reducer is how the text of some programs is made shorter.
type reducer struct {
	// names are the programs, with their subcommands: "git diff, git show".
	names string
	// reduce makes a draft, or reports that it does not know the text.
	reduce func(in *input) (draft, bool)
	// seen reports whether a text is such whatever printed it; nil: the command
	// tells. It is asked of every text, and so it looks at little.
	seen func(in *input) bool
}

// byName finds the reducers of a program.
var byName = sync.OnceValue(func() map[string][]*reducer {
	m := map[string][]*reducer{}
	for i := range reducers {
		for name := range strings.SplitSeq(reducers[i].names, ", ") {
			m[name] = append(m[name], &reducers[i])
		}
	}
	return m
})

// input is a text as a reducer gets it: cleaned lines without blanks at their
// ends, blank ones at most one together.
type input struct {
	program
	by    *reducer
	lines []string
	gap   int // lines were left out before lines[gap]; -1: none
	// How much a draft may have, characters and lines: a longer one is cut.
	room, rows int
}

// dense is how much of the fold's characters a draft of names and figures may
// have, in percent: it has more tokens for its length than running text.
const dense = 75

// tight is the room for a draft that says much in few characters. What a fold
// shows whole may stay whole.
func (in *input) tight() int {
	if len(in.lines) <= defaultLines {
		return in.room
	}
	return in.room * dense / 100
}

// has reports whether one of the flags is among the words of the command, alone,
// with a value after =, or for single letters in a group of them.
func (in *input) has(flags ...string) bool {
	for _, a := range in.args {
		if a == "--" {
			return false
		}
		for _, f := range flags {
			name, _, _ := strings.Cut(a, "=")
			if name == f || len(f) == 2 && len(a) > 2 && a[0] == '-' && a[1] != '-' && strings.Contains(a, f[1:]) {
				return true
			}
		}
	}
	return false
}

// count spells a number of things counted in the text, of which a part was not read.
func (in *input) count(n int) string {
	if in.gap >= 0 {
		return "≥" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// inputs returns the text as input of each reducer to be tried: those of the
// programs that ran, the last first, then those that know the text by itself.
func (t *table) inputs(command string) []*input {
	lines := make([]string, len(t.lines))
	for i, l := range t.lines {
		lines[i] = l.text
	}
	in := input{lines: lines, gap: -1, room: t.room, rows: foldHead + foldTail}
	if len(lines) <= defaultLines {
		in.rows = defaultLines // what a fold shows whole
	}
	if t.skipped > 0 {
		in.gap = t.seam
	}
	if len(lines) == 0 {
		return nil
	}
	var list []*input
	with := func(p program, r *reducer) {
		one := in
		one.program, one.by = p, r
		list = append(list, &one)
	}
	named := byName()
	for _, p := range slices.Backward(programs(command)) {
		for _, r := range slices.Concat(named[p.name+" "+p.sub], named[p.name]) {
			with(p, r)
		}
	}
	for i := range reducers {
		if r := &reducers[i]; r.seen != nil && r.seen(&in) {
			with(program{}, r)
		}
	}
	return list
}

// draft is what a reducer makes of an input: lines in the order of the input.
type draft struct{ lines []drafted }

// drafted is a line of a draft.
type drafted struct {
	text   string
	at     int // the line of the input that it stands for, or the first of them
	of     int // how many lines of the input it shows, with all that they say
	weight int // how much it tells, as of lines of the general stage; 0: its words say
}

// keep takes over a line of the input.
func (d *draft) keep(in *input, i int) { d.show(i, 1, in.lines[i]) }

// show adds a line that says all that of lines of the input say, from at on.
func (d *draft) show(at, of int, text string) {
	d.lines = append(d.lines, drafted{text: text, at: at, of: of})
}

// note adds a line about lines of the input that do not show, or not in full.
func (d *draft) note(at int, text string) { d.show(at, 0, text) }

// tells says how much the last line tells: maxWeight is what must survive.
func (d *draft) tells(weight int) { d.lines[len(d.lines)-1].weight = weight }

// drafted is the answer that a draft makes. Lines that stand for none of their
// own cost nothing when they are left out; all that a draft does not show counts
// as left out, but for blank lines.
func (t *table) drafted(d draft, o Options) Result {
	list := make([]entry, 0, len(d.lines))
	seam := -1
	at := 0
	for i, l := range d.lines {
		next := len(t.lines)
		if i+1 < len(d.lines) {
			next = min(max(d.lines[i+1].at, at), next)
		}
		if i == 0 {
			at = 0
		}
		if seam < 0 && t.skipped > 0 && (at >= t.seam || i == len(d.lines)-1 && next > t.seam) {
			seam = i
		}
		span := t.speaking(at, next)
		list = append(list, entry{text: l.text, keep: true, more: span - 1, weight: l.weight})
		at = next
	}
	if seam < 0 {
		seam = len(list)
	}
	one := *t
	one.lines, one.seam = list, seam
	one.finish(o)
	r := one.result()
	r.Dropped = t.skipped + t.speaking(0, len(t.lines))
	for i, l := range one.lines {
		if l.keep && !l.cut {
			r.Dropped -= d.lines[i].of
		}
	}
	r.Dropped = max(r.Dropped, t.skipped)
	return r
}

// speaking is how many of the lines from and up to to are not blank.
func (t *table) speaking(from, to int) int {
	n := 0
	for _, l := range t.lines[from:max(from, to)] {
		n += boolInt(l.text != "")
	}
	return n
}
