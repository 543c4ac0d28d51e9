package host

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"termpilot/private"
)

const (
	protocolVersion = "1.17" // of the iTerm2 API
	subprotocol     = "api.iterm2.com"

	upgradePatience = 30 * time.Second
	maxHeaders      = 100
	maxHeaderLine   = 4096
	maxFrame        = 16 << 20 // the largest message that a client may send
)

// refusal is an HTTP status line; the API's server sends nothing else with it.
type refusal string

const (
	badRequest   refusal = "400 Bad Request"
	unauthorized refusal = "401 Unauthorized"
	unacceptable refusal = "406 Unacceptable (upgrade Python library)"
)

// upgrade turns a fresh connection into a WebSocket, checking in the order of
// the API's own server. A refused client gets a bare status line. admits tells
// whether the cookie, "" for none, lets a peer of the same user in.
func upgrade(conn *net.UnixConn, admits func(cookie string) bool) (*websocket.Conn, *wire, error) {
	_ = conn.SetDeadline(time.Now().Add(upgradePatience))
	w, err := newWire(conn)
	if err != nil {
		return nil, nil, err
	}
	in := bufio.NewReaderSize(w, maxHeaderLine)
	line, headers, err := readHead(in)
	refuse := func(r refusal) (*websocket.Conn, *wire, error) {
		_, _ = io.WriteString(conn, "HTTP/1.1 "+string(r)+"\r\n\r\n")
		return nil, nil, fmt.Errorf("upgrade refused: %s", r)
	}
	if err != nil {
		return refuse(badRequest)
	}
	if r := checkUpgrade(line, headers, sameUser(conn)); r != "" {
		return refuse(r)
	}
	if !admits(headers["x-iterm2-cookie"]) {
		return refuse(unauthorized)
	}
	request := &http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: "/"}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Host: headers["host"], Header: http.Header{},
	}
	for _, name := range []string{"Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Protocol"} {
		request.Header.Set(name, headers[strings.ToLower(name)])
	}
	// gorilla accepts version 13 alone; the API's server accepts any later one.
	request.Header.Set("Sec-WebSocket-Version", "13")
	answer := http.Header{"X-iTerm2-Protocol-Version": {protocolVersion}}
	if version, _ := strconv.Atoi(headers["sec-websocket-version"]); version > 13 {
		answer.Set("Sec-Websocket-Version", "13")
	}
	up := websocket.Upgrader{
		Subprotocols: []string{subprotocol},
		CheckOrigin:  func(*http.Request) bool { return true }, // checked above
		Error:        func(http.ResponseWriter, *http.Request, int, error) {},
	}
	ws, err := up.Upgrade(&hijacked{conn: w, in: in}, request, answer)
	if err != nil {
		return refuse(badRequest)
	}
	_ = conn.SetDeadline(time.Time{})
	ws.SetReadLimit(maxFrame)
	ws.SetCloseHandler(func(int, string) error { // an empty frame, as from the API's own server
		return ws.WriteControl(websocket.CloseMessage, nil, time.Now().Add(time.Second))
	})
	return ws, w, nil
}

// readHead reads a request line and headers, names in lower case, values
// trimmed. Of a repeated header the last counts.
func readHead(in *bufio.Reader) (string, map[string]string, error) {
	line, err := readLine(in)
	if err != nil {
		return "", nil, err
	}
	headers := map[string]string{}
	for range maxHeaders + 1 {
		h, err := readLine(in)
		if err != nil {
			return "", nil, err
		}
		if h == "" {
			return line, headers, nil
		}
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return "", nil, fmt.Errorf("a header without a colon")
		}
		headers[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	return "", nil, fmt.Errorf("too many headers")
}

func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadSlice('\n') // no longer than the buffer
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// checkUpgrade applies the checks of the API's server in its order. "" is yes.
func checkUpgrade(line string, h map[string]string, sameUser bool) refusal {
	parts := strings.Split(line, " ")
	if len(parts) != 3 || parts[1] != "/" || parts[2] != "HTTP/1.1" {
		return badRequest
	}
	if _, has := h["content-length"]; has {
		return badRequest
	}
	if !sameUser {
		return unauthorized
	}
	version, err := strconv.Atoi(h["sec-websocket-version"])
	ok := parts[0] == http.MethodGet &&
		strings.EqualFold(h["upgrade"], "websocket") &&
		strings.EqualFold(h["connection"], "upgrade") &&
		h["sec-websocket-protocol"] == subprotocol &&
		h["sec-websocket-key"] != "" &&
		localOrigin(h["origin"]) && localHost(h["host"]) &&
		err == nil && version >= 13
	if !ok {
		return badRequest
	}
	return checkLibrary(h["x-iterm2-library-version"])
}

// checkLibrary wants "name version". The minimum for Python is compared as a
// decimal number, as the API's server does.
func checkLibrary(library string) refusal {
	parts := strings.Split(library, " ")
	if len(parts) != 2 {
		return badRequest
	}
	if parts[0] != "python" {
		return ""
	}
	if version, err := strconv.ParseFloat(parts[1], 64); err != nil || version < 0.24 {
		return unacceptable
	}
	return ""
}

func localOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Hostname() == "localhost"
}

func localHost(host string) bool {
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		if _, err := strconv.ParseUint(host[i+1:], 10, 16); err != nil {
			return false
		}
		name = host[:i]
	}
	return name == "localhost" || name == "127.0.0.1" || name == "[::1]"
}

func sameUser(conn *net.UnixConn) bool {
	uid, err := private.Peer(conn)
	return err == nil && uid == os.Geteuid()
}

// hijacked hands a connection to an upgrader that expects a web server.
type hijacked struct {
	conn net.Conn
	in   *bufio.Reader
}

func (h *hijacked) Header() http.Header         { return http.Header{} }
func (h *hijacked) Write(p []byte) (int, error) { return len(p), nil }
func (h *hijacked) WriteHeader(int)             {}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(h.in, bufio.NewWriter(h.conn)), nil
}
