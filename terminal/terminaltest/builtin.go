package terminaltest

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// command is one simple command of a line.
type command struct {
	text       string
	after      string // what stands before it: "", ";", "&&" or "||"
	background bool
}

// split cuts a command block at newlines, ; && || and & outside of quotes. A
// here-document stays with its command.
func split(text string) []command {
	var list []command
	var quote byte
	after, start, depth := "", 0, 0
	add := func(end int, background bool) {
		if t := strings.TrimSpace(text[start:end]); t != "" && t[0] != '#' {
			list = append(list, command{text: t, after: after, background: background})
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '\\' && quote == '"' {
				i++
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth > 0:
		case c == '<' && next == '<':
			i = docEnd(text, i)
			add(i, false)
			after, start = ";", i
		case c == ';' || c == '\n':
			add(i, false)
			after, start = ";", i+1
		case c == '&' && next == '&' || c == '|' && next == '|':
			add(i, false)
			after, start = text[i:i+2], i+2
			i++
		case c == '&' && (i == 0 || text[i-1] != '>'):
			add(i, true)
			after, start = ";", i+1
		}
	}
	add(len(text), false)
	return list
}

// docEnd is the end of the here-document whose << is at i.
func docEnd(text string, i int) int {
	head, _, _ := strings.Cut(text[i+2:], "\n")
	word := strings.Trim(strings.TrimSpace(strings.TrimPrefix(head, "-")), `'"`)
	at := strings.Index(text[i:]+"\n", "\n"+word+"\n")
	if at < 0 {
		return len(text)
	}
	return min(len(text), i+at+len(word)+1)
}

// words cuts a command at blanks and takes the quotes off; $NAME and $? are
// replaced outside of single quotes.
func (p *Program) words(text string) []string {
	var list []string
	var b strings.Builder
	quote, open := byte(0), false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case c == '\\' && quote == 0 && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '$' && quote != '\'':
			value, n := p.variable(text[i+1:])
			b.WriteString(value)
			i += n
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if b.Len() > 0 || open {
				list = append(list, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteByte(c)
		}
	}
	if b.Len() > 0 || open {
		list = append(list, b.String())
	}
	return list
}

func (p *Program) variable(rest string) (value string, n int) {
	if strings.HasPrefix(rest, "?") {
		return itoa(p.sh.last), 1
	}
	for n < len(rest) && (rest[n] == '_' || rest[n] >= '0' && rest[n] <= '9' || rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 {
		return "$", 0
	}
	p.s.f.mu.Lock()
	defer p.s.f.mu.Unlock()
	return p.s.env[rest[:n]], n
}

// builtin is what a command does that no script is for.
func builtin(c command) func(*Program) int {
	return func(p *Program) int {
		text, body, _ := strings.Cut(c.text, "<<")
		if strings.HasPrefix(text, "(exit ") {
			return number(strings.Trim(text[6:], " )"))
		}
		words := p.words(text)
		if len(words) == 0 {
			return 0
		}
		if name, value, ok := strings.Cut(words[0], "="); ok && len(words) == 1 {
			p.s.locked(func() { p.s.env[name] = value })
			return 0
		}
		if body != "" && words[0] == "cat" {
			lines := strings.Split(body, "\n")
			p.Print(strings.Join(lines[1:len(lines)-1], "\n") + "\n")
			return 0
		}
		return p.call(words[0], words[1:])
	}
}

// call runs one of the commands that every fake shell knows.
func (p *Program) call(name string, args []string) int {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch name {
	case "true", ":", "export", "set":
	case "false":
		return 1
	case "echo":
		p.Print(strings.Join(args, " ") + "\n")
	case "printf":
		p.Print(format(args))
	case "pwd":
		p.Print(p.s.f.cwd(p.s) + "\n")
	case "cd":
		p.Chdir(arg(0))
	case "stty":
		p.s.locked(func() { p.s.print(itoa(p.s.grid.height) + " " + itoa(p.s.grid.width) + "\n") })
	case "clear":
		p.Print("\x1b[H\x1b[2J\x1b[3J")
	case "seq":
		from, to := 1, number(arg(0))
		if len(args) > 1 {
			from, to = to, number(arg(1))
		}
		var b strings.Builder
		for ; from <= to; from++ {
			b.WriteString(itoa(from) + "\n")
		}
		p.Print(b.String())
	case "sleep":
		seconds, _ := strconv.ParseFloat(arg(0), 64)
		p.Sleep(time.Duration(seconds * float64(time.Second)))
	case "cat":
		for {
			line, ok := p.ReadLine()
			if !ok {
				return 0
			}
			p.Print(line + "\n")
		}
	case "read":
		ask := p.ReadLine
		if arg(0) == "-s" {
			ask = p.ReadPassword
		}
		line, ok := ask()
		if !ok {
			return 1
		}
		p.s.locked(func() { p.s.env[arg(len(args)-1)] = line })
	case "exit", "exec":
		p.sh.exited = true
		if name == "exit" && len(args) > 0 {
			return number(arg(0))
		}
		return p.sh.last
	case "unset":
		if arg(0) == "PROMPT_COMMAND" {
			p.LoseMarks()
		}
	case "sh":
		return p.Shell("sh", "$ ", false)
	case "bash", "zsh", "fish":
		return p.Shell(name, name+"$ ", true)
	default:
		p.Print(name + ": command not found\n")
		return 127
	}
	return 0
}

func (f *Fake) cwd(s *session) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return s.cwd
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// format is printf with %s, %d, %% and the backslash escapes of the shell.
func format(args []string) string {
	if len(args) == 0 {
		return ""
	}
	f, args := args[0], args[1:]
	var b strings.Builder
	for i := 0; i < len(f); i++ {
		if f[i] == '%' && i+1 < len(f) {
			i++
			switch {
			case f[i] == '%':
				b.WriteByte('%')
			case len(args) > 0:
				b.WriteString(args[0])
				args = args[1:]
			}
			continue
		}
		if f[i] != '\\' || i+1 == len(f) {
			b.WriteByte(f[i])
			continue
		}
		i++
		switch c := f[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'a':
			b.WriteByte(7)
		case 'e':
			b.WriteByte(0x1b)
		case 'u', 'U':
			end := min(len(f), i+1+map[byte]int{'u': 4, 'U': 8}[c])
			n, _ := strconv.ParseUint(f[i+1:end], 16, 32)
			b.Write(utf8.AppendRune(nil, rune(n)))
			i = end - 1
		case '0', '1', '2', '3':
			end := i
			for end < len(f) && end < i+4-int(min(c-'0', 1)) && f[end] >= '0' && f[end] <= '7' {
				end++
			}
			n, _ := strconv.ParseUint(f[i:end], 8, 8)
			b.WriteByte(byte(n))
			i = end - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
