package reduce

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"termpilot/lazy"
)

var logReducers = []reducer{
	{names: "journalctl, docker logs, docker-compose logs, podman logs, kubectl logs, dmesg, syslog, stern", reduce: logStream},
	{names: "a log", reduce: logStream, seen: seenLog},
}

// stamp is the time at the beginning of a line of a log, after what containers
// put before it.
var stamp = lazy.Regexp(`^(?:[\w.-]+ +\| )?[\[(]?(?:` +
	`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|` +
	`(?:\w{3} )?\w{3} [ \d]\d \d\d:\d\d:\d\d(?:[.,]\d+)?(?: \d{4})?|` +
	`[IWEFD]\d{4} \d\d:\d\d:\d\d\.\d+|` +
	`(?:time|ts|timestamp)="?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"?|` +
	`\d\d:\d\d:\d\d(?:[.,]\d+)?|` +
	` *\d+\.\d{6}\]|` + // dmesg
	`[\d.:a-f]+ \S+ \S+ \[\d\d/\w{3}/\d{4}[: ]\d\d:\d\d:\d\d(?: [+-]\d{4})?\])`)

// seenLog reports whether most of the first lines begin with a time.
func seenLog(in *input) bool {
	if len(in.lines) <= defaultLines {
		return false
	}
	n := 0
	for _, l := range in.lines[:40] {
		n += boolInt(stamp().MatchString(l[:min(len(l), 80)]))
	}
	return n >= 24
}

// levelWords are the words that name the severity of a line, and what they mean.
var levelWords = sync.OnceValue(func() map[string]string {
	words := map[string]string{}
	for meaning, list := range map[string]string{
		"error":   "FATAL fatal PANIC panic CRITICAL critical CRIT crit ERROR Error error ERR err",
		"warning": "WARNING Warning warning WARN warn",
		"info":    "NOTICE notice INFO Info info",
		"debug":   "DEBUG debug TRACE trace",
	} {
		for word := range strings.FieldsSeq(list) {
			words[word] = meaning
		}
	}
	return words
})

// levelWord is what the first such word of a line means; "" when it has none.
func levelWord(line string) string {
	for i, j := 0, 0; i < len(line); i = j + 1 {
		for j = i; j < len(line) && line[j]|0x20 >= 'a' && line[j]|0x20 <= 'z'; j++ {
		}
		if j-i < 3 || i > 0 && strings.IndexByte(" \t[\"'=(<|", line[i-1]) < 0 || j < len(line) && strings.IndexByte(" \t]:\"')>|,", line[j]) < 0 {
			continue
		}
		if meaning := levelWords()[line[i:j]]; meaning != "" {
			return meaning
		}
	}
	return ""
}

// levelOf is how much a line of a log tells by its level: 3 of an error, 2 of a
// warning, else what its words tell, and its level as it counts.
func levelOf(line string) (int, string) {
	head := line[:min(len(line), 160)]
	if len(head) > 6 && strings.IndexByte("EF", head[0]) >= 0 && klog(head) {
		return 3, "error"
	}
	switch meaning := levelWord(head); meaning {
	case "error":
		return 3, meaning
	case "warning":
		return 2, meaning
	case "debug":
		return 0, ""
	}
	return min(weight(line), 2), "" // "error" as a word of a line that is none is less than an error
}

// klog reports whether a line begins as those of Kubernetes do: E0102 10:00:00.
func klog(s string) bool {
	return len(s) > 7 && strings.Trim(s[1:5], "0123456789") == "" && s[5] == ' '
}

// logGroup is lines of a log that say the same of different things.
type logGroup struct {
	first, last int
	n           int
	tells       int
	after       int // lines without a time that follow the first: a stack, mostly
}

// logStream draws the messages of a log, each once with how often it came:
// errors first, then warnings, then what came most; and its last lines.
func logStream(in *input) (draft, bool) {
	var d draft
	if len(in.lines) <= defaultLines || seenJSONLines(in) {
		return d, false
	}
	groups, levels := groupLog(in)
	if len(groups)*2 > len(in.lines) {
		return d, false // no two lines are alike
	}
	const lastLines = 8
	w := logWriter{in: in, d: &d, room: in.tight(), rows: in.rows}
	w.prefix, w.says = in.commonStart()
	w.head(levels)
	tail := len(in.lines) - lastLines
	for i := len(in.lines) - 1; i >= tail; i-- {
		w.room -= chars(shorten(w.line(i))) + 1
		w.rows--
	}
	order := slices.Clone(groups)
	slices.SortStableFunc(order, func(a, b *logGroup) int {
		if a.tells != b.tells {
			return b.tells - a.tells
		}
		return b.n - a.n
	})
	var picked []*logGroup
	left := 0
	for _, g := range order {
		if g.first >= tail {
			continue
		}
		cost := chars(shorten(w.text(g))) + 1
		if cost > w.room || w.rows < 1 || g.tells < 2 && g.n == 1 && len(picked) > 20 {
			left++
			continue
		}
		w.room, w.rows = w.room-cost, w.rows-1
		picked = append(picked, g)
		if g.tells == 3 { // what follows an error belongs to it
			for n := 1; n <= min(g.after, 6); n++ {
				cost := chars(shorten(in.lines[g.first+n])) + 1
				if cost > w.room || w.rows < 1 {
					g.after = n - 1
					break
				}
				w.room, w.rows = w.room-cost, w.rows-1
			}
			g.after = min(g.after, 6)
		} else {
			g.after = 0
		}
	}
	slices.SortFunc(picked, func(a, b *logGroup) int { return a.first - b.first })
	for _, g := range picked {
		d.show(g.first, 1, w.text(g))
		d.tells(max(1, g.tells))
		for n := 1; n <= g.after; n++ {
			d.keep(in, g.first+n)
		}
	}
	if left > 0 {
		d.note(tail, fmt.Sprintf("… %d more kinds of lines; the last lines:", left))
	} else {
		d.note(tail, "… the last lines:")
	}
	for i := max(0, tail); i < len(in.lines); i++ {
		d.show(i, 1, w.line(i))
	}
	return d, true
}

// groupLog groups the lines of a log by their message.
func groupLog(in *input) (groups []*logGroup, levels map[string]int) {
	byKind := map[uint64]*logGroup{}
	levels = map[string]int{}
	var now *logGroup
	stamped := seenLog(in)
	for i, line := range in.lines {
		if line == "" {
			continue
		}
		at := stamp().FindStringIndex(line[:min(len(line), 120)])
		if at == nil && stamped && (line[0] == ' ' || line[0] == '\t' || now != nil && now.first+now.after == i-1 && now.tells == 3) {
			if now != nil && now.first+now.after == i-1 {
				now.after++
			}
			continue
		}
		from := 0
		if at != nil {
			from = at[1]
		}
		tells, name := levelOf(line)
		if name != "" {
			levels[name]++
		}
		k := message(line[from:]) + uint64(tells)
		g := byKind[k]
		if g == nil {
			g = &logGroup{first: i, tells: tells}
			byKind[k] = g
			groups = append(groups, g)
		}
		g.n++
		g.last = i
		now = g
		if g.first != i {
			now = nil
		}
	}
	return groups, levels
}

// message is a number for what a message of a log says, whatever it says it of:
// its words without those that have figures, paths or marks of a value in them.
func message(line string) uint64 {
	const prime, offset = 1099511628211, 14695981039346656037 // FNV-1a
	sum := uint64(offset)
	line = line[:min(len(line), longLine)]
	words := 0
	asks, asked := false, false // the word before ends what a client asked for
	for word := range strings.FieldsSeq(line) {
		asks, asked = asked, strings.HasSuffix(word, `"`) || strings.HasPrefix(word, "HTTP/")
		i := strings.IndexByte(word, '=')
		switch value := word[i+1:]; {
		case httpStatus(value) && (asks || strings.HasSuffix(strings.ToLower(word[:i+1]), "status=") || strings.HasSuffix(strings.ToLower(word[:i+1]), "code=")):
			word = word[:i+2] // what the server thought of it
		case i > 0:
			word = word[:i+1]
		case strings.ContainsAny(word, "0123456789/\"'<>@{}"), strings.IndexByte(word, ':')+1 < len(word) && strings.IndexByte(word, ':') > 0:
			word = "0"
		}
		for i := 0; i < len(word); i++ {
			sum = (sum ^ uint64(word[i])) * prime
		}
		sum = (sum ^ ' ') * prime
		if words++; words == 12 {
			break // the rest is mostly of the case
		}
	}
	return sum << 2
}

// httpStatus reports whether a word could be the status of an HTTP answer.
func httpStatus(word string) bool {
	return len(word) == 3 && word[0] >= '1' && word[0] <= '5' && strings.Trim(word, "0123456789") == ""
}

func stampOf(line string) string { return stamp().FindString(line[:min(len(line), 120)]) }

// commonStart is what the times of all lines begin with, the date mostly, and
// what follows the time in all of them.
func (in *input) commonStart() (time, says string) {
	have := false
	for _, line := range in.lines {
		s := stampOf(line)
		if s == "" {
			continue
		}
		if !have {
			time, says, have = s, line[len(s):], true
			continue
		}
		time = common(time, s)
		says = common(says, line[len(s):])
	}
	time = time[:strings.LastIndexAny(time, "T ")+1]
	if len(time) < 6 {
		time = ""
	}
	says = says[:strings.LastIndexByte(says, ' ')+1]
	if len(says) < 8 || len(says) > 80 {
		says = ""
	}
	return time, strings.TrimSuffix(says, " ")
}

// common is what two texts begin with.
func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n < len(a) && n > 0 && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// logWriter draws lines of a log.
type logWriter struct {
	in     *input
	d      *draft
	prefix string
	says   string // what follows the time in all lines
	room   int
	rows   int
}

// head says how long the log is, and how bad.
func (w *logWriter) head(levels map[string]int) {
	text := w.in.count(len(w.in.lines)) + " lines"
	for _, name := range []string{"error", "warning"} {
		if n := levels[name]; n > 0 {
			text += ", " + count(n, name)
		}
	}
	if p := strings.Trim(w.prefix, "T [("); p != "" {
		text += ", all of " + p[max(0, strings.LastIndexAny(p, `="`)+1):]
	}
	if w.says != "" {
		text += ", all with" + w.says
	}
	w.d.note(0, text)
	w.d.tells(maxWeight)
	w.room, w.rows = w.room-chars(text)-50, w.rows-2
}

// line is a line without what all begin with.
func (w *logWriter) line(i int) string {
	line := w.in.lines[i]
	if w.says != "" {
		if s := stampOf(line); s != "" {
			line = s + strings.TrimPrefix(line[len(s):], w.says)
		}
	}
	return strings.TrimPrefix(line, w.prefix)
}

// text is the line of a group, with how often it came.
func (w *logWriter) text(g *logGroup) string {
	text := w.line(g.first)
	if g.n == 1 {
		return text
	}
	if chars(text) > 200 {
		text = text[:byteOf(text, 180)] + "…"
	}
	at := strings.TrimPrefix(stampOf(w.in.lines[g.last]), w.prefix)
	if at != "" && len(at) < 20 && at != strings.TrimPrefix(stampOf(w.in.lines[g.first]), w.prefix) {
		return fmt.Sprintf("%s%s%d, last %s)", text, repeatMark, g.n, at)
	}
	return fmt.Sprintf("%s%s%d)", text, repeatMark, g.n)
}

// count returns "1 line" or "n lines".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return itoa(n) + " " + what + "s"
}
