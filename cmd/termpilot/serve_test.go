package main

import (
	"errors"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

func TestServersThatStartAtOnceHaveOneToken(t *testing.T) { // CLI-13
	for range 20 {
		home := filepath.Join(t.TempDir(), "tp")
		a := &app{getenv: func(name string) string {
			return map[string]string{"HOME": home, "TERMPILOT_HOME": home}[name]
		}}
		var tokens [4]string
		var wg sync.WaitGroup
		for i := range tokens {
			wg.Go(func() {
				token, origin, err := a.token("")
				if err != nil || origin != filepath.Join(home, "http.token") {
					t.Errorf("%q, %v", origin, err)
				}
				tokens[i] = token
			})
		}
		wg.Wait()
		for _, token := range tokens {
			if token != tokens[0] || len(token) < 16 {
				t.Fatalf("%d tokens of %d bytes differ", len(tokens), len(token))
			}
		}
		if left, err := filepath.Glob(filepath.Join(home, "*")); err != nil || len(left) != 1 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	}
}

func TestAnAddressThatWillNotDoIsRefused(t *testing.T) { // CLI-1, CLI-12
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, want := range map[string]int{
		"": exitUsage, "127.0.0.1": exitUsage, ":0": exitUsage, "0.0.0.0:0": exitUsage, "[::]:0": exitUsage, "example.com:0": exitUsage,
		"localhost.evil.example:0": exitUsage, "127.0.0.1:65536": exitUsage, "127.0.0.1:nosuch": exitUsage, taken.Addr().String(): exitFailed,
	} {
		l, err := listenLoopback(t.Context(), address)
		if err == nil {
			_ = l.Close()
		}
		if got := exitCode(err); got != want {
			t.Errorf("%q: exit code %d, want %d: %v", address, got, want, err)
		}
		if o, ok := errors.AsType[*outcome](err); want == exitFailed && (!ok || o.hint == "") {
			t.Errorf("%q: %v has no way out", address, err)
		}
	}
}
