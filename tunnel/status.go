package tunnel

import (
	"context"
	"errors"
	"time"

	"termpilot/fault"
)

// Polling is how fetching calls from the control plane goes.
type Polling string

// The states of polling.
const (
	PollingOK      Polling = "ok"      // a poll succeeded within the last half minute
	PollingPending Polling = "pending" // the first poll has not returned yet, and none has failed
	PollingFailing Polling = "failing" // polls fail; LastError says how
	PollingDeaf    Polling = "deaf"    // polls neither succeed nor fail
	PollingStopped Polling = "stopped" // tunnel-client does not run
)

// Status is how a tunnel stands. Times are zero when it is not known that the
// thing happened.
type Status struct {
	Alias    string `json:"alias"`
	TunnelID string `json:"tunnel_id"`
	Running  bool   `json:"running"` // the supervisor lives
	Healthy  bool   `json:"healthy"` // tunnel-client runs and tells its state
	Ready    bool   `json:"ready"`   // a call would be answered: it polls, and the MCP server answers

	PID           int       `json:"pid"` // of the supervisor; 0: none runs
	Since         time.Time `json:"since,omitzero"`
	Version       string    `json:"version"` // of termpilot in the supervisor
	ClientPID     int       `json:"client_pid"`
	ClientVersion string    `json:"client_version"`
	ClientSince   time.Time `json:"client_since,omitzero"`

	Polling     Polling   `json:"polling"`
	LastPoll    time.Time `json:"last_poll,omitzero"` // when a poll last succeeded
	PollAge     int       `json:"poll_age_seconds"`   // -1: none has
	Refused     int       `json:"refused"`            // HTTP status with which polls are refused; 0: they are not
	LastError   string    `json:"last_error"`         // of polling; "" when it works
	RunsTunnel  string    `json:"runs_tunnel"`        // what tunnel-client says it serves
	RunsURL     string    `json:"runs_url"`           // and whom it asks
	KeyError    string    `json:"key_error"`          // why it could not read the tunnel with its key; "" when it could
	KnowsTunnel bool      `json:"knows_tunnel"`       // it could
	Tools       int       `json:"tools"`              // that the MCP server offers; 0: it does not answer
	ServerError string    `json:"server_error"`
	Calls       int64     `json:"calls"` // that came down the tunnel and were answered
	LastCall    time.Time `json:"last_call,omitzero"`

	CallErrors     int64     `json:"call_errors"` // calls that failed between tunnel-client and the MCP server
	LastCallError  string    `json:"last_call_error"`
	LastCallFailed time.Time `json:"last_call_failed,omitzero"`

	Restarts     int    `json:"restarts"` // of tunnel-client, since the supervisor started
	LastExit     string `json:"last_exit"`
	LogPath      string `json:"log_path"`
	KeyFrom      string `json:"key_from"` // where the key was found, in words
	RawLogging   bool   `json:"raw_logging"`
	BaseURL      string `json:"base_url"`
	TunnelClient string `json:"tunnel_client"`
}

// Inspect tells how an alias stands. It starts nothing. TunnelNotSetUp when
// nothing was set up under it; Deadline when its supervisor does not answer.
func Inspect(ctx context.Context, p Place, alias string) (Status, error) {
	c, err := Load(p, alias)
	if err != nil {
		return Status{}, err
	}
	a, held, f, err := p.inquire(ctx, c.Alias, question{Op: opStatus})
	switch {
	case err == nil && a.Status != nil:
		return *a.Status, nil
	case err != nil && !errors.Is(err, errNobody):
		return Status{}, err
	}
	s := Status{
		Alias: c.Alias, TunnelID: c.TunnelID, Polling: PollingStopped, PollAge: -1,
		LogPath: f.log, BaseURL: c.BaseURL, TunnelClient: c.Client,
	}
	if held {
		return s, &fault.Error{
			Op: "tunnel " + c.Alias, Code: fault.Deadline, Detail: "a supervisor holds the lock and does not listen",
			Hint: "wait a moment; else run termpilot chatgpt disconnect",
		}
	}
	return s, nil
}
