package host

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"termpilot/fault"
	"termpilot/private"
)

// admitSuite asks the host for the credentials, as host env does.
func (h *testHost) admitSuite() (Credentials, error) {
	h.t.Helper()
	var c Credentials
	payload, err := ask(h.t.Context(), h.loc, hello{V: 1, Op: "env", Suite: h.loc.Suite})
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		h.t.Fatal(err)
	}
	return c, nil
}

func (h *testHost) mustAdmitSuite() Credentials {
	h.t.Helper()
	c, err := h.admitSuite()
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func withCookie(cookie string) string {
	return strings.Replace(goodUpgrade, "x-iterm2-cookie: any", "x-iterm2-cookie: "+cookie, 1)
}

func TestTheSuitesPlaceIsMadeWhenItIsAskedForAndPrivate(t *testing.T) { // HOST-141
	h := newHost(t)
	if _, err := os.Stat(filepath.Join(h.home, "Library")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before anybody asked: %v", err)
	}
	c := h.mustAdmitSuite()
	want := filepath.Join(h.home, "Library/Application Support/termpilot/private/socket")
	if c.Suite != "termpilot" || c.Socket != want {
		t.Errorf("got %s, %s, want termpilot, %s", c.Suite, c.Socket, want)
	}
	for path, mode := range map[string]fs.FileMode{
		filepath.Dir(filepath.Dir(want)): fs.ModeDir | 0o700, filepath.Dir(want): fs.ModeDir | 0o700,
		want: fs.ModeSocket | 0o600, want + ".lock": 0o600,
	} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v, want %v", path, info, err, mode)
		}
	}
	if again := h.mustAdmitSuite(); again != c {
		t.Error("the credentials changed")
	}
}

func TestTheSuitesSocketWantsItsCookieAsOftenAsOneLikes(t *testing.T) { // HOST-142
	h := newHost(t)
	c := h.mustAdmitSuite()
	for range 3 {
		if got := upgradeAt(t, c.Socket, withCookie(c.Cookie)); !strings.HasPrefix(got, "HTTP/1.1 101 ") {
			t.Errorf("with the cookie: %q", got)
		}
	}
	stranger := newHost(t).mustAdmitSuite() // as after a restart: another host's
	for name, request := range map[string]string{
		"none":         strings.Replace(goodUpgrade, "x-iterm2-cookie: any\r\n", "", 1),
		"empty":        withCookie(""),
		"another":      withCookie(stranger.Cookie),
		"the key":      withCookie(c.Key),
		"upper case":   withCookie(strings.ToUpper(c.Cookie) + "A"),
		"a shorter":    withCookie(c.Cookie[:31]),
		"two cookies":  withCookie(c.Cookie + " " + c.Cookie),
		"the last one": withCookie(c.Cookie + "\r\nx-iterm2-cookie: other"),
	} {
		if got := upgradeAt(t, c.Socket, request); got != "HTTP/1.1 401 Unauthorized\r\n\r\n" {
			t.Errorf("%s: %q, want a bare 401", name, got)
		}
	}
	for change, status := range map[string]string{"api.iterm2.com, other": "400", "api.iterm2.com": "401"} {
		request := strings.Replace(withCookie("wrong"), "api.iterm2.com", change, 1)
		if got := upgradeAt(t, c.Socket, request); !strings.HasPrefix(got, "HTTP/1.1 "+status) {
			t.Errorf("%s: %q, want %s: the cookie is looked at last", change, got, status)
		}
	}
	if got := checkUpgrade("GET / HTTP/1.1", nil, false); got != unauthorized {
		t.Errorf("another user: %q, want 401 before anything else", got)
	}
}

func TestRootCanSwitchCookiesOff(t *testing.T) { // HOST-143
	path := filepath.Join(t.TempDir(), authOff)
	content := hex.EncodeToString([]byte(path)) + " " + authMagic
	for name, file := range map[string]string{
		"empty": "", "a newline": content + "\n", "the magic alone": authMagic,
		"another path": strings.Replace(content, "2f", "2e", 1),
	} {
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if switchedOff(path, os.Getuid()) {
			t.Errorf("%s switches cookies off", name)
		}
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if !switchedOff(path, os.Getuid()) {
		t.Error("the right file does not count")
	}
	if switchedOff(path, os.Getuid()+1) {
		t.Error("another user's file counts")
	}
	if err := os.Rename(path, path+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+"2", path); err != nil {
		t.Fatal(err)
	}
	if switchedOff(path, os.Getuid()) {
		t.Error("a link counts")
	}
	if os.Getuid() != 0 {
		return // only root's file counts for a host
	}
	h := newHost(t)
	c := h.mustAdmitSuite()
	path = filepath.Join(h.home, "Library/Application Support/termpilot", authOff)
	for name, want := range map[string]string{"the file": "101", "no file": "401"} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if name == "the file" {
			if err := os.WriteFile(path, []byte(hex.EncodeToString([]byte(path))+" "+authMagic), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := upgradeAt(t, c.Socket, withCookie("")); !strings.HasPrefix(got, "HTTP/1.1 "+want) {
			t.Errorf("with %s: %q, want %s", name, got, want)
		}
	}
}

func TestAHostOfAnotherHomeOrPlaceIsNotGivenOut(t *testing.T) { // HOST-144
	h := newHost(t)
	if _, err := ask(t.Context(), h.loc, hello{V: 1, Op: "env", Suite: h.loc.Suite + "2"}); !errors.Is(err, fault.Refused) {
		t.Errorf("another HOME: %v, want %v", err, fault.Refused)
	}
	h.mustAdmitSuite()
	other := newHost(t, func(o *Options) {
		o.Env = append(slices.Clone(o.Env), "HOME="+h.home)
	})
	if _, err := other.admitSuite(); !errors.Is(err, fault.Refused) {
		t.Errorf("a second host of the HOME: %v, want %v", err, fault.Refused)
	}
	if !strings.HasPrefix(upgradeAt(t, h.loc.Suite, withCookie(h.mustAdmitSuite().Cookie)), "HTTP/1.1 101") {
		t.Error("the first one is out of reach")
	}
	long := "/" + strings.Repeat("h", longestSocket)
	for path, want := range map[string]bool{long[:longestSocket]: true, long: false} {
		if err := suiteFits(path); (err == nil) != want || err != nil && !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("%d bytes: %v", len(path), err)
		}
	}
}

func TestAStrangersFileInTheSuitesPlaceStays(t *testing.T) { // HOST-141
	h := newHost(t)
	if err := os.MkdirAll(filepath.Dir(h.loc.Suite), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.loc.Suite, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.admitSuite(); !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("a file that is no socket: %v", err)
	}
	if got, _ := os.ReadFile(h.loc.Suite); string(got) != "mine" {
		t.Errorf("the file now holds %q", got)
	}
	if err := os.Remove(h.loc.Suite); err != nil {
		t.Fatal(err)
	}
	l, err := private.Listen(h.loc.Suite)
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close() // as a host that was killed leaves it
	c := h.mustAdmitSuite()
	if got := upgradeAt(t, c.Socket, withCookie(c.Cookie)); !strings.HasPrefix(got, "HTTP/1.1 101") {
		t.Errorf("after a stale socket: %q", got)
	}
}

// canary keeps what was written to it.
type canary struct {
	mu   sync.Mutex
	text strings.Builder
}

func (c *canary) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

func (c *canary) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

func TestTheCookieIsToldByOneAnswerAlone(t *testing.T) { // HOST-145
	log := &canary{}
	h := newHost(t, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	c := h.mustAdmitSuite()
	upgradeAt(t, c.Socket, withCookie(c.Cookie+"x"))
	client := h.connect()
	id := client.openReady("bash")
	_, environment := client.run(id, "env")
	status, err := inspect(t.Context(), h.loc)
	if err != nil {
		t.Fatal(err)
	}
	for place, text := range map[string]string{
		"the log": log.String(), "a session's environment": environment, "the status": encode(status),
		"the variables": client.variable(id, "*"),
	} {
		for _, secret := range []string{c.Cookie, c.Key, "ITERM2_", "IT2_SUITE"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %s", place, secret)
			}
		}
		if text == "" {
			t.Errorf("%s is empty: the test proves nothing", place)
		}
	}
}
