// Package shellwords splits shell text into commands and words, as far as that
// can be done without running it. It is pure.
package shellwords

import "strings"

// Simple is one simple command as a shell would split it.
type Simple struct {
	Words  []string
	Writes []string // targets of > and >>
	Quiet  bool     // its standard output goes into a file
	Inner  []string // texts of $(…), `…`, <(…) and >(…) in it
	Stdin  string   // its here-document or here-string
	Op     string   // what ended it: ; & | |& && || ( ) a line feed, or nothing
}

// Parse splits shell text into simple commands: at ; & | newlines and
// parentheses, outside of quotes and comments. It knows quotes, escapes,
// redirections, substitutions and here-documents; reserved words are words.
// Text that no shell would take gives something all the same.
func Parse(text string) []Simple {
	p := &parser{text: text}
	for p.at < len(p.text) {
		p.step()
	}
	p.end("")
	return p.list
}

type parser struct {
	text string
	at   int
	list []Simple
	now  Simple
	word strings.Builder
	open bool // word holds a word, maybe an empty one
	into string
	docs []heredoc
}

// heredoc is a here-document whose body comes after the line.
type heredoc struct {
	word    string
	dash    bool
	command int // index in list, when the command has ended
}

// endWord ends the present word.
func (p *parser) endWord() {
	if !p.open {
		return
	}
	word := p.word.String()
	p.word.Reset()
	p.open = false
	switch p.into {
	case ">":
		p.now.Writes = append(p.now.Writes, word)
	case "<<", "<<-":
		p.docs = append(p.docs, heredoc{word: word, dash: p.into == "<<-", command: len(p.list)})
	case "<<<":
		p.now.Stdin = word
	case "<":
	default:
		p.now.Words = append(p.now.Words, word)
	}
	p.into = ""
}

// end ends the present command at op. What follows a subshell counts as the end
// of the last command in it.
func (p *parser) end(op string) {
	p.endWord()
	p.into = ""
	p.now.Op = op
	waits := len(p.docs) > 0 && p.docs[len(p.docs)-1].command == len(p.list)
	if len(p.now.Words)+len(p.now.Writes)+len(p.now.Inner) > 0 || waits {
		p.list = append(p.list, p.now)
	} else if n := len(p.list); n > 0 && op != "" && p.list[n-1].Op == ")" {
		p.list[n-1].Op = op
	}
	p.now = Simple{}
}

func (p *parser) put(s string) {
	p.word.WriteString(s)
	p.open = true
}

// step takes one token's worth of text.
func (p *parser) step() {
	c := p.text[p.at]
	rest := p.text[p.at:]
	switch {
	case c == '\\':
		if len(rest) > 1 && rest[1] != '\n' {
			p.put(rest[1:2])
		}
		p.at += 2
	case c == '\'':
		n := strings.IndexByte(rest[1:], '\'')
		if n < 0 {
			n = len(rest) - 1
		}
		p.put(rest[1 : n+1])
		p.at += n + 2
	case c == '"':
		p.at++
		p.open = true
		p.quoted()
	case strings.HasPrefix(rest, "$'"):
		p.at++ // as a plain quote: its escapes hide nothing that matters here
	case strings.HasPrefix(rest, "$("), strings.HasPrefix(rest, "<("), strings.HasPrefix(rest, ">("), c == '`':
		p.substitution()
	case c == ' ', c == '\t', c == '\r':
		p.endWord()
		p.at++
	case c == '\n':
		p.end("\n")
		p.at++
		p.bodies()
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"), strings.HasPrefix(rest, "|&"):
		p.end(rest[:2])
		p.at += 2
	case c == ';', c == '|', c == '(', c == ')':
		p.end(rest[:1])
		p.at++
	case strings.HasPrefix(rest, "&>"):
		p.endWord()
		p.now.Quiet = true
		p.redirect(">", 2)
	case c == '&':
		p.end("&")
		p.at++
	case c == '>':
		from := p.dropDescriptor()
		if (from == "" || from == "1") && !strings.HasPrefix(rest, ">&") {
			p.now.Quiet = true
		}
		p.redirect(">", 1)
	case c == '<':
		p.dropDescriptor()
		for _, op := range []string{"<<<", "<<-", "<<", "<"} {
			if strings.HasPrefix(rest, op) {
				p.redirect(op, len(op))
				break
			}
		}
	case c == '#' && !p.open:
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			p.at += n
		} else {
			p.at = len(p.text)
		}
	default:
		p.put(rest[:1])
		p.at++
	}
}

// dropDescriptor takes the number before a redirection, 2>, off the words.
func (p *parser) dropDescriptor() (number string) {
	if p.open && strings.Trim(p.word.String(), "0123456789") == "" && p.word.Len() > 0 {
		number = p.word.String()
		p.word.Reset()
		p.open = false
	}
	p.endWord()
	return number
}

func (p *parser) redirect(op string, n int) {
	p.at += n
	for p.at < len(p.text) && strings.IndexByte(">|&", p.text[p.at]) >= 0 {
		p.at++
	}
	p.into = op
}

// quoted takes text up to the closing double quote.
func (p *parser) quoted() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return
		case c == '\\' && p.at+1 < len(p.text):
			if strings.IndexByte("\"\\$`\n", p.text[p.at+1]) < 0 {
				p.put(`\`)
			}
			p.put(p.text[p.at+1 : p.at+2])
			p.at += 2
		case c == '`' || strings.HasPrefix(p.text[p.at:], "$("):
			p.substitution()
		default:
			p.put(p.text[p.at : p.at+1])
			p.at++
		}
	}
}

// substitution takes $(…), `…`, <(…) or >(…): its text is a script of its own.
func (p *parser) substitution() {
	start := p.at
	if p.text[p.at] == '`' {
		n := strings.IndexByte(p.text[p.at+1:], '`')
		if n < 0 {
			n = len(p.text) - p.at - 1
		}
		p.now.Inner = append(p.now.Inner, p.text[p.at+1:p.at+1+n])
		p.at = min(len(p.text), p.at+n+2)
		p.put(p.text[start:p.at])
		return
	}
	p.at += 2
	from, depth := p.at, 1
	var quote byte
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\\':
			p.at++
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	p.at = min(p.at, len(p.text))
	p.now.Inner = append(p.now.Inner, p.text[from:p.at])
	p.at = min(p.at+1, len(p.text))
	p.put(p.text[start:p.at])
}

// bodies takes the here-documents that the line just ended announced.
func (p *parser) bodies() {
	for _, doc := range p.docs {
		var body strings.Builder
		for p.at < len(p.text) {
			line, _, _ := strings.Cut(p.text[p.at:], "\n")
			p.at = min(p.at+len(line)+1, len(p.text))
			if doc.dash {
				line = strings.TrimLeft(line, "\t")
			}
			if line == doc.word {
				break
			}
			body.WriteString(line + "\n")
		}
		if doc.command < len(p.list) {
			p.list[doc.command].Stdin = body.String()
		}
	}
	p.docs = nil
}
