package reduce

import "strings"

// aptLists are the headings of lists of packages, in what apt says first.
var aptLists = []string{"The following ", "Die folgenden ", "Les paquets ", "Los siguientes ", "I seguenti ", "De volgende "}

// name reads names of packages set in below a heading, which stand on many lines.
func (s *install) name(i int, l string) bool {
	if strings.HasPrefix(l, "Suggested packages:") || strings.HasPrefix(l, "Recommended packages:") {
		s.listed, s.unsaid = l, true
		s.steps++
		return true
	}
	for _, p := range aptLists {
		if strings.HasPrefix(l, p) && strings.HasSuffix(l, ":") {
			s.listed, s.unsaid = l, false
			s.say(i, l)
			return true
		}
	}
	if s.listed == "" {
		return false
	}
	if !strings.HasPrefix(l, "  ") {
		s.listed = ""
		return false
	}
	if s.unsaid {
		return true
	}
	last := &s.lines[len(s.lines)-1]
	last.text, last.of = last.text+" "+strings.TrimSpace(l), last.of+1
	if len(last.text) > packed { // goes on on a line of its own
		s.lines = append(s.lines, drafted{text: "  ", at: i, of: 1, weight: 2})
	}
	return true
}

// list adds a name to those that came or went.
func (s *install) list(which, i int, name string) {
	p := &s.lists[which]
	if len(p.names) == 0 {
		p.at = i
	}
	p.names = append(p.names, name)
}

// warn counts a warning.
func (s *install) warn(i int, text string) {
	k := kind(unquoted(text))
	if w, ok := s.warnings[k]; ok {
		w.n++
		return
	}
	s.warnings[k] = &warning{at: i, text: text, n: 1}
	s.order = append(s.order, k)
}

// fail keeps a line of an error; blank ones and those about where a log lies say
// nothing.
func (s *install) fail(i int, text string) {
	for _, p := range []string{"npm error", "npm ERR!"} {
		if rest, ok := strings.CutPrefix(text, p); ok {
			rest = strings.TrimSpace(rest)
			if rest == "" || strings.HasPrefix(rest, "A complete log of this run") || strings.HasPrefix(rest, "For a full report see") || strings.Contains(rest, "_logs/") {
				s.steps++
				return
			}
		}
	}
	s.errors = append(s.errors, detail{at: i, text: text})
}

// inside reads the output that pip quotes of what it ran.
func (s *install) inside(i int, l string) bool {
	text := strings.TrimSpace(l)
	switch {
	case strings.HasSuffix(text, " lines of output]"):
		s.quoting = true
		s.say(i, text)
		return true
	case !s.quoting:
		return false
	case text == "[end of output]":
		s.quoting = false
		return true
	}
	s.steps++
	if i > 0 && i+1 < len(s.in.lines) && (weight(text) == maxWeight || strings.TrimSpace(s.in.lines[i+1]) == "[end of output]") {
		s.errors = append(s.errors, detail{at: i, text: text})
	}
	return true
}

// mostErrors is how many lines of errors show; the first and last of more, and
// those between whose words are bad news.
const mostErrors = 20

// tellErrors adds the lines of errors.
func (s *install) tellErrors() {
	n := len(s.errors)
	news := map[uint64]bool{}
	left := 0
	for i, d := range s.errors {
		if n > mostErrors && i >= 6 && i < n-5 {
			k := kind(d.text)
			if weight(strings.TrimPrefix(d.text, "npm error")) < maxWeight || news[k] || len(news) == 9 {
				left++
				continue
			}
			news[k] = true
		}
		s.say(d.at, middleOut(d.text, 200, 100))
	}
	if left > 0 {
		s.note(s.errors[n-1].at, "… "+s.in.count(left)+" more lines of errors")
	}
}

// other keeps a line that no rule knows: news by its words, the last ones, and a
// few of the rest.
func (s *install) other(i int, text string) {
	if isProgressBar(text) {
		s.steps++
		return
	}
	s.strange++
	if weight(text) == maxWeight || i >= len(s.in.lines)-3 {
		s.lines = append(s.lines, drafted{text: text, at: i, of: 1})
		return
	}
	if s.blocks++; s.blocks <= 8 {
		s.lines = append(s.lines, drafted{text: text, at: i, of: 1, weight: 1})
	}
}

// isProgressBar reports whether a line is drawn: a bar, or a spinner with what goes on.
func isProgressBar(text string) bool {
	if text == "" {
		return true
	}
	switch r := []rune(text[:min(len(text), 4)])[0]; {
	case r >= 0x2500 && r <= 0x259f, r >= 0x2800 && r <= 0x28ff: // lines, blocks, braille
		return true
	}
	return strings.Trim(text, "+-=#>. ") == ""
}

// tell adds the lines for what was counted.
func (s *install) tell() {
	s.tellErrors()
	for which, word := range []string{"+ ", "- "} {
		p := s.lists[which]
		line := word
		shown := 0
		for _, name := range p.names {
			if len(line)+len(name) > packed {
				s.lines = append(s.lines, drafted{text: strings.TrimSuffix(line, ", "), at: p.at, of: shown, weight: maxWeight})
				line, shown = word, 0
			}
			line += name + ", "
			shown++
		}
		if shown > 0 {
			s.lines = append(s.lines, drafted{text: strings.TrimSuffix(line, ", "), at: p.at, of: shown, weight: maxWeight})
		}
	}
	for n, k := range s.order {
		w := s.warnings[k]
		if n == 10 {
			s.note(w.at, "… and warnings of "+s.in.count(len(s.order)-n)+" more kinds")
			break
		}
		if w.n > 1 {
			w.text += repeatMark + itoa(w.n) + ")"
		}
		s.lines = append(s.lines, drafted{text: w.text, at: w.at, of: 1, weight: 2})
	}
	if len(s.deprecated) > 0 {
		s.note(s.deprecation, "npm warn deprecated"+repeatMark+itoa(len(s.deprecated))+") "+middleOut(strings.Join(s.deprecated, ", "), 300, 60))
	}
	if s.moot > 0 {
		s.note(len(s.in.lines)-1, s.in.count(s.moot)+" requirements already satisfied")
	}
}
