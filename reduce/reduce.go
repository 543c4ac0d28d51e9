// Package reduce makes terminal text shorter without losing what it says. It is
// pure: text in, shorter text out, the same every time, in time that grows with
// the text's length alone.
//
// [Output] is for what a command printed, and knows many programs; [Plain] is the
// general stage, for any text. What comes out is valid UTF-8 without control
// characters other than newline and tab, and is never longer than what came in
// but for the markers of what is left out. [Cut] is for text that must stay as it
// was printed. The clauses are in specs/reduce.md.
package reduce

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Options says how much may stay. The zero value has the defaults.
type Options struct {
	MaxChars int // characters of the answer; 0 is 32768
	MaxLines int // lines of the answer, at least 5; 0 is 60 for Plain, no limit for Cut
	// Skipped is how many lines the caller left out at byte Seam of the text;
	// they are counted with those dropped here.
	Skipped int
	Seam    int
	Mask    bool // hide what looks like a secret
	Marked  bool // with Mask: Secret stands in the text for secrets that were found
}

const (
	defaultChars = 32768
	defaultLines = 60
	// tinyBudget is the most characters in which no marker has room beside text.
	tinyBudget = 100
	// fewestLines is the least that MaxLines means: two ends and two markers.
	fewestLines = 5
)

// Result is reduced text.
type Result struct {
	Text    string
	Lines   int // lines of the text that came in, those skipped too
	Dropped int // lines that do not show, or only in part
	Masked  int // secrets that would show
}

// Plain is the general stage: control strings out, overwritten text as a person
// sees it, blank and repeated lines folded, long lines shortened, and of many
// lines the first, the last, and those between that tell of errors, failures and
// results. What is left out is counted where it stood.
func Plain(text string, o Options) Result {
	o = o.filled(defaultLines)
	return read(text, o).plain(o)
}

// read makes a table of a text as a person sees it.
func read(text string, o Options) *table {
	head, tail := o.split(text)
	list := tidy(clean(head, o.Marked))
	seam := len(list)
	list = append(list, tidy(clean(tail, o.Marked))...)
	t := &table{lines: list, seam: seam, skipped: o.Skipped, total: countLines(head) + countLines(tail) + o.Skipped}
	if o.Mask && !o.Marked {
		t.mask()
	}
	folded := *t
	folded.lines = slices.Clone(t.lines)
	folded.fold()
	folded.room = folded.foldSize()
	t.room, t.folded = folded.room, &folded
	return t
}

// plain is the answer of the general stage.
func (t *table) plain(o Options) Result {
	t.folded.finish(o)
	return t.folded.result()
}

// finish brings the table into its budgets: those of the caller, and never more
// than the fold of the text.
func (t *table) finish(o Options) {
	for i := range t.lines {
		l := &t.lines[i]
		short := shorten(l.text)
		if short != l.text {
			l.whole, l.text, l.cut = l.text, short, true
		}
	}
	t.choose(o.MaxLines, t.room)
	t.limit(o.MaxChars)
	if o.Mask {
		t.maskCut()
	}
}

// Cut keeps the text as it was printed. Of text over the budget it keeps the
// first and the last lines, and counts those between.
func Cut(text string, o Options) Result {
	if o.MaxLines == 0 {
		o.MaxLines = countLines(text) + 2 // markers, too
	}
	o = o.filled(defaultLines)
	text = legible(text, &o.Seam, o.Marked)
	head, tail := o.split(text)
	list := linesOf(head)
	seam := len(list)
	list = append(list, linesOf(tail)...)
	t := &table{lines: list, seam: seam, skipped: o.Skipped, total: countLines(head) + countLines(tail) + o.Skipped}
	if o.Mask && !o.Marked {
		t.mask()
	}
	t.ends(o.MaxLines)
	t.limit(o.MaxChars)
	if o.Mask {
		t.maskCut()
	}
	return t.result()
}

func (o Options) filled(lines int) Options {
	if o.MaxChars <= 0 {
		o.MaxChars = defaultChars
	}
	if o.MaxLines <= 0 {
		o.MaxLines = lines
	}
	o.MaxLines = max(o.MaxLines, fewestLines)
	o.Skipped = max(0, o.Skipped)
	return o
}

// split cuts text at the seam; without one, all of it is the head.
func (o Options) split(text string) (head, tail string) {
	if o.Skipped == 0 || o.Seam < 0 || o.Seam > len(text) {
		return text, ""
	}
	for o.Seam < len(text) && o.Seam > 0 && !utf8.RuneStart(text[o.Seam]) {
		o.Seam--
	}
	return strings.TrimSuffix(text[:o.Seam], "\n"), text[o.Seam:]
}

// countLines is how many lines a text has; a line end at the end begins none.
func countLines(text string) int {
	if text == "" {
		return 0
	}
	n := strings.Count(text, "\n")
	if text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// entry is one line of a table.
type entry struct {
	text   string
	whole  string // what text was before its middle was cut out; "" when it was not
	keep   bool
	cut    bool // shows only in part
	more   int  // further lines that it stands for
	lost   int  // of these, those that said something else
	weight int  // how much it tells; 0: its words say
}

func linesOf(text string) []entry {
	if text == "" {
		return nil
	}
	parts := strings.Split(text, "\n")
	list := make([]entry, len(parts))
	for i, p := range parts {
		list[i] = entry{text: p, keep: true}
	}
	return list
}

// table is text as lines, some of which are kept.
type table struct {
	lines   []entry
	seam    int // the lines left out by the caller stood before this one
	skipped int
	total   int
	room    int // characters of the fold of the text
	folded  *table
	mute    bool // no room for markers
}

// marker is the line that stands where n lines were left out.
func marker(n int) string {
	if n == 1 {
		return "… 1 line left out …"
	}
	return fmt.Sprintf("… %d lines left out …", n)
}

// markerChars is more than a marker has.
const markerChars = 36

// result writes the kept lines with markers between them.
func (t *table) result() Result {
	r := Result{Lines: t.total}
	var b strings.Builder
	first := true
	line := func(s string) {
		if !first {
			b.WriteByte('\n')
		}
		first = false
		b.WriteString(s)
	}
	gap := 0
	flush := func() {
		if gap > 0 {
			if !t.mute {
				line(marker(gap))
			}
			r.Dropped += gap
		}
		gap = 0
	}
	for i, l := range t.lines {
		if i == t.seam {
			gap += t.skipped
		}
		if !l.keep {
			gap += 1 + l.more
			continue
		}
		flush()
		line(l.text)
		r.Dropped += l.lost
		if l.cut {
			r.Dropped += 1 + l.more - l.lost
		}
	}
	if t.seam >= len(t.lines) {
		gap += t.skipped
	}
	flush()
	r.Text, r.Masked = unhide(b.String())
	return r
}

func chars(s string) int { return utf8.RuneCountInString(s) }
