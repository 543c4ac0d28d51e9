package reduce

import (
	"fmt"
	"regexp"
	"strings"

	"termpilot/lazy"
)

var traceReducers = []reducer{
	{names: "a stack trace", reduce: traces, seen: seenTrace},
}

// A traceStyle is how a language prints the stack of what failed.
type traceStyle struct {
	head  func() *regexp.Regexp // begins a trace
	frame func() *regexp.Regexp // a line of it
	more  func() *regexp.Regexp // a line that belongs to the frame before it
	// foreign are frames of libraries and of the language itself.
	foreign func() *regexp.Regexp
	// inner is where the innermost frame stands, which shows even when it is
	// foreign: where it happened.
	inner int
}

const (
	innerNowhere = iota // its first frames are how it panics
	innerFirst
	innerLast
)

var traceStyles = []traceStyle{
	{ // Python
		head:    lazy.Regexp(`^(.*)Traceback \(most recent call last\):$`),
		frame:   lazy.Regexp(`^\s*(?:[|+] +)*File ".*", line \d+`),
		more:    lazy.Regexp(`^\s{2,}`),
		foreign: lazy.Regexp(`site-packages/|dist-packages/|/lib/python3|<frozen |<string>`),
		inner:   innerLast,
	},
	{ // Java and its relatives
		head:    lazy.Regexp(`^(?:Exception in thread |Caused by: |\s*Suppressed: |[\w.$]+(?:Exception|Error)(?:: |$))`),
		frame:   lazy.Regexp(`^\s+at [\w.$/<>@-]+\(.*\)`),
		more:    lazy.Regexp(`^\s+\.\.\. \d+ (?:more|common frames)`),
		foreign: lazy.Regexp(`at (?:java\.|javax\.|jdk\.|sun\.|com\.sun\.|java\.base/|app//|org\.(?:springframework|apache|junit|hibernate|gradle|eclipse)\.|io\.netty\.|kotlin\.|scala\.|reactor\.)`),
		inner:   innerFirst,
	},
	{ // Node
		head:    lazy.Regexp(`^\s*(?:\[cause\]: |Uncaught |\[?)(?:[\w.]*Error|[\w.]*Exception)(?: \[\w+\])?(?:: |$)`),
		frame:   lazy.Regexp(`^\s+at (?:async )?(?:.* \((?:.*:\d+:\d+|index \d+)\)|\S+:\d+:\d+|.*<anonymous>|new \S+)`),
		more:    lazy.Regexp(`^\s+\^`),
		foreign: lazy.Regexp(`node:internal|node:|/node_modules/|<anonymous>`),
		inner:   innerFirst,
	},
	{ // Rust
		head:    lazy.Regexp(`^thread '.*' (?:\(\d+\) )?panicked at |^stack backtrace:$`),
		frame:   lazy.Regexp(`^\s+\d+: `),
		more:    lazy.Regexp(`^\s+at `),
		foreign: lazy.Regexp(`^\s+\d+: +(?:0x[0-9a-f]+ - )?(?:<?(?:\(?[&\w]+ as )?(?:std|core|alloc|tokio|rayon|test|__rustc)::|rust_begin_unwind|__libc|_start|main$|<unknown>|__rust)`),
	},
	{ // Go
		head:    lazy.Regexp(`^goroutine \d+.*\[.*\]:$`),
		frame:   lazy.Regexp(`^(?:created by )?[\w./*()\[\]{}·-]+(?:\.[\w().*\[\]…{}, 0-9a-fx?-]+)?\(.*\)$|^created by `),
		more:    lazy.Regexp(`^\t`),
		foreign: lazy.Regexp(`^(?:created by )?(?:runtime|internal|net|os|io|sync|testing|reflect|context|syscall|bufio|time|encoding)[./(]|^panic\(|^(?:created by )?[\w.-]+\.[a-z]+/`),
	},
}

// seenTrace reports whether a text has a stack in it that is worth folding.
func seenTrace(in *input) bool {
	if len(in.lines) < 12 {
		return false
	}
	n := 0
	for _, line := range in.lines {
		if line == "" || line[0] != ' ' && line[0] != '\t' {
			continue
		}
		text := strings.TrimLeft(line, " \t|+")
		n += boolInt(strings.HasPrefix(text, "at ") || strings.HasPrefix(text, `File "`) || line[0] == '\t' && strings.Contains(line, ".go:"))
	}
	return n*5 > len(in.lines)
}

// stackFrame is a frame of a trace: lines [at, end).
type stackFrame struct {
	at, end int
	foreign bool
}

// traces draws a text with stacks in it: what stands around them, the heads,
// and the frames of the program's own; those of libraries are counted. A stack
// that came before is not drawn again.
func traces(in *input) (draft, bool) {
	var d draft
	seen := map[string]int{} // the line of the draft for a stack
	times := map[string]int{}
	found := 0
	for i := 0; i < len(in.lines); {
		style, frames, end := readTrace(in.lines, i)
		if style == nil {
			if in.lines[i] != "" {
				d.keep(in, i)
			}
			i++
			continue
		}
		found++
		sig := signature(in.lines, frames)
		if n, again := seen[sig]; again {
			times[sig]++
			head := in.lines[d.lines[n].at]
			d.lines[n].text = fmt.Sprintf("%s (and %d more with this stack)", head, times[sig])
			i = end
			continue
		}
		d.keep(in, i)
		d.tells(2)
		seen[sig] = len(d.lines) - 1
		for n := i + 1; n < end && (len(frames) == 0 || n < frames[0].at); n++ {
			if in.lines[n] != "" {
				d.keep(in, n)
				d.tells(maxWeight)
			}
		}
		drawFrames(in, &d, frames, style.inner)
		i = end
	}
	return d, found > 0
}

// readTrace reads a trace that begins at line i. end is one past its last frame.
func readTrace(lines []string, i int) (style *traceStyle, frames []stackFrame, end int) {
	for s := range traceStyles {
		st := &traceStyles[s]
		if !st.head().MatchString(lines[i]) {
			continue
		}
		frames = frames[:0]
		n := i + 1
		for ; n < len(lines); n++ {
			line := lines[n]
			switch {
			case st.frame().MatchString(line):
				frames = append(frames, stackFrame{at: n, end: n + 1, foreign: st.foreign().MatchString(line)})
				continue
			case len(frames) > 0 && st.more().MatchString(line):
				f := &frames[len(frames)-1]
				f.end = n + 1
				f.foreign = f.foreign || st.foreign().MatchString(line) || strings.Contains(line, "/pkg/mod/") || strings.Contains(line, "/go/src/")
				continue
			case len(frames) == 0 && n < i+6 && line != "":
				continue // the message goes on
			}
			break
		}
		if len(frames) > 0 {
			return st, frames, frames[len(frames)-1].end
		}
	}
	return nil, nil, i
}

// signature is what equal stacks have in common: their functions, not what they
// were called with.
func signature(lines []string, frames []stackFrame) string {
	var b strings.Builder
	for _, f := range frames {
		name, _, _ := strings.Cut(strings.TrimSpace(lines[f.at]), "(0x")
		name, _, _ = strings.Cut(name, " (index ")
		b.WriteString(name)
		b.WriteByte('\n')
	}
	return b.String()
}

// drawFrames draws the frames of a stack: of those that are the program's own
// eight at most, and the innermost of all.
func drawFrames(in *input, d *draft, frames []stackFrame, inner int) {
	const most = 8
	own := 0
	for _, f := range frames {
		own += boolInt(!f.foreign)
	}
	gap, at, nth := 0, 0, 0
	for i, f := range frames {
		show := inner == innerFirst && i == 0 || inner == innerLast && i == len(frames)-1
		if !f.foreign {
			nth++
			show = show || nth <= most/2 || nth > own-most/2
		}
		if !show {
			if gap++; gap == 1 {
				at = f.at
			}
			continue
		}
		if gap > 0 {
			d.note(at, fmt.Sprintf("  … %s …", count(gap, "frame")))
		}
		gap = 0
		for n := f.at; n < f.end; n++ {
			if strings.Trim(in.lines[n], " \t^~") != "" {
				d.keep(in, n)
				d.tells(2)
			}
		}
	}
	if gap > 0 {
		d.note(at, fmt.Sprintf("  … %s …", count(gap, "frame")))
	}
}
