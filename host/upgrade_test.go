package host

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// upgradeAt sends a request head and returns what answers it.
func upgradeAt(t *testing.T, socket, request string) string {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(request, "pending\r\n") {
		_ = conn.(*net.UnixConn).CloseWrite()
	}
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(line, "101") {
		rest, _ := io.ReadAll(in)
		return line + string(rest)
	}
	var head strings.Builder
	head.WriteString(line)
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == "\r\n" {
			return head.String()
		}
		head.WriteString(line)
	}
}

func TestTheUpgradeIsCheckedAsTheApisOwnServerDoes(t *testing.T) { // HOST-70
	h := newHost(t)
	good := upgradeAt(t, h.loc.Socket, goodUpgrade)
	for _, want := range []string{"HTTP/1.1 101 ", "X-iTerm2-Protocol-Version: 1.17\r\n", "Sec-WebSocket-Protocol: api.iterm2.com\r\n"} {
		if !strings.Contains(strings.ToLower(good), strings.ToLower(want)) {
			t.Errorf("%q is missing in %q", want, good)
		}
	}
	if strings.Contains(strings.ToLower(good), "extensions") {
		t.Errorf("an extension in %q", good)
	}
	for _, test := range []struct{ old, now, status string }{
		{"GET / HTTP/1.1", "GET /x HTTP/1.1", "400"},
		{"GET / HTTP/1.1", "GET / HTTP/1.0", "400"},
		{"GET / HTTP/1.1", "POST / HTTP/1.1", "400"},
		{"GET / HTTP/1.1", "GET /", "400"},
		{"Upgrade: websocket", "Upgrade: h2c", "400"},
		{"Connection: Upgrade", "Connection: keep-alive, Upgrade", "400"},
		{"api.iterm2.com", "api.iterm2.com, other", "400"},
		{"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Key:", "400"},
		{"Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 12", "400"},
		{"Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 14", "101"},
		{"ws://localhost/", "http://evil.example/", "400"},
		{"ws://localhost/", "ws://localhost.evil.example/", "400"},
		{"Host: localhost", "Host: evil.example", "400"},
		{"Host: localhost", "Host: 127.0.0.1:1912", "101"},
		{"Host: localhost", "Host: [::1]", "101"},
		{"Host: localhost", "Host: localhost:x", "400"},
		{"Host: localhost", "Host: localhost\r\nContent-Length: 0", "400"},
		{"python 2.30", "python 0.23", "406"},
		{"python 2.30", "python", "400"},
		{"python 2.30", "python 2.30 x", "400"},
		{"python 2.30", "swift 0.1", "101"},
		{"x-iterm2-cookie: any\r\n", "", "101"},
		{"x-iterm2-cookie: any", "no colon", "400"},
		{"x-iterm2-cookie: any", "x: " + strings.Repeat("y", 5000), "400"},
		{"x-iterm2-cookie: any\r\n", strings.Repeat("a: b\r\n", 101), "400"},
	} {
		got := upgradeAt(t, h.loc.Socket, strings.Replace(goodUpgrade, test.old, test.now, 1))
		if !strings.HasPrefix(got, "HTTP/1.1 "+test.status) {
			t.Errorf("%q: got %q, want %s", test.now, got, test.status)
		}
		if test.status != "101" && strings.Count(got, "\r\n") != 2 {
			t.Errorf("%q: more than a bare status: %q", test.now, got)
		}
	}
}
