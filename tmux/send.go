package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/terminal"
)

const (
	// maxChunk is how many bytes one command types. Each is typed whole or not at all.
	maxChunk = 16 << 10
	// maxText is the most that one Send types.
	maxText = 8 << 20
)

// Send types bytes into a pane, into that pane alone, verbatim.
//
// tmux has two ways. send-keys -H types single bytes, but into copy mode when
// that shows, and into all panes of a synchronized window. paste-buffer writes
// to the program behind a mode and to one pane, but takes no NUL, and the text
// passes through a buffer. So the first is used, and the second only where the
// first would go wrong; tmux itself decides at the moment of typing.
func (b *Backend) Send(ctx context.Context, id terminal.ID, text []byte) error {
	const op = "send"
	p, err := b.live(ctx, op, id)
	if err != nil {
		return err
	}
	if len(text) > maxText {
		return &fault.Error{
			Op: op, Session: string(id), Code: fault.TooLarge, Detail: fmt.Sprintf("%d bytes, more than %d", len(text), maxText),
			Hint: "send it in parts",
		}
	}
	ctx, cancel := b.limited(ctx)
	defer cancel()
	for begun := false; len(text) > 0; begun = true {
		n := cut(text)
		if err := b.typeChunk(ctx, p, text[:n]); err != nil {
			if begun {
				err = fmt.Errorf("a part is typed already: %w", err)
			}
			return b.explain(op, id, err)
		}
		text = text[n:]
	}
	return nil
}

// cut is how much of text one command types: no character is divided.
func cut(text []byte) int {
	if len(text) <= maxChunk {
		return len(text)
	}
	n := maxChunk
	for n > maxChunk-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// held begins what tmux answers when keys would not reach the pane's program
// alone; how many modes the pane is in follows.
const held = "held"

// typeChunk types one chunk.
func (b *Backend) typeChunk(ctx context.Context, p *pane, text []byte) error {
	p.touch()
	at := "-t " + p.target()
	keys := "send-keys " + at + " -H" + hexadecimal(text)
	line := "if-shell -F " + at + " '" + p.other() + "' 'display-message -p " + other + "' ; " +
		"if-shell -F " + at + " '#{||:" + p.other() + ",#{||:#{pane_dead},#{pane_input_off}}}' 'display-message -p closed' " +
		"'if-shell -F " + at + " \"#{||:#{pane_in_mode},#{pane_synchronized}}\" \"display-message -p " + at + " \\\"" + held + "#{pane_in_mode}\\\"\" \"" + keys + "\"'"
	answers, err := p.link.once(ctx, line)
	if err != nil {
		return p.vanished(err)
	}
	switch said := lastLine(answers); {
	case said == "":
		return nil
	case says(answers, other):
		p.link.stir()
		return ended("send", p.id)
	case said == held+"0", strings.HasPrefix(said, held) && !p.link.version.freezes():
		return b.paste(ctx, p, text)
	case strings.HasPrefix(said, held):
		return refusal("the pane is in copy mode, in which tmux " + p.link.version.text + " stops its program")
	default:
		return refusal("the pane takes no input: it is dead, or select-pane -d has closed it")
	}
}

// paste types a chunk by way of a buffer of our own, which is gone at once.
func (b *Backend) paste(ctx context.Context, p *pane, text []byte) error {
	if strings.IndexByte(string(text), 0) >= 0 {
		return refusal("tmux cannot type a NUL into a pane that is in copy mode or synchronized")
	}
	const buffer = "termpilot"
	_, err := p.link.once(ctx, "set-buffer -b "+buffer+" -- "+quote(string(text))+
		" ; paste-buffer -d -r -b "+buffer+" -t "+p.target())
	return p.vanished(err)
}

// other is what tmux answers when another program runs in the pane than the one
// that the session is of: somebody has respawned it.
const other = "other"

// other is the condition for that.
func (p *pane) other() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("#{!=:#{pane_pid},%d}", p.pid)
}

func says(answers []answer, word string) bool {
	return slices.ContainsFunc(answers, func(a answer) bool { return a.text() == word })
}

// vanished names the refusal that says that the pane is gone.
func (p *pane) vanished(err error) error {
	var refused refusal
	if errors.As(err, &refused) && strings.HasPrefix(string(refused), "can't find pane") {
		return ended("send", p.id)
	}
	return err
}

// touch notes that something is typed, before it can reach the shell.
func (p *pane) touch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastSent = time.Now()
	if p.tracker != nil {
		p.tracker.Touch()
	}
}

// hexadecimal writes bytes for send-keys -H.
func hexadecimal(text []byte) string {
	b := make([]byte, 0, 3*len(text))
	for _, c := range text {
		b = append(b, ' ')
		b = strconv.AppendUint(b, uint64(c), 16)
	}
	return string(b)
}

func lastLine(answers []answer) string {
	for i := len(answers) - 1; i >= 0; i-- {
		if n := len(answers[i].lines); n > 0 {
			return string(answers[i].lines[n-1])
		}
	}
	return ""
}

// Broadcasts is false: what is sent to a pane reaches that pane alone, also
// where synchronize-panes copies what a person types.
func (b *Backend) Broadcasts(ctx context.Context, id terminal.ID) (bool, error) {
	_, err := b.live(ctx, "broadcasts", id)
	return false, err
}
