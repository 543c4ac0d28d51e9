// Package reduce makes terminal text shorter without losing what it says. It is
// pure: text in, shorter text out, the same every time, in time that grows with
// the text's length alone.
package reduce

// Options says how much may stay. The zero value has the defaults.
type Options struct {
	MaxChars int // characters of the answer; 0 is 32768
	MaxLines int // lines of the answer; 0 is 60 for Plain, no limit for Cut
	// Skipped is how many lines the caller left out at byte Seam of the text.
	Skipped int
	Seam    int
	Mask    bool // hide what looks like a secret
}

// Result is reduced text.
type Result struct {
	Text    string
	Lines   int // lines of the text that came in, those skipped too
	Dropped int // lines that do not show, or not as often as they were
}

// Plain is the general stage.
func Plain(text string, o Options) Result { return Cut(text, o) }

// Cut keeps the text as it is.
func Cut(text string, o Options) Result { return Result{Text: text} }
