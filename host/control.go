package host

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"termpilot/fault"
)

// Status is what a running host says of itself.
type Status struct {
	Version  string    `json:"version"`
	Protocol int       `json:"protocol"` // of what the host adds to the iTerm2 API
	PID      int       `json:"pid"`
	Started  time.Time `json:"started"`
	Sessions int       `json:"sessions"`
	Clients  int       `json:"clients"` // connected to the API
	Socket   string    `json:"socket"`
	Attach   string    `json:"attach_socket"`
	Home     string    `json:"home"`
	Log      string    `json:"log"`
}

// The second socket's protocol: frames of a kind, a length of four bytes (big
// endian) and that many bytes. The client's first frame is a hello.
const (
	frameHello  = 'H' // client: hello, as JSON
	frameInput  = 'I' // client: what a person typed
	frameResize = 'R' // client: columns and rows, two bytes each, big endian
	frameDetach = 'D' // client: leaves
	frameOutput = 'O' // host: output of the session's programs
	frameRedraw = 'W' // host: bytes that paint the screen anew
	frameEnd    = 'E' // host: the session ended, as JSON
	frameStatus = 'S' // host: its status, or the credentials that were asked for, as JSON
	frameError  = 'X' // host: a failure, as JSON; the last frame

	maxControlFrame = 1 << 20
	controlPatience = 5 * time.Second
)

// hello says what a client of the second socket wants.
type hello struct {
	V       int    `json:"v"`
	Op      string `json:"op"` // attach, env, status, stop
	Session string `json:"session,omitempty"`
	Columns int    `json:"columns,omitempty"`
	Rows    int    `json:"rows,omitempty"`
	Force   bool   `json:"force,omitempty"`
	Suite   string `json:"suite,omitempty"` // env: where the programs will look
}

// failure is a fault on the wire.
type failure struct {
	Code   fault.Code `json:"code"`
	Detail string     `json:"detail"`
	Hint   string     `json:"hint"`
}

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	frame := make([]byte, 5, 5+len(payload))
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(len(payload)))
	_, err := w.Write(append(frame, payload...))
	return err
}

func readFrame(r io.Reader) (byte, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxControlFrame {
		return 0, nil, errors.New("an overlong frame")
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, err
	}
	return head[0], payload, nil
}

// Dial connects to the API of the host in the place of this process's
// environment. What follows is the iTerm2 API's WebSocket upgrade.
// BackendUnavailable when no host answers; NotAllowed when the one that does
// belongs to another user.
func Dial(ctx context.Context) (net.Conn, error) {
	loc, err := Paths(os.Getenv)
	if err != nil {
		return nil, err
	}
	conn, err := dial(ctx, loc.Socket)
	if err != nil {
		return nil, err
	}
	quiet, err := watchConn(conn)
	if err != nil {
		return nil, unavailable("host dial", "no connection can be had", err)
	}
	return quiet, nil
}

// DialAttach connects to the second socket, for [Attach].
func DialAttach(ctx context.Context) (net.Conn, error) {
	loc, err := Paths(os.Getenv)
	if err != nil {
		return nil, err
	}
	return dial(ctx, loc.Attach)
}

func dial(ctx context.Context, path string) (*net.UnixConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, unavailable("host dial", "no host answers", err)
	}
	unix, ok := conn.(*net.UnixConn)
	if !ok || !sameUser(unix) {
		_ = conn.Close()
		return nil, &fault.Error{
			Op: "host dial", Code: fault.NotAllowed, Detail: "the socket belongs to another user",
			Hint: "set TERMPILOT_HOME to a folder of your own",
		}
	}
	return unix, nil
}

// Inspect returns the status of the running host in the place of this process's
// environment. It starts nothing. BackendUnavailable when none runs.
func Inspect(ctx context.Context) (Status, error) {
	loc, err := Paths(os.Getenv)
	if err != nil {
		return Status{}, err
	}
	return inspect(ctx, loc)
}

func inspect(ctx context.Context, loc Location) (Status, error) {
	var status Status
	payload, err := ask(ctx, loc, hello{V: 1, Op: "status"})
	if err != nil {
		return status, err
	}
	if err := json.Unmarshal(payload, &status); err != nil {
		return status, &fault.Error{Op: "host status", Code: fault.Protocol, Detail: "its answer cannot be read", Hint: "restart the host", Err: err}
	}
	return status, nil
}

// Stop ends the host and returns when it is gone. While sessions live it is
// Refused, unless force, which closes them. BackendUnavailable when no host runs.
func Stop(ctx context.Context, force bool) error {
	loc, err := Paths(os.Getenv)
	if err != nil {
		return err
	}
	if _, err := ask(ctx, loc, hello{V: 1, Op: "stop", Force: force}); err != nil {
		return err
	}
	// The lock is the last thing that a host lets go of.
	lock := lockAt(loc.Lock)
	defer lock.Close()
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return &fault.Error{Op: "host stop", Code: fault.Deadline, Detail: "it is still ending", Hint: "ask for its status in a moment", Err: err}
	}
	return nil
}

// ask sends one hello and returns the host's answer.
func ask(ctx context.Context, loc Location, what hello) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, controlPatience)
	defer cancel()
	conn, err := dial(ctx, loc.Attach)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	op := "host " + what.Op
	var kind byte
	var payload []byte
	if err = writeFrame(conn, frameHello, raw(what)); err == nil {
		kind, payload, err = readFrame(conn)
	}
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded)):
		return nil, &fault.Error{
			Op: op, Code: fault.Deadline, Detail: "a host listens and does not answer",
			Hint: "see whether the process \"host serve\" is stopped, or its log: " + loc.Log, Err: err,
		}
	case err != nil:
		return nil, unavailable(op, "the host went away", err)
	case kind == frameError:
		return nil, faultOf(op, payload)
	case kind != frameStatus:
		return nil, &fault.Error{Op: op, Code: fault.Protocol, Detail: "an unexpected answer", Hint: "restart the host"}
	}
	return payload, nil
}

func faultOf(op string, payload []byte) error {
	var f failure
	if err := json.Unmarshal(payload, &f); err != nil || f.Code == "" {
		f.Code = fault.Protocol
	}
	return &fault.Error{Op: op, Code: f.Code, Detail: f.Detail, Hint: f.Hint}
}

// status is what the host says of itself.
func (h *server) status() Status {
	h.mu.Lock()
	sessions := len(h.sessions)
	h.mu.Unlock()
	loc := h.options.location
	return Status{
		Version: h.options.Version, Protocol: extensionProtocol, PID: os.Getpid(), Started: h.started.UTC(),
		Sessions: sessions, Clients: h.hub.count(),
		Socket: loc.Socket, Attach: loc.Attach, Home: loc.Home, Log: loc.Log,
	}
}
