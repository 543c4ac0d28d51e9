package iterm

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

// fakeServer speaks the API's transport by hand, so that a test can see and
// break every frame. What it answers is given by its world, or by a test's own
// handler.
type fakeServer struct {
	t      testing.TB
	path   string
	world  *world
	handle func(*fakeConn, *api.ClientOriginatedMessage) bool // false: the world answers
	refuse int                                                // status of the next handshakes
	delay  time.Duration                                      // how long each request takes, one after the other

	mu       sync.Mutex
	listener net.Listener
	conns    []*fakeConn
	headers  []http.Header
	requests []*api.ClientOriginatedMessage
	broken   []string // what no client may do
	running  sync.WaitGroup
}

func newFakeServer(t testing.TB, w *world) *fakeServer {
	t.Helper()
	s := &fakeServer{t: t, path: filepath.Join(t.TempDir(), "s"), world: w}
	s.start()
	t.Cleanup(func() {
		s.stop()
		for _, b := range s.broken {
			t.Errorf("the client broke a rule of the transport: %s", b)
		}
	})
	return s
}

func (s *fakeServer) start() {
	l, err := net.Listen("unix", s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	s.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.running.Go(func() { s.serve(c) })
		}
	})
}

func mustListen(t testing.TB, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// stop ends the server as a crash does: without a word.
func (s *fakeServer) stop() {
	s.mu.Lock()
	s.listener.Close()
	for _, c := range s.conns {
		c.raw.Close()
	}
	s.conns = nil
	s.mu.Unlock()
	s.running.Wait()
}

// pipe connects to it without the system, as a bubble wants it.
func (s *fakeServer) pipe(context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	s.running.Go(func() { s.serve(far) })
	return near, nil
}

func (s *fakeServer) client(o Options) *Client {
	o.Dial = func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", s.path)
	}
	if o.Name == "" {
		o.Name = "iterm2"
	}
	c := New(o)
	s.t.Cleanup(func() { c.Disconnect() })
	return c
}

// count returns how many requests came since the last call.
func (s *fakeServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.requests)
	s.requests = nil
	return n
}

func (s *fakeServer) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	for _, r := range s.requests {
		if x := r.GetSendTextRequest(); x != nil {
			texts = append(texts, x.GetText())
		}
	}
	return texts
}

func (s *fakeServer) violated(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = append(s.broken, fmt.Sprintf(format, args...))
}

func (s *fakeServer) serve(raw net.Conn) {
	defer raw.Close()
	in := bufio.NewReader(raw)
	r, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	if r.Header.Get("Upgrade") == "" {
		fmt.Fprint(raw, "HTTP/1.1 400 Bad Request\r\n\r\n")
		return
	}
	s.mu.Lock()
	s.headers = append(s.headers, r.Header)
	status := s.refuse
	s.mu.Unlock()
	if status != 0 {
		fmt.Fprintf(raw, "HTTP/1.1 %d %s\r\n\r\n", status, http.StatusText(status))
		return
	}
	s.checkUpgrade(r)
	sum := sha1.Sum([]byte(r.Header.Get("Sec-Websocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(raw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n"+
		"Sec-WebSocket-Protocol: api.iterm2.com\r\nX-iTerm2-Protocol-Version: 1.17\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	c := &fakeConn{server: s, raw: raw, subs: map[string]bool{}}
	s.mu.Lock()
	s.conns = append(s.conns, c)
	s.mu.Unlock()
	c.serve(in)
}

// checkUpgrade holds a handshake to what iTerm2 demands.
func (s *fakeServer) checkUpgrade(r *http.Request) {
	for name, want := range map[string]string{
		"Upgrade": "websocket", "Connection": "Upgrade", "Sec-Websocket-Protocol": "api.iterm2.com", "Origin": "ws://localhost/",
		"Sec-Websocket-Version": "13", "X-Iterm2-Library-Version": "go 1.0", "X-Iterm2-Disable-Auth-Ui": "true",
	} {
		if got := strings.Join(r.Header[name], "|"); got != want {
			s.violated("header %s is %q, want %q", name, got, want)
		}
	}
	if r.Host != "localhost" || r.Method != "GET" || r.RequestURI != "/" || r.Header.Get("Content-Length") != "" {
		s.violated("upgrade of %s %s at %s", r.Method, r.RequestURI, r.Host)
	}
}

// fakeConn is one client's connection, seen from the server.
type fakeConn struct {
	server *fakeServer
	raw    net.Conn
	mu     sync.Mutex // held while a frame is written
	subs   map[string]bool
}

func (c *fakeConn) serve(in *bufio.Reader) {
	for {
		fin, op, payload, err := readFrame(in)
		if err != nil || op == 8 {
			return
		}
		if !fin || op == 0 {
			c.server.violated("a fragmented message")
			return
		}
		if op != 2 {
			continue
		}
		m := &api.ClientOriginatedMessage{}
		if err := proto.Unmarshal(payload, m); err != nil {
			c.server.violated("an undecodable message: %v", err)
			return
		}
		if m.GetId() < 1 {
			c.server.violated("id %d", m.GetId())
		}
		c.server.mu.Lock()
		c.server.requests = append(c.server.requests, m)
		handle := c.server.handle
		c.server.mu.Unlock()
		if c.server.delay > 0 {
			timer := time.NewTimer(c.server.delay)
			<-timer.C
		}
		if handle != nil && handle(c, m) {
			continue
		}
		answer := c.server.world.answer(m)
		if r := answer.GetNotificationResponse(); r != nil {
			r.Status = c.subscribe(m.GetNotificationRequest()).Enum()
		}
		told, early := c.server.world.pending()
		if !early {
			c.answer(m, answer)
		}
		for _, n := range told {
			c.server.notifyAll(n)
		}
		if early {
			c.answer(m, answer)
		}
	}
}

// subscribe notes a subscription of this connection: each stands once, as it was
// first made.
func (c *fakeConn) subscribe(n *api.NotificationRequest) api.NotificationResponse_Status {
	key := fmt.Sprint(n.GetNotificationType(), n.GetSession(), n.GetVariableMonitorRequest().GetName())
	switch had := c.subs[key]; {
	case n.Subscribe == nil, n.GetNotificationType() == api.NotificationType_NOTIFY_ON_LOCATION_CHANGE:
		return api.NotificationResponse_REQUEST_MALFORMED
	case n.GetSubscribe() && had:
		return api.NotificationResponse_ALREADY_SUBSCRIBED
	case !n.GetSubscribe() && !had:
		return api.NotificationResponse_NOT_SUBSCRIBED
	}
	c.subs[key] = n.GetSubscribe()
	return api.NotificationResponse_OK
}

func readFrame(in *bufio.Reader) (fin bool, op byte, payload []byte, err error) {
	var head [2]byte
	if _, err = io.ReadFull(in, head[:]); err != nil {
		return
	}
	n := uint64(head[1] & 0x7f)
	switch n {
	case 126:
		var b [2]byte
		_, err = io.ReadFull(in, b[:])
		n = uint64(binary.BigEndian.Uint16(b[:]))
	case 127:
		var b [8]byte
		_, err = io.ReadFull(in, b[:])
		n = binary.BigEndian.Uint64(b[:])
	}
	var mask [4]byte
	if err == nil {
		_, err = io.ReadFull(in, mask[:])
	}
	if err != nil {
		return
	}
	payload = make([]byte, n)
	if _, err = io.ReadFull(in, payload); err != nil {
		return
	}
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return head[0]&0x80 != 0, head[0] & 0x0f, payload, nil
}

// frame writes one whole frame, as the server does.
func (c *fakeConn) frame(op byte, payload []byte) {
	head := []byte{0x80 | op}
	switch n := len(payload); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(append(head, payload...))
}

func (c *fakeConn) send(m *api.ServerOriginatedMessage) {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	c.frame(2, b)
}

func (c *fakeConn) answer(to *api.ClientOriginatedMessage, m *api.ServerOriginatedMessage) {
	if m == nil {
		return
	}
	m.Id = proto.Int64(to.GetId())
	c.send(m)
}

func (c *fakeConn) notify(n *api.Notification) {
	c.send(&api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_Notification{Notification: n}})
}

// notifyAll sends a notification to every client.
func (s *fakeServer) notifyAll(n *api.Notification) {
	s.mu.Lock()
	conns := append([]*fakeConn(nil), s.conns...)
	s.mu.Unlock()
	for _, c := range conns {
		c.notify(n)
	}
}
