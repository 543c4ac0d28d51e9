package reduce

import "strings"

// block reads what Jest or Vitest tells of a failure below its title.
func (j *js) block(i int, title string) int {
	f := finding{at: i, name: title}
	if j.suite != "" {
		f.name = j.suite + " › " + title
	}
	end := i + 1
	for ; end < len(j.in.lines); end++ {
		if l := j.in.lines[end]; j.blockEnds(l) {
			break
		}
	}
	if j.in.lines[i][0] == ' ' && strings.HasPrefix(strings.TrimSpace(j.in.lines[i]), "FAIL") {
		f.name = strings.Join(strings.Fields(title), " ") // Vitest names the file itself
	}
	if title == "Console" { // what tests printed
		return end
	}
	j.seen = true
	j.reasons(i+1, end, &f)
	f.title = "FAIL " + f.name + f.place
	if n, ok := j.titles[f.name]; ok { // told again in the summary of a long run
		if len(j.found[n].why) == 0 {
			f.at = j.found[n].at
			j.found[n] = f
		}
		return end
	}
	j.titles[f.name] = len(j.found)
	j.found = append(j.found, f)
	return end
}

// blockEnds reports whether a line begins something new.
func (j *js) blockEnds(l string) bool {
	if strings.HasPrefix(l, "  ● ") || strings.HasPrefix(l, "● ") || strings.HasPrefix(l, " FAIL ") || strings.HasPrefix(l, "FAIL ") || strings.HasPrefix(l, "PASS ") || strings.HasPrefix(l, "⎯⎯⎯") || strings.HasPrefix(l, "Summary of all failing") {
		return true
	}
	_, ok := jsTotal(l)
	return ok
}

// mochaBlock reads an entry of Mocha's list of failures: titles set in deeper and
// deeper up to one with a colon, and the reason.
func (j *js) mochaBlock(i int) int {
	_, name, _ := strings.Cut(strings.TrimSpace(j.in.lines[i]), ") ")
	names := []string{name}
	end := i + 1
	for !strings.HasSuffix(names[len(names)-1], ":") && end < len(j.in.lines) && j.in.lines[end] != "" && end < i+12 {
		names = append(names, strings.TrimSpace(j.in.lines[end]))
		end++
	}
	f := finding{at: i, name: strings.TrimSuffix(strings.Join(names, " › "), ":")}
	from := end
	for end < len(j.in.lines) && !(isListed(strings.TrimSpace(j.in.lines[end])) && strings.HasPrefix(j.in.lines[end], "  ") && !strings.HasPrefix(j.in.lines[end], "    ")) {
		end++
	}
	j.reasons(from, end, &f)
	f.title = "FAIL " + f.name + f.place
	j.found = append(j.found, f)
	return end
}

// reasons adds the message, what differs, and the place of lines from up to to.
func (j *js) reasons(from, to int, f *finding) {
	said := false
	for i := from; i < to; i++ {
		l := j.in.lines[i]
		text := strings.TrimSpace(l)
		if place, ok := jsFrame(text); ok {
			if f.place == "" && !isLibrary(place) && strings.Contains(place, ":") {
				f.place = " at " + place
			}
			continue
		}
		rank := 3
		switch {
		case text == "", isFrameSource(text), strings.HasPrefix(text, "⎯"), strings.HasPrefix(text, "Serialized Error:"):
			continue
		case strings.HasPrefix(text, "> ") && strings.Contains(text, " | "): // the line itself
			text = "> " + strings.TrimSpace(text[strings.Index(text, " | ")+3:])
		case strings.HasPrefix(text, "- Expected") || strings.HasPrefix(text, "+ Received") || strings.HasPrefix(text, "+ expected - actual") || strings.HasPrefix(text, "+ actual - expected"):
		case strings.HasPrefix(text, "Expected") || strings.HasPrefix(text, "Received") || strings.HasPrefix(text, "expected:") || strings.HasPrefix(text, "actual:"):
			rank = 2
		case text[0] == '-' || text[0] == '+':
			rank = 2
		case !said:
			rank = 1
			if strings.HasPrefix(text, "expect(") {
				text, _, _ = strings.Cut(text, " // ")
			}
		}
		said = said || rank == 1
		f.why = append(f.why, detail{at: i, text: text, rank: rank})
	}
	onlyDifferences(f)
	f.matched()
}

// matched puts what was expected and received into the reason, in the place of
// the call that compared them.
func (f *finding) matched() {
	if len(f.why) == 0 || f.why[0].rank != 1 {
		return
	}
	call, ok := strings.CutPrefix(f.why[0].text, "expect(received).")
	if !ok {
		return
	}
	name, _, _ := strings.Cut(call, "(")
	sides := f.sides()
	if len(sides) == 0 {
		return
	}
	f.why[0].text = name + " " + strings.Join(sides, " ")
	for i, w := range f.why {
		if strings.HasPrefix(w.text, "Expected") || strings.HasPrefix(w.text, "Received") {
			f.why[i].rank = 3
		}
	}
}

// onlyDifferences drops what stands between the lines of a difference.
func onlyDifferences(f *finding) {
	differ := 0
	for _, w := range f.why {
		differ += boolInt(w.rank == 2 && (w.text[0] == '-' || w.text[0] == '+'))
	}
	if differ == 0 {
		return
	}
	kept := f.why[:0]
	for _, w := range f.why {
		if w.rank < 3 || strings.HasPrefix(w.text, "> ") {
			kept = append(kept, w)
		}
	}
	f.why = kept
}

// jsFrame is the place in a frame: "at f (a.js:1:2)", "at a.js:1:2", "❯ a.js:1:2".
func jsFrame(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "❯ ")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "at "); !ok {
			return "", false
		}
	}
	if i := strings.LastIndexByte(rest, '('); i >= 0 && strings.HasSuffix(rest, ")") {
		return rest[i+1 : len(rest)-1], true
	}
	if f := strings.Fields(rest); len(f) > 0 {
		return f[len(f)-1], true
	}
	return rest, true
}

// isFrameSource reports whether a line shows source around a place: " 12 | x".
func isFrameSource(text string) bool {
	if text[0] == '|' {
		return true
	}
	n, _, ok := strings.Cut(text, "|")
	return ok && isNumber(strings.TrimSpace(n))
}
