package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/terminal"
)

// Configured is what an agent shows after its model was changed.
type Configured struct {
	SessionID string `json:"session_id"`
	Model     string `json:"model"`
	Effort    string `json:"effort"`
	Shows     string `json:"shows"`
}

// Configure changes the model or effort of a running agent for its session alone.
// Where the vendor would make it the person's default it is refused, and so is
// what the agent's own menu does not offer. No menu is left open.
func (a *Agents) Configure(ctx context.Context, sessionID, model, effort string) (Configured, error) {
	const op = "configure"
	no := func(code fault.Code, detail, hint string) (Configured, error) {
		return Configured{}, refused(op, sessionID, code, detail, hint)
	}
	switch {
	case model == "" && effort == "":
		return no(fault.InvalidArgument, "neither model nor effort is given", "pass one of them")
	case model != "" && !modelName().MatchString(model) || effort != "" && !modelName().MatchString(effort):
		return no(fault.ModelUnknown, "this is no name that a model or effort has", "pass a model's name as the agent's own menu shows it")
	}
	if err := a.pilot.MayChange(op); err != nil {
		return Configured{}, err
	}
	l, err := a.find(ctx, op, sessionID)
	if err != nil {
		return Configured{}, err
	}
	if detail, hint := vendorOf(l.Provider).checkConfigure(model, effort); detail != "" {
		return no(fault.Unsupported, detail, hint)
	}
	h, err := a.take(ctx, op, sessionID)
	if err != nil {
		return Configured{}, err
	}
	defer h.release()
	s, err := a.tale(ctx, h.launch)
	if err != nil {
		return Configured{}, err
	}
	if err := h.clear(ctx, s); err != nil {
		return Configured{}, err
	}
	inner, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second) // a menu that is open is closed again
	defer cancel()
	shows, err := h.vendor.configure(inner, h, model, effort)
	if first, _, _ := strings.Cut(model, "-"); err == nil && !strings.EqualFold(model, "default") && !strings.Contains(strings.ToLower(shows), strings.ToLower(first)) {
		err = h.unexpected("it says of another model: "+shows, nil)
	}
	if err != nil {
		return Configured{}, h.backOut(inner, err)
	}
	return Configured{SessionID: sessionID, Model: model, Effort: effort, Shows: shows}, nil
}

// backOut leaves whatever menu is open, and says so where it cannot. A turn that is
// at work by now is not interrupted, a question that came not answered, and a text of
// somebody else's not cleared.
func (h *hands) backOut(ctx context.Context, cause error) error {
	ours := func(l look) bool {
		if l.dialog != nil {
			return slices.ContainsFunc(h.vendor.menus, l.dialog.has)
		}
		return l.state == stateReady && strings.HasPrefix(l.composer, modelCommand)
	}
	for range 3 {
		if _, came, err := h.await(ctx, time.Second, still, func(l look) bool { return l.state == stateReady && l.empty }); err != nil || came {
			return cause
		}
		if h.press(ctx, escape, ours) != nil {
			return cause
		}
	}
	return refused(h.op, h.launch.Session, fault.CodeOf(cause), cause.Error()+"; a menu may still be open", "read the screen; send_keys escape closes a menu")
}

// modelCommand is by which the vendors open their menus of models.
const modelCommand = "/model"

// menu opens a vendor's menu of models by its command, in two steps: the list of
// commands has to come down to this one before Enter.
func (h *hands) menu(ctx context.Context) (*dialog, error) {
	if err := h.press(ctx, modelCommand, h.free); err != nil {
		return nil, err
	}
	typed := func(l look) bool { return strings.HasPrefix(l.composer, modelCommand) }
	if _, came, err := h.await(ctx, drawPatience, 2*still, typed); err != nil || !came {
		return nil, h.unexpected("the command did not come to stand in the composer", err)
	}
	if err := h.press(ctx, enter, typed); err != nil {
		return nil, err
	}
	l, came, err := h.await(ctx, drawPatience, still, func(l look) bool { return l.dialog != nil && l.dialog.has(h.vendor.menus[0]) })
	if err != nil || !came {
		return nil, h.unexpected("its menu of models did not open", err)
	}
	return l.dialog, nil
}

func (h *hands) unexpected(detail string, err error) error {
	if err != nil {
		return err
	}
	return refused(h.op, h.launch.Session, fault.Protocol, detail, "read the screen")
}

// entry finds the row of a menu whose first words are a name.
func (d *dialog) entry(name string) (choice, bool) {
	want := strings.ToLower(strings.ReplaceAll(name, "-", " "))
	for _, c := range d.choices {
		label := strings.ToLower(c.label)
		if at := strings.Index(label, "  "); at >= 0 { // a description follows
			label = label[:at]
		}
		label = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(label), "✔"))
		for _, extra := range []string{" (current)", " (default)", " (recommended)"} {
			label = strings.TrimSpace(strings.TrimSuffix(label, extra))
		}
		if strings.ReplaceAll(label, "-", " ") == want {
			return c, true
		}
	}
	return choice{}, false
}

// has reports whether a row of what is asked begins with a heading: a command that an
// agent asks for may hold it, too.
func (d *dialog) has(heading string) bool {
	return slices.ContainsFunc(d.question, func(row string) bool { return strings.HasPrefix(row, heading) })
}

// unknownModel lists what a menu offers.
func (h *hands) unknownModel(d *dialog, what, name string) error {
	var labels []string
	for _, c := range d.choices {
		label, _, _ := strings.Cut(c.label, "  ")
		labels = append(labels, strings.TrimSpace(label))
	}
	return refused(h.op, h.launch.Session, fault.ModelUnknown, "its menu has no "+what+" "+name+"; it offers "+strings.Join(labels, ", "), "pass one of these")
}

// mark moves the mark of a menu to a row, and sees it stand there: a program may
// draw it before it acts on it, and its list may change meanwhile.
func (h *hands) mark(ctx context.Context, row choice) error {
	for range 40 {
		l, err := h.look(ctx)
		if err != nil {
			return err
		}
		if l.dialog == nil {
			return h.unexpected("its menu closed", nil)
		}
		if row.marked(l) {
			if _, came, err := h.await(ctx, time.Second, 2*still, row.marked); err != nil || came {
				return err
			}
			continue
		}
		to := slices.IndexFunc(l.dialog.choices, func(c choice) bool { return c.label == row.label }) + 1
		if to == 0 {
			return h.unexpected("its menu changed", nil)
		}
		at, key := l.dialog.marked, "\x1b[B"
		if at > to {
			key = "\x1b[A"
		}
		if err := h.press(ctx, key, func(l look) bool { return l.dialog != nil && l.dialog.marked == at }); err != nil {
			return err
		}
		if _, came, err := h.await(ctx, time.Second, 0, func(l look) bool { return l.dialog == nil || l.dialog.marked != at }); err != nil || !came {
			return h.unexpected("the mark of its menu does not move", err)
		}
	}
	return h.unexpected("the mark of its menu did not come to "+row.label, nil)
}

// marked reports whether the mark of a menu stands on a row.
func (c choice) marked(l look) bool {
	return l.dialog != nil && l.dialog.marked > 0 && l.dialog.marked <= len(l.dialog.choices) && l.dialog.choices[l.dialog.marked-1].label == c.label
}

// shows finds the line by which an agent confirms a change. Without it nothing is
// said to have changed.
func (h *hands) shows(ctx context.Context, parts ...string) (string, error) {
	text, found, err := h.lastLine(ctx, parts)
	if err != nil || !found {
		return "", h.unexpected("it did not confirm the change", err)
	}
	return text, nil
}

// lastLine is the last row of the screen that holds all parts.
func (h *hands) lastLine(ctx context.Context, parts []string) (string, bool, error) {
	s, err := h.screen(ctx)
	if err != nil {
		return "", false, err
	}
	rows, _ := rowsOf(s)
	for _, row := range slices.Backward(rows) {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(row, p) }) {
			return terminal.OneLine(strings.TrimLeft(row, " •⎿"), 300), true, nil
		}
	}
	return "", false, nil
}
