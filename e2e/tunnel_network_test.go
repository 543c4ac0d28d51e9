package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termpilot/tunnel/tunneltest"
)

func TestLoopbackIsNeverProxied(t *testing.T) { // TUN-16
	tunnelClients(t, func(t *testing.T, w *world) {
		w.base = []string{"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9"}
		w.mustSetup()
		w.mustTool("list_sessions", map[string]any{})
		if out, errs, code := w.chatgpt("doctor"); code != 0 {
			t.Errorf("doctor: %d\n%s%s", code, out, errs)
		}
	})
}

func TestAProxyAndAnAuthorityOfOnesOwn(t *testing.T) { // TUN-5, TUN-16, TUN-21, TUN-26
	tunnelClients(t, func(t *testing.T, w *world) {
		authority := tunneltest.NewAuthority(t)
		w.plane = tunneltest.NewTLS(t, tunnelID, canary, authority.Issue(t, time.Now().Add(time.Hour)))
		proxy := tunneltest.NewProxy(t, "me", "p@ss_canary_9Z", w.plane.Address())
		_, port, _ := strings.Cut(w.plane.Address(), ":")
		there := []string{"--base-url", "https://control.test:" + port}
		through := "HTTPS_PROXY=http://me:p%40ss_canary_9Z@" + proxy.Address
		data, err := os.ReadFile(authority.File)
		if err == nil {
			err = os.WriteFile(filepath.Join(w.dir, "own ca.pem"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name string
			env  []string
			says string
		}{
			{"no trust", []string{through}, "the certificate of control.test:" + port + " is not trusted; it was issued by CN=a test's own authority"},
			{"a wrong password", []string{"HTTPS_PROXY=http://me:no_canary@" + proxy.Address}, "refuses to connect (407)"},
			{"no proxy there", []string{"HTTPS_PROXY=http://me:no_canary@127.0.0.1:9"}, "the proxy of this environment cannot be reached"},
			{"no such proxy", []string{"HTTPS_PROXY=http://me:no_canary@no:port"}, "the proxy of this environment cannot be reached"},
			{"a file that is not there", []string{through, "SSL_CERT_FILE=none.pem"}, "SSL_CERT_FILE names none.pem"},
		} {
			w.base = c.env
			if out, errs, code := w.setup(there...); code != 1 || !strings.Contains(errs, c.says) || !strings.Contains(errs, "hint:") {
				t.Errorf("%s: got %d, want it to say %q:\n%s%s", c.name, code, c.says, out, errs)
			}
		}
		w.base = []string{through, "SSL_CERT_FILE=own ca.pem"} // beside the person, not beside the supervisor
		w.mustSetup(there...)
		w.mustTool("list_sessions", map[string]any{})
		first, _ := w.status()
		if took := proxy.Taken.Load(); took < 2 {
			t.Errorf("the proxy took %d connections", took)
		}
		proxy.Refuse.Store(true)
		w.plane.Down()
		down := w.until("failing", func(s tunnelStatus) bool { return s.Polling == "failing" })
		t.Logf("with a proxy that refuses: %s", down.LastError)
		w.chatgpt("doctor")
		w.chatgpt("status")
		proxy.Refuse.Store(false)
		w.plane.Up(t)
		w.until("ready again", func(s tunnelStatus) bool { return s.Ready })

		path := filepath.Join(w.dir, "key")
		if err := os.WriteFile(path, []byte(canary), 0o600); err != nil {
			t.Fatal(err)
		}
		w.mustSetup(append(there, "--runtime-key", "file:"+path, "--at-login")...)
		if again, _ := w.status(); again.PID != first.PID {
			t.Errorf("the same key and settings started it anew: %+v", again)
		}
		for _, text := range w.said {
			if strings.Contains(text, "canary") {
				t.Errorf("a secret was printed:\n%s", text)
			}
		}
		err = filepath.WalkDir(w.dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || file == path {
				return err
			}
			if data, err := os.ReadFile(file); err == nil && (bytes.Contains(data, []byte("canary")) || bytes.Contains(data, []byte("p%40ss"))) {
				t.Errorf("a secret is in %s", file)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		w.base = []string{"SSL_CERT_FILE=" + authority.File} // without the proxy the name is not known
		if out, errs, code := w.setup(there...); code != 1 || !strings.Contains(errs, "the name control.test is not known") {
			t.Errorf("without the proxy: %d\n%s%s", code, out, errs)
		}
		if s, _ := w.status(); s.PID != first.PID || !s.Ready {
			t.Errorf("a setup that failed touched what runs: %+v", s)
		}
	})
}

func TestACertificateThatIsOverOrForAnother(t *testing.T) { // TUN-21
	w := newWorld(t, standIn(t))
	authority := tunneltest.NewAuthority(t)
	w.base = []string{"SSL_CERT_FILE=" + authority.File}
	w.plane = tunneltest.NewTLS(t, tunnelID, canary, authority.Issue(t, time.Now().Add(-time.Hour)))
	if out, errs, code := w.setup(); code != 1 || !strings.Contains(errs, "has expired, or the clock is wrong") {
		t.Errorf("expired: %d\n%s%s", code, out, errs)
	}
	w.plane = tunneltest.NewTLS(t, tunnelID, canary, authority.Issue(t, time.Now().Add(time.Hour)))
	_, port, _ := strings.Cut(w.plane.Address(), ":")
	if out, errs, code := w.setup("--base-url", "https://localhost:"+port); code != 1 || !strings.Contains(errs, "is not valid for it") {
		t.Errorf("for another name: %d\n%s%s", code, out, errs)
	}
	plain := tunneltest.New(t, tunnelID, canary)
	if out, errs, code := w.setup("--base-url", "https://"+plain.Address()); code != 1 || !strings.Contains(errs, "does not speak it") {
		t.Errorf("no TLS: %d\n%s%s", code, out, errs)
	}
	w.base = nil
}
