package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"termpilot/lazy"
	"termpilot/terminal"
)

// rowsOf is a screen's text, row by row as far as there is any, and the row of the
// cursor in it.
func rowsOf(s terminal.Screen) (rows []string, cursor int) {
	rows = make([]string, 0, len(s.Rows))
	for _, r := range s.Rows {
		rows = append(rows, strings.TrimRight(strings.ReplaceAll(r.Text, "\u00a0", " "), " "))
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows, int(s.Cursor.Row - s.First)
}

// under is how many rows below the last one that holds text a composer's cursor stands.
func under(inside []string, cursor int) int {
	last := len(inside) - 1
	for last > 0 && strings.TrimSpace(inside[last]) == "" {
		last--
	}
	if cursor >= len(inside) {
		return 0 // it is not in the composer
	}
	return max(cursor-last, 0)
}

// isRule reports whether a row is a line across the screen. It may carry a word.
func isRule(row string) bool {
	return strings.HasPrefix(row, "────────") && strings.Count(row, "─")*10 >= len([]rune(row))*6
}

// aChoice is a numbered row, with or without the mark of the selected one.
var aChoice = lazy.Regexp(`^\s*([❯›>]?)\s*(\d{1,2})\.\s+(\S.*)$`)

// numbered reads a dialog of rows "1. …" among rows: the text before them is the
// question, and rows between two choices go on with the first one's text. nil
// when there are fewer than two, they are not numbered from 1 on, or none is marked.
func numbered(rows []string) *dialog {
	d := &dialog{}
	marked := 0
	for _, row := range rows {
		m := aChoice().FindStringSubmatch(row)
		switch {
		case m != nil:
			n, _ := strconv.Atoi(m[2])
			if n != len(d.choices)+1 {
				return nil
			}
			if m[1] != "" {
				marked++
				d.marked = n
			}
			c := choice{number: n, label: strings.TrimSpace(m[3])}
			if n < 10 { // of two digits the first would choose
				c.key = m[2]
			}
			d.choices = append(d.choices, c)
		case len(d.choices) == 0:
			if text := strings.TrimSpace(row); text != "" {
				d.question = append(d.question, text)
			}
		case strings.TrimSpace(row) == "":
			if len(d.choices) > 1 {
				return d.checked(marked)
			}
		case strings.HasPrefix(row, "     "):
			last := &d.choices[len(d.choices)-1]
			last.label += " " + strings.TrimSpace(row)
		default:
			return d.checked(marked)
		}
	}
	return d.checked(marked)
}

func (d *dialog) checked(marked int) *dialog {
	if len(d.choices) < 2 || marked != 1 {
		return nil
	}
	return d
}

// digest tells dialogs apart: by their words, and not by which row is marked.
func (d *dialog) digest() string {
	h := sha256.New()
	for _, q := range d.question {
		h.Write([]byte("q" + q + "\n"))
	}
	for _, c := range d.choices {
		h.Write([]byte("c" + strconv.Itoa(c.number) + c.label + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// classed says what each choice means, and what kind of dialog it therefore is: a
// permission is one with exactly one way to say yes once, and one to say no.
func (d *dialog) classed() *dialog {
	if d == nil {
		return nil
	}
	once, no := 0, 0
	for i := range d.choices {
		c := &d.choices[i]
		c.class = classOf(c.label)
		switch {
		case c.class == "always":
		case c.key == "": // nothing chooses it
			c.class = "other"
		case c.class == "once":
			once++
		case c.class == "no":
			no++
		}
	}
	d.kind = "other"
	if once == 1 && no == 1 {
		d.kind = "permission"
	}
	return d
}

// onceYes and plainNo are whole labels. What is not one of them is never chosen.
var (
	onceYes = lazy.Regexp(`(?i)^(yes|yes, proceed|yes, allow once|allow once|approve once|yes, run it)(\s*\((y|enter)\))?$`)
	plainNo = lazy.Regexp(`(?i)^no(\s*\((n|esc)\))?$|^no, (and tell|reject|do not|don['’]t|keep)\b.*$|^(deny|reject)$`)
	forGood = lazy.Regexp(`(?i)\b(always|don['’]t ask|never|allow all|all edits|session|remember|trust)\b`)
)

func classOf(label string) string {
	switch {
	case plainNo().MatchString(label):
		return "no"
	case forGood().MatchString(label):
		return "always"
	case onceYes().MatchString(label):
		return "once"
	}
	return "other"
}

// aPaste is a composer that holds nothing but texts that were pasted, by their marks.
var aPaste = lazy.Regexp(`^(\[Pasted[^\[\]]*\])+$`)

// holds reports whether a composer shows a text that was pasted, or the mark in
// its place that vendors show for a long one.
func holds(composer, text string) bool {
	shown, want := bare(composer), bare(text)
	switch {
	case shown == "":
		return false
	case shown == want:
		return true
	case aPaste().MatchString(shown):
		return len(text) >= 100 || strings.Contains(text, "\n") // no vendor has a mark for less
	case strings.Count(composer, "\n") >= 8 && strings.HasSuffix(want, shown):
		return true // the last rows of a text of many short lines
	}
	// a composer that scrolls shows a part of a text of many lines
	return len(shown) >= 40 && strings.Contains(want, shown)
}
