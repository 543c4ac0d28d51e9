package tmux

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"termpilot/process"
	"termpilot/shellint"
)

// A prompt that was shown before we came has left no mark that we could read.
// But the shells that we open tell tmux with their folder how they stand, and
// tmux keeps that. Where it says that the line editor is at work, the shell is
// asked, by a key, what it has on its line.

const (
	// answerPatience is how long a shell may take to answer.
	answerPatience = 400 * time.Millisecond
	// askAgain spaces the questions. After one that was typed, there must have been output.
	askAgain = 300 * time.Millisecond
)

// question is what is known of how a pane's prompt can be asked for.
type question struct {
	prompt string        // the shell's name for the prompt that stood when the picture was taken; "" is none
	at     time.Time     // when it was asked last
	typed  bool          // and whether the key was typed
	asking chan struct{} // closed when the question that is on its way has been answered, or not
	answer chan struct{} // holds a token when it is answered
	told   bool          // the shell has told since how it stands
	drawn  bool          // and draws its line anew then
}

// ask asks those of the panes whose prompt stands and is not known. It returns when they
// have answered or will not.
func ask(ctx context.Context, panes ...*pane) {
	var wg sync.WaitGroup
	for _, p := range panes {
		p.mu.Lock()
		unknown := p.unplaced()
		p.mu.Unlock()
		if unknown {
			wg.Go(func() { p.ask(ctx) })
		}
	}
	wg.Wait()
}

// unplaced reports whether the shell edits a line of which it is not known
// whether it holds text. mu is held.
func (p *pane) unplaced() bool {
	return !p.over && !p.seeding && p.tracker != nil && p.question.prompt != "" && p.tracker.Unplaced(p.question.prompt)
}

func (p *pane) ask(ctx context.Context) {
	p.mu.Lock()
	if asking := p.question.asking; asking != nil {
		p.mu.Unlock()
		select {
		case <-asking:
		case <-ctx.Done():
		}
		return
	}
	if q := &p.question; !p.unplaced() || time.Since(q.at) < askAgain || q.typed && !p.lastOutput.After(q.at) {
		p.mu.Unlock()
		return
	}
	asking, answer := make(chan struct{}), make(chan struct{}, 1)
	p.question.asking, p.question.answer, p.question.told, p.question.drawn = asking, answer, false, false
	p.mu.Unlock()
	typed := false
	for range 2 { // the second key undoes the first where that was taken as text
		if !p.edits() || !p.put(ctx) {
			break
		}
		typed = true
		if answered(ctx, answer) || !p.open() {
			break
		}
	}
	p.mu.Lock()
	p.question.asking, p.question.answer, p.question.at, p.question.typed = nil, nil, time.Now(), typed
	p.mu.Unlock()
	close(asking)
}

// edits reports whether the shell itself is in front, its terminal in the mode of a line editor.
func (p *pane) edits() bool {
	p.mu.Lock()
	pid, tty := p.pid, p.seen.tty
	p.mu.Unlock()
	front, _, err := process.Front(pid)
	if err != nil || front != pid {
		return false
	}
	flags, err := process.Flags(tty)
	return err == nil && !flags.Canonical && !flags.Echo
}

// put types the question, if by what tmux keeps the shell still edits at this
// prompt, and the key reaches the shell alone: tmux looks and types in one step.
func (p *pane) put(ctx context.Context) bool {
	p.mu.Lock()
	prompt, pid := p.question.prompt, p.pid
	p.mu.Unlock()
	if strings.Trim(prompt, "0123456789.-") != "" {
		return false
	}
	const asked = "asked"
	held := "#{||:#{pane_in_mode},#{||:#{pane_synchronized},#{||:#{pane_dead},#{pane_input_off}}}}"
	stands := fmt.Sprintf("#{&&:#{==:#{pane_pid},%d},#{m:*;at=%s;*,#{pane_path}}}", pid, prompt)
	at := "-t " + p.target()
	answers, err := p.link.once(ctx, "if-shell -F "+at+" '#{&&:"+stands+",#{?"+held+",0,1}}' "+
		"'send-keys "+at+" -H"+hexadecimal([]byte(shellint.Question))+" ; display-message -p "+asked+"'")
	return err == nil && says(answers, asked)
}

func answered(ctx context.Context, answer chan struct{}) bool {
	late := time.NewTimer(answerPatience)
	defer late.Stop()
	select {
	case <-answer:
		return true
	case <-late.C:
	case <-ctx.Done():
		return true // nobody waits for more
	}
	return false
}

// open reports whether the question still is one.
func (p *pane) open() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unplaced()
}

// heardMark notes the shell's answer, which is whole when its prompt is drawn again.
// A prompt that it draws before is none: bash does, and takes it from the screen
// again while it answers. mu is held.
func (p *pane) heardMark(command int, payload []byte) {
	if p.question.answer == nil {
		return
	}
	switch mark, _ := shellint.Parse(command, payload); mark.Kind {
	case shellint.Standing:
		p.question.told, p.question.drawn = !mark.Drawn, mark.Drawn
	case shellint.PromptEnd:
		p.question.told = p.question.told || p.question.drawn
	}
}

// heardAnswer notes that the prompt is known. mu is held.
func (p *pane) heardAnswer() {
	if p.question.answer != nil && p.question.told && !p.unplaced() {
		select {
		case p.question.answer <- struct{}{}:
		default:
		}
	}
}
