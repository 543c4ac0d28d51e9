package tunnel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"termpilot/terminal"
)

// clientState is what tunnel-client tells of itself over its health socket. Its
// /readyz proves little, so what counts is taken from /api/status and /metrics.
type clientState struct {
	Version       string
	TunnelID      string
	BaseURL       string
	MetadataError string    // it could not read the tunnel with its key
	HasTunnel     bool      // it could
	Server        string    // how its probe of the MCP server went: "ok", or an error
	RawLogging    bool      // it would log bodies and headers
	LastPoll      time.Time // when a poll last succeeded; zero: none has
	PollErrors    float64
	Commands      float64 // that came down the tunnel
}

// over returns a client that reaches a Unix socket whatever the URL's host, and
// never through a proxy.
func over(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}
}

func get(ctx context.Context, c *http.Client, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", path, resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, 4<<20))
}

// ask reads the state of the client behind a health socket, with secrets hidden.
func ask(ctx context.Context, socket string, hide *strings.Replacer) (clientState, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	c := over(socket)
	status, err := get(ctx, c, "/api/status")
	if err != nil {
		return clientState{}, err
	}
	metrics, err := get(ctx, c, "/metrics")
	if err != nil {
		return clientState{}, err
	}
	return parseState([]byte(hide.Replace(string(status))), metrics)
}

var errNotAState = errors.New("that is not tunnel-client's state")

func parseState(status, metrics []byte) (clientState, error) {
	var told struct {
		Version  string `json:"version"`
		TunnelID string `json:"control_plane_tunnel_id"`
		BaseURL  string `json:"control_plane_base_url"`
		Raw      bool   `json:"raw_http_logging_enabled"`
		Metadata *struct {
			ID string `json:"ID"`
		} `json:"tunnel_metadata"`
		MetadataError string `json:"tunnel_metadata_error"`
		Channels      []struct {
			Name   string `json:"name"`
			Status string `json:"probe_status"`
			Error  string `json:"probe_error"`
		} `json:"channels"`
	}
	if err := json.Unmarshal(status, &told); err != nil || told.TunnelID == "" {
		return clientState{}, errors.Join(errNotAState, err)
	}
	s := clientState{
		Version: terminal.OneLine(told.Version, 100), TunnelID: terminal.OneLine(told.TunnelID, 100), BaseURL: terminal.OneLine(told.BaseURL, 500),
		MetadataError: terminal.OneLine(told.MetadataError, 500), HasTunnel: told.Metadata != nil && told.Metadata.ID == told.TunnelID, RawLogging: told.Raw,
	}
	for _, channel := range told.Channels {
		if channel.Name == "main" {
			s.Server = terminal.OneLine(strings.TrimSpace(channel.Status+" "+channel.Error), 500)
		}
	}
	lines := bufio.NewScanner(strings.NewReader(string(metrics)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, ok := metric(lines.Text())
		if !ok {
			continue
		}
		switch name {
		case "commands_poll_last_successful_timestamp_seconds":
			if value > 0 && value < 1<<40 {
				s.LastPoll = time.Unix(int64(value), 0)
			}
		case "commands_poll_errors_total":
			s.PollErrors += value
		case "commands_polled_total":
			s.Commands += value
		}
	}
	return s, lines.Err()
}

// metric reads one line of Prometheus' text format.
func metric(line string) (name string, value float64, ok bool) {
	if line == "" || line[0] == '#' {
		return "", 0, false
	}
	name, rest, _ := strings.Cut(line, " ")
	if open := strings.IndexByte(line, '{'); open >= 0 {
		end := strings.LastIndexByte(line, '}')
		if end < open {
			return "", 0, false
		}
		name, rest = line[:open], strings.TrimSpace(line[end+1:])
	}
	number, _, _ := strings.Cut(rest, " ")
	value, err := strconv.ParseFloat(number, 64)
	return name, value, err == nil
}
