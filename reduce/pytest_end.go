package reduce

import (
	"fmt"
	"strings"
)

// summary reads a line below "short test summary info". It names tests whole,
// and so completes what the headings of failures say.
func (p *pytest) summary(i int) {
	l := p.in.lines[i]
	word, rest, _ := strings.Cut(l, " ")
	switch word {
	case "FAILED", "ERROR":
		id, why, _ := strings.Cut(rest, " - ")
		name := id
		if _, after, ok := strings.Cut(id, "::"); ok {
			name = strings.ReplaceAll(after, "::", ".")
		}
		if list := p.ids[name]; len(list) > 0 {
			f := &p.found[list[0]]
			p.ids[name] = list[1:]
			f.title = strings.Replace(f.title, " "+f.name, " "+id, 1)
			f.name = id
			f.inFile(fileOf(id))
			return
		}
		if p.placed(word, id, why) {
			return
		}
		f := finding{at: i, title: word + " " + id, name: id}
		if why != "" {
			f.why = []detail{{at: i, text: why, rank: 1}}
		}
		p.add(f)
	case "XPASS":
		p.say(i, l)
	case "SKIPPED", "XFAIL":
		p.limited(i, 5)
	case "PASSED", "":
	default:
		if isPytestTotal(l) {
			p.total, p.seen = i, true
		} else if strings.HasPrefix(l, "!!!") {
			p.stopped(i)
		}
	}
}

// placed completes the next finding that has a place and no name (--tb=line), if
// it gives the same reason.
func (p *pytest) placed(word, id, why string) bool {
	for p.named < len(p.found) && !p.found[p.named].nameless {
		p.named++
	}
	if word != "FAILED" || p.named == len(p.found) {
		return false
	}
	f := &p.found[p.named]
	if !strings.HasPrefix(f.reason(), strings.TrimSuffix(why, "...")) {
		return false
	}
	p.named++
	place := placesOf([]string{f.name})
	if root, line, ok := strings.Cut(f.name, fileOf(id)+":"); ok && strings.HasSuffix(root, "/") {
		p.root, place = root, " at line "+line
	}
	f.title, f.name, f.nameless = "FAILED "+id+place, id, false
	return true
}

// unrooted takes the folder that all of a run is in out of the places, as pytest
// itself does of most.
func (p *pytest) unrooted() {
	if len(p.root) < 2 {
		return
	}
	for i := range p.found {
		f := &p.found[i]
		f.title = strings.ReplaceAll(f.title, " "+p.root, " ")
		f.inFile(fileOf(f.name))
	}
	for i := range p.lines {
		l := &p.lines[i]
		if rest, ok := strings.CutPrefix(l.text, p.root); ok {
			l.text, l.of = rest, 0
		}
	}
}

// inFile leaves a file that a title names already out of its places.
func (f *finding) inFile(file string) {
	f.title = strings.Replace(f.title, " at "+file+":", " at line ", 1)
	f.title = strings.Replace(f.title, " from "+file+":", " from line ", 1)
}

func fileOf(id string) string {
	file, _, _ := strings.Cut(id, "::")
	return file
}

// stopped keeps the line that says why a run ended early.
func (p *pytest) stopped(i int) {
	p.seen = true
	p.say(i, strings.Trim(p.in.lines[i], "! "))
}

// warning reads a line below "warnings summary": what stands at a place is kept,
// which tests met it is not.
func (p *pytest) warning(i int) {
	l := p.in.lines[i]
	if isPytestTotal(l) {
		p.total, p.seen = i, true
		return
	}
	if strings.HasPrefix(l, "  ") && len(l) > 2 && l[2] != ' ' {
		if _, _, ok := atLine(l[2:]); ok {
			p.limited(i, 5)
			if file, n, ok := strings.Cut(p.in.lines[i-1], ": "); ok && strings.HasSuffix(n, " warnings") && p.shown[p.section] <= 5 {
				last := &p.lines[len(p.lines)-1]
				last.text += repeatMark + strings.TrimSuffix(n, " warnings") + ")"
				if root, _, ok := strings.Cut(last.text, file+":"); ok && strings.HasSuffix(root, "/") {
					p.root = root
				}
			}
		}
	}
}

// warnedOnce leaves the number out of a warning when it is that of the totals.
func (p *pytest) warnedOnce(title string) {
	for i := range p.lines {
		l := &p.lines[i]
		if text, n, ok := strings.Cut(l.text, repeatMark); ok && strings.Contains(title, " "+strings.TrimSuffix(n, ")")+" warnings") {
			l.text = text
		}
	}
}

// limited keeps a line unless its section has shown as many as most.
func (p *pytest) limited(i, most int) {
	if isPytestTotal(p.in.lines[i]) {
		p.total, p.seen = i, true
		return
	}
	text := strings.TrimSpace(p.in.lines[i])
	key := p.section
	if p.section == "short test summary info" {
		key, _, _ = strings.Cut(text, " ")
	}
	if p.shown[key]++; text == "" || p.shown[key] > most {
		return
	}
	p.lines = append(p.lines, drafted{text: text, at: i, of: 1, weight: 1})
}

// progress reads a line from before the results: of single tests (-v, xdist), of
// dots, or what something else printed.
func (p *pytest) progress(i int) {
	l := p.in.lines[i]
	if isPytestTotal(l) {
		p.total, p.seen = i, true
		return
	}
	if strings.HasPrefix(l, "INTERNALERROR>") {
		p.limited(i, 30)
		return
	}
	if root, ok := strings.CutPrefix(l, "rootdir: "); ok {
		root, _, _ = strings.Cut(root, ",")
		p.root = root + "/"
	}
	test, word := pytestProgress(l)
	if word == "" {
		if pytestCrash(l) {
			p.say(i, l)
		}
		return
	}
	p.seen = p.seen || strings.Contains(test, "::")
	p.results[word]++
	if word == "FAILED" || word == "ERROR" {
		p.failed = append(p.failed, finding{at: i, title: word + " " + test, name: test})
	}
}

// pytestProgress is the test that a line of progress is about, and its result.
func pytestProgress(l string) (test, word string) {
	if strings.HasPrefix(l, "[gw") { // [gw0] [  1%] PASSED id
		if _, rest, ok := strings.Cut(l, "%] "); ok {
			word, test, _ = strings.Cut(rest, " ")
		}
	} else if id, rest, ok := strings.Cut(l, " "); ok && strings.Contains(id, ".py") {
		if j := strings.LastIndex(l, "  ["); j > 0 {
			l = l[:j]
		}
		l = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(l, " "), "]"), " 0123456789%[")
		for _, w := range []string{"PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"} {
			if strings.HasPrefix(rest, w) {
				return id, w
			}
			if t, ok := strings.CutSuffix(l, " "+w); ok { // an id with a blank in it
				return t, w
			}
		}
		return "", ""
	}
	switch word {
	case "PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS":
		return test, word
	}
	return "", ""
}

// pytestCrash reports whether a line tells that the run itself broke.
func pytestCrash(l string) bool {
	for _, s := range []string{"Fatal Python error", "ERROR: ", "Segmentation fault", "ImportError while loading conftest", "E   ", "Timeout", "worker 'gw", "replacing crashed worker"} {
		if strings.HasPrefix(l, s) {
			return true
		}
	}
	return false
}

// verdict puts the totals first. Without them nothing is claimed: the run may not
// have come to its end.
func (p *pytest) verdict() {
	if p.total >= 0 {
		title := p.in.lines[p.total]
		if t, ok := ruled(title, '='); ok {
			title = t
		}
		p.note(0, title)
		p.warnedOnce(title)
		for i := p.total + 1; i < len(p.in.lines); i++ { // what wraps it says more
			if p.in.lines[i] != "" && i > len(p.in.lines)-4 {
				p.say(i, p.in.lines[i])
			}
		}
		return
	}
	var sofar []string
	for _, w := range []string{"PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"} {
		if n := p.results[w]; n > 0 {
			sofar = append(sofar, p.in.count(n)+" "+strings.ToLower(w))
		}
	}
	text := "no totals: the run did not end here"
	if len(sofar) > 0 {
		text += fmt.Sprintf(" (so far %s)", strings.Join(sofar, ", "))
	}
	p.note(0, text)
	for i := max(0, len(p.in.lines)-2); i < len(p.in.lines); i++ {
		if len(p.found) == 0 || p.section == "test session starts" {
			p.lines = append(p.lines, drafted{text: p.in.lines[i], at: i, of: 1, weight: maxWeight})
		}
	}
}
