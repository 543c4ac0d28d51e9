package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// playOpencode: a bar and a foot around the composer, buttons for the mouse, and
// the plugin that its environment names, whose part it plays itself.
type playOpencode struct {
	self string // what the plugin calls; "" is no plugin
	rows int    // of the screen
	at   int    // the row of the buttons
}

func (p *playOpencode) begin(s *standIn) {
	var config struct{ Plugin []string }
	_ = json.Unmarshal([]byte(os.Getenv(opencodeConfig)), &config)
	note("plugins", strings.Join(config.Plugin, "\n"))
	for _, url := range config.Plugin {
		data, _ := os.ReadFile(strings.TrimPrefix(url, "file://"))
		constants, rest, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("const ours = ")), []byte("\n"))
		var ours struct {
			Self     string
			ReadOnly bool
		}
		if string(rest) == opencodePlugin && json.Unmarshal(constants, &ours) == nil {
			p.self = ours.Self
			note("readOnly", fmt.Sprint(ours.ReadOnly))
		}
	}
	p.tell(map[string]any{"event": "ready"})
}

func (*playOpencode) finish(*standIn) {}

func (*playOpencode) status(*standIn, string, string) {}

func (p *playOpencode) tell(what map[string]any) {
	if p.self == "" {
		return
	}
	data, _ := json.Marshal(what)
	cmd := exec.Command(p.self, "hook", "opencode") //nolint:noctx // the stand-in is a program of its own
	cmd.Stdin = bytes.NewReader(data)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		note("hook", fmt.Sprint(what, ": ", err, string(out)))
	}
}

func (p *playOpencode) told(s *standIn, k kind, with map[string]string) {
	if s.chat == "" { // it has no id before something is said
		s.chat = "ses_" + strings.ReplaceAll(with["turn"], "-", "")
	}
	what := map[string]any{"chat": s.chat, "turn": with["turn"], "text": with["text"]}
	switch k {
	case prompted:
		what["event"] = "prompt"
	case done:
		what["event"] = "done"
	case failed:
		what["event"], what["error"] = "error", with["error"]
	case interrupted:
		what["event"], what["reason"] = "interrupted", with["reason"]
	case waits:
		what["event"], what["what"] = "asks", "bash"
	case goesOn:
		what["event"] = "answered"
	default: // of another chat nothing is told before something is said there
		return
	}
	p.tell(what)
}

func (p *playOpencode) draw(s *standIn) (rows []string, row, column int) {
	_, p.rows, _ = term.GetSize(0)
	for _, said := range s.said {
		bar := "     "
		if strings.HasPrefix(said, "> ") {
			bar, said = "  ┃  ", strings.TrimPrefix(said, "> ")
		}
		rows = append(rows, bar+said, "")
	}
	var below []string
	if s.shown != nil && s.shown.words {
		below = []string{"  ┃", "  ┃  △ Reject permission", "  ┃", "  ┃  Tell OpenCode what to do differently", "  ┃", "  ┃                    enter confirm  esc cancel", "  ┃", ""}
	} else if s.shown != nil {
		below = append(below, "  ┃", "  ┃  △ Permission required", "  ┃    # Shell command", "  ┃")
		for _, q := range s.shown.question {
			below = append(below, "  ┃  "+q)
		}
		below = append(below, "  ┃", "  ┃   Allow once   Allow always   Reject       ctrl+f fullscreen  ⇆ select  enter confirm", "  ┃", "")
		p.at = p.rows - 2
		column = 1 // somewhere else
	} else {
		inside, at, end := s.composer("  ┃  ", "  ┃  ")
		if len(s.text) == 0 && len(s.said) == 0 {
			inside[0], end = `  ┃  Ask anything… "Fix broken tests"`, 5
		}
		foot := "   /tmp/project                    ctrl+p commands"
		if s.busyFor != "" {
			foot = fmt.Sprintf("   %s  esc interrupt          ctrl+p commands", []string{"■⬝⬝", "⬝■⬝"}[s.seconds()%2])
		}
		below = append(append([]string{"  ┃"}, inside...), "  ┃", "  ┃  Build · Fake", "  ╹"+strings.Repeat("▀", 60), foot)
		row, column = p.rows-len(below)+1+at, end
	}
	room := p.rows - len(below)
	rows = rows[max(0, len(rows)-room):]
	for len(rows) < room {
		rows = append(rows, "")
	}
	return append(rows, below...), row, column
}

func (*playOpencode) question(command string) *dialog {
	return &dialog{question: []string{"$ " + command}, choices: []choice{
		{number: 1, label: "Allow once"}, {number: 2, label: "Allow always"}, {number: 3, label: "Reject"},
	}}
}

// pressed is the number of the button that a key means: the mouse where it is
// released, Escape for the last.
func (p *playOpencode) pressed(key string) string {
	var x, y int
	var up rune
	if n, _ := fmt.Sscanf(key, "\x1b[<0;%d;%d%c", &x, &y, &up); n == 3 && up == 'm' && y == p.at {
		for i, label := range []string{"Allow once", "Allow always", "Reject"} {
			if from := []int{7, 20, 35}[i]; x >= from && x < from+len(label) {
				return fmt.Sprint(i + 1)
			}
		}
	}
	if key == escape {
		return "3"
	}
	return ""
}

// words asks what to say with a no, until that is given.
func (s *standIn) words() {
	s.shown = &dialog{words: true}
	s.redraw()
	for key := range s.keys {
		note("words", key)
		if key == enter {
			s.shown = nil
			return
		}
	}
}
