package tunnel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"termpilot/doctor"
	"termpilot/fault"
)

// Viewpoint is from where the layers of a tunnel are looked at.
type Viewpoint struct {
	Place   Place
	Alias   string
	Version string  // of this program
	Sources Sources // where the key would be looked for
	Wanted  bool    // the tunnel is what was asked about: that nothing was set up is a failure
}

// Checks are the layers of a tunnel from the ground up. Each tells what it has
// seen itself; where one fails, those above it go on where they can. Nothing is
// started or changed.
func Checks(v Viewpoint) []doctor.Check {
	p, sources := v.Place, v.Sources
	c, err := Load(p, v.Alias)
	if errors.Is(err, fault.TunnelNotSetUp) {
		return v.before()
	}
	if err != nil {
		return []doctor.Check{is("tunnel.setup", failed("the tunnel's configuration cannot be used", err))}
	}
	if sources.EnvFile == "" {
		sources.EnvFile = c.EnvFile
	}
	layer := func(id string, f func(context.Context) doctor.Result) doctor.Check {
		return doctor.Check{ID: id, Run: f}
	}
	live := func(id string, f func(Status) doctor.Result) doctor.Check {
		return layer(id, func(ctx context.Context) doctor.Result {
			s, err := Inspect(ctx, p, c.Alias)
			switch {
			case err != nil:
				return failed("the supervisor does not tell its state", err)
			case !s.Running:
				return doctor.Result{State: doctor.Skipped, Summary: "the supervisor does not run"}
			}
			return f(s)
		})
	}
	return []doctor.Check{
		layer("tunnel.client", func(ctx context.Context) doctor.Result { return checkClient(ctx, c.Client) }),
		layer("tunnel.setup", func(context.Context) doctor.Result {
			return doctor.Result{State: doctor.Pass, Summary: "the tunnel is set up as " + c.Alias, Evidence: fmt.Sprintf("%s at %s, key %s", c.TunnelID, c.BaseURL, c.Key)}
		}),
		layer("tunnel.key", func(ctx context.Context) doctor.Result { return checkKey(ctx, p, c, sources) }),
		layer("tunnel.control_plane", func(ctx context.Context) doctor.Result { return checkControlPlane(ctx, c, sources) }),
		layer("tunnel.supervisor", func(ctx context.Context) doctor.Result { return checkSupervisor(ctx, p, c, v.Version) }),
		live("tunnel.server", checkServer),
		live("tunnel.process", checkProcess),
		live("tunnel.asked", func(s Status) doctor.Result { return checkAsked(c, s) }),
		live("tunnel.key_in_use", checkKeyInUse),
		live("tunnel.polling", checkPolling),
		live("tunnel.calls", checkCalls),
	}
}

// before are the checks where nothing was set up.
func (v Viewpoint) before() []doctor.Check {
	r := doctor.Result{State: doctor.Skipped, Summary: "ChatGPT is not connected: nothing was set up", Next: "run termpilot chatgpt setup --tunnel-id ID to connect it"}
	if !v.Wanted {
		return []doctor.Check{is("tunnel.setup", r)}
	}
	r.State = doctor.Fail
	return []doctor.Check{
		{ID: "tunnel.client", Run: func(ctx context.Context) doctor.Result { return checkClient(ctx, "") }},
		{ID: "tunnel.key", Run: func(ctx context.Context) doctor.Result {
			return checkKey(ctx, v.Place, Config{Alias: v.Alias, Key: "env:" + DefaultKeyVariable}, v.Sources)
		}},
		is("tunnel.setup", r),
	}
}

func checkClient(ctx context.Context, program string) doctor.Result {
	path, version, err := findClient(ctx, program)
	if err != nil {
		return failed("tunnel-client cannot be used", err)
	}
	return doctor.Result{State: doctor.Pass, Summary: "tunnel-client is version " + version, Evidence: path}
}

func is(id string, r doctor.Result) doctor.Check {
	return doctor.Check{ID: id, Run: func(context.Context) doctor.Result { return r }}
}

func failed(summary string, err error) doctor.Result {
	return doctor.Result{State: doctor.Fail, Summary: summary, Evidence: err.Error(), Next: fault.HintOf(err)}
}

// checkKey looks for the key where setup found it. A supervisor that was handed
// the key of a shell needs it only at its next start.
func checkKey(ctx context.Context, p Place, c Config, sources Sources) doctor.Result {
	_, origin, err := c.Key.Resolve(ctx, sources)
	if err != nil {
		if s, asked := Inspect(ctx, p, c.Alias); asked == nil && s.Running && errors.Is(err, fault.KeyMissing) {
			return doctor.Result{
				State: doctor.Skipped, Summary: "the supervisor has its key; where this runs there is none to start another with",
				Evidence: err.Error(), Next: fault.HintOf(err),
			}
		}
		return failed("there is no usable runtime key", err)
	}
	r := doctor.Result{State: doctor.Pass, Summary: "a runtime key is there", Evidence: origin}
	if path := fileOf(c.Key, origin); exposed(path) {
		r.State, r.Summary, r.Next = doctor.Warn, "others can read the file that holds the runtime key", "run chmod 600 "+path
	}
	return r
}

func checkSupervisor(ctx context.Context, p Place, c Config, version string) doctor.Result {
	s, err := Inspect(ctx, p, c.Alias)
	switch {
	case err != nil:
		return failed("the supervisor does not answer", err)
	case !s.Running:
		return doctor.Result{
			State: doctor.Fail, Summary: "the supervisor does not run", Evidence: "nobody holds its lock",
			Next: "run termpilot chatgpt setup --tunnel-id " + c.TunnelID,
		}
	case s.Version != version:
		return doctor.Result{
			State: doctor.Warn, Summary: "the supervisor is of another version than this program",
			Evidence: fmt.Sprintf("process %d is of version %s, this program of %s", s.PID, s.Version, version), Next: "run termpilot chatgpt setup again",
		}
	}
	return doctor.Result{
		State: doctor.Pass, Summary: "the supervisor runs",
		Evidence: fmt.Sprintf("process %d since %s holds the lock and answers", s.PID, s.Since.Format(time.RFC3339)),
	}
}

func checkControlPlane(ctx context.Context, c Config, sources Sources) doctor.Result {
	key, _, err := c.Key.Resolve(ctx, sources)
	if err != nil {
		return doctor.Result{State: doctor.Skipped, Summary: "without a key the control plane cannot be asked; see tunnel.key_in_use"}
	}
	name, err := look(ctx, c.BaseURL, c.TunnelID, key)
	if err != nil {
		return failed("the control plane does not show the tunnel", err)
	}
	return doctor.Result{State: doctor.Pass, Summary: "the control plane knows the tunnel", Evidence: "GET /v1/tunnels/" + c.TunnelID + " named it " + name}
}

func checkServer(s Status) doctor.Result {
	if s.ServerError != "" || s.Tools == 0 {
		return doctor.Result{State: doctor.Fail, Summary: "our MCP server does not answer on its socket", Evidence: s.ServerError, Next: "run termpilot chatgpt setup again"}
	}
	return doctor.Result{State: doctor.Pass, Summary: "our MCP server answers on its private socket", Evidence: fmt.Sprintf("initialize and tools/list: %d tools", s.Tools)}
}

func checkProcess(s Status) doctor.Result {
	switch {
	case s.ClientPID == 0:
		return doctor.Result{State: doctor.Fail, Summary: "tunnel-client does not run", Evidence: s.LastExit, Next: "see " + s.LogPath}
	case !s.Healthy:
		return doctor.Result{State: doctor.Fail, Summary: "tunnel-client runs but does not tell its state", Evidence: fmt.Sprintf("process %d", s.ClientPID), Next: "see " + s.LogPath}
	}
	r := doctor.Result{State: doctor.Pass, Summary: "tunnel-client runs as the supervisor's child", Evidence: fmt.Sprintf("process %d, started anew %d times", s.ClientPID, s.Restarts)}
	if s.Restarts > 0 {
		r.Evidence += "; last: " + s.LastExit
	}
	return r
}

func checkAsked(c Config, s Status) doctor.Result {
	if !s.Healthy {
		return doctor.Result{State: doctor.Unknown, Summary: "tunnel-client does not say what it serves", Next: "see tunnel.process"}
	}
	evidence := s.RunsTunnel + " at " + s.RunsURL
	if s.RunsTunnel != c.TunnelID || !sameURL(s.RunsURL, c.BaseURL) {
		return doctor.Result{State: doctor.Fail, Summary: "tunnel-client serves something else than what was set up", Evidence: evidence, Next: "run termpilot chatgpt setup again"}
	}
	if s.RawLogging {
		return doctor.Result{State: doctor.Warn, Summary: "tunnel-client logs whole requests", Evidence: "raw_http_logging_enabled", Next: "run termpilot chatgpt setup again"}
	}
	return doctor.Result{State: doctor.Pass, Summary: "what runs is what was set up", Evidence: evidence}
}

func checkKeyInUse(s Status) doctor.Result {
	switch {
	case s.KnowsTunnel:
		return doctor.Result{State: doctor.Pass, Summary: "tunnel-client could read the tunnel with its key"}
	case s.KeyError != "" && s.Polling == PollingOK: // it asks once, at its start, when there may be no network yet
		return doctor.Result{State: doctor.Pass, Summary: "the key may use the tunnel: polls succeed with it", Evidence: "when tunnel-client started it could not read the tunnel: " + s.KeyError}
	case s.KeyError != "":
		return doctor.Result{State: doctor.Fail, Summary: "tunnel-client cannot read the tunnel with its key", Evidence: s.KeyError, Next: "run termpilot chatgpt setup with a runtime key of the tunnel's organisation"}
	}
	return doctor.Result{State: doctor.Unknown, Summary: "tunnel-client has not said whether its key works", Next: "look again in half a minute"}
}

func checkPolling(s Status) doctor.Result {
	switch s.Polling {
	case PollingOK:
		return doctor.Result{State: doctor.Pass, Summary: "calls are fetched", Evidence: fmt.Sprintf("a poll succeeded %d s ago", s.PollAge)}
	case PollingPending:
		return doctor.Result{State: doctor.Unknown, Summary: "the first poll has not returned yet", Next: "look again in half a minute"}
	case PollingFailing:
		f := pollFault(s)
		return doctor.Result{State: doctor.Fail, Summary: "polls fail", Evidence: f.Error(), Next: fault.HintOf(f)}
	case PollingDeaf:
		return doctor.Result{State: doctor.Fail, Summary: "polls neither succeed nor fail", Evidence: fmt.Sprintf("the last success is %d s old", s.PollAge), Next: "wait: tunnel-client is started anew after two minutes"}
	}
	return doctor.Result{State: doctor.Fail, Summary: "nothing polls: tunnel-client does not run", Evidence: s.LastExit, Next: "see " + s.LogPath}
}

func checkCalls(s Status) doctor.Result {
	seen := fmt.Sprintf("%d, the last at %s", s.Calls, s.LastCall.Format(time.RFC3339))
	if s.CallErrors > 0 {
		seen += fmt.Sprintf("; %d failed, the last at %s (%s)", s.CallErrors, s.LastCallFailed.Format(time.RFC3339), s.LastCallError)
	}
	switch {
	case s.LastCallFailed.After(s.LastCall):
		return doctor.Result{
			State: doctor.Warn, Summary: "the last call failed between tunnel-client and the MCP server", Evidence: seen,
			Next: "call again; if it fails again, see " + s.LogPath,
		}
	case s.Calls == 0:
		return doctor.Result{
			State: doctor.Unknown, Summary: "nothing has called since the supervisor started",
			Next: "in ChatGPT, add the plugin with Connection: Tunnel, and use it",
		}
	}
	return doctor.Result{State: doctor.Pass, Summary: "calls have come down the tunnel", Evidence: seen}
}
