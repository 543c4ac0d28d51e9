package iterm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// Prompt returns a prompt of a session, in one round of two requests. From a
// terminal that is not termpilot's host, the output of a finished command costs
// a second and third round: it alone does not say where old output ends.
func (c *Client) Prompt(ctx context.Context, id terminal.ID, promptID string) (terminal.Prompt, error) {
	const op = "prompt"
	if !exact(id) {
		return terminal.Prompt{}, unknown(op, id)
	}
	var p terminal.Prompt
	err := c.read(ctx, op, id, func(l *link) error {
		ask, vars := askPrompt(id, promptID), l.refresh(id)
		if err := l.do(ctx, ask, vars); err != nil {
			return err
		}
		var known map[string]string
		var err error
		if p, known, err = readPrompt(ask, vars, promptID); err != nil {
			return err
		}
		if known[varMarks] == "" && p.State == terminal.Finished && p.ID != "" {
			return l.boundOutput(ctx, id, &p)
		}
		if restIsElsewhere(ask, p) {
			return l.readRest(ctx, id, &p)
		}
		return nil
	})
	return p, err
}

// restIsElsewhere reports whether our host says that the row behind an output
// held its end, and was painted over.
func restIsElsewhere(ask *call, p terminal.Prompt) bool {
	return slices.ContainsFunc(ask.answer.GetGetPromptResponse().GetExcludedSubranges(), func(r *api.CoordRange) bool {
		return p.State == terminal.Finished && point(r.GetStart()) == p.Output.End && point(r.GetEnd()).Row > p.Output.End.Row
	})
}

// readRest asks for the end of an output that was painted over.
func (l *link) readRest(ctx context.Context, id terminal.ID, p *terminal.Prompt) error {
	ask := askVariables(id, []string{varRest + p.ID})
	r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetVariableResponse)
	if err != nil {
		return err
	}
	if r.GetStatus() == api.VariableResponse_SESSION_NOT_FOUND {
		return errNotFound
	}
	var rest string
	if v := r.GetValues(); len(v) != 1 || len(v[0]) > 8*maxRest || json.Unmarshal([]byte(v[0]), &rest) != nil || len(rest) > maxRest {
		return violation("the end of an output is not told")
	}
	p.Rest = strings.Map(func(r rune) rune {
		if isControl(r) && r != '\n' {
			return -1
		}
		return r
	}, rest)
	return nil
}

// Prompts returns the last prompts of all live sessions, in one request.
// Unsupported when the terminal is not termpilot's host.
func (c *Client) Prompts(ctx context.Context) (map[terminal.ID]terminal.Prompt, error) {
	const op = "prompts"
	var all map[terminal.ID]terminal.Prompt
	err := c.read(ctx, op, "", func(l *link) error {
		if err := l.knowTopology(ctx); err != nil {
			return err
		}
		unsupported := &fault.Error{
			Op: op, Code: fault.Unsupported, Detail: "this terminal tells prompts one by one", Hint: "ask for the prompt of each session",
		}
		if !l.state.isOurs() {
			return unsupported
		}
		ask := askAppVariables([]string{appPrompts})
		r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetVariableResponse)
		if err != nil {
			return err
		}
		var told map[terminal.ID]toldPrompt
		if len(r.GetValues()) != 1 || json.Unmarshal([]byte(r.GetValues()[0]), &told) != nil || told == nil {
			return unsupported // a host that does not know the variable says null
		}
		all = make(map[terminal.ID]terminal.Prompt, len(told))
		for id, t := range told {
			if p, ok := t.prompt(); ok && exact(id) {
				all[id] = p
			}
		}
		return nil
	})
	return all, err
}

// toldPrompt is what termpilot.prompts tells of one session.
type toldPrompt struct {
	livePrompt
	Marks string `json:"marks"`
}

// prompt makes a Prompt of it; false where this client does not know the state.
func (t toldPrompt) prompt() (terminal.Prompt, bool) {
	state, known := promptStates[t.State]
	if t.ID == "" || t.State == "none" {
		return terminal.Prompt{}, true
	}
	return withLive(terminal.Prompt{ID: t.ID, State: state, Marks: marks(t.Marks, true)}, t.livePrompt), known
}

// readPrompt makes a Prompt of the two answers that tell of one.
func readPrompt(ask, vars *call, promptID string) (terminal.Prompt, map[string]string, error) {
	r, err := answerOf(ask, (*api.ServerOriginatedMessage).GetGetPromptResponse)
	if err != nil {
		return terminal.Prompt{}, nil, err
	}
	v, err := answerOf(vars, (*api.ServerOriginatedMessage).GetVariableResponse)
	if err != nil {
		return terminal.Prompt{}, nil, err
	}
	if v.GetStatus() == api.VariableResponse_SESSION_NOT_FOUND {
		return terminal.Prompt{}, nil, errNotFound
	}
	known, err := vars.variables()
	if err != nil {
		return terminal.Prompt{}, nil, err
	}
	switch r.GetStatus() {
	case api.GetPromptResponse_OK:
	case api.GetPromptResponse_SESSION_NOT_FOUND:
		return terminal.Prompt{}, nil, errNotFound
	case api.GetPromptResponse_PROMPT_UNAVAILABLE:
		if promptID == "" {
			return terminal.Prompt{}, known, nil
		}
		return terminal.Prompt{ID: promptID, State: terminal.Lost}, known, nil
	default:
		return terminal.Prompt{}, nil, refusedBy("the prompt", r.GetStatus())
	}
	if nameOf(r.GetPromptState()) == "" {
		return terminal.Prompt{}, nil, violation(fmt.Sprintf("a prompt is in state %d, which is none", r.GetPromptState()))
	}
	p := promptFrom(r)
	p.Marks = marks(known[varMarks], true)
	if live, ok := parseLivePrompt(known[varPrompt]); ok {
		nowhere := p.State >= terminal.Running && p.Command != "" && r.OutputRange == nil
		p.Strewn = nowhere || slices.Contains(live.Strewn, p.ID)
		if live.ID != p.ID { // another prompt is the last: nothing is known of this one's line
			live = livePrompt{}
		}
		p = withLive(p, live)
	}
	return p, known, nil
}

// promptFrom makes a Prompt of the terminal's. A notification may lack it.
func promptFrom(r *api.GetPromptResponse) terminal.Prompt {
	if r == nil {
		r = &api.GetPromptResponse{}
	}
	p := terminal.Prompt{ID: r.GetUniquePromptId(), Command: r.GetCommand(), Cwd: r.GetWorkingDirectory()}
	switch {
	case r.GetPromptState() == api.GetPromptResponse_FINISHED, r.PromptState == nil && r.ExitStatus != nil:
		p.State = terminal.Finished
	case r.GetPromptState() == api.GetPromptResponse_RUNNING, r.PromptState == nil && r.OutputRange != nil:
		p.State = terminal.Running
	default:
		p.State = terminal.Editing
	}
	if p.State == terminal.Finished && r.ExitStatus != nil {
		status := int(int32(r.GetExitStatus())) // the shell's own number, also if it is negative
		p.Exit = &status
	}
	if p.State == terminal.Editing {
		p.Typed = typed(r)
		return p
	}
	if r.OutputRange != nil {
		p.Output = span(r.GetOutputRange())
	}
	return p
}

// typed reads from the command's range whether anything stands at the prompt.
// The terminal leaves the range as it was when everything is deleted again, so
// a range without text says nothing. Nor does anything of a prompt without an
// id: what ends could not be told from what we began.
func typed(r *api.GetPromptResponse) terminal.Known {
	switch {
	case r.CommandRange == nil || r.PromptState == nil || r.GetUniquePromptId() == "":
		return terminal.Unknown
	case r.GetCommand() != "":
		return terminal.Yes
	case span(r.GetCommandRange()).Empty():
		return terminal.No
	default:
		return terminal.Unknown
	}
}

func span(r *api.CoordRange) terminal.Span {
	return terminal.Span{Start: point(r.GetStart()), End: point(r.GetEnd())}
}

func point(c *api.Coord) terminal.Point {
	return terminal.Point{Row: max(c.GetY(), 0), Column: int(max(c.GetX(), 0))}
}

// boundOutput cuts the output of a finished command where the next prompt
// begins: iTerm2 ends every output range at the cursor, however old it is.
func (l *link) boundOutput(ctx context.Context, id terminal.ID, p *terminal.Prompt) error {
	for range nextPrompts {
		list, err := exchange(ctx, l, askPromptsFrom(id, p.ID), (*api.ServerOriginatedMessage).GetListPromptsResponse)
		if err != nil {
			return err
		}
		ids := list.GetUniquePromptId()
		if len(ids) < 2 || ids[0] != p.ID {
			return nil // it is the last one
		}
		next, err := exchange(ctx, l, askPrompt(id, ids[1]), (*api.ServerOriginatedMessage).GetGetPromptResponse)
		if err != nil {
			return err
		}
		if next.GetStatus() != api.GetPromptResponse_OK || next.PromptRange == nil {
			continue
		}
		end := point(next.GetPromptRange().GetStart())
		if cut := (terminal.Span{Start: end, End: p.Output.End}); !cut.Empty() {
			p.Output.End = end
		}
		return nil
	}
	return violation("it is not told where the prompt after it begins")
}

// nextPrompts is how often the prompt after another is looked for: a screen that
// is cleared takes it away, and its shell shows another.
const nextPrompts = 3

// Exit returns how a session ended. iTerm2 does not tell: then it is only known
// when, if this client saw it.
func (c *Client) Exit(ctx context.Context, id terminal.ID) (terminal.Exit, error) {
	const op = "exit"
	if !exact(id) {
		return terminal.Exit{}, unknown(op, id)
	}
	var exit terminal.Exit
	err := c.read(ctx, op, id, func(l *link) error {
		found, err := l.exit(ctx, id)
		if err != nil && !errors.Is(err, errNotFound) {
			return err
		}
		if found != nil {
			exit = *found
			return nil
		}
		if at, known := c.recall(id); known && !at.IsZero() {
			exit.At = at
			return nil
		}
		if err != nil {
			return unknown(op, id)
		}
		return &fault.Error{
			Op: op, Session: string(id), Code: fault.SessionNotFound, Detail: "the session is not known to have ended",
			Hint: "wait for the session to end",
		}
	})
	return exit, err
}

// exit asks how a session ended; nil while it lives, or when nobody knows.
func (l *link) exit(ctx context.Context, id terminal.ID) (*terminal.Exit, error) {
	ask := askVariables(id, []string{varExit})
	r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetVariableResponse)
	if err != nil {
		return nil, err
	}
	if r.GetStatus() == api.VariableResponse_SESSION_NOT_FOUND {
		return nil, errNotFound
	}
	vars, err := ask.variables()
	if err != nil {
		return nil, err
	}
	if exit, ok := parseExit(vars[varExit]); ok {
		return &exit, nil
	}
	return nil, nil
}

// lastExit is how a session ended, as far as anybody knows, for its last event.
func (c *Client) lastExit(ctx context.Context, l *link, id terminal.ID) terminal.Exit {
	if l.state.isOurs() {
		if exit, err := l.exit(ctx, id); err == nil && exit != nil {
			return *exit
		}
	}
	at, known := c.recall(id)
	if !known || at.IsZero() {
		at = time.Now()
	}
	return terminal.Exit{At: at}
}
