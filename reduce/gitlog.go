package reduce

import (
	"fmt"
	"slices"
	"strings"

	"termpilot/lazy"
)

// logged is a commit of git log in one of its long forms.
type logged struct {
	at      int
	hash    string
	refs    string
	author  string
	date    string
	subject string
	body    []int  // lines of the message after its first
	stat    string // the line that sums up --stat
	files   []patched
	end     int
}

var (
	graph      = lazy.Regexp(`^[*|\\/_ .-]*?(?:\* |\| |  )+`)
	statSum    = lazy.Regexp(`^ ?\d+ files? changed(?:, \d+ insertions?\(\+\))?(?:, \d+ deletions?\(-\))?$`)
	statLine   = lazy.Regexp(`^ ?(\S.*?) +\| +(?:(\d+) ?[+-]*|Bin.*)$`)
	commitHead = lazy.Regexp(`^commit ([0-9a-f]{7,40})(?: (\(.*\)))?$`)
)

// gitLog draws the commits of git log on a line each, with as much of their
// messages, files and changes as has room.
func gitLog(in *input) (draft, bool) {
	var d draft
	commits, ok := readLog(in)
	if !ok || len(commits) == 1 && len(commits[0].files) > 0 {
		return d, false // one commit with its patch is a patch
	}
	w := patchWriter{in: in, d: &d, room: in.tight() * dense / 100, rows: in.rows}
	if len(commits) > 1 {
		w.note(0, in.count(len(commits))+" commits"+whose(commits)+", "+commits[len(commits)-1].date+" … "+commits[0].date)
		d.tells(maxWeight)
	}
	shown := w.fit(commits)
	for n, i := range shown {
		if n > 0 && i > shown[n-1]+1 {
			w.note(commits[shown[n-1]+1].at, "… "+in.count(i-shown[n-1]-1)+" commits left out …")
		}
		w.extra = max(0, w.room-w.reserved) / (len(shown) - n)
		w.commit(&commits[i])
	}
	return d, true
}

// fit returns which commits are drawn, the newest and the two oldest, and
// reserves the room for their lines.
func (w *patchWriter) fit(commits []logged) []int {
	const oldest = 2
	var newest, end []int
	rows := w.rows
	take := func(i int) bool {
		cost := chars(shorten(commits[i].line())) + 1
		if w.reserved+cost > w.room || rows < 2 {
			return false
		}
		w.reserved, rows = w.reserved+cost, rows-1
		return true
	}
	if len(commits) > rows {
		w.reserved, rows = 40, rows-1 // the count of those left out
		for i := len(commits) - oldest; i < len(commits); i++ {
			if take(i) {
				end = append(end, i)
			}
		}
	}
	for i := range commits[:len(commits)-len(end)] {
		if !take(i) {
			break
		}
		newest = append(newest, i)
	}
	w.spare = rows
	return append(newest, end...)
}

// readLog reads the commits of a log; ok is false when it has other things in it.
func readLog(in *input) (list []logged, ok bool) {
	lines := in.lines
	stripped := false
	if strings.HasPrefix(lines[0], "* ") || strings.HasPrefix(lines[0], "*   ") {
		lines, stripped = make([]string, len(in.lines)), true
		for i, l := range in.lines {
			lines[i] = strings.TrimLeft(strings.TrimLeft(l, `*|\/_. `), " ")
			if !commitHead().MatchString(lines[i]) {
				lines[i] = graph().ReplaceAllString(l, "")
			}
		}
	}
	for i := 0; i < len(lines); {
		m := commitHead().FindStringSubmatch(lines[i])
		if m == nil {
			if lines[i] == "" || stripped && strings.Trim(in.lines[i], `*|\/_ .-`) == "" {
				i++
				continue
			}
			return nil, false
		}
		c := logged{at: i, hash: m[1], refs: m[2]}
		i = c.read(lines, i+1)
		list = append(list, c)
	}
	return list, len(list) > 0
}

// read takes the lines of a commit after its head, and returns the next line.
func (c *logged) read(lines []string, i int) int {
	for ; i < len(lines) && lines[i] != "" && !commitHead().MatchString(lines[i]); i++ { // the fields
		key, value, _ := strings.Cut(lines[i], ":")
		switch key {
		case "Author":
			c.author, _, _ = strings.Cut(strings.TrimSpace(value), " <")
		case "Date", "AuthorDate":
			c.date = strings.TrimSpace(value)
		}
	}
	for ; i < len(lines); i++ {
		line := lines[i]
		switch {
		case commitHead().MatchString(line):
			c.end = i
			return i
		case strings.HasPrefix(line, "diff --"):
			p := readPatch(lines, i)
			c.files, c.end = p.files, p.end
			return max(p.end, i+1)
		case statSum().MatchString(line):
			c.stat = strings.TrimSpace(line)
		case strings.HasPrefix(line, "    "):
			if c.subject == "" {
				c.subject = strings.TrimSpace(line)
			} else {
				c.body = append(c.body, i)
			}
		}
	}
	c.end = i
	return i
}

// whose says who made the commits: the names, with how many each made.
func whose(commits []logged) string {
	n := map[string]int{}
	for _, c := range commits {
		n[c.author]++
	}
	var names []string
	for name := range n {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return strings.Compare(a, b)
	})
	text := " by "
	for i, name := range names {
		if i == 5 {
			return text + fmt.Sprintf(" and %d more", len(names)-5)
		}
		if i > 0 {
			text += ", "
		}
		text += name
		if len(names) > 1 {
			text += fmt.Sprintf(" (%d)", n[name])
		}
	}
	return text
}

// trailer is a line at the end of a message that tells of people and tools.
var trailer = lazy.Regexp(`^\s*(?:Signed-off-by|Co-authored-by|Reviewed-by|Reviewed-on|Acked-by|Tested-by|Cc|Change-Id|Commit-Queue|Auto-Submit|TryBot-Result|Run-TryBot|LUCI-TryBot-Result|GitHub-\S+): `)

// line is a commit on one line.
func (c *logged) line() string {
	text := c.hash[:min(9, len(c.hash))]
	if c.refs != "" {
		text += " " + c.refs
	}
	text += " " + c.subject
	switch {
	case len(c.files) > 0:
		var n [2]int
		for _, f := range c.files {
			n[0], n[1] = n[0]+f.n[0], n[1]+f.n[1]
		}
		text += fmt.Sprintf(" [%d files%s]", len(c.files), changes(n))
	case c.stat != "":
		text += " [" + strings.NewReplacer(" changed", "", " insertions(+)", "+", " insertion(+)", "+", " deletions(-)", "-", " deletion(-)", "-").Replace(c.stat) + "]"
	}
	return text
}

// commit draws one commit: its line, and its files or the rest of its message
// as far as its share of the room that no line needs goes.
func (w *patchWriter) commit(c *logged) {
	text := c.line()
	w.note(c.at, text)
	w.reserved -= chars(shorten(text)) + 1
	w.d.tells(2)
	if len(c.files) > 0 {
		was := len(w.d.lines)
		if l := filesOf(c.files); w.extra > 30 && w.spare > 1 {
			l.room, l.rows = w.extra, min(w.spare, 4)
			l.draw(w.d)
		}
		for _, line := range w.d.lines[was:] {
			w.room, w.spare = w.room-chars(line.text)-1, w.spare-1
		}
		return
	}
	for _, i := range c.body {
		line := strings.TrimSpace(w.in.lines[i])
		cost := chars(shorten(line)) + 3
		if line == "" || trailer().MatchString(line) {
			continue
		}
		if cost > w.extra || w.spare < 1 {
			break
		}
		w.d.show(i, 1, "  "+line)
		w.room, w.extra, w.spare = w.room-cost, w.extra-cost, w.spare-1
	}
}

// commitLine is a commit on one line, maybe with the graph before it.
var commitLine = lazy.Regexp(`^[*|\\/_ .-]*\b[0-9a-f]{7,40}\b( .*)?$`)

// gitOneline keeps of many commits on one line each the newest and the oldest.
func gitOneline(in *input) (draft, bool) {
	const newest, oldest = 24, 3
	var d draft
	var commits []int
	for i, line := range in.lines {
		switch {
		case commitLine().MatchString(line):
			commits = append(commits, i)
		case strings.Trim(line, `*|\/_ .-`) != "":
			return d, false
		}
	}
	if len(commits) <= defaultLines || in.has("-p", "--patch", "--stat") {
		return d, false
	}
	for _, i := range commits[:newest] {
		d.keep(in, i)
	}
	d.note(commits[newest], "… "+in.count(len(commits)-newest-oldest)+" of "+in.count(len(commits))+" commits left out …")
	for _, i := range commits[len(commits)-oldest:] {
		d.keep(in, i)
	}
	return d, true
}

// gitStat draws the files of --stat folder by folder.
func gitStat(in *input) (draft, bool) {
	var d draft
	l := listing{unit: "files", sum: func(n [2]int) string { return fmt.Sprintf(" ±%d", n[0]) }, room: in.tight(), rows: in.rows}
	sum, first := false, -1
	var before, after []int
	for i, line := range in.lines {
		m := statLine().FindStringSubmatch(line)
		switch {
		case m != nil:
			n := atoi(m[2])
			l.leaves = append(l.leaves, leaf{path: m[1], label: " " + m[2], at: i, n: [2]int{n, 0}})
			if first < 0 {
				first = i
			}
		case statSum().MatchString(line):
			sum = true
			after = append(after, i)
		case first < 0:
			before = append(before, i)
		default:
			after = append(after, i)
		}
	}
	if len(l.leaves) == 0 || !sum || len(before) > 20 {
		return d, false
	}
	modes := 0
	for _, i := range before {
		if in.lines[i] != "" {
			d.keep(in, i)
			l.room, l.rows = l.room-chars(in.lines[i])-1, l.rows-1
		}
	}
	l.room, l.rows = l.room-200, l.rows-min(len(after), 4)
	l.draw(&d)
	for _, i := range after {
		switch line := in.lines[i]; {
		case strings.HasPrefix(line, " create mode "), strings.HasPrefix(line, " delete mode "), strings.HasPrefix(line, " rename "):
			modes++
		case line != "":
			d.keep(in, i)
			d.tells(maxWeight)
		}
	}
	if modes > 0 {
		d.note(len(in.lines)-1, fmt.Sprintf("%d files created, deleted or renamed", modes))
	}
	return d, true
}

// atoi is the number that digits spell, 0 for others.
func atoi(s string) int {
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' || n > 1<<40 {
			return 0
		}
		n = n*10 + int(r-'0')
	}
	return n
}
