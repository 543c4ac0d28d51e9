package reduce

import (
	"slices"
	"strconv"
	"strings"
)

// goTraces makes panics, goroutines and races in what a test printed short: the
// message, and the frames in code of one's own.
func goTraces(outs []detail) []detail {
	var kept []detail
	var routines goRoutines
	for i := 0; i < len(outs); {
		l := strings.TrimSpace(outs[i].text)
		switch {
		case strings.HasPrefix(l, "panic: "), strings.HasPrefix(l, "fatal error: "):
			kept = append(kept, detail{at: outs[i].at, text: l, rank: 1})
			i++
		case strings.HasPrefix(l, "goroutine ") && strings.HasSuffix(l, ":"):
			var list []detail
			list, i = goFrames(outs, i+1)
			routines.add(list)
		case strings.HasPrefix(l, "WARNING: DATA RACE"):
			var list []detail
			list, i = goRace(outs, i)
			kept = append(kept, list...)
		case strings.Trim(l, "=") == "" && l != "", strings.HasPrefix(l, "[signal "), strings.HasPrefix(l, "testing.go:") && strings.Contains(l, "race detected"):
			i++
		default:
			kept = append(kept, outs[i])
			i++
		}
	}
	told := routines.told()
	for i := range kept { // a panic with the place that it came from
		if place, ok := placeIn(told); ok && strings.HasPrefix(kept[i].text, "panic: ") && !strings.Contains(kept[i].text, "timed out") {
			kept[i].text += " at " + place
			break
		}
	}
	return append(kept, told...)
}

// placeIn is the place in the first of some frames.
func placeIn(frames []detail) (string, bool) {
	if len(frames) == 0 {
		return "", false
	}
	place := strings.TrimSuffix(frames[0].text, ")")
	return place[strings.LastIndexByte(place, ' ')+1:], strings.Contains(place, ".go:")
}

// goRoutines are the goroutines of a dump by what they do.
type goRoutines struct {
	all   int
	kinds []goRoutine
}

type goRoutine struct {
	frames []detail
	n      int
}

// add takes a goroutine in; those that do the same are one kind.
func (r *goRoutines) add(frames []detail) {
	r.all++
	if len(frames) == 0 {
		return
	}
	for i := range r.kinds {
		if slices.EqualFunc(r.kinds[i].frames, frames, func(a, b detail) bool { return a.text == b.text }) {
			r.kinds[i].n++
			return
		}
	}
	if len(r.kinds) < 20 {
		r.kinds = append(r.kinds, goRoutine{frames: frames, n: 1})
	}
}

// told are the frames of the first few kinds.
func (r *goRoutines) told() []detail {
	var out []detail
	for i, k := range r.kinds[:min(3, len(r.kinds))] {
		if k.n > 1 {
			k.frames[0].text += repeatMark + strconv.Itoa(k.n) + " goroutines)"
		}
		for _, f := range k.frames {
			f.rank += boolInt(i > 0)
			out = append(out, f)
		}
	}
	if r.all > 3 && len(out) > 0 {
		out = append(out, detail{at: out[len(out)-1].at, text: strconv.Itoa(r.all) + " goroutines", rank: 3})
	}
	return out
}

// goFrames reads pairs of lines, a function and its place, and keeps those that
// are not of Go's own packages.
func goFrames(outs []detail, i int) ([]detail, int) {
	var kept []detail
	for ; i < len(outs); i++ {
		l := strings.TrimSpace(outs[i].text)
		if l == "" || strings.HasPrefix(l, "goroutine ") || goNoise(l) || strings.HasPrefix(l, "===") {
			break
		}
		if i+1 == len(outs) || !goFile(outs[i+1].text) {
			if strings.HasPrefix(l, "...") {
				continue
			}
			if !strings.Contains(l, "(") && !strings.HasPrefix(l, "created by ") {
				break
			}
			continue
		}
		place := strings.TrimSpace(outs[i+1].text)
		place, _, _ = strings.Cut(place, " +0x")
		if !isLibrary(place) && !isGoRoot(l) && len(kept) < 4 {
			kept = append(kept, detail{at: outs[i].at, text: "in " + goFunc(l) + " " + place, rank: 1 + boolInt(len(kept) > 0)})
		}
		i++
	}
	return kept, i
}

// goFile reports whether a line is the place of a frame.
func goFile(l string) bool {
	l = strings.TrimSpace(l)
	i := strings.Index(l, ".go:")
	return i > 0 && i+4 < len(l) && isDigit(l[i+4]) && !strings.Contains(l[:i], ": ")
}

// isGoRoot reports whether a function belongs to what runs a Go test.
func isGoRoot(fn string) bool {
	for _, p := range []string{"testing.", "runtime.", "panic(", "created by testing.", "created by runtime.", "main.main("} {
		if strings.HasPrefix(fn, p) {
			return true
		}
	}
	return false
}

// goFunc is a function without its arguments.
func goFunc(l string) string {
	l = strings.TrimPrefix(l, "created by ")
	if j := strings.LastIndexByte(l, '('); j > 0 {
		l = l[:j]
	}
	l, _, _ = strings.Cut(l, " in goroutine ")
	return l
}

// goRace reads a report of the race detector: what each side did, and where.
func goRace(outs []detail, i int) ([]detail, int) {
	kept := []detail{{at: outs[i].at, text: strings.TrimSpace(outs[i].text), rank: 1}}
	for i++; i < len(outs); {
		l := strings.TrimSpace(outs[i].text)
		if strings.HasPrefix(l, "===") {
			return kept, i + 1
		}
		i++
		if !strings.Contains(l, " by goroutine ") && !strings.Contains(l, " by main goroutine") {
			continue
		}
		var frames []detail
		frames, i = goFrames(outs, i)
		what, _, _ := strings.Cut(l, " at 0x")
		if len(frames) > 0 {
			what += " " + frames[0].text
		}
		kept = append(kept, detail{at: outs[i-1].at, text: what, rank: 1})
	}
	return kept, i
}
