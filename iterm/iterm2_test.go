package iterm

import (
	"context"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/fault"
)

func testKeyring(t *testing.T, env map[string]string) (*keyring, *[]string) {
	t.Helper()
	asked := &[]string{}
	return &keyring{
		getenv: func(name string) string { return env[name] }, root: uint32(os.Getuid()),
		script: func(_ context.Context, source string) (string, error) {
			*asked = append(*asked, source)
			return "0123456789abcdef A-KEY\n", nil
		},
	}, asked
}

func credentials(t *testing.T, k *keyring) string {
	t.Helper()
	cookie, key, err := k.credentials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return cookie + " " + key
}

func TestACookieOfTheEnvironmentIsUsedOnce(t *testing.T) { // ITERM-60
	k, asked := testKeyring(t, map[string]string{"HOME": t.TempDir(), "ITERM2_COOKIE": "given", "ITERM2_KEY": "key"})
	if got := credentials(t, k); got != "given key" || len(*asked) != 0 {
		t.Errorf("got %q after %q", got, *asked)
	}
	if got := credentials(t, k); got != "0123456789abcdef A-KEY" || len(*asked) != 1 {
		t.Errorf("got %q after %q", got, *asked)
	}
	const want = `if application "iTerm2" is running then
tell application "iTerm2" to request cookie and key for app named "termpilot"
else
error "not running" number -600
end if`
	if (*asked)[0] != want {
		t.Errorf("asked %q, want %q", (*asked)[0], want)
	}
}

func TestAnotherITerm2IsNamedByItsPath(t *testing.T) { // ITERM-60
	k, asked := testKeyring(t, map[string]string{"HOME": t.TempDir(), "IT2_APP_PATH": "/a \"b\"\\c\n.app"})
	credentials(t, k)
	if want := `tell application "/a \"b\"\\c .app" to `; !strings.Contains((*asked)[0], want) {
		t.Errorf("asked %q", (*asked)[0])
	}
	k.script = func(context.Context, string) (string, error) { return "one", nil }
	_, _, err := k.credentials(t.Context())
	wantCode(t, err, fault.Protocol)
}

func TestOnlyTheRightFileSwitchesAuthenticationOff(t *testing.T) { // ITERM-61
	home := t.TempDir()
	k, _ := testKeyring(t, map[string]string{"HOME": home, "IT2_SUITE": "other", "ITERM2_COOKIE": "c"})
	folder := filepath.Join(home, "Library", "Application Support", "other")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "disable-automation-auth")
	right := hex.EncodeToString([]byte(path)) + " 61DF88DC-3423-4823-B725-22570E01C027"
	for content, want := range map[string]bool{right: true, right + "\n": false, "": false, strings.ToUpper(right): false} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := k.switchedOff(); got != want {
			t.Errorf("%.20q…: %v", content, got)
		}
	}
	if err := os.WriteFile(path, []byte(right), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := credentials(t, k); got != " " {
		t.Errorf("got %q", got)
	}
	k.root++ // another user's
	if k.switchedOff() {
		t.Error("another user's file is believed")
	}
	k.root--
	if err := os.Rename(path, path+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+"2", path); err != nil {
		t.Fatal(err)
	}
	if k.switchedOff() {
		t.Error("a link is followed")
	}
}

func TestEveryRefusalOfACookieHasItsReason(t *testing.T) { // ITERM-62
	seen := map[string]bool{}
	for _, number := range []int{0, 1, 2, -1743, -2741, -600} {
		err := scriptFault(number, errors.New("exit status 1"))
		wantCode(t, err, fault.BackendUnavailable)
		if seen[err.Error()] {
			t.Errorf("%d: %v was said before", number, err)
		}
		seen[err.Error()] = true
	}
	if _, err := os.Stat("/usr/bin/osascript"); err != nil {
		_, err := osascript(t.Context(), "")
		wantCode(t, err, fault.BackendUnavailable)
	}
}

func TestITerm2IsFoundByItsSuite(t *testing.T) { // ITERM-60, ITERM-61
	home, err := os.MkdirTemp("", "it") // short: the socket's path must fit
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	for suite, folder := range map[string]string{"": "iTerm2", "x": "x", "../..": "iTerm2", "a/b": "b"} {
		private := filepath.Join(home, "Library", "Application Support", folder, "private")
		if err := os.MkdirAll(private, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", filepath.Join(private, "socket"))
		if err != nil {
			t.Fatal(err)
		}
		o := ITerm2(func(name string) string { return map[string]string{"HOME": home, "IT2_SUITE": suite}[name] })
		conn, err := o.Dial(t.Context())
		if err != nil {
			t.Errorf("%q: %v", suite, err)
		} else {
			conn.Close()
		}
		l.Close()
	}
}
