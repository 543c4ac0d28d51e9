package reduce

import (
	"strings"
)

var imageReducers = []reducer{
	{names: "docker build, docker buildx, podman build, buildah, buildah build, buildah bud, nerdctl build, docker-compose build, docker-compose up, buildctl, kaniko", reduce: reduceImageBuild},
}

// imageBuild is the output of a build of images, being read.
type imageBuild struct {
	report
	steps    map[string]*imageStep // by their number, or as they are drawn
	order    []*imageStep          // one heading may come again, in another build
	now      *imageStep
	cached   int
	done     int
	failures int
	known    bool
	odd      int // lines of bad news from steps that went well
}

// imageStep is a step and what it printed.
type imageStep struct {
	at    int
	title string
	lines []detail
	bad   bool
}

// reduceImageBuild keeps the step that failed with the end of what it printed, and
// what the builder says of it; steps that went well are counted.
func reduceImageBuild(in *input) (draft, bool) {
	b := &imageBuild{report: report{in: in}, steps: map[string]*imageStep{}}
	for i, l := range in.lines {
		if l != "" {
			b.line(i, l)
		}
	}
	if !b.known {
		return draft{}, false
	}
	b.tell()
	return b.draft(), true
}

// line reads a line of any of the builders.
func (b *imageBuild) line(i int, l string) {
	number, rest, ok := strings.Cut(l, " ")
	switch {
	case ok && len(number) > 1 && number[0] == '#' && isNumber(number[1:]):
		b.known = true
		b.buildkit(i, number, rest)
	case strings.HasPrefix(l, "Step ") && strings.Contains(l, " : "), strings.HasPrefix(l, "STEP ") && strings.Contains(l, ": "), isStaged(l):
		b.known = true
		if b.now != nil {
			b.done++
		}
		b.now = &imageStep{at: i, title: l}
		b.order = append(b.order, b.now)
	case strings.HasPrefix(l, " => "), strings.HasPrefix(l, "=> "), strings.HasPrefix(l, "[+] Building "):
		b.known = true
		b.drawn(i, strings.TrimSpace(l))
	case imageNoise(l):
	case imageNews(l):
		if strings.HasPrefix(l, "error: ") && i < len(b.in.lines)-3 { // printed by a step
			b.printed(i, l)
			return
		}
		if b.now != nil && imageFailed(l) {
			b.now.bad = true
		}
		b.say(i, l)
	default:
		b.printed(i, l)
	}
}

// printed keeps a line with the step that printed it.
func (b *imageBuild) printed(i int, l string) {
	switch {
	case len(l) >= 12 && i >= len(b.in.lines)-1 && strings.Trim(l, "0123456789abcdef") == "":
		b.say(i, l) // the image
	case b.now != nil:
		b.now.lines = append(b.now.lines, detail{at: i, text: l})
	case b.failures > 0: // what a step printed, again, and a piece of the Dockerfile
	case i >= len(b.in.lines)-3 || weight(l) == maxWeight:
		b.lines = append(b.lines, drafted{text: l, at: i, of: 1, weight: maxWeight})
	}
}

// isStaged reports whether a line begins a step of one of many stages: "[1/2] STEP 3/5: x".
func isStaged(l string) bool {
	return l[0] == '[' && strings.Contains(l[:min(len(l), 20)], "] STEP ")
}

// buildkit reads "#7 [2/4] RUN x", "#7 0.23 text", "#7 DONE 0.1s", "#7 ERROR: text".
func (b *imageBuild) buildkit(i int, number, rest string) {
	s := b.steps[number]
	if s == nil {
		s = &imageStep{at: i, title: rest}
		b.steps[number] = s
		b.order = append(b.order, s)
		return
	}
	word, text, _ := strings.Cut(rest, " ")
	switch {
	case word == "DONE":
		b.done++
	case word == "CACHED":
		b.cached++
	case word == "ERROR:":
		s.bad = true
		b.failures++
		s.lines = append(s.lines, detail{at: i, text: "ERROR: " + text, rank: 1})
	case word == "CANCELED", word == "transferring", word == "sha256:", word == "resolve", word == "extracting", strings.HasPrefix(word, "sha256:"):
	case word == "writing", word == "naming", word == "exporting", word == "pushing":
		if strings.Contains(text, "image") || strings.Contains(text, " to ") || word == "naming" {
			b.lines = append(b.lines, drafted{text: rest, at: i, of: 1, weight: 1})
		}
	case strings.Trim(word, "0123456789.") == "" && word != "":
		s.lines = append(s.lines, detail{at: i, text: text})
	default:
		if weight(rest) == maxWeight {
			s.lines = append(s.lines, detail{at: i, text: rest})
		}
	}
}

// drawn reads a line of BuildKit's drawing, which comes again and again.
func (b *imageBuild) drawn(i int, l string) {
	text := strings.TrimPrefix(l, "=> ")
	if j := strings.LastIndex(text, "  "); j > 0 {
		text = strings.TrimSpace(text[:j])
	}
	switch {
	case strings.HasPrefix(l, "[+] Building "):
		if strings.HasSuffix(l, "FINISHED") || strings.HasSuffix(l, "ERROR") {
			b.say(i, l)
		}
	case strings.HasPrefix(text, "ERROR "):
		if b.steps[text] == nil {
			b.steps[text] = &imageStep{at: i, title: text, bad: true}
			b.order = append(b.order, b.steps[text])
		}
	case strings.HasPrefix(text, "CACHED ") && b.steps[text] == nil:
		b.cached++
		b.steps[text] = &imageStep{}
	case strings.HasPrefix(text, "=> writing image"), strings.HasPrefix(text, "=> naming to"):
		if b.steps[text] == nil {
			b.steps[text] = &imageStep{}
			b.say(i, strings.TrimPrefix(text, "=> "))
		}
	}
}

// imageNoise reports whether a line only tells of layers and containers.
func imageNoise(l string) bool {
	for _, p := range []string{" ---> ", "Removing intermediate container", "Sending build context", "--> ", "Getting image source", "Copying blob", "Copying config", "Writing manifest", "Storing signatures", "Trying to pull", "------", " > "} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	return false
}

// imageNews reports whether a line tells how the build ended, or why.
func imageNews(l string) bool {
	for _, p := range []string{"Successfully built", "Successfully tagged", "COMMIT", "WARN", "WARNING", " - ", "Dockerfile:", "Containerfile:", ">>> "} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	return imageFailed(l) || strings.Contains(l, " | >>> ")
}

// imageFailed reports whether a line says that the build failed.
func imageFailed(l string) bool {
	for _, p := range []string{"ERROR: ", "error: ", "Error: ", "Error response", "The command '", "failed to solve", "subprocess exited"} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	return false
}

// stepEnd is how many lines of the end of a step that failed are shown.
const stepEnd = 12

// tell adds the steps that failed, and the count of the others.
func (b *imageBuild) tell() {
	for _, s := range b.order {
		if !s.bad {
			for _, d := range s.lines {
				if weight(d.text) == maxWeight && b.odd < 3 {
					b.odd++
					b.lines = append(b.lines, drafted{text: d.text, at: d.at, of: 1, weight: 1})
				}
			}
			continue
		}
		f := finding{at: s.at, title: "FAILED " + s.title, name: s.title, why: s.told()}
		b.found = append(b.found, f)
	}
	if len(b.order) == 0 {
		return
	}
	text := b.in.count(len(b.order)) + " steps"
	if b.done > 0 {
		text += ", " + b.in.count(b.done) + " done"
	}
	if b.cached > 0 {
		text += ", " + b.in.count(b.cached) + " cached"
	}
	b.note(0, text)
}

// told is the end of what a step printed, and lines before it that are news.
func (s *imageStep) told() []detail {
	var why []detail
	from := max(0, len(s.lines)-stepEnd)
	for n, d := range s.lines {
		if d.rank == 1 && n > 0 && strings.Contains(d.text, "did not complete successfully") {
			_, d.text, _ = strings.Cut(d.text, "did not complete successfully: ") // the command is in the title
		}
		if d.rank == 0 {
			d.rank = 3
			if n >= len(s.lines)-4 || weight(d.text) == maxWeight {
				d.rank = 2
			}
		}
		if n >= from || d.rank < 3 {
			why = append(why, d)
		}
	}
	return why
}
