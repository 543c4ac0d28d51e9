package iterm

import (
	"context"
	"iter"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// Follow is Watch of what notifications have told, without a request that
// anybody waits for. Unsupported unless the host told of a prompt at which
// nothing is typed.
func (c *Client) Follow(ctx context.Context, id terminal.ID) (iter.Seq2[terminal.Event, error], error) {
	const op = "follow"
	if !exact(id) {
		return nil, unknown(op, id)
	}
	l, err := c.connect(ctx)
	if err != nil {
		return nil, c.explain(ctx, op, id, err, false)
	}
	w := terminal.NewEventQueue(c.o.Queue)
	if !l.follow(id, w) {
		return nil, unsupported(op, id, "nothing is known of a prompt to type at")
	}
	return c.sequence(ctx, l, id, w), nil
}

func unsupported(op string, id terminal.ID, detail string) error {
	return &fault.Error{Op: op, Session: string(id), Code: fault.Unsupported, Detail: detail, Hint: "look with Watch and type with Send"}
}

// follow registers w with what is known of a fresh prompt. The request for
// screen updates is on its way before any that the caller makes.
func (l *link) follow(id terminal.ID, w *terminal.EventQueue) bool {
	l.screens.Lock()
	defer l.screens.Unlock()
	if !l.details.isDone() || !l.state.follow(id, w) {
		return false
	}
	if !l.rewarm(id) {
		_ = l.post(context.Background(), []*call{subscribe(api.NotificationType_NOTIFY_ON_SCREEN_UPDATE, string(id), true)})
	}
	return true
}

// follow registers w, beginning with the session's fresh prompt; false when none is known.
func (s *state) follow(id terminal.ID, w *terminal.EventQueue) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	if r == nil || s.gone != nil || !s.ours || !r.fetched {
		return false
	}
	p, fresh := r.prompt.fresh(r.vars[varMarks])
	if !fresh || p.Marks != terminal.MarksNonce || p.Touched != terminal.No || p.Paste != terminal.Yes {
		return false
	}
	w.Begin(p)
	s.watchers[id] = append(s.watchers[id], w)
	return true
}

// maxTypeAt is the longest text that TypeAt takes: each of its bytes may be six
// in the invocation, of which the host reads 64 KiB.
const maxTypeAt = 10 << 10

// TypeAt has the host look at the prompt and type in one step. Like Send, it is
// made at most once.
func (c *Client) TypeAt(ctx context.Context, id terminal.ID, promptID string, text []byte) (typed bool, err error) {
	const op = "send"
	switch {
	case !exact(id):
		return false, unknown(op, id)
	case !utf8.Valid(text):
		return false, notUTF8(op, id)
	case len(text) > maxTypeAt:
		return false, unsupported(op, id, "the text is too long")
	}
	l, err := c.connect(ctx)
	if err != nil {
		return false, c.explain(ctx, op, id, err, true)
	}
	if !l.details.isDone() || !l.state.isOurs() {
		return false, unsupported(op, id, "this terminal does not look and type in one step")
	}
	ask := askMethod(id, "termpilot.type_at", "prompt", promptID, "text", string(text))
	r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetInvokeFunctionResponse)
	if err != nil {
		return false, c.explain(ctx, op, id, err, true)
	}
	if e := r.GetError(); e != nil {
		switch e.GetStatus() {
		case api.InvokeFunctionResponse_INVALID_ID:
			return false, c.explain(ctx, op, id, c.notFound(ctx, l, op, id), false)
		case api.InvokeFunctionResponse_FAILED, api.InvokeFunctionResponse_REQUEST_MALFORMED:
			return false, unsupported(op, id, "this host does not look and type in one step")
		}
		return false, c.explain(ctx, op, id, violation("typing ended with "+e.GetStatus().String()), true)
	}
	switch result := r.GetSuccess().GetJsonResult(); result {
	case "true", "false":
		return result == "true", nil
	}
	return false, c.explain(ctx, op, id, violation("it is not told whether the text was typed"), true)
}
