package pilot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/terminal"
)

const (
	// typePatience is how long another writer's few bytes are waited for.
	typePatience = 2 * time.Second
	// escapePause separates an escape key from what follows: editors wait up to
	// about 100 ms for the rest of a key's sequence.
	escapePause = 120 * time.Millisecond
)

// SendText passes text to whatever reads in a session: verbatim, with no line
// end added, 1 byte to MaxText bytes of UTF-8. With paste, and where the program
// takes bracketed pastes, it arrives as one paste. Delivered says that the
// terminal took the bytes; the effect is not known.
func (p *Pilot) SendText(ctx context.Context, sessionID, text string, paste bool) (SendResult, error) {
	const op = "send_text"
	refuse := func(code fault.Code, detail, hint string) (SendResult, error) {
		return SendResult{}, &fault.Error{Op: op, Session: sessionID, Code: code, Detail: detail, Hint: hint}
	}
	switch {
	case text == "":
		return refuse(fault.InvalidArgument, "the text is empty", "pass at least one character; to press Enter use send_keys")
	case len(text) > MaxText:
		return refuse(fault.TooLarge, fmt.Sprintf("the text has %d bytes; the limit is %d", len(text), MaxText), "send it in parts")
	case !utf8.ValidString(text):
		return refuse(fault.InvalidArgument, "the text is not valid UTF-8", "pass text; control keys go through send_keys")
	case paste && (strings.Contains(text, pasteEnd) || strings.Contains(text, "\u009b201~")): // CSI has two spellings
		return refuse(fault.InvalidArgument, "the text holds the sequence that ends a paste", "remove it, or send with paste=false")
	}
	t, release, err := p.writing(ctx, op, sessionID)
	if err != nil {
		return SendResult{}, err
	}
	defer release()
	pasted := false
	if paste {
		prompt, err := t.backend.Prompt(ctx, t.id(), "")
		if err != nil {
			return SendResult{}, err
		}
		if pasted = prompt.Paste == terminal.Yes; pasted {
			text = pasteStart + text + pasteEnd
		}
	}
	result, err := p.deliver(ctx, op, t, [][]byte{[]byte(text)})
	result.Pasted = pasted && err == nil
	return result, err
}

// SendKeys presses keys, named as [KeyNames] lists them. An unknown name is
// refused with the list before anything is sent.
func (p *Pilot) SendKeys(ctx context.Context, sessionID string, keys []string) (SendResult, error) {
	const op = "send_keys"
	if _, err := encodeKeys(keys, false); err != nil {
		return SendResult{}, err
	}
	t, release, err := p.writing(ctx, op, sessionID)
	if err != nil {
		return SendResult{}, err
	}
	defer release()
	application := false
	if b, ok := t.backend.(terminal.Keyer); ok {
		application, err = b.ApplicationCursor(ctx, t.id())
		application = application && err == nil
	}
	parts, err := encodeKeys(keys, application)
	if err != nil {
		return SendResult{}, err
	}
	return p.deliver(ctx, op, t, parts)
}

// writing checks policy, finds the session and takes its type lock.
func (p *Pilot) writing(ctx context.Context, op, sessionID string) (target, func(), error) {
	if err := p.refuseWhenReadOnly(op, sessionID); err != nil {
		return target{}, nil, err
	}
	t, err := p.find(ctx, op, sessionID)
	if err != nil {
		return target{}, nil, err
	}
	if err := t.alive(op); err != nil {
		return target{}, nil, err
	}
	release, err := p.locks.acquire(ctx, op, t.id(), lockType, op, typePatience)
	return t, release, err
}

func (p *Pilot) deliver(ctx context.Context, op string, t target, parts [][]byte) (SendResult, error) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	defer p.locks.sent(t.id()) // the last of it may be what counts
	for i, part := range parts {
		if i > 0 {
			time.Sleep(escapePause)
		}
		err := t.backend.Send(ctx, t.id(), part)
		if err == nil {
			continue
		}
		if err = p.dead(ctx, op, t, err); i > 0 {
			rest := "the rest not"
			if errors.Is(err, fault.Deadline) {
				rest = "whether those after it were is not known"
			}
			err = &fault.Error{
				Op: op, Session: string(t.id()), Code: fault.CodeOf(err), Detail: fmt.Sprintf("the keys up to escape number %d were sent, %s", i, rest),
				Hint: "read the session before anything else", Err: err,
			}
		}
		return SendResult{}, err
	}
	return SendResult{SessionID: string(t.id()), Delivered: true, TaskCompletion: "unknown"}, nil
}
