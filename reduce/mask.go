package reduce

import (
	"strconv"
	"strings"
	"sync"
)

func itoa(n int) string { return strconv.Itoa(n) }

// mask is what a secret is replaced with.
const mask = "***"

// Secret stands where a secret was found, in text for a stage that is told so
// ([Options].Marked): the stage shows it as ***, and counts it. No clean text
// holds it.
const Secret = "\x01\x01\x01"

// issued is the shape of a token that its issuer documents: how it begins, and
// how many characters of which kind follow at least.
type issued struct {
	prefix string
	least  int
	more   string // characters besides letters and digits
}

// shapes are those of tokens by their first letter.
var shapes = sync.OnceValue(func() *[256][]issued {
	var by [256][]issued
	for _, t := range []issued{
		{"AKIA", 16, ""},
		{"ASIA", 16, ""}, // AWS access key ids
		{"ghp_", 20, ""},
		{"gho_", 20, ""},
		{"ghu_", 20, ""},
		{"ghs_", 20, ""},
		{"ghr_", 20, ""},
		{"github_pat_", 20, "_"},
		{"glpat-", 16, "_-"},
		{"gldt-", 16, "_-"},
		{"glrt-", 16, "_-"}, // GitLab
		{"xoxa-", 10, "-"},
		{"xoxb-", 10, "-"},
		{"xoxe-", 10, "-"},
		{"xoxo-", 10, "-"},
		{"xoxp-", 10, "-"},
		{"xoxr-", 10, "-"},
		{"xoxs-", 10, "-"},
		{"xapp-", 10, "-"},
		{"sk-", 20, "_-"}, // OpenAI, Anthropic
		{"sk_live_", 16, ""},
		{"sk_test_", 16, ""},
		{"rk_live_", 16, ""},
		{"rk_test_", 16, ""},
		{"whsec_", 20, "+/="}, // Stripe
		{"AIza", 30, "_-"},
		{"ya29.", 20, "_-"}, // Google
		{"npm_", 30, ""},
		{"hf_", 30, ""},
		{"pypi-", 40, "_-"},
		{"dop_v1_", 40, ""},
		{"SG.", 40, "_-."},
		{"shpat_", 30, ""},
		{"dckr_pat_", 20, "_-"},
		{"tskey-", 20, "-"},
		{"AGE-SECRET-KEY-", 40, ""},
		{"eyJ", 40, "_-."}, // JSON Web Token
	} {
		by[t.prefix[0]] = append(by[t.prefix[0]], t)
	}
	return &by
})

// hide replaces what looks like a secret in one line.
func hide(text string) string { return mark(text, secretsIn(nil, text)) }

// secretsIn adds to list what looks like a secret: keys and tokens of known shape,
// values of names like those of secrets, passwords in URLs, and what an
// Authorization header carries. It cannot know every secret.
func secretsIn(list []Span, text string) []Span {
	begins := shapes()
	done := 0
	for i := 0; i < len(text); i++ {
		from, to := 0, 0
		switch c := text[i]; {
		case c == '=' || c == ':':
			from, to = valueAt(text, i)
		case len(begins[c]) > 0 && (i == 0 || !wordByte(text[i-1])):
			from, to = i, tokenAt(text, i)
		}
		if to <= from || to-from < len(mask) || from < done || text[from:to] == mask {
			continue
		}
		list = append(list, Span{from, to})
		done, i = to, to-1
	}
	return list
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
}

// span is where the characters from i on end that are letters, digits or in more.
func span(text string, i int, more string) int {
	for i < len(text) && (text[i] != '_' && wordByte(text[i]) || strings.IndexByte(more, text[i]) >= 0) {
		i++
	}
	return i
}

// tokenAt returns where a token that begins at i ends; 0 when none does.
func tokenAt(text string, i int) int {
	for _, t := range shapes()[text[i]] {
		if !strings.HasPrefix(text[i:], t.prefix) {
			continue
		}
		end := span(text, i+len(t.prefix), t.more)
		if end-i-len(t.prefix) < t.least || t.prefix == "eyJ" && strings.Count(text[i:end], ".") != 2 {
			continue
		}
		return end
	}
	return 0
}

// valueAt returns the secret that follows the = or : at i: a password in a URL,
// what an Authorization header carries, the value of a name like a secret's.
func valueAt(text string, i int) (from, to int) {
	if strings.HasPrefix(text[i:], "://") {
		return urlPassword(text, i+3)
	}
	begin := i
	spaced := text[i] == '=' && begin > 0 && text[begin-1] == ' '
	if spaced {
		begin--
	}
	quoted := begin > 0 && (text[begin-1] == '"' || text[begin-1] == '\'')
	if quoted {
		begin--
	}
	end := begin
	for begin > 0 && (wordByte(text[begin-1]) || text[begin-1] == '-') && end-begin < 64 {
		begin--
	}
	name := strings.ToLower(text[begin:end])
	if name == "" {
		return 0, 0
	}
	from = i + 1
	for from < len(text) && from < i+4 && (text[from] == ' ' || text[from] == '"' || text[from] == '\'') {
		from++
	}
	loose := spaced || from > i+1 && text[i+1] == ' '
	if strings.HasSuffix(name, "authorization") && text[i] == ':' {
		scheme := strings.IndexByte(text[from:], ' ')
		if scheme > 0 && scheme < 10 && wordByte(text[from]) { // a mask is none
			from += scheme + 1
		}
		return from, span(text, from, "._~+/=-")
	}
	if !secretName(name) {
		return 0, 0
	}
	to = from
	for to < len(text) && strings.IndexByte(" \t\"'&;,<>()[]{}`\\", text[to]) < 0 {
		to++
	}
	value := text[from:to]
	switch {
	case len(value) < 4, harmless(value):
		return 0, 0
	case to < len(text) && (text[to] == '(' || text[to] == '['): // a call in a program
		return 0, 0
	case text[i] == ':' && !quoted && (begin > 0 && text[begin-1] != ' ' && text[begin-1] != '\t' || !random(value)):
		return 0, 0 // a word of a sentence, or a type
	case text[i] == '=' && (loose || name == text[begin:end]) && !random(value):
		return 0, 0 // a name in a program
	}
	return from, to
}

// urlPassword returns the password of a URL whose user begins at i.
func urlPassword(text string, i int) (from, to int) {
	for n := i; n < len(text) && n < i+256; n++ {
		switch text[n] {
		case ':':
			if from == 0 {
				from = n + 1
			}
		case '@':
			if from > 0 {
				return from, n
			}
			return 0, 0
		case '/', ' ', '\t', '"', '\'', '<', '>':
			return 0, 0
		}
	}
	return 0, 0
}

// secretWords are what the names of secrets have in them.
var secretWords = []string{
	"password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "api-key", "access_key", "accesskey", "access-key", "private_key", "privatekey",
	"private-key", "credential", "auth_key", "authkey", "encryption_key", "signing_key", "session_key", "account_key",
}

func secretName(name string) bool {
	for _, w := range secretWords {
		if i := strings.Index(name, w); i >= 0 {
			switch rest := name[i+len(w):]; rest {
			case "s", "_count", "_limit", "_file", "_path", "_type", "_id", "_name", "_url", "_ttl", "izer", "ize":
				return false // how many there are, or where they are
			}
			return true
		}
	}
	return false
}

// harmless reports whether a value says that there is none, or where it is.
func harmless(v string) bool {
	switch strings.ToLower(v) {
	case "true", "false", "null", "none", "nil", "undefined", "required", "optional", "string", "example", "changeme":
		return true
	}
	return strings.HasPrefix(v, keyBegin[:len(keyBegin)-1]) || v[0] == '$' || v[0] == '/' || v[0] == '*' || v[0] == '%' || v[0] == '.' || len(v) < 8 && strings.Trim(v, "0123456789.") == ""
}

// random reports whether a value looks as if nobody had thought of it as a
// word: it has letters and figures.
func random(v string) bool {
	letters, figures := false, false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			figures = true
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters = true
		}
	}
	return len(v) >= 6 && letters && figures
}

// unhide puts masks in place of hidden secrets, and counts them.
func unhide(text string) (string, int) {
	n := 0
	for i := 0; i < len(text); i++ {
		if text[i] == 1 && (i == 0 || text[i-1] != 1) {
			n++
		}
	}
	if n == 0 {
		return text, 0
	}
	return strings.ReplaceAll(text, "\x01", "*"), n
}

// mask hides the secrets of all lines. What stands on both sides of lines that were
// left out does not follow one another.
func (t *table) mask() {
	for _, part := range [][]entry{t.lines[:t.seam], t.lines[t.seam:]} {
		texts := make([]string, len(part))
		for i, l := range part {
			texts[i] = l.text
		}
		for i, spans := range Secrets(texts, 0, len(texts), false) {
			part[i].text = mark(part[i].text, spans)
		}
	}
}

// maskCut hides what looks like a secret in lines that were cut: a part of a
// line may look so where the whole did not.
func (t *table) maskCut() {
	for i := range t.lines {
		if l := &t.lines[i]; l.keep && l.cut {
			l.text = hide(l.text)
		}
	}
}
