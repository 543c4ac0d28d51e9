package reduce

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var jsonReducers = []reducer{
	{names: "JSON", reduce: jsonText, seen: seenJSON},
	{names: "JSON lines", reduce: jsonLines, seen: seenJSONLines},
}

// seenJSON reports whether a text begins and ends as one JSON value does.
func seenJSON(in *input) bool {
	a, b := in.lines[0], in.lines[len(in.lines)-1]
	return len(in.lines) > 3 && in.gap < 0 && (strings.HasPrefix(a, "{") && b == "}" || strings.HasPrefix(a, "[") && b == "]")
}

func seenJSONLines(in *input) bool {
	if len(in.lines) < 8 {
		return false
	}
	for _, l := range in.lines[:8] {
		if l == "" || l[0] != '{' || l[len(l)-1] != '}' {
			return false
		}
	}
	return true
}

// node is a JSON value whose objects keep their order.
type node struct {
	text string // of a scalar, as it is spelled
	keys []string
	list []node
	open byte // '{', '[' or 0
}

// mostNodes is how many values of a JSON text are read, and mostNesting how deep.
const (
	mostNodes   = 1 << 20
	mostNesting = 200
)

// jsonText draws one JSON value without blanks, and when that is still too long
// with fewer elements of its lists, shorter strings and less of what lies deep.
func jsonText(in *input) (draft, bool) {
	var d draft
	dec := json.NewDecoder(strings.NewReader(strings.Join(in.lines, "\n")))
	dec.UseNumber()
	left := mostNodes
	value, err := readNode(dec, &left, 0)
	if err != nil {
		return d, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return d, false
	}
	whole := jsonWriter{items: 1 << 30, chars: 1 << 30, depth: 1 << 30, room: in.tight()}
	if whole.draw(value) && !whole.cut {
		whole.emit(&d, len(in.lines))
		return d, true
	}
	room := in.tight() * dense / 100
	for _, w := range []jsonWriter{
		{items: 20, chars: 200, depth: 12},
		{items: 8, chars: 120, depth: 8},
		{items: 4, chars: 80, depth: 6},
		{items: 3, chars: 60, depth: 5},
		{items: 2, chars: 60, depth: 5},
		{items: 2, chars: 40, depth: 4},
		{items: 1, chars: 60, depth: 4},
		{items: 1, chars: 40, depth: 3},
		{items: 2, chars: 30, depth: 2},
		{items: 1, chars: 30, depth: 2},
		{items: 1, chars: 20, depth: 1},
	} {
		w.room = room
		if w.draw(value) {
			w.emit(&d, 0)
			return d, true
		}
	}
	return d, false
}

func readNode(dec *json.Decoder, left *int, depth int) (node, error) {
	if *left--; *left < 0 || depth > mostNesting {
		return node{}, fmt.Errorf("too much")
	}
	tok, err := dec.Token()
	if err != nil {
		return node{}, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return node{text: scalar(tok)}, nil
	}
	n := node{open: byte(delim)}
	for dec.More() {
		if n.open == '{' {
			key, err := dec.Token()
			if err != nil {
				return node{}, err
			}
			name, _ := key.(string)
			n.keys = append(n.keys, name)
		}
		item, err := readNode(dec, left, depth+1)
		if err != nil {
			return node{}, err
		}
		n.list = append(n.list, item)
	}
	_, err = dec.Token()
	return n, err
}

// scalar spells a value as JSON does, but for the escapes of HTML.
func scalar(tok json.Token) string {
	switch v := tok.(type) {
	case string:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v) // a string can be spelled
		return strings.TrimSuffix(b.String(), "\n")
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return "null"
}

// jsonWriter draws a JSON value within limits.
type jsonWriter struct {
	items, chars, depth int
	room                int
	lines               []string
	b                   strings.Builder
	cut                 bool
	size                int
}

// draw reports whether the value has room.
func (w *jsonWriter) draw(n node) bool {
	w.value(n, 0)
	w.flush()
	return w.size <= w.room
}

func (w *jsonWriter) flush() {
	if w.b.Len() > 0 {
		w.lines = append(w.lines, w.b.String())
		w.b.Reset()
	}
}

func (w *jsonWriter) put(s string) {
	w.size += chars(s)
	w.b.WriteString(s)
}

// newline begins a line where that does not tear a short object apart.
func (w *jsonWriter) newline(depth int) {
	if w.b.Len() > 100 || depth < 2 && w.b.Len() > 60 {
		w.flush()
		w.size++
	}
}

func (w *jsonWriter) value(n node, depth int) {
	if w.size > w.room {
		w.cut = true
		return // it is too long already
	}
	if n.open == 0 {
		w.put(w.short(n.text))
		return
	}
	end := "}"
	if n.open == '[' {
		end = "]"
	}
	if depth >= w.depth && len(n.list) > 0 {
		w.cut = true
		w.put(fmt.Sprintf("%c…%d%s", n.open, len(n.list), end))
		return
	}
	w.put(string(n.open))
	items := w.items
	if n.open == '{' {
		items *= 8 // what an object has is less alike than what a list has
	}
	for i, item := range n.list {
		if i > 0 {
			w.put(",")
			w.newline(depth)
		}
		if i >= items {
			w.cut = true
			w.put(fmt.Sprintf("…%d more", len(n.list)-i))
			break
		}
		if n.open == '{' {
			w.put(scalar(n.keys[i]) + ":")
		}
		w.value(item, depth+1)
	}
	w.put(end)
}

func (w *jsonWriter) short(text string) string {
	if n := chars(text); n > w.chars {
		w.cut = true
		keep := w.chars * 2 / 3
		return text[:byteOf(text, keep)] + "…" + itoa(n-keep) + " characters\""
	}
	return text
}

// emit draws the lines: all of the input's when nothing was cut.
func (w *jsonWriter) emit(d *draft, of int) {
	for i, line := range w.lines {
		n := 0
		if i == 0 {
			n = of
		}
		for chars(line) > longNames { // a line over the limit would be cut
			at := byteOf(line, longNames)
			d.show(0, n, line[:at])
			line, n = line[at:], 0
		}
		d.show(0, n, line)
	}
}

// jsonLines draws a log of JSON objects by what they have in common: how many
// have each level and message, and the first of each kind.
func jsonLines(in *input) (draft, bool) {
	var d draft
	type sort struct {
		first, n, tells int
	}
	kinds := map[string]*sort{}
	var order []*sort
	for i, line := range in.lines {
		if line == "" {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			return d, false
		}
		level := firstOf(fields, "level", "severity", "lvl", "levelname", "Action", "type", "kind")
		text := firstOf(fields, "msg", "message", "event", "error")
		key := level + "\x00" + strconv.FormatUint(message(text), 36)
		if text == "" {
			key = level + "\x00" + strconv.Itoa(len(fields))
		}
		s := kinds[key]
		if s == nil {
			tells := 1
			switch strings.ToLower(level) {
			case "error", "fatal", "panic", "critical", "50", "60":
				tells = 3
			case "warn", "warning", "40":
				tells = 2
			}
			s = &sort{first: i, tells: tells}
			kinds[key] = s
			order = append(order, s)
		}
		s.n++
	}
	if len(order)*2 > len(in.lines) || len(in.lines) < 20 {
		return d, false
	}
	const lastLines = 4
	d.note(0, in.count(len(in.lines))+" JSON lines of "+count(len(order), "kind"))
	d.tells(maxWeight)
	for _, s := range order {
		if s.first >= len(in.lines)-lastLines {
			continue
		}
		text := in.lines[s.first]
		if s.n > 1 {
			if chars(text) > 320 {
				text = text[:byteOf(text, 300)] + "…"
			}
			text = fmt.Sprintf("%s%s%d)", text, repeatMark, s.n)
		}
		d.show(s.first, 1, text)
		d.tells(s.tells)
	}
	d.note(len(in.lines)-lastLines, "… the last lines:")
	for i := len(in.lines) - lastLines; i < len(in.lines); i++ {
		d.keep(in, i)
	}
	return d, true
}

// firstOf is the first of the fields that is text or a number.
func firstOf(fields map[string]any, names ...string) string {
	for _, name := range names {
		switch v := fields[name].(type) {
		case string:
			return v
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return ""
}
