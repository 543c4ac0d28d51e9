package iterm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// Rename names a session, "" takes the name away. The name is kept in the
// variable in which other programs of iTerm2 keep and look for theirs, which no
// title overwrites. That iTerm2 shows it too, until a program sets a title, is a
// courtesy to the person in front of it.
func (c *Client) Rename(ctx context.Context, id terminal.ID, name string) error {
	const op = "rename"
	if !exact(id) {
		return unknown(op, id)
	}
	if terminal.OneLine(name, maxTitle) != name {
		return &fault.Error{
			Op: op, Session: string(id), Code: fault.InvalidArgument, Detail: "the name is no line of text",
			Hint: fmt.Sprintf("give at most %d characters, none of them a control character", maxTitle),
		}
	}
	l, err := c.connect(ctx)
	if err == nil {
		err = l.knowDetails(ctx)
	}
	if err != nil {
		return c.explain(ctx, op, id, err, false)
	}
	shown := name
	if name == "" && !l.state.isOurs() {
		if shown, err = l.profileNameOf(ctx, id); errors.Is(err, errNotFound) {
			err = c.notFound(ctx, l, op, id)
		}
	}
	if err != nil {
		return c.explain(ctx, op, id, err, false)
	}
	set, read := l.askNickname(id, name), l.fetch(id) // the answer may come before the notification
	calls := []*call{set, read}
	if shown != "" || l.state.isOurs() {
		calls = []*call{askMethod(id, "iterm2.set_name", "name", shown), set, read}
	}
	if err := l.do(ctx, calls...); err != nil {
		return c.explain(ctx, op, id, err, true)
	}
	r, err := answerOf(set, (*api.ServerOriginatedMessage).GetVariableResponse)
	switch {
	case err != nil:
	case r.GetStatus() == api.VariableResponse_SESSION_NOT_FOUND:
		err = c.notFound(ctx, l, op, id)
	case r.GetStatus() != api.VariableResponse_OK:
		err = refusedBy("the name", r.GetStatus())
	default:
		if err = expect(read, (*api.ServerOriginatedMessage).GetVariableResponse); err != nil {
			err = &takenError{err}
		}
	}
	return c.explain(ctx, op, id, err, true)
}

// askNickname is a call that keeps a name at its session.
func (l *link) askNickname(id terminal.ID, name string) *call {
	if name == "" {
		return askSetVariable(id, varNickname, "null")
	}
	return askSetVariable(id, varNickname, quote(name))
}

// profileNameOf is the name that iTerm2 showed before one was given: that of the
// profile from which the session's own copy comes. "" when it is not known.
func (l *link) profileNameOf(ctx context.Context, id terminal.ID) (string, error) {
	ask := askProfileOf(id, "Original Guid", "Guid")
	r, err := exchange(ctx, l, ask, (*api.ServerOriginatedMessage).GetGetProfilePropertyResponse)
	if err != nil {
		return "", err
	}
	if r.GetStatus() == api.GetProfilePropertyResponse_SESSION_NOT_FOUND {
		return "", errNotFound
	}
	guids := make(map[string]string, 2)
	for _, p := range r.GetProperties() {
		guids[p.GetKey()], _, _ = plain(p.GetJsonValue()) // without one the profile has no name here
	}
	guid := guids["Original Guid"]
	if guid == "" {
		guid = guids["Guid"]
	}
	if guid == "" {
		return "", nil
	}
	list := askProfiles(guid)
	profiles, err := exchange(ctx, l, list, (*api.ServerOriginatedMessage).GetListProfilesResponse)
	if err != nil {
		return "", err
	}
	if names := profileNames(profiles, guid); len(names) > 0 {
		return terminal.OneLine(names[0], maxTitle), nil
	}
	return "", nil
}

// quote is a text as JSON, in which <, > and & stand for themselves.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(strings.ToValidUTF8(s, string(utf8.RuneError))); err != nil { // a string always encodes
		panic(fmt.Sprintf("iterm: quote: %v", err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
