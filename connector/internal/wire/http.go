package wire

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is the only path that [Handler] serves.
const Path = "/mcp"

// HTTP configures [Handler].
type HTTP struct {
	// Token is the bearer token that every request must carry. Without one there
	// is no such check: only for a socket that nobody else can reach.
	Token string
	// Stateless gives clients of the era with a handshake no session: each of
	// their requests stands alone, so that nothing is lost when this process is
	// restarted, but a call cannot be cancelled from another request.
	Stateless bool
	// Underway counts the requests that are being answered; nil counts none.
	Underway *Underway
	// Log receives what goes wrong. nil is silence.
	Log *slog.Logger
}

// Underway is the requests that are being answered: the SDK lets no answer out of
// a session that is closed, so they are waited for first. The zero value is ready.
type Underway struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when there is none any more; nil unless somebody waits
}

func (u *Underway) begin() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n++
}

func (u *Underway) end() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n--; u.n == 0 && u.none != nil {
		close(u.none)
		u.none = nil
	}
}

// Settle returns when nothing is underway, or patience is over.
func (u *Underway) Settle(patience time.Duration) {
	u.mu.Lock()
	if u.n == 0 {
		u.mu.Unlock()
		return
	}
	if u.none == nil {
		u.none = make(chan struct{})
	}
	none := u.none
	u.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	}
}

// idle is how long a session of the older era is kept without a request, and
// maxSessions how many there are: clients that shake hands and never come back
// would fill the memory. Who comes then has none, as where all is stateless.
const (
	idle        = 30 * time.Minute
	maxSessions = 256
)

// Handler serves m as streamable HTTP under [Path], in both eras, to requests
// that name a loopback host, come from no foreign web page and carry the
// token: otherwise 404, 403 and 401. A body is at most [MaxMessage] bytes, 413
// otherwise. A client of the newer era that goes away cancels its call.
func Handler(m *mcp.Server, o HTTP) http.Handler {
	serve := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &mcp.StreamableHTTPOptions{
			Stateless:                    stateless,
			SessionTimeout:               idle,
			MaxRequestBodyBytes:          MaxMessage,
			DisableLocalhostProtection:   true, // local does it, for sockets too
			PropagateRequestCancellation: true,
			Logger:                       o.Log,
		})
	}
	alone := serve(true)
	sessions := alone
	if !o.Stateless {
		sessions = serve(false)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != Path:
			http.NotFound(w, r)
		case !local(r):
			http.Error(w, "forbidden: Host and Origin must be of this machine", http.StatusForbidden)
		case !o.knows(r):
			w.Header().Set("WWW-Authenticate", `Bearer realm="termpilot"`)
			http.Error(w, "unauthorized: send Authorization: Bearer with the token of this server", http.StatusUnauthorized)
		case r.Method != http.MethodPost:
			sessions.ServeHTTP(w, r)
		default:
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
			if err != nil {
				refuseBody(w, err)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			o.Underway.begin()
			defer o.Underway.end()
			w, finish := refusable(w, body)
			defer finish()
			if hasSession(r, body) && (r.Header.Get(sessionHeader) != "" || fewer(m, maxSessions)) {
				sessions.ServeHTTP(w, r)
			} else {
				alone.ServeHTTP(w, r)
			}
		}
	})
}

func refuseBody(w http.ResponseWriter, err error) {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		http.Error(w, fmt.Sprintf("the body is over %d bytes", tooLarge.Limit), http.StatusRequestEntityTooLarge)
		return
	}
	http.Error(w, "the body could not be read", http.StatusBadRequest)
}

// sessionHeader names the session that a request belongs to.
const sessionHeader = "Mcp-Session-Id"

// fewer reports whether m has fewer sessions than most.
func fewer(m *mcp.Server, most int) bool {
	for range m.Sessions() {
		if most--; most == 0 {
			return false
		}
	}
	return true
}

// hasSession reports whether a message belongs to a session of the older era:
// it names one, or begins one. Anything else is answered by itself, so that a
// client need not shake hands first.
func hasSession(r *http.Request, body []byte) bool {
	if r.Header.Get("Mcp-Protocol-Version") >= StatelessVersion {
		return false
	}
	if r.Header.Get(sessionHeader) != "" {
		return true
	}
	var m struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(body, &m) == nil && m.Method == methodInitialize
}

// local guards against DNS rebinding and foreign web pages: the Host must be
// ours, and so must the Origin, which only browsers send.
func local(r *http.Request) bool {
	if !loopback(r.Host) {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !loopback(u.Host) {
			return false
		}
	}
	return true
}

// loopback reports whether a host, with or without a port, is a name of the loopback
// interface.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// knows compares tokens in constant time; hashes hide the length too.
func (o HTTP) knows(r *http.Request) bool {
	if o.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(o.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
