package tunnel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"termpilot/doctor"
	"termpilot/fault"
)

// Checks are the layers of a tunnel from the ground up. Each tells what it has
// seen itself; where one fails, those above it go on where they can. Nothing is
// started or changed. Where nothing was set up, one check says so.
func Checks(p Place, alias string, sources Sources) []doctor.Check {
	c, err := Load(p, alias)
	if errors.Is(err, fault.TunnelNotSetUp) {
		return []doctor.Check{is("tunnel.setup", doctor.Result{State: doctor.Skipped, Summary: "ChatGPT is not connected: nothing was set up"})}
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
		layer("tunnel.client", func(ctx context.Context) doctor.Result {
			path, version, err := FindClient(ctx, c.Client)
			if err != nil {
				return failed("tunnel-client cannot be used", err)
			}
			return doctor.Result{State: doctor.Pass, Summary: "tunnel-client is version " + version, Evidence: path}
		}),
		layer("tunnel.setup", func(context.Context) doctor.Result {
			return doctor.Result{State: doctor.Pass, Summary: "the tunnel is set up as " + c.Alias, Evidence: fmt.Sprintf("%s at %s, key %s", c.TunnelID, c.BaseURL, c.Key)}
		}),
		layer("tunnel.key", func(ctx context.Context) doctor.Result { return checkKey(ctx, p, c, sources) }),
		layer("tunnel.control_plane", func(ctx context.Context) doctor.Result { return checkControlPlane(ctx, p, c, sources) }),
		layer("tunnel.supervisor", func(ctx context.Context) doctor.Result {
			s, err := Inspect(ctx, p, c.Alias)
			switch {
			case err != nil:
				return failed("the supervisor does not answer", err)
			case !s.Running:
				return doctor.Result{State: doctor.Fail, Summary: "the supervisor does not run", Evidence: "nobody holds its lock", Next: "run termpilot chatgpt setup --tunnel-id " + c.TunnelID}
			}
			return doctor.Result{State: doctor.Pass, Summary: "the supervisor runs", Evidence: fmt.Sprintf("process %d since %s holds the lock and answers", s.PID, s.Since.Format(time.RFC3339))}
		}),
		live("tunnel.server", checkServer),
		live("tunnel.process", checkProcess),
		live("tunnel.asked", func(s Status) doctor.Result { return checkAsked(c, s) }),
		live("tunnel.key_in_use", checkKeyInUse),
		live("tunnel.polling", checkPolling),
		live("tunnel.calls", checkCalls),
	}
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
	if err == nil {
		return doctor.Result{State: doctor.Pass, Summary: "a runtime key is there", Evidence: origin}
	}
	if s, running := Inspect(ctx, p, c.Alias); running == nil && s.Running && errors.Is(err, fault.KeyMissing) {
		return doctor.Result{
			State: doctor.Warn, Summary: "the supervisor has a key, but this environment has none to start it anew with",
			Evidence: err.Error(), Next: fault.HintOf(err),
		}
	}
	return failed("there is no usable runtime key", err)
}

func checkControlPlane(ctx context.Context, p Place, c Config, sources Sources) doctor.Result {
	key, _, err := c.Key.Resolve(ctx, sources)
	if err != nil {
		return doctor.Result{State: doctor.Skipped, Summary: "without a key the control plane cannot be asked; see tunnel.key_in_use"}
	}
	name, err := Look(ctx, c.BaseURL, c.TunnelID, key)
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
		return doctor.Result{State: doctor.Unknown, Summary: "tunnel-client does not say what it serves"}
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
	case s.KeyError != "":
		return doctor.Result{State: doctor.Fail, Summary: "tunnel-client cannot read the tunnel with its key", Evidence: s.KeyError, Next: "run termpilot chatgpt setup with a runtime key of the tunnel's organisation"}
	}
	return doctor.Result{State: doctor.Unknown, Summary: "tunnel-client has not said whether its key works"}
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
	if s.Calls == 0 {
		return doctor.Result{
			State: doctor.Unknown, Summary: "nothing has called since the supervisor started",
			Next: "in ChatGPT, add the plugin with Connection: Tunnel, and use it",
		}
	}
	return doctor.Result{State: doctor.Pass, Summary: "calls have come down the tunnel", Evidence: fmt.Sprintf("%d, the last at %s", s.Calls, s.LastCall.Format(time.RFC3339))}
}
