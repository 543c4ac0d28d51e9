package tunnel

import (
	"context"
	"os"
	"strings"
	"time"

	"termpilot/terminal"
)

// look asks the client for its state.
func (s *supervisor) look(ctx context.Context) {
	state, err := ask(ctx, s.files.health, s.hide)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = err == nil
	if err != nil {
		return
	}
	succeeded := state.LastPoll.After(s.state.LastPoll)
	if succeeded {
		s.refused, s.lastError = 0, ""
		s.moved = time.Now()
	}
	if state.PollErrors > s.state.PollErrors {
		s.moved = time.Now()
		if s.lastError == "" && !succeeded {
			s.lastError = "tunnel-client counts polls that failed, and does not say why"
		}
	}
	s.state = state
}

// deaf reports whether polling gets nowhere. A client that waits between two
// failing polls does get somewhere: it waits at most ten seconds.
func (s *supervisor) deaf(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.moved) > deafAfter
}

// astray reports whether several calls in a row did not reach the MCP server
// although it answers on its socket.
func (s *supervisor) astray() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unreached >= tooManyUnreached && s.tools > 0 && s.serverErr == ""
}

// hear takes in what the client says of its polls and calls.
func (s *supervisor) hear(r record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.HasPrefix(r.Msg, "poll ") && strings.HasSuffix(r.Msg, "; backing off"): // it failed or timed out
		s.refused, s.lastError = r.Status, r.why()
		s.moved = time.Now()
	case strings.HasPrefix(r.Msg, "poller recovered"):
		s.refused, s.lastError = 0, ""
	case r.Msg == "dispatcher forwarded command to MCP server" && (r.Request == "" || r.Request != s.failedID): // it says so of failed ones, too
		s.calls++
		s.lastCall, s.unreached = time.Now(), 0
	case strings.HasPrefix(r.Msg, "dispatcher received MCP upstream error"), strings.HasPrefix(r.Msg, "dispatcher posted terminal downstream error"):
		s.callErrs++
		s.failedAt, s.failedID, s.callErr = time.Now(), r.Request, terminal.OneLine(strings.TrimSpace(r.Source+" "+r.Kind), 100)
		if r.Source != "connect" {
			return
		}
		s.unreached++
		select {
		case s.nudge <- struct{}{}:
		default:
		}
	}
}

// status is how all of it stands.
func (s *supervisor) status(now time.Time) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Alias: s.Config.Alias, TunnelID: s.Config.TunnelID, Running: true, PID: os.Getpid(), Since: s.since, Version: s.Version,
		Polling: PollingStopped, PollAge: -1, Tools: s.tools, ServerError: s.serverErr, Calls: s.calls, LastCall: s.lastCall,
		CallErrors: s.callErrs, LastCallError: s.callErr, LastCallFailed: s.failedAt,
		Restarts: s.restarts, LastExit: s.lastExit, LogPath: s.files.log, KeyFrom: s.KeyFrom, BaseURL: s.Config.BaseURL, TunnelClient: s.Config.Client,
	}
	if s.client == nil {
		return st
	}
	st.ClientPID, st.ClientSince, st.Healthy = s.client.cmd.Process.Pid, s.begun, s.heard
	st.ClientVersion, st.RunsTunnel, st.RunsURL = s.state.Version, s.state.TunnelID, s.state.BaseURL
	st.KeyError, st.KnowsTunnel, st.RawLogging = s.state.MetadataError, s.state.HasTunnel, s.state.RawLogging
	st.LastPoll, st.LastError, st.Refused = s.state.LastPoll, s.lastError, s.refused
	if !st.LastPoll.IsZero() {
		st.PollAge = max(0, int(now.Sub(st.LastPoll).Seconds()))
	}
	switch {
	case st.LastError != "":
		st.Polling = PollingFailing
	case !st.LastPoll.IsZero() && now.Sub(st.LastPoll) <= pollFresh:
		st.Polling = PollingOK
	case st.LastPoll.IsZero() && now.Sub(s.begun) <= pollFresh:
		st.Polling = PollingPending
	default:
		st.Polling = PollingDeaf
	}
	st.Ready = st.Healthy && st.Polling == PollingOK && st.Tools > 0 && s.serverErr == ""
	return st
}
