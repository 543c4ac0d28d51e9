package pilot

import (
	"context"
	"fmt"
	"strings"

	"termpilot/fault"
	"termpilot/terminal"
)

// command reads the output of a run, or of the session's last command. Reduced
// it is one answer; as it was printed it comes in pages.
func (r *reading) command(ctx context.Context) error {
	prompts, err := r.prompts(ctx)
	if err != nil {
		return err
	}
	if !r.req.Reduce {
		return r.commandPage(ctx, prompts)
	}
	all, err := r.outputs(ctx, prompts)
	if err != nil {
		return err
	}
	out := r.p.fit(commandOf(prompts), all, outputWish{chars: r.req.MaxChars, lines: r.req.MaxLines, reduce: true})
	r.text, r.omitted, r.masked, r.head = out.text, out.omitted, out.masked, all.lost > 0
	if r.omitted > 0 {
		r.more = r.call("source=command" + r.runFlag() + fmt.Sprintf(" reduce=false max_lines=%d", MaxLines))
	}
	// Where the cursor of a later source=since begins: now.
	return r.ask(ctx, terminal.Range{Kind: terminal.Visible})
}

// commandOf is what was run at several prompts.
func commandOf(prompts []terminal.Prompt) string {
	var all []string
	for _, p := range prompts {
		all = append(all, p.Command)
	}
	return strings.Join(all, "\n")
}

// outputs reads what several prompts printed, as one text.
func (r *reading) outputs(ctx context.Context, prompts []terminal.Prompt) (extent, error) {
	var all extent
	for _, prompt := range prompts {
		e, err := readOutput(ctx, r.t, prompt)
		if err != nil {
			return extent{}, err
		}
		all = all.append(e)
	}
	return all, nil
}

// prompts returns the prompts whose output is wanted.
func (r *reading) prompts(ctx context.Context) ([]terminal.Prompt, error) {
	ids := []string{""}
	if r.req.RunID != "" {
		one, err := r.p.findRun("read", r.req.RunID)
		if err != nil {
			return nil, err
		}
		if one.Session != r.t.id() {
			return nil, &fault.Error{
				Op: "read", Session: string(r.t.id()), Code: fault.InvalidArgument,
				Detail: "the run belongs to another session", Hint: "leave session_id out, or pass " + string(one.Session),
			}
		}
		ids = one.Prompts
	} else if one, ok := r.lastCommand(ctx); ok {
		ids = []string{one}
	}
	var prompts []terminal.Prompt
	for _, id := range ids {
		prompt, err := r.t.backend.Prompt(ctx, r.t.id(), id)
		if err != nil {
			return nil, err
		}
		switch {
		case prompt.Unseen, prompt.State == terminal.Lost:
			r.head = true
		case prompt.State == terminal.Running, prompt.State == terminal.Finished:
			prompts, r.strewn = append(prompts, prompt), r.strewn || prompt.Strewn
		}
	}
	if len(prompts) == 0 && !r.head {
		return nil, &fault.Error{
			Op: "read", Session: string(r.t.id()), Code: fault.RunNotFound, Detail: "no command is known here",
			Hint: "pass the run_id of a run_command, or read source=all",
		}
	}
	return prompts, nil
}

// lastCommand is the prompt of the last command: the one that runs, else that
// of the last run of ours.
func (r *reading) lastCommand(ctx context.Context) (string, bool) {
	now, err := r.t.backend.Prompt(ctx, r.t.id(), "")
	if err != nil || now.State == terminal.Running || now.State == terminal.Finished {
		return "", false
	}
	one, ok := r.p.runs.last(r.t.id())
	if !ok || len(one.Prompts) == 0 {
		return "", false
	}
	return one.Prompts[len(one.Prompts)-1], true
}

// commandPage reads one page of an output as it was printed. Several spans of
// one run follow one another: the page after the last line of one begins the next.
func (r *reading) commandPage(ctx context.Context, prompts []terminal.Prompt) error {
	if len(prompts) == 0 {
		return r.ask(ctx, terminal.Range{Kind: terminal.Visible})
	}
	span := terminal.Span{Start: prompts[0].Output.Start, End: prompts[len(prompts)-1].Output.End}
	rest := prompts[len(prompts)-1].Rest != ""
	if r.req.Cursor == "" && (len(prompts) > 1 || rest && rowsEnd(span)-span.Start.Row <= terminal.MaxRows) {
		return r.commandWhole(ctx, prompts)
	}
	if span.Empty() {
		return r.ask(ctx, terminal.Range{Kind: terminal.Visible})
	}
	at := found{ok: true}
	if r.req.Cursor != "" {
		var err error
		if at, err = r.locate(ctx, r.from.row-contextRows, terminal.MaxRows); err != nil {
			return err
		}
		if !at.ok {
			return &fault.Error{
				Op: "read", Session: string(r.t.id()), Code: fault.CursorInvalid,
				Detail: "the text before this cursor is gone", Hint: "read the command again without a cursor",
			}
		}
		if row := r.lines[at.line].row; row >= span.Start.Row {
			span.Start = terminal.Point{Row: row}
		} else { // a cursor of another read: what is before the output is none of it
			at = found{ok: true}
		}
		if span.Empty() {
			return nil
		}
		if err := r.ask(ctx, terminal.Range{Kind: terminal.Cells, Span: span}); err != nil {
			return err
		}
		at.line = 0
	} else {
		if err := r.ask(ctx, terminal.Range{Kind: terminal.Cells, Span: span}); err != nil {
			return err
		}
		if len(r.lines) > 0 {
			r.lines[0].whole = true // an output begins a line
		}
		r.head = r.shot.Oldest > span.Start.Row
		r.omitted = int(lostRows(r.shot, span))
	}
	if rest { // it is in no row, so no page has it
		r.omitted++
	}
	lost := r.omitted
	if err := r.forward(ctx, at, rowsEnd(span), SourceCommand); err != nil {
		return err
	}
	if r.more == "" {
		r.omitted = lost
	}
	return nil
}

// rowsEnd is one past the last row of a span.
func rowsEnd(span terminal.Span) int64 {
	if span.End.Column > 0 {
		return span.End.Row + 1
	}
	return span.End.Row
}

// commandWhole reads the output of a run that was several commands, or of which
// the terminal does not show all.
func (r *reading) commandWhole(ctx context.Context, prompts []terminal.Prompt) error {
	all, err := r.outputs(ctx, prompts)
	if err != nil {
		return err
	}
	out := r.p.fit("", all, outputWish{chars: r.req.MaxChars, lines: r.req.MaxLines})
	r.text, r.omitted, r.masked, r.head = out.text, out.omitted, out.masked, all.lost > 0
	if r.omitted > 0 {
		r.more = r.call("source=all reduce=false")
	}
	return r.ask(ctx, terminal.Range{Kind: terminal.Visible})
}
