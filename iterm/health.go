package iterm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"termpilot/doctor"
	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// Checks are the questions about the way to iTerm2, from the ground up. None of
// them starts iTerm2, opens a dialog of its own or uses up a cookie. Those that
// need a connection use the client's, or make one where no cookie is needed;
// with ask they may make one in any case, for which macOS may ask its user
// whether this program may control iTerm2. Options of another terminal have no checks.
func (c *Client) Checks(ask bool) []doctor.Check {
	if c.o.keys == nil {
		return nil
	}
	h := health{client: c, keys: c.o.keys, ask: ask, mac: thisMachine}
	return []doctor.Check{
		{ID: "iterm2.running", Run: h.running},
		{ID: "iterm2.api", Run: h.enabled},
		{ID: "iterm2.socket", Run: h.listening},
		{ID: "iterm2.authentication", Run: h.letIn},
		{ID: "iterm2.protocol", Run: h.protocol},
		{ID: "iterm2.shells", Run: h.shells},
	}
}

// health asks.
type health struct {
	client *Client
	keys   *keyring
	ask    bool
	mac    machine
}

// machine is what the checks ask of the system.
type machine struct {
	system string
	// output runs a program and returns what it prints; failed means that it ran
	// and said no.
	output func(ctx context.Context, name string, arguments ...string) (text string, failed bool, err error)
}

var thisMachine = machine{system: runtime.GOOS, output: func(ctx context.Context, name string, arguments ...string) (string, bool, error) {
	out, err := exec.CommandContext(ctx, name, arguments...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return strings.TrimSpace(string(out)), true, nil
	}
	return strings.TrimSpace(string(out)), false, err
}}

const startITerm2 = "start iTerm2"

func (h health) running(ctx context.Context) doctor.Result {
	if h.mac.system != "darwin" {
		return doctor.Result{State: doctor.Skipped, Summary: "iTerm2 runs on macOS only", Evidence: "this is " + h.mac.system}
	}
	pids, none, err := h.mac.output(ctx, "/usr/bin/pgrep", "-x", "-U", strconv.Itoa(os.Getuid()), "iTerm2")
	switch {
	case err != nil:
		return doctor.Result{State: doctor.Unknown, Summary: "it cannot be told whether iTerm2 runs", Evidence: err.Error(), Next: startITerm2}
	case none || pids == "":
		return doctor.Result{State: doctor.Fail, Summary: "iTerm2 is not running", Evidence: "no process of yours is named iTerm2", Next: startITerm2}
	}
	return doctor.Result{State: doctor.Pass, Summary: "iTerm2 runs", Evidence: "process " + strings.Join(strings.Fields(pids), ", ")}
}

const enableAPI = "enable the Python API in iTerm2's Settings > General > Magic"

func (h health) enabled(ctx context.Context) doctor.Result {
	if h.mac.system != "darwin" {
		return doctor.Result{State: doctor.Skipped, Summary: "iTerm2's settings are on macOS only", Evidence: "this is " + h.mac.system}
	}
	const domain, key = "com.googlecode.iterm2", "EnableAPIServer"
	value, unset, err := h.mac.output(ctx, "/usr/bin/defaults", "read", domain, key)
	r := doctor.Result{Evidence: key + " is " + terminal.OneLine(value, 64)}
	switch {
	case err != nil:
		r.State, r.Summary, r.Evidence, r.Next = doctor.Unknown, "iTerm2's settings cannot be read", err.Error(), enableAPI
	case unset:
		r.State, r.Summary, r.Evidence, r.Next = doctor.Fail, "iTerm2's Python API was never enabled", key+" is not set", enableAPI
	case !truth(value):
		r.State, r.Summary, r.Next = doctor.Fail, "iTerm2's Python API is off", enableAPI
	default:
		r.State, r.Summary = doctor.Pass, "iTerm2's Python API is enabled"
	}
	return r
}

// listening asks for nothing in particular: the refusal proves that an API
// server reads. It is before authentication, so that no dialog can come of it.
func (h health) listening(ctx context.Context) doctor.Result {
	path := h.keys.socket()
	r := doctor.Result{State: doctor.Fail, Evidence: path}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Summary, r.Next = "there is no socket of iTerm2's", startITerm2+", and "+enableAPI
		return r
	case err != nil:
		r.State, r.Summary, r.Evidence, r.Next = doctor.Unknown, "the socket cannot be looked at", err.Error(), "mend the permissions of its folder"
		return r
	case info.Mode().Type() != fs.ModeSocket:
		r.Summary, r.Next = "what stands in the socket's place is no socket", "move it away, and start iTerm2 anew"
		return r
	}
	raw, err := h.client.o.Dial(ctx)
	if err != nil {
		r.Summary, r.Next = "the socket is left over: nobody listens", startITerm2+", and "+enableAPI
		r.Evidence += ": " + err.Error()
		return r
	}
	defer raw.Close()
	status, err := probe(ctx, raw)
	if err != nil {
		r.Summary, r.Next = "iTerm2 listens, but does not answer", "look whether it shows a dialog, then try again"
		r.Evidence += ": " + err.Error()
		return r
	}
	r.State, r.Summary = doctor.Pass, "iTerm2's socket answers"
	r.Evidence += fmt.Sprintf(", mode %03o, answers %d to an empty request", info.Mode().Perm(), status)
	return r
}

// probe sends a request that any HTTP server answers.
func probe(ctx context.Context, raw net.Conn) (status int, err error) {
	limit, has := ctx.Deadline()
	if !has {
		limit = time.Now().Add(defaultDeadline)
	}
	if err := raw.SetDeadline(limit); err != nil {
		return 0, err
	}
	if _, err := raw.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(raw), nil)
	if err != nil {
		return 0, err
	}
	answer.Body.Close()
	return answer.StatusCode, nil
}

// errNotAsked says that a connection would take asking.
var errNotAsked = errors.New("macOS may ask its user first")

// reach returns a connection, if there is one or one may be made.
func (h health) reach(ctx context.Context) (l *link, how string, err error) {
	if l, err := h.client.living(); l != nil || err != nil {
		return l, "this program is connected", err
	}
	switch {
	case h.keys.switchedOff():
		how = "the file disable-automation-auth lets every program in"
	case h.ask:
		how = "it was asked"
	default:
		return nil, "", errNotAsked
	}
	l, err = h.client.connect(ctx)
	return l, how, err
}

func (h health) letIn(ctx context.Context) doctor.Result {
	_, how, err := h.reach(ctx)
	switch {
	case errors.Is(err, errNotAsked):
		evidence := "no cookie is given; asking for one goes by AppleScript"
		if h.keys.getenv("ITERM2_COOKIE") != "" {
			evidence = "ITERM2_COOKIE is set; it works once, and was kept"
		}
		return doctor.Result{
			State: doctor.Unknown, Summary: "whether iTerm2 lets this program in was not tried, since macOS may ask its user first", Evidence: evidence,
			Next: "run termpilot sessions --backend iterm2 once, and allow it when macOS asks",
		}
	case err != nil:
		err = h.client.explain(ctx, "connect", "", err, false)
		return doctor.Result{State: doctor.Fail, Summary: "iTerm2 does not let this program in", Evidence: err.Error(), Next: fault.HintOf(err)}
	}
	return doctor.Result{State: doctor.Pass, Summary: "iTerm2 lets this program in", Evidence: how}
}

// unreached is the answer of a check that needs a connection.
func unreached() doctor.Result {
	return doctor.Result{State: doctor.Skipped, Summary: "this needs a connection", Evidence: "see iterm2.authentication"}
}

// leastProtocol is the version from which on prompts have ids.
const leastProtocol = "1.5"

func (h health) protocol(ctx context.Context) doctor.Result {
	l, _, err := h.reach(ctx)
	if err != nil {
		return unreached()
	}
	r := doctor.Result{State: doctor.Pass, Summary: "iTerm2 speaks a protocol that names prompts", Evidence: "protocol " + l.version}
	if !atLeast(l.version, leastProtocol) {
		r.State, r.Summary = doctor.Warn, "this iTerm2 does not name prompts, so that no command can be run"
		r.Evidence, r.Next = r.Evidence+", "+leastProtocol+" is needed", "update iTerm2"
	}
	return r
}

// atLeast compares versions such as 1.17; what is no version is less than any.
func atLeast(version, least string) bool {
	v, ok := parseVersion(version)
	w, _ := parseVersion(least)
	return ok && (v[0] > w[0] || v[0] == w[0] && v[1] >= w[1])
}

func parseVersion(text string) (v [2]int, ok bool) {
	major, minor, _ := strings.Cut(text, ".")
	var errs [2]error
	v[0], errs[0] = strconv.Atoi(major)
	v[1], errs[1] = strconv.Atoi(minor)
	return v, errs[0] == nil && errs[1] == nil
}

// mostShells is how many sessions are asked for their prompts.
const mostShells = 256

func (h health) shells(ctx context.Context) doctor.Result {
	l, _, err := h.reach(ctx)
	if err != nil {
		return unreached()
	}
	without, asked, err := l.withoutMarks(ctx)
	if err != nil {
		err = h.client.explain(ctx, "prompts", "", err, false)
		return doctor.Result{State: doctor.Unknown, Summary: "the sessions could not be asked for their prompts", Evidence: err.Error(), Next: fault.HintOf(err)}
	}
	r := doctor.Result{State: doctor.Pass, Summary: "every session's shell has shown a prompt mark", Evidence: fmt.Sprintf("%d asked", asked)}
	switch {
	case asked == 0:
		r.State, r.Summary = doctor.Skipped, "iTerm2 has no session"
	case len(without) > 0:
		r.State, r.Summary = doctor.Warn, fmt.Sprintf("%d of %d sessions have shown no prompt mark, so that no command can be run there", len(without), asked)
		r.Evidence, r.Next = strings.Join(without, ", "), "run termpilot shell install SHELL once, and open a new shell in them"
	}
	return r
}

// withoutMarks lists the sessions of which the terminal knows no prompt.
func (l *link) withoutMarks(ctx context.Context) (without []string, asked int, err error) {
	if err := l.knowTopology(ctx); err != nil {
		return nil, 0, err
	}
	var calls []*call
	for _, s := range l.state.list(l.client.o.Name) {
		if len(calls) < mostShells {
			calls = append(calls, askPrompt(s.ID, ""))
		}
	}
	if err := l.do(ctx, calls...); err != nil {
		return nil, 0, err
	}
	for _, c := range calls {
		r, err := answerOf(c, (*api.ServerOriginatedMessage).GetGetPromptResponse)
		if err != nil {
			return nil, 0, err
		}
		switch r.GetStatus() {
		case api.GetPromptResponse_OK:
			asked++
		case api.GetPromptResponse_PROMPT_UNAVAILABLE:
			asked++
			without = append(without, c.request.GetGetPromptRequest().GetSession())
		}
	}
	return without, asked, nil
}
