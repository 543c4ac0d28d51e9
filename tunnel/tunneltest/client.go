package tunneltest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// client is a stand-in for tunnel-client, for machines that have none: it takes
// the flags that the supervisor gives, speaks the protocol, tells of itself what
// the real one tells, lies included (/readyz says ready whatever the control
// plane says), and logs as it does. A test binary becomes it when its name is
// tunnel-client (see [Becomes]). It starts what it is told Codex's app server
// is, with its whole environment, and looks after it no more than the real one
// does when it is killed. Two files beside its pid file make it ill:
// "deaf" (it stops polling and does not say so) and "leak" (it prints its key).
type client struct {
	base, id, key, socket, pidFile string
	pollTime                       time.Duration
	slots                          chan struct{} // of calls that run at once
	instance                       string
	started                        time.Time

	out      sync.Mutex
	lastPoll atomic.Int64
	errors   atomic.Int64
	commands atomic.Int64
	meta     atomic.Value // string: "" when the tunnel could be read, else why not
}

// Becomes runs the stand-in and does not return when this program was started
// as tunnel-client. It is the first thing in a TestMain.
func Becomes() {
	if filepath.Base(os.Args[0]) == "tunnel-client" {
		os.Exit(run(os.Args[1:]))
	}
}

// Install puts the stand-in into a folder, as tunnel-client, and returns its path.
func Install(folder string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "tunnel-client")
	return path, os.Symlink(self, path)
}

func run(args []string) int {
	if len(args) == 1 && args[0] == "--version" {
		fmt.Println("0.0.12+stand-in (git sha: none)")
		return 0
	}
	c := &client{instance: strconv.FormatUint(rand.Uint64(), 16), started: time.Now()}
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	f.StringVar(&c.base, "control-plane.base-url", "", "")
	f.StringVar(&c.id, "control-plane.tunnel-id", "", "")
	key := f.String("control-plane.api-key", "", "")
	f.DurationVar(&c.pollTime, "control-plane.poll-timeout", 30*time.Second, "")
	server := f.String("mcp.server-url", "", "")
	health := f.String("health.unix-socket", "", "")
	f.StringVar(&c.pidFile, "pid.file", "", "")
	atOnce := f.Int("mcp.max-concurrent-requests", 10, "")
	_ = f.String("log.format", "", "")
	_ = f.String("log.level", "", "")
	if len(args) == 0 || args[0] != "run" || f.Parse(args[1:]) != nil {
		return 1
	}
	if c.key = fromEnv(*key); c.key == "" {
		fmt.Printf("configure tunnel-client: environment variable %q is not set\n", strings.TrimPrefix(*key, "env:"))
		return 1
	}
	for _, part := range strings.Split(*server, ",") {
		if path, ok := strings.CutPrefix(part, "unix-socket="); ok {
			c.socket = fromEnv(path)
		}
	}
	l, err := net.Listen("unix", *health)
	if err != nil {
		fmt.Printf("start tunnel-client: %v\n", err)
		return 1
	}
	if err := os.WriteFile(c.pidFile, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600); err != nil {
		return 1
	}
	defer os.Remove(c.pidFile)
	c.slots = make(chan struct{}, *atOnce)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() { _ = http.Serve(l, c.health()) }()
	defer os.Remove(*health)
	if codex := exec.Command(os.Getenv("TUNNEL_CLIENT_CODEX_APP_SERVER_CMD"), strings.Fields(os.Getenv("TUNNEL_CLIENT_CODEX_APP_SERVER_ARGS"))...); codex.Err == nil {
		if in, err := codex.StdinPipe(); err == nil && codex.Start() == nil {
			defer func() { _ = in.Close(); _ = codex.Wait() }()
		}
	}
	c.log("INFO", "provided", map[string]any{"constructor": "framework.New()"})
	c.log("INFO", "🟢 tunnel-client started", map[string]any{"version": "0.0.12"})
	c.metadata(ctx)
	c.poll(ctx)
	return 0
}

func fromEnv(ref string) string {
	name, ok := strings.CutPrefix(ref, "env:")
	if !ok {
		return ref
	}
	return os.Getenv(name)
}

func (c *client) log(level, msg string, more map[string]any) {
	line := map[string]any{"time": time.Now().UTC().Format(time.RFC3339Nano), "level": level, "msg": msg, "tunnel_id": c.id}
	for k, v := range more {
		line[k] = v
	}
	data, _ := json.Marshal(line) // plain values alone
	c.out.Lock()
	defer c.out.Unlock()
	fmt.Printf("%s\n", data)
}

func (c *client) ill(how string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(c.pidFile), how))
	return err == nil
}

// do sends one request to the control plane; text is why it failed.
func (c *client) do(ctx context.Context, method, path, shard string, body io.Reader) (status int, answer []byte, text string) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/v1/tunnels/"+c.id+path, body)
	if err != nil {
		return 0, nil, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("X-Tunnel-Client-Instance-Id", c.instance)
	if shard != "" {
		req.Header.Set("X-Tunnel-Shard-Token", shard)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, err.Error()
	}
	if resp.StatusCode >= 300 {
		var e struct {
			Error struct{ Code, Message string }
		}
		_ = json.Unmarshal(answer, &e) // without it the status alone is told
		text = fmt.Sprintf("unexpected status %d: %s: %s", resp.StatusCode, e.Error.Code, e.Error.Message)
	}
	return resp.StatusCode, answer, text
}

func (c *client) metadata(ctx context.Context) {
	_, _, text := c.do(ctx, http.MethodGet, "", "", nil)
	if text != "" {
		text = "controlplane client: " + text
	}
	c.meta.Store(text)
}

func (c *client) poll(ctx context.Context) {
	back := 200 * time.Millisecond
	failing := false
	for ctx.Err() == nil {
		if c.ill("leak") {
			fmt.Printf("debug: key=%s\n", c.key)
		}
		if c.ill("deaf") {
			<-ctx.Done()
			return
		}
		patience, cancel := context.WithTimeout(ctx, c.pollTime+5*time.Second)
		status, body, text := c.do(patience, http.MethodGet, "/poll?limit=20&timeout_ms="+strconv.FormatInt(c.pollTime.Milliseconds(), 10), "", nil)
		var got struct{ Commands []order }
		if err := json.Unmarshal(body, &got); status == http.StatusOK && err != nil {
			text = "controlplane client: decode poll response: " + err.Error()
		}
		msg := "poll failed; backing off"
		if patience.Err() != nil {
			msg = "poll timed out; backing off"
		}
		cancel()
		if ctx.Err() != nil {
			return
		}
		if text != "" {
			c.errors.Add(1)
			failing = true
			c.log("WARN", msg, map[string]any{"error": text, "status_code": status, "error_message": text, "retry_in_ms": back.Milliseconds()})
			select {
			case <-ctx.Done():
			case <-time.After(back):
			}
			back = min(2*back, 10*time.Second)
			continue
		}
		if failing {
			failing, back = false, 200*time.Millisecond
			c.log("INFO", "poller recovered; polling operational", nil)
		}
		c.lastPoll.Store(time.Now().Unix())
		for _, one := range got.Commands {
			c.commands.Add(1)
			go c.forward(ctx, one)
		}
	}
}

// order is one command of the control plane's.
type order struct {
	ID      string          `json:"request_id"`
	Shard   string          `json:"shard_token"`
	Type    string          `json:"command_type"`
	Headers http.Header     `json:"headers"`
	Message json.RawMessage `json:"jsonrpc"`
}

func (c *client) forward(ctx context.Context, one order) {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	var message struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(one.Message, &message) // a session's end has none
	method, kind := http.MethodPost, "jsonrpc_response"
	switch {
	case one.Type == "session_termination":
		method, kind = http.MethodDelete, "session_termination_response"
	case message.ID == nil:
		kind = "notify_ack"
	}
	code, messages, err := c.ask(ctx, method, one)
	if err != nil || kind == "jsonrpc_response" && (code >= 400 || len(messages) == 0) {
		source := "target_http"
		if err != nil {
			code, source = http.StatusBadGateway, "connect"
		}
		failure := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"%s","data":{"tunnel_failure":{"source":%q}}}}`, message.ID, http.StatusText(code), source)
		c.answer(ctx, one, kind, code, failure)
		c.log("WARN", "dispatcher received MCP upstream error; posted error response to control plane", map[string]any{"request_id": one.ID, "failure_source": source})
		return
	}
	for _, note := range messages[:max(0, len(messages)-1)] {
		c.answer(ctx, one, "jsonrpc_notify", code, note)
	}
	if kind != "jsonrpc_response" {
		c.answer(ctx, one, kind, code, nil)
		return
	}
	c.answer(ctx, one, kind, code, messages[len(messages)-1])
	c.log("INFO", "dispatcher forwarded command to MCP server", map[string]any{"request_id": one.ID}) // the real one says so afterwards, too
}

func (c *client) answer(ctx context.Context, one order, kind string, code int, message []byte) {
	body := map[string]any{"request_id": one.ID, "channel": "main", "resp_headers": map[string][]string{}, "resp_code": code, "resp_type": kind}
	if message != nil {
		body["resp_json"] = json.RawMessage(message)
	}
	data, _ := json.Marshal(body) // plain values, and what was JSON before
	c.do(ctx, http.MethodPost, "/response", one.Shard, bytes.NewReader(data))
}

// ask passes a command on to the MCP server and returns the messages that it
// answers with: several in an event stream, one otherwise.
func (c *client) ask(ctx context.Context, method string, one order) (code int, messages [][]byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost/mcp", bytes.NewReader(one.Message))
	if err != nil {
		return 0, nil, err
	}
	for name, values := range one.Headers {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	h := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", c.socket)
	}}}
	resp, err := h.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		for line := range bytes.Lines(body) {
			if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
				messages = append(messages, bytes.TrimSpace(data))
			}
		}
	} else if json.Valid(body) {
		messages = [][]byte{body}
	}
	return resp.StatusCode, messages, nil
}

func (c *client) health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "live") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ready") })
	mux.HandleFunc("/api/status", func(w http.ResponseWriter, _ *http.Request) {
		status := map[string]any{
			"version": "0.0.12+stand-in", "client_instance_id": c.instance, "control_plane_base_url": c.base, "control_plane_tunnel_id": c.id,
			"raw_http_logging_enabled": false, "channels": []map[string]any{{"name": "main", "enabled": true, "probe_status": "ok"}},
		}
		switch why, told := c.meta.Load().(string); {
		case !told:
		case why == "":
			status["tunnel_metadata"] = map[string]any{"ID": c.id, "Name": "lab"}
		default:
			status["tunnel_metadata_error"] = why
		}
		_ = json.NewEncoder(w).Encode(status) // whoever asked may have gone
	})
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# HELP commands_poll_last_successful_timestamp_seconds when\ncommands_poll_last_successful_timestamp_seconds{tunnel_id=%q} %d\n", c.id, c.lastPoll.Load())
		fmt.Fprintf(w, "commands_polled_total{tunnel_id=%q} %d\n", c.id, c.commands.Load())
		if n := c.errors.Load(); n > 0 {
			fmt.Fprintf(w, "commands_poll_errors_total{error_kind=\"http\",tunnel_id=%q} %d\n", c.id, n)
		}
	})
	return mux
}
