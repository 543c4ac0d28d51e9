package tunnel

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
	"termpilot/tunnel/tunneltest"
)

func TestTheControlPlanesAnswersAreToldApart(t *testing.T) { // TUN-5, TUN-21
	plane := tunneltest.New(t, testTunnel, testKey)
	other := strings.Replace(testTunnel, "0", "9", 1)
	for _, c := range []struct {
		name, tunnel, key string
		ill               func()
		code              fault.Code
		says              string
	}{
		{"a stranger's key", testTunnel, "sk-canary_1", nil, fault.KeyRefused, "401 invalid_api_key"},
		{"an unknown tunnel", other, testKey, nil, fault.TunnelNotFound, "404 tunnel_not_found"},
		{"a key without Read", testTunnel, testKey, func() { plane.Answer(http.StatusForbidden) }, fault.KeyRefused, "may not read the tunnel (403"},
		{"a redirect", testTunnel, testKey, func() { plane.Answer(http.StatusFound) }, fault.Unreachable, "answered 302"},
		{"too many requests", testTunnel, testKey, func() { plane.Answer(http.StatusTooManyRequests) }, fault.Unreachable, "answered 429"},
		{"an ill service", testTunnel, testKey, func() { plane.Answer(http.StatusBadGateway) }, fault.Unreachable, "answered 502"},
		{"a proxy's page", testTunnel, testKey, func() { plane.Answer(0); plane.Garble(true) }, fault.Unreachable, "answered 200, which is not"},
		{"silence", testTunnel, testKey, func() { plane.Garble(false); plane.Hang(true) }, fault.Unreachable, "did not answer in time"},
		{"nobody", testTunnel, testKey, func() { plane.Hang(false); plane.Down() }, fault.Unreachable, "no connection to 127.0.0.1"},
	} {
		if c.ill != nil {
			c.ill()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := look(ctx, plane.URL(), c.tunnel, Secret{c.key})
		cancel()
		if !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.says) || fault.HintOf(err) == "" {
			t.Errorf("%s: got %v, want %s saying %q", c.name, err, c.code, c.says)
		}
		if strings.Contains(err.Error(), c.key) {
			t.Errorf("%s: the key is in %v", c.name, err)
		}
	}
}
