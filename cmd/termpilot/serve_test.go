package main

import (
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
