package host

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
)

// clientFrame is a WebSocket frame as a client sends it: masked, by a mask of zeros.
func clientFrame(first byte, payload []byte) []byte {
	out := []byte{first}
	switch n := len(payload); {
	case n < 126:
		out = append(out, 0x80|byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 0x80|127), uint64(n))
	}
	return append(append(out, 0, 0, 0, 0), payload...)
}

const (
	final, binaryFrame, continuation      = 0x80, 0x2, 0x0
	closeFrame, pingFrame, pongFrame byte = final | 0x8, final | 0x9, final | 0xa
)

// rawAPI is a connection after its upgrade.
func rawAPI(t testing.TB, socket string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, goodUpgrade+"\r\n"); err != nil {
		t.Fatal(err)
	}
	head, one := []byte{}, make([]byte, 1)
	for !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		if _, err := conn.Read(one); err != nil {
			t.Fatal(err)
		}
		head = append(head, one[0])
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 101 ")) {
		t.Fatalf("%q", head)
	}
	return conn
}

// serverFrame reads a frame of the host's: final, not masked, no extension.
func serverFrame(t testing.TB, conn net.Conn) (opcode byte, payload []byte) {
	t.Helper()
	head := make([]byte, 2)
	if _, err := io.ReadFull(conn, head); err != nil {
		t.Fatalf("no frame: %v", err)
	}
	if head[0]&0xf0 != final || head[1]&0x80 != 0 {
		t.Fatalf("a frame that is not final, or masked, or has reserved bits: % x", head)
	}
	n := uint64(head[1])
	if n >= 126 {
		long := make([]byte, map[uint64]int{126: 2, 127: 8}[n])
		if _, err := io.ReadFull(conn, long); err != nil {
			t.Fatal(err)
		}
		n = 0
		for _, b := range long {
			n = n<<8 | uint64(b)
		}
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(conn, payload); err != nil {
		t.Fatal(err)
	}
	return head[0] & 0xf, payload
}

func encoded(t testing.TB, m *api.ClientOriginatedMessage) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFramesAreTakenInAnyLegalForm(t *testing.T) { // HOST-158
	h := newHost(t)
	conn := rawAPI(t, h.loc.Socket)
	request := encoded(t, &api.ClientOriginatedMessage{Id: proto.Int64(-7), Submessage: &api.ClientOriginatedMessage_FocusRequest{FocusRequest: &api.FocusRequest{}}})
	answered := func(id int64) {
		t.Helper()
		opcode, payload := serverFrame(t, conn)
		m := &api.ServerOriginatedMessage{}
		if err := proto.Unmarshal(payload, m); err != nil || opcode != binaryFrame || m.GetId() != id || m.GetFocusResponse() == nil {
			t.Fatalf("opcode %d, %v, %v; want the answer %d", opcode, m, err, id)
		}
	}
	send := func(frames ...[]byte) {
		t.Helper()
		if _, err := conn.Write(bytes.Join(frames, nil)); err != nil {
			t.Fatal(err)
		}
	}
	send(clientFrame(final|binaryFrame, request))
	answered(-7)
	send(clientFrame(binaryFrame, request[:3]), clientFrame(pingFrame, []byte("between")), clientFrame(continuation, nil), clientFrame(final|continuation, request[3:]))
	if opcode, payload := serverFrame(t, conn); opcode != pongFrame&0xf || string(payload) != "between" {
		t.Errorf("a ping was answered by %d %q", opcode, payload)
	}
	answered(-7)
	for _, one := range clientFrame(final|binaryFrame, request) { // byte by byte
		send([]byte{one})
	}
	answered(-7)
	send(clientFrame(pongFrame, []byte("nobody asked")), clientFrame(final|binaryFrame, request), clientFrame(final|binaryFrame, request)) // an id twice
	answered(-7)
	answered(-7)
	noID := encoded(t, &api.ClientOriginatedMessage{Submessage: &api.ClientOriginatedMessage_FocusRequest{FocusRequest: &api.FocusRequest{}}})
	send(clientFrame(final|binaryFrame, noID))
	answered(0)
	send(clientFrame(closeFrame, []byte{3, 232}))
	if opcode, payload := serverFrame(t, conn); opcode != closeFrame&0xf || len(payload) != 0 {
		t.Errorf("a close was answered by %d %q, want an empty close", opcode, payload)
	}
	if rest, err := io.ReadAll(conn); err != nil || len(rest) != 0 {
		t.Errorf("after the close: %q, %v", rest, err)
	}
}

func TestABrokenFrameEndsItsConnectionAlone(t *testing.T) { // HOST-159
	h := newHost(t)
	c := h.connect()
	masked := clientFrame(final|binaryFrame, []byte("x"))
	huge := func(n uint64) []byte {
		return append(binary.BigEndian.AppendUint64([]byte{final | binaryFrame, 0x80 | 127}, n), 0, 0, 0, 0)
	}
	for name, frame := range map[string][]byte{
		"not masked":                    {final | binaryFrame, 1, 'x'},
		"reserved bits":                 append([]byte{masked[0] | 0x40}, masked[1:]...),
		"an unknown kind":               append([]byte{final | 0x3}, masked[1:]...),
		"a long ping":                   clientFrame(pingFrame, make([]byte, 200)),
		"a ping in parts":               clientFrame(0x9, nil),
		"a continuation of nothing":     clientFrame(final|continuation, []byte("x")),
		"a message inside another":      append(clientFrame(binaryFrame, []byte("x")), masked...),
		"a length of five gigabytes":    huge(5 << 30),
		"a length without an end":       huge(1<<64 - 1),
		"parts that are too much":       clientFrame(binaryFrame, make([]byte, 1<<20)),
		"no frame at all":               []byte("GET / HTTP/1.1\r\n\r\n"),
		"a close with half a code":      clientFrame(closeFrame, []byte{3}),
		"a close with a code of no use": clientFrame(closeFrame, []byte{0, 1}),
	} {
		conn := rawAPI(t, h.loc.Socket)
		_, err := conn.Write(frame)
		if name == "parts that are too much" {
			for range maxFrame >> 20 {
				if err == nil {
					_, err = conn.Write(clientFrame(continuation, make([]byte, 1<<20)))
				}
			}
		}
		if err == nil {
			_, err = io.ReadAll(conn)
		}
		if ne, ok := err.(net.Error); ok && ne.Timeout() { //nolint:errorlint // of a connection
			t.Errorf("%s: the connection stays open", name)
		}
		if c.call(&api.FocusRequest{}).GetFocusResponse() == nil {
			t.Fatalf("%s: the host is gone", name)
		}
	}
}

func TestClientsAreBounded(t *testing.T) { // HOST-160
	h := newHost(t)
	first := h.connect()
	var open []net.Conn
	for range maxClients - 1 {
		open = append(open, rawAPI(t, h.loc.Socket))
	}
	served := func(socket, hello string) bool { // who is served gets an answer
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, hello)
		var answer io.Reader = conn
		if socket == h.loc.Socket { // which stays open
			answer = io.LimitReader(conn, 1)
		}
		got, _ := io.ReadAll(answer)
		return len(got) > 0
	}
	var status bytes.Buffer
	if err := writeFrame(&status, frameHello, raw(hello{V: 1, Op: "status"})); err != nil {
		t.Fatal(err)
	}
	ask := status.String()
	if served(h.loc.Socket, goodUpgrade+"\r\n") {
		t.Error("one client too many is served")
	}
	if !served(h.loc.Attach, ask) {
		t.Error("clients keep a person from asking for the status")
	}
	if first.call(&api.FocusRequest{}).GetFocusResponse() == nil {
		t.Error("the first client is not answered any more")
	}
	_ = open[0].Close()
	waitUntil(t, "a place is free", func() bool { return served(h.loc.Socket, goodUpgrade+"\r\n") })

	var visits []net.Conn
	for range maxVisits {
		conn, err := net.Dial("unix", h.loc.Attach)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		visits = append(visits, conn)
	}
	if served(h.loc.Attach, ask) {
		t.Error("one visit too many is served")
	}
	_ = visits[0].Close()
	waitUntil(t, "a visit is over", func() bool { return served(h.loc.Attach, ask) })
}

func FuzzNoWebSocketFrameEndsTheHost(f *testing.F) { // HOST-159
	f.Add(clientFrame(final|binaryFrame, []byte("\x08\x01")))
	f.Add(append(clientFrame(binaryFrame, []byte("a")), clientFrame(pingFrame, []byte("b"))...))
	f.Add([]byte{final | binaryFrame, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add(clientFrame(closeFrame, []byte{3, 232}))
	h := newHost(f)
	c := h.connect()
	f.Fuzz(func(t *testing.T, frames []byte) {
		c.t = t
		conn := rawAPI(t, h.loc.Socket)
		if _, err := conn.Write(frames); err == nil {
			_ = conn.(*net.UnixConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
		}
		_ = conn.Close()
		if c.call(&api.FocusRequest{}).GetFocusResponse() == nil {
			t.Fatalf("no answer after %q", frames)
		}
	})
}

func FuzzAnUpgradeIsRefusedOrAccepted(f *testing.F) { // HOST-70
	f.Add([]byte(goodUpgrade + "\r\n"))
	f.Add([]byte("GET / HTTP/1.1\r\nx\r\n\r\n"))
	f.Add([]byte("\r\n\r\n"))
	f.Add(bytes.Repeat([]byte("a: b\r\n"), 120))
	h := newHost(f)
	f.Fuzz(func(t *testing.T, head []byte) {
		conn, err := net.Dial("unix", h.loc.Socket)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := conn.Write(head); err != nil {
			return // refused before all was read
		}
		_ = conn.(*net.UnixConn).CloseWrite()
		got, err := io.ReadAll(conn)
		if ne, ok := err.(net.Error); ok && ne.Timeout() { //nolint:errorlint // of a connection
			t.Fatalf("no answer to %q", head)
		}
		accepted := bytes.HasPrefix(got, []byte("HTTP/1.1 101 "))
		bare := bytes.HasPrefix(got, []byte("HTTP/1.1 4")) && bytes.Index(got, []byte("\r\n\r\n")) == len(got)-4
		if len(got) > 0 && !accepted && !bare {
			t.Fatalf("%q was answered by %q", head, got)
		}
	})
}
