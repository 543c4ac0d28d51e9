package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"termpilot/fault"
	"termpilot/lazy"
	"termpilot/pilot"
	"termpilot/shellwords"
	"termpilot/terminal"
)

// readOnlyScope is the write_scope that is enforced where the vendor can; any
// other is written down alone.
const readOnlyScope = "read_only"

// The size of a session of an agent's own: on a smaller screen Grok leaves out of
// its questions what it asks about.
const rows, columns = 40, 120

// LaunchRequest asks for an agent.
type LaunchRequest struct {
	Preset      string // one of [Launchers]
	Prompt      string // "" is none yet
	Cwd         string // "" is that of the session's shell, or else this process's
	Model       string // "" is the vendor's default
	Effort      string
	Name        string // of the new session
	Backend     string // of the new session; "" is the first that can
	WriteScope  string // "" or read_only
	SessionID   string // launch inside this session, at its prompt; "" opens one
	OperationID string // a launch with the same one is told about, not done again
	Delegate    bool   // the agent may launch others
	Env         map[string]string
}

// LaunchReceipt is a launched agent.
type LaunchReceipt struct {
	Schema      string `json:"schema"`
	SessionID   string `json:"session_id"`
	LaunchID    string `json:"launch_id"`
	Provider    string `json:"provider"`
	ChatID      string `json:"chat_id"`
	WriteScope  string `json:"write_scope"`
	State       string `json:"state"`
	Reason      string `json:"reason"`
	TurnID      string `json:"turn_id" jsonschema:"empty: no prompt was sent"`
	Residue     *bool  `json:"submit_residue" jsonschema:"null: not known"`
	Cursor      string `json:"event_cursor"`
	WaitCommand string `json:"wait_command"`
	Resume      Resume `json:"resume"`
}

// Launch starts an agent and returns when it can be typed to, or when it is clear
// that a person must do something first; with a prompt, when that was submitted.
// Everything that can be known beforehand is looked at before a session exists.
func (a *Agents) Launch(ctx context.Context, r LaunchRequest) (LaunchReceipt, error) {
	const op = "launch"
	if err := a.mayLaunch(op, r.SessionID); err != nil {
		return LaunchReceipt{}, err
	}
	if err := checkOperation(op, r.SessionID, r.OperationID); err != nil {
		return LaunchReceipt{}, err
	}
	if receipt, known, err := a.told(ctx, r); known || err != nil {
		return receipt, err
	}
	placed := r
	if r.SessionID != "" {
		cwd, err := a.free(ctx, r.SessionID)
		if err != nil {
			return LaunchReceipt{}, err
		}
		placed.Cwd = cmp.Or(r.Cwd, cwd)
	}
	l, f, err := a.plan(ctx, placed)
	if err != nil {
		return LaunchReceipt{}, err
	}
	l.Request = r.digest()
	if receipt, known, err := a.begin(ctx, l, r); known || err != nil {
		return receipt, err
	}
	if l.Session, err = a.start(ctx, l, r); err != nil {
		if _, ran := readProcess(a.folder(l.ID)); !ran && fault.CodeOf(err) != fault.Deadline { // then nothing was started
			err = errors.Join(err, os.RemoveAll(a.folder(l.ID)))
		}
		return LaunchReceipt{}, err
	}
	if err := a.save(l); err != nil {
		return LaunchReceipt{}, &fault.Error{
			Op: op, Session: l.Session, Code: fault.CodeOf(err), Detail: "the agent was launched in this session, and that could not be written down",
			Hint: "close the session, or work with the agent by send_text", Err: err,
		}
	}
	a.announce()
	a.log.Info("agent launched", "launch", l.ID, "provider", l.Provider, "session", l.Session)
	return a.introduce(ctx, l, f, r.Prompt)
}

// mayLaunch refuses what this server's policy forbids.
func (a *Agents) mayLaunch(op, session string) error {
	if session == "" {
		return a.pilot.MayOpen(op)
	}
	if err := a.pilot.MayChange(op); err != nil {
		return err
	}
	return a.mayTouch(op, session)
}

// introduce waits until an agent that was started can be used, and gives it its
// first prompt. It is there whatever becomes of that.
func (a *Agents) introduce(ctx context.Context, l Launch, f facts, prompt string) (LaunchReceipt, error) {
	state, reason, err := a.awaitReady(ctx, l)
	switch {
	case errors.Is(err, fault.AgentEnded):
		return LaunchReceipt{}, err
	case err != nil:
		reason = "how it stands was not seen: " + terminal.OneLine(err.Error(), 400)
	}
	if reason == "" && f.login == loginUnknown {
		reason = "whether anybody is logged in is not known: " + f.why
	}
	if prompt == "" {
		return a.launchReceipt(ctx, l, reason, nil)
	}
	if err != nil || state != stateReady {
		return a.launchReceipt(ctx, l, strings.TrimPrefix(reason+"; the prompt was not sent", "; "), nil)
	}
	sent, err := a.Send(ctx, SendRequest{SessionID: l.Session, Text: prompt})
	if err != nil {
		reason = "giving it the prompt failed: " + terminal.OneLine(err.Error(), 400)
		if hint := fault.HintOf(err); hint != "" {
			reason += "; " + hint
		}
		return a.launchReceipt(ctx, l, reason, nil)
	}
	return a.launchReceipt(ctx, l, reason, &sent)
}

var (
	envName   = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)
	modelName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}$`)
)

// plan checks a request and says what will be launched. Nothing is written.
func (a *Agents) plan(ctx context.Context, r LaunchRequest) (Launch, facts, error) {
	no := func(code fault.Code, detail, hint string) (Launch, facts, error) {
		return Launch{}, facts{}, refused("launch", r.SessionID, code, detail, hint)
	}
	p, ok := presetOf(r.Preset)
	if !ok {
		names, _ := Launchers()
		return no(fault.InvalidArgument, "there is no agent "+terminal.OneLine(r.Preset, 40), "use one of "+strings.Join(names, ", "))
	}
	v := p.vendor
	if r.Prompt != "" {
		if _, err := checkPrompt("launch", r.SessionID, r.Prompt); err != nil {
			return Launch{}, facts{}, err
		}
	}
	if r.Model == "" {
		r.Model = p.model
	}
	efforts := "leave it out"
	if len(v.efforts) > 0 {
		efforts = "pass one of " + strings.Join(v.efforts, ", ") + ", or none for the default"
	}
	switch {
	case r.Model != "" && !modelName().MatchString(r.Model):
		return no(fault.ModelUnknown, "the model's name is no name that a model has", "pass a model's id, or none for the default")
	case r.Effort != "" && (!modelName().MatchString(r.Effort) || v.efforts != nil && !slices.Contains(v.efforts, r.Effort)):
		return no(fault.InvalidArgument, v.title+" knows no such effort", efforts)
	case r.WriteScope != "" && r.WriteScope != readOnlyScope:
		return no(fault.InvalidArgument, "write_scope is read_only or left out", "pass read_only, or nothing")
	case len(r.Env) > 0 && r.SessionID != "":
		return no(fault.InvalidArgument, "env cannot be given to a shell that runs already", "launch in a new session, or set it there first")
	case r.SessionID != "" && (r.Name != "" || r.Backend != ""):
		return no(fault.InvalidArgument, "name and backend are for a new session", "leave them out, or session_id")
	}
	for name := range r.Env {
		ours := strings.HasPrefix(name, "TERMPILOT_AGENT_") || name == launchVariable || name == folderVariable
		switch {
		case !envName().MatchString(name):
			return no(fault.InvalidArgument, "env holds a name that no variable can have", "use letters, digits and _")
		case ours || leaked(name) || slices.ContainsFunc(v.set, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }):
			return no(fault.InvalidArgument, "env holds "+name+", which an agent that is launched does not get from others", "leave it out")
		}
	}
	cwd, err := checkCwd(r.Cwd)
	if err != nil {
		return Launch{}, facts{}, err
	}
	getenv := func(name string) string {
		if value, set := r.Env[name]; set {
			return value
		}
		return a.getenv(name)
	}
	ways, err := a.next(r.Delegate)
	if err != nil {
		return Launch{}, facts{}, err
	}
	binary, err := v.locate(getenv)
	if err != nil {
		return Launch{}, facts{}, err
	}
	env := a.environ(r.Env)
	if v.adjust != nil {
		if _, err := v.adjust(env, a.dir); err != nil {
			return no(fault.InvalidArgument, err.Error(), "unset it, or correct it")
		}
	}
	f, err := v.preflight(ctx, probe{binary: binary, cwd: cwd, env: env, model: r.Model})
	if err != nil {
		return Launch{}, facts{}, err
	}
	if f.login == notLoggedIn {
		return no(fault.NotLoggedIn, f.why, "let the person log in by running "+v.programs[0]+" once")
	}
	l := Launch{
		Schema: launchSchema, ID: newLaunchID(), Session: r.SessionID, Provider: v.name, Preset: p.name, Binary: binary, Version: f.version,
		Set: v.set, Cwd: cwd, Model: r.Model, Effort: r.Effort, WriteScope: r.WriteScope, Operation: r.OperationID, Lineage: ways,
		Folder: filepath.Join(home(getenv), v.folderBelow), At: time.Now(),
	}
	if own := getenv(v.folderVariable); filepath.IsAbs(own) {
		l.Folder = own
	}
	if v.ownChat {
		l.Chat = uuid.NewString()
	}
	l.Argv = v.argv(l, a.folder(l.ID), a.self)
	return l, f, nil
}

// environ is this process's environment without what must not reach an agent,
// with what a launch adds.
func (a *Agents) environ(add map[string]string) []string {
	env := slices.DeleteFunc(slices.Clone(a.env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := add[name]
		return replaced || leaked(entry)
	})
	for name, value := range add {
		env = append(env, name+"="+value)
	}
	return env
}

func newLaunchID() string {
	id := make([]byte, 8)
	_, _ = rand.Read(id) // it never fails
	return "l-" + hex.EncodeToString(id)
}

// free refuses a session at whose prompt nothing can be typed, and returns the
// folder in which its shell is, where that is known.
func (a *Agents) free(ctx context.Context, sessionID string) (cwd string, err error) {
	seen, err := a.pilot.SeeOne(ctx, "launch", terminal.ID(sessionID))
	switch {
	case err != nil:
		return "", err
	case seen.Readiness.State != pilot.Ready:
		return "", refused("launch", sessionID, fault.NotReady, seen.Readiness.Reason, "use a session that list_sessions shows as ready, or none for a new one")
	case !seen.Local:
		return "", refused("launch", sessionID, fault.Unsupported, "the session is not of this machine", "use a session of this machine, or none for a new one")
	}
	if p, err := a.machine.Lookup(seen.ShellPID); err == nil {
		cwd = p.Cwd
	}
	return cwd, nil
}

// start lets the terminal carry out the launch: as the program of a new session,
// which ends with it, or at the prompt of one that is there. What is typed there
// is this program and the launch's folder, nothing of what the agent is told.
func (a *Agents) start(ctx context.Context, l Launch, r LaunchRequest) (session string, err error) {
	command := shellwords.Quote(a.self) + " agent exec " + shellwords.Quote(a.folder(l.ID))
	if r.SessionID != "" {
		run, err := a.pilot.Run(ctx, pilot.RunRequest{SessionID: r.SessionID, Command: command, NoWait: true})
		if err != nil {
			return "", err
		}
		return run.SessionID, nil
	}
	opened, err := a.pilot.Open(ctx, pilot.OpenRequest{
		Backend: r.Backend, Command: "exec " + command, Ends: true, Cwd: l.Cwd, Env: r.Env, Name: r.Name,
		Rows: rows, Columns: columns,
	})
	return opened.SessionID, err
}

// awaitReady waits until the agent's composer stands, a question does, or the agent ended.
func (a *Agents) awaitReady(ctx context.Context, l Launch) (state, string, error) {
	ended := refused("launch", l.Session, fault.AgentEnded, "the agent ended at once", "read the session's last screen")
	over := func(err error) error {
		if errors.Is(err, fault.SessionEnded) || errors.Is(err, fault.SessionNotFound) {
			return ended
		}
		return err
	}
	seen, err := a.pilot.SeeOne(ctx, "launch", terminal.ID(l.Session))
	if err != nil {
		return stateStarting, "", over(err)
	}
	h := &hands{a: a, op: "launch", launch: l, vendor: vendorOf(l.Provider), seen: seen}
	now, came, err := h.await(ctx, max(readyPatience, h.vendor.starts), still, func(l look) bool { return l.state == stateReady && l.empty || l.state == stateDialog })
	if r, ran := readProcess(a.folder(l.ID)); ran && !r.alive() {
		return stateStarting, "", ended
	}
	if err != nil {
		return stateStarting, "", over(err)
	}
	switch {
	case now.state == stateDialog:
		return stateDialog, "it asks something before it can be used: " + terminal.OneLine(strings.Join(now.dialog.question, " "), 300), nil
	case !came:
		return stateStarting, "it has not shown a composer yet", nil
	}
	return now.state, "", nil
}
