package reduce

import "strings"

// diagnosis reads a line that says what is wrong, and where, in any of the forms
// that compilers and checkers have.
func (c *checks) diagnosis(i int) (finding, bool) {
	l := c.in.lines[i]
	if f, ok := c.arrow(i); ok {
		return f, true
	}
	if c.eslintFile(l) {
		return finding{}, false
	}
	if f, ok := c.eslint(l); ok {
		return f, true
	}
	if strings.HasPrefix(l, "[ERROR] ") || strings.HasPrefix(l, "[WARNING] ") {
		return maven(l)
	}
	place, message, ok := splitPlace(l)
	if !ok {
		return finding{}, false
	}
	mild, known := severity(message)
	c.told = c.told || known
	if !known && !coded(message) && strings.Contains(place, " ") || message == "" {
		return finding{}, false
	}
	c.file = ""
	if isNote(message) && (len(c.found) > 0 || !strings.HasPrefix(message, "note: ")) { // of what comes after it: "required from here"
		c.context = append(c.context, detail{text: l, rank: 2})
		return finding{}, false
	}
	return finding{title: l, name: place, mild: mild || isMildCode(message) || isNote(message)}, true
}

// arrow reads a message with its place on the next line: " --> a.py:1:1".
func (c *checks) arrow(i int) (finding, bool) {
	l := c.in.lines[i]
	if l[0] == ' ' || i+1 == len(c.in.lines) {
		return finding{}, false
	}
	place, ok := strings.CutPrefix(strings.TrimLeft(c.in.lines[i+1], " "), "--> ")
	if !ok {
		return finding{}, false
	}
	mild, known := severity(l)
	c.told = c.told || known
	return finding{title: place + " " + l, name: place, mild: mild}, true
}

// arrowEnd is the line after what belongs to a message with an arrow, which may
// hold excerpts, advice and changes, with blank lines between.
func (c *checks) arrowEnd(i int) int {
	if i < c.arrows {
		return c.arrows // what belongs to one, and goes on to here
	}
	for i++; i < len(c.in.lines); i++ {
		l := c.in.lines[i]
		if l == "" || l[0] == ' ' || isExcerpt(l) || strings.HasPrefix(l, "help: ") || strings.HasPrefix(l, "note: ") || isDigit(l[0]) && !isTotal(l) {
			continue
		}
		break
	}
	c.arrows = i
	return i
}

// splitPlace splits a line that begins with a place: "a.c:5:18: x", "a.ts(5,18): x",
// "a.ts:5:18 - x". The place has what is known of line and column.
func splitPlace(l string) (place, message string, ok bool) {
	if l == "" || l[0] == ' ' || l[0] == '|' {
		return "", "", false
	}
	if place, rest, ok := atLine(l); ok {
		if col, after, ok := strings.Cut(rest, ":"); ok && isNumber(col) {
			return place + ":" + col, strings.TrimSpace(after), true
		}
		if col, after, ok := strings.Cut(rest, " - "); ok && isNumber(col) {
			return place + ":" + col, after, true
		}
		return place, rest, true
	}
	if i := strings.Index(l, "): "); i > 0 {
		j := strings.LastIndexByte(l[:i], '(')
		if j > 0 && strings.Trim(l[j+1:i], "0123456789,") == "" && i > j+1 && strings.ContainsAny(l[:j], "./\\") {
			return l[:i+1], l[i+3:], true
		}
	}
	return "", "", false
}

// mildWords begin messages that are no errors, in some languages that compilers speak.
var mildWords = []string{"warning", "Warnung", "avertissement", "advertencia", "aviso", "avviso", "предупреждение", "警告", "경고", "remark", "info", "hint", "style"}

// severity tells how bad a message says it is, and whether it says so.
func severity(message string) (mild, known bool) {
	word, _, ok := strings.Cut(message, ":")
	if !ok || len(word) > 40 {
		word = message
	}
	for _, w := range mildWords {
		if strings.HasPrefix(word, w) {
			return true, true
		}
	}
	for _, w := range []string{"error", "fatal error", "Fehler", "schwerwiegender Fehler", "erreur", "ошибка", "错误", "錯誤", "エラー", "오류", "errore", "erro"} {
		if strings.HasPrefix(word, w) {
			return false, true
		}
	}
	return false, false
}

// coded reports whether a message begins with a code: "E0602: x", "F401 x".
func coded(message string) bool {
	word, _, _ := strings.Cut(message, " ")
	word = strings.TrimSuffix(word, ":")
	n := strings.TrimLeft(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return len(n) < len(word) && isNumber(n)
}

// isMildCode reports whether a code of pylint's is of a warning: W, C, R or I
// before four figures.
func isMildCode(message string) bool {
	code, _, ok := strings.Cut(message, ": ")
	return ok && len(code) == 5 && strings.IndexByte("WCRI", code[0]) >= 0 && isNumber(code[1:])
}

// isNote reports whether a message goes with another.
func isNote(message string) bool {
	for _, p := range []string{"note:", "Anmerkung:", "required from", "in instantiation", "recursively required", "required by", "  required", "nota:", "注意", "remarque", "附注"} {
		if strings.HasPrefix(message, p) {
			return true
		}
	}
	return false
}

// eslintFile notes the file that the lines below are about: a path alone on its line.
func (c *checks) eslintFile(l string) bool {
	if l[0] == ' ' || !strings.ContainsAny(l, "/\\.") || strings.ContainsAny(l, " \t:(") && !strings.HasPrefix(l, "/") || strings.Contains(l, ": ") {
		return false
	}
	c.file = strings.TrimSuffix(l, ":")
	return true
}

// eslint reads "  1:10  error  message  rule" below the line of its file.
func (c *checks) eslint(l string) (finding, bool) {
	if c.file == "" || l[0] != ' ' {
		return finding{}, false
	}
	f := strings.Fields(l)
	if len(f) < 3 {
		return finding{}, false
	}
	line, col, ok := strings.Cut(f[0], ":")
	if !ok || !isNumber(line) || !isNumber(col) || f[1] != "error" && f[1] != "warning" && f[1] != "✖" && f[1] != "⚠" {
		return finding{}, false
	}
	place := c.file + ":" + f[0]
	return finding{title: place + " " + strings.Join(f[1:], " "), name: place, mild: f[1] == "warning" || f[1] == "⚠"}, true
}

// maven reads "[ERROR] /a/B.java:[9,26] message"; other lines of Maven's are news
// by their words.
func maven(l string) (finding, bool) {
	_, rest, _ := strings.Cut(l, "] ")
	i := strings.Index(rest, ":[")
	if i < 0 {
		return finding{}, false
	}
	pos, message, ok := strings.Cut(rest[i+2:], "] ")
	if !ok || strings.Trim(pos, "0123456789,") != "" {
		return finding{}, false
	}
	place := rest[:i] + ":" + strings.Replace(pos, ",", ":", 1)
	return finding{title: place + " " + message, name: place, mild: strings.HasPrefix(l, "[W")}, true
}
