package shellwords

import "strings"

// Quote returns a text that sh, bash, zsh and fish read as one word: the word
// itself where nothing in it means anything to them, else in quotes.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+:,./-", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	// A backslash stands outside the quotes, since fish sees it inside them too.
	return "'" + strings.NewReplacer("'", `'\''`, `\`, `'\\'`).Replace(word) + "'"
}

// Join returns a command line of words, each quoted as Quote does.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(word)
	}
	return strings.Join(quoted, " ")
}
