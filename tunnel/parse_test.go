package tunnel

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"termpilot/fault"
)

func TestAnAliasIsOneNameInEitherSpelling(t *testing.T) { // TUN-4
	for said, want := range map[string]string{"": "termpilot", "Term_Pilot": "term-pilot", "a": "a", "x1-y": "x1-y", strings.Repeat("a", 63): strings.Repeat("a", 63)} {
		if got, err := Alias(said); err != nil || got != want {
			t.Errorf("%q: got %q %v, want %q", said, got, err, want)
		}
	}
	for _, said := range []string{"..", "a/b", "-a", "a-", "a b", "ä", strings.Repeat("a", 300), "a\n", "."} {
		if got, err := Alias(said); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("%q: got %q %v", said, got, err)
		}
	}
}

func TestAVersionIsUnderstood(t *testing.T) { // TUN-22
	for text, want := range map[string]string{
		"0.0.13-dev+5ce4fed (git sha: 5ce4fed)\n": "0.0.13-dev+5ce4fed", "0.0.12": "0.0.12", "v1.2.3\n": "1.2.3",
	} {
		if _, got, ok := parseVersion(text); !ok || got != want {
			t.Errorf("%q: got %q %v, want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "tunnel-client", "0.1", "version 1.2.3"} {
		if _, got, ok := parseVersion(text); ok {
			t.Errorf("%q: got %q", text, got)
		}
	}
	for text, old := range map[string]bool{"0.0.9": true, "0.0.10": false, "0.1.0": false, "1.0.0": false} {
		if numbers, _, _ := parseVersion(text); before(numbers, oldest) != old {
			t.Errorf("%s: too old: got %v", text, !old)
		}
	}
	path := filepath.Join(t.TempDir(), "tunnel-client")
	for script, says := range map[string]string{
		"#!/bin/sh\necho 0.0.9\n": "is version 0.0.9", "#!/bin/sh\nexit 3\n": "does not run", "#!/bin/sh\necho hello\n": "tells no version",
	} {
		if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := findClient(t.Context(), path); !errors.Is(err, fault.ClientMissing) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want it to say %q", script, err, says)
		}
	}
	left := filepath.Join(filepath.Dir(path), "left") // it runs on, with a copy of the output's end
	if err := os.WriteFile(path, []byte("#!/bin/sh\nsleep 600 &\necho $! >"+left+"\necho 0.0.10\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, version, err := findClient(t.Context(), path); err != nil || version != "0.0.10" {
		t.Errorf("one that leaves something behind: %q %v", version, err)
	}
	data, _ := os.ReadFile(left)
	if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("%q: %v", data, err)
	}
}

func TestTheClientsStateIsReadFromWhatCounts(t *testing.T) { // TUN-30
	const status = `{"version":"0.0.12","control_plane_tunnel_id":"tunnel_x","control_plane_base_url":"http://127.0.0.1:1","tunnel_metadata":{"ID":"tunnel_x"},
		"channels":[{"name":"main","probe_status":"ok"}],"unknown":[1]}`
	const metrics = "# HELP x\ncommands_poll_last_successful_timestamp_seconds{a=\"}\"} 1.795989456e+09\ncommands_poll_errors_total{error_kind=\"http\"} 2\n" +
		"commands_poll_errors_total{error_kind=\"net\"} 3\ncommands_polled_total 7 1795989456000\nbroken{\nNaN_total NaN\n"
	s, err := parseState([]byte(status), []byte(metrics))
	if err != nil || !s.HasTunnel || !s.LastPoll.Equal(time.Unix(1795989456, 0)) || s.PollErrors != 5 || s.Commands != 7 || s.Server != "ok" {
		t.Errorf("got %+v %v", s, err)
	}
	for _, bad := range []string{"", "[]", "{}", `{"control_plane_tunnel_id":""}`, "live"} {
		if s, err := parseState([]byte(bad), nil); !errors.Is(err, errNotAState) {
			t.Errorf("%q: got %+v %v", bad, s, err)
		}
	}
	s, err = parseState([]byte(`{"control_plane_tunnel_id":"t","tunnel_metadata":{"ID":"other"},"tunnel_metadata_error":"401\u001b[31m"}`), nil)
	if err != nil || s.HasTunnel || strings.ContainsRune(s.MetadataError, 0x1b) || !s.LastPoll.IsZero() {
		t.Errorf("got %+v %v", s, err)
	}
}

func TestWhatTheClientPrintsIsKeptWithoutTheKey(t *testing.T) { // TUN-5, TUN-15
	path := filepath.Join(t.TempDir(), "log")
	var heard []record
	l := &listener{hide: Secret{"sk-canary"}.redactor(none), log: &logFile{path: path}, told: func(r record) { heard = append(heard, r) }}
	defer l.log.close()
	text := `{"level":"INFO","msg":"provided","constructor":"x"}` + "\n" +
		`{"level":"WARN","msg":"poll failed; backing off","status_code":401,"error":"key sk-canary is bad"}` + "\r\n" +
		"panic: sk-canary \x1b[31mred\n" + strings.Repeat("x", 200<<10) + "\n" + `{"level":"INFO","msg":"poller recovered"}` + "\nunfinished sk-can"
	for chunk := range slices.Chunk([]byte(text), 7) {
		if n, err := l.Write(chunk); n != len(chunk) || err != nil {
			t.Fatal(n, err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte("canary")) || bytes.Contains(data, []byte("provided")) || bytes.ContainsRune(data, 0x1b) || len(data) > 20<<10 {
		t.Errorf("the log has %d bytes, %v: %.300s", len(data), err, data)
	}
	if len(heard) != 4 || heard[0].Status != 401 || heard[0].why() != "key [key] is bad" || !strings.HasPrefix(heard[1].Plain, "panic: [key]") || heard[3].Msg != "poller recovered" {
		t.Errorf("heard %.400v", heard)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v", info.Mode(), err)
	}
}

func TestTheLogHasAnEnd(t *testing.T) { // TUN-15
	path := filepath.Join(t.TempDir(), "log")
	l := &logFile{path: path}
	line := bytes.Repeat([]byte("x"), 10<<10)
	for range 500 {
		l.line(line)
	}
	l.close()
	l.say("after it was closed\n\x1b")
	l.close()
	for _, file := range []string{path, path + ".1"} {
		if info, err := os.Stat(file); err != nil || info.Size() > maxLog+1 || info.Size() < maxLog/2 {
			t.Errorf("%s: got %v %v", file, info, err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 2 {
		t.Errorf("got %v %v", left, err)
	}
}

func TestTheChildGetsLittleOfTheEnvironment(t *testing.T) { // TUN-16
	user := map[string]string{
		"HOME": "/home/x", "PATH": "/home/x/bin", "CONTROL_PLANE_TUNNEL_ID": "other", "MCP_COMMAND": "evil", "LOG_FILE": "/x", "OPENAI_API_KEY": "sk-other",
		"HTTPS_PROXY": "http://proxy:1", "NO_PROXY": "corp", "TMUX": "x", "SSL_CERT_FILE": "/ca", "HEALTH_URL_FILE": "/y",
	}
	for _, entry := range network(func(name string) string { return map[string]string{"SSL_CERT_FILE": "ca.pem"}[name] }) {
		if path, _ := strings.CutPrefix(entry, "SSL_CERT_FILE="); !filepath.IsAbs(path) {
			t.Errorf("got %s, which is another file elsewhere", entry)
		}
	}
	env := environment(files{mcp: "/m,1", state: "/s"}, Secret{"sk-1"}, func(name string) string { return user[name] })
	for _, want := range []string{"CONTROL_PLANE_API_KEY=sk-1", "HOME=/home/x", "HTTPS_PROXY=http://proxy:1", "SSL_CERT_FILE=/ca", "CA_BUNDLE=/ca", "NO_PROXY=localhost,127.0.0.1,::1,corp", "TERMPILOT_MCP_SOCKET=/m,1", "TUNNEL_CLIENT_CODEX_APP_SERVER_CMD=env"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing from %q", want, env)
		}
	}
	for _, entry := range env {
		for _, not := range []string{"other", "evil", "LOG_", "TMUX", "HEALTH_", "OPENAI_", "/home/x/bin"} {
			if strings.Contains(entry, not) {
				t.Errorf("%s came along", entry)
			}
		}
	}
	for _, word := range arguments(Config{TunnelID: "t", BaseURL: "u"}, files{}) {
		if strings.Contains(word, "sk-1") {
			t.Errorf("the key is an argument: %s", word)
		}
	}
	clean := scrub([]string{"A=1", "CONTROL_PLANE_API_KEY=x", "MY=x", "TUNNEL_CLIENT_PROFILE=x", "HOME=/h"}, "MY")
	if want := []string{"A=1", "HOME=/h"}; !slices.Equal(clean, want) {
		t.Errorf("got %q, want %q", clean, want)
	}
	if got, want := Secrets(Config{Key: "env:MY"}, []string{"A=1", "MY=x", "CONTROL_PLANE_X=1"}), []string{"MY", "CONTROL_PLANE_X"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAFingerprintIsOfAllThatRuns(t *testing.T) { // TUN-23
	c := Config{Alias: "a", TunnelID: testTunnel, Client: "/c", BaseURL: "https://x", Serve: []string{"--read-only=true"}}
	user := map[string]string{"HTTPS_PROXY": "http://p:1", "LANG": "C"}
	getenv := func(name string) string { return user[name] }
	first := fingerprint(c, "1", getenv)
	user["LANG"] = "de_DE" // changes nothing that matters
	if fingerprint(c, "1", getenv) != first {
		t.Error("it changed by itself")
	}
	other := c
	other.Serve = []string{"--read-only=true", "--max-wait=5s"}
	if fingerprint(other, "1", getenv) == first || fingerprint(c, "2", getenv) == first {
		t.Error("other flags, or another version, run the same")
	}
	user["HTTPS_PROXY"] = "http://q:1"
	if fingerprint(c, "1", getenv) == first {
		t.Error("another proxy runs the same")
	}
}

func TestAProxysPasswordDoesNotShow(t *testing.T) { // TUN-5
	for proxy, want := range map[string]int{
		"": 0, "http://proxy:1": 0, "http://me@proxy:1": 0, "http://me:@proxy": 0, "http://me:secret@proxy:1": 1, "me:secret@proxy": 1,
		"http://me:s%40cret@proxy": 2, "http://me:p@ss@proxy:1": 2, "http://me:%zz@proxy": 2,
	} {
		if got := passwords(proxy); len(got) != want {
			t.Errorf("%q: got %q, want %d", proxy, got, want)
		}
	}
	user := map[string]string{"HTTPS_PROXY": "http://me:p@ss1@proxy:1", "http_proxy": "http://me:s%2Fcret2@proxy:1"}
	hide := Secret{"sk-canary"}.redactor(func(name string) string { return user[name] })
	got := hide.Replace("via http://me:p@ss1@proxy:1 (p%40ss1), s%2Fcret2, s/cret2: sk-canary")
	if want := "via http://me:[password]@proxy:1 ([password]), [password], [password]: [key]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	user = map[string]string{"HTTPS_PROXY": `http://me:a&b%22\c@proxy`}
	hide = Secret{}.redactor(func(name string) string { return user[name] })
	for _, html := range []bool{false, true} { // as a JSON log has it, and a status
		var said bytes.Buffer
		enc := json.NewEncoder(&said)
		enc.SetEscapeHTML(html)
		if err := enc.Encode([]string{"http://me:a&b%22\\c@proxy", `is a&b"\c`}); err != nil {
			t.Fatal(err)
		}
		if got, want := hide.Replace(said.String()), `["http://me:[password]@proxy","is [password]"]`+"\n"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func FuzzWhatAClientSaysIsBounded(f *testing.F) {
	f.Add([]byte(`{"level":"WARN","msg":"poll failed; backing off","error":"x","status_code":401}`+"\n"), []byte("commands_polled_total 1"), []byte(`{"control_plane_tunnel_id":"t"}`))
	f.Add([]byte("panic: \x1b]0;x\a\n\n\r\n"), []byte("a{b=\"}\"} 1e400"), []byte(`{"channels":[{}]}`))
	path := filepath.Join(f.TempDir(), "log")
	f.Fuzz(func(t *testing.T, printed, metrics, status []byte) {
		told := func(r record) {
			if text := r.Plain + r.why(); !utf8.ValidString(text) || len(text) > 8<<10 || strings.ContainsAny(text, "\x1b\n\r\x00") || strings.Contains(text, "sk-canary") {
				t.Fatalf("%q became %q", printed, text)
			}
		}
		l := &listener{hide: Secret{"sk-canary"}.redactor(none), log: &logFile{path: path}, told: told}
		defer l.log.close()
		_, _ = l.Write(append(printed, '\n'))
		if s, err := parseState(status, metrics); err == nil && strings.ContainsAny(s.TunnelID+s.Version+s.BaseURL+s.Server+s.MetadataError, "\x1b\n\x00") {
			t.Fatalf("%q became %+v", status, s)
		}
	})
}

func FuzzAConfigurationIsTheOneThatWasWritten(f *testing.F) {
	f.Add([]byte(`{"v":1,"alias":"a","tunnel_id":"tunnel_0123456789abcdef0123456789abcdef","key":"env:K","client":"/x","base_url":"https://x","serve":[]}`))
	f.Add([]byte(`{"v":2}`))
	home := f.TempDir()
	p := Place{Home: home, Sockets: home}
	paths, err := p.make("a")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(paths.config, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(p, "a")
		if err == nil && (c.Alias != "a" || !tunnelShape().MatchString(c.TunnelID) || c.V != configVersion) {
			t.Fatalf("%q was taken as %+v", data, c)
		}
	})
}
