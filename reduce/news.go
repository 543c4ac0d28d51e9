package reduce

import (
	"strings"
	"sync"
)

// maxWeight is the most that a line can tell: an error, or what must survive.
const maxWeight = 3

// news are the words that make a line worth keeping, by weight.
var news = [maxWeight + 1][]string{
	3: {"error", "fatal", "panic", "exception", "traceback", "failed", "failure", "fail:", "--- fail", "not ok", "segmentation fault", "abort", "undefined reference", "cannot ", "can't ", "denied", "killed", "out of memory", "crashloop", "oomkill", "unhealthy", "imagepull", "evicted"},
	2: {"warning", "warn:", "deprecat", "not found", "no such file", "refused", "timed out", "timeout", "conflict", "unable to", "missing", "invalid", "unexpected"},
	1: {"passed", "success", "succeeded", "summary", "total", "finished", "completed", "done in", "built ", "compiled", "installed", "added ", "removed ", "changed", "skipped"},
}

// noNews are phrases in which a word of news says the opposite.
var noNews = strings.NewReplacer("0 errors", "", "no errors", "", "0 error", "", "0 failed", "", "0 failures", "", "no failures", "",
	"0 warnings", "", "no warnings", "", "errors: 0", "", "failures: 0", "", "failed: 0", "", "warnings: 0", "", "without error", "")

// newsBy are the words of news by their first letter, the heaviest first.
var newsBy = sync.OnceValue(func() *[256][]newsWord {
	var by [256][]newsWord
	for w := maxWeight; w > 0; w-- {
		for _, word := range news[w] {
			by[word[0]] = append(by[word[0]], newsWord{word, w})
		}
	}
	return &by
})

type newsWord struct {
	word   string
	weight int
}

// weight says how much a line tells: 3 of an error, 2 of a warning, 1 of a
// result, 0 of nothing.
func weight(line string) int {
	line = strings.ToLower(line[:min(len(line), longLine)])
	w := heaviest(line)
	if w > 1 {
		if less := noNews.Replace(line); less != line {
			w = heaviest(less)
			for _, word := range news[1] { // "0 failed, 3 passed" is a result
				w = max(w, boolInt(strings.Contains(line, word)))
			}
		}
	}
	return w
}

// heaviest is the weight of the heaviest word of news in a line.
func heaviest(line string) int {
	w, by := 0, newsBy()
	for i := 0; i < len(line); i++ {
		for _, n := range by[line[i]] {
			if n.weight <= w {
				break
			}
			if strings.HasPrefix(line[i:], n.word) {
				w = n.weight
				break
			}
		}
		if w == maxWeight {
			break
		}
	}
	return w
}
