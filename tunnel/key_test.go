package tunnel

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termpilot/fault"
)

func none(string) string { return "" }

func TestAnEnvFileMayBeWrittenInManyWays(t *testing.T) { // TUN-7
	const want = "sk-lab_1"
	path := filepath.Join(t.TempDir(), ".env")
	for text, line := range map[string]int{
		"export K=sk-lab_1\n":                       1,
		"K=\"sk-lab_1\"\n":                          1,
		"K='sk-lab_1' # note\n":                     1,
		"K = sk-lab_1\n":                            1,
		"A=1\r\nK=sk-lab_1\r\nB=2\r\n":              2,
		"\xef\xbb\xbfK=sk-lab_1\n":                  1,
		"K=sk-lab_1":                                1,
		"K=sk-old\nK=sk-lab_1\n":                    2,
		"# K=no\n\nOTHER_K=no\nK: sk-lab_1\nKK=2\n": 4,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		key, origin, err := Reference("env:K").Resolve(t.Context(), Sources{Getenv: none, EnvFile: path})
		if err != nil || key.value != want || origin != fmt.Sprintf("%s, line %d", path, line) {
			t.Errorf("%q: got %q from %q, %v; want line %d", text, key.value, origin, err, line)
		}
	}
	process := func(name string) string { return map[string]string{"K": "sk-process"}[name] }
	if key, origin, err := Reference("env:K").Resolve(t.Context(), Sources{Getenv: process, EnvFile: path}); err != nil || key.value != "sk-process" || origin != "the variable K" {
		t.Errorf("with the variable set: got %q from %q, %v", key.value, origin, err)
	}
}

func TestAnEnvFileThatWillNotDoIsToldWithoutItsContent(t *testing.T) { // TUN-3, TUN-5, TUN-7
	dir := t.TempDir()
	path := filepath.Join(dir, ".env")
	ran := filepath.Join(dir, "ran")
	for text, code := range map[string]fault.Code{
		"K=sk-canary#1\n":                          fault.KeyInvalid,
		"K=$(touch " + ran + ")\n":                 fault.KeyInvalid,
		"K=\"sk-canary\nsk-canary\"\n":             fault.KeyInvalid,
		"\xff\xfeK\x00=\x00c\x00a\x00n\x00":        fault.KeyInvalid,
		"K=sk-canary\nthis is canary no line\n":    fault.KeyInvalid,
		"K=\n":                                     fault.KeyMissing,
		"OTHER=sk-canary\n":                        fault.KeyMissing,
		"K=sk-admin-canary\n":                      fault.KeyInvalid,
		"K=" + strings.Repeat("canary", 20000):     fault.KeyInvalid,
		"K=tunnel_" + strings.Repeat("0", 32):      fault.KeyInvalid,
		"K='sk-canary\n":                           fault.KeyInvalid,
		"K=\"$HOME sk-canary ${HOME:-x}\"\n":       fault.KeyInvalid,
		"A='unfinished canary\nK=sk-canary\nB=2\n": fault.KeyInvalid,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Reference("env:K").Resolve(t.Context(), Sources{Getenv: none, EnvFile: path})
		if !errors.Is(err, code) || strings.Contains(err.Error()+fault.HintOf(err), "canary") || !strings.Contains(err.Error(), path) {
			t.Errorf("%.60q: got %v, want %s naming the file and nothing of its content", text, err, code)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a command in the file was executed")
	}
	if _, _, err := Reference("env:K").Resolve(t.Context(), Sources{Getenv: none, EnvFile: filepath.Join(dir, "none")}); !errors.Is(err, fault.KeyMissing) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, _, err := Reference("env:K").Resolve(t.Context(), Sources{Getenv: none, Fallbacks: []string{filepath.Join(dir, "none")}}); !errors.Is(err, fault.KeyMissing) {
		t.Errorf("no file at all: %v", err)
	}
}

func TestAReferenceIsNeverAKey(t *testing.T) { // TUN-3, TUN-5
	for said, want := range map[string]Reference{
		"": "env:CONTROL_PLANE_API_KEY", "env:MY_KEY": "env:MY_KEY", "MY_KEY": "env:MY_KEY", "file:/run/key": "file:/run/key", "keychain:tunnel": "keychain:tunnel",
	} {
		if got, err := ParseReference(said); err != nil || got != want {
			t.Errorf("%q: got %q %v, want %q", said, got, err, want)
		}
	}
	for _, said := range []string{"sk-canary_1", "skcanary", "env:", "env:A B", "env:canary-x", "file:relative", "http://canary", "keychain:"} {
		got, err := ParseReference(said)
		if !errors.Is(err, fault.InvalidArgument) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: got %q %v", said, got, err)
		}
	}
}

func TestAKeyFileIsRead(t *testing.T) { // TUN-3
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("sk-lab_1\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, origin, err := Reference("file:"+path).Resolve(t.Context(), Sources{Getenv: none}); err != nil || key.value != "sk-lab_1" || !strings.Contains(origin, path) {
		t.Errorf("got %q from %q, %v", key.value, origin, err)
	}
	for _, bad := range []string{path + "-none", filepath.Dir(path)} {
		if _, _, err := Reference("file:"+bad).Resolve(t.Context(), Sources{Getenv: none}); !errors.Is(err, fault.KeyMissing) {
			t.Errorf("%s: got %v", bad, err)
		}
	}
}

func TestASecretDoesNotShow(t *testing.T) { // TUN-5
	s := Secret{"sk-canary"}
	data, err := json.Marshal(struct{ S Secret }{s})
	text := fmt.Sprintf("%v %+v %#v %s %q %x %d %v", s, s, s, s, s, s, s, struct{ S Secret }{s}) + string(data)
	if err != nil || strings.Contains(text, "canary") || strings.Contains(text, "63616e617279") {
		t.Errorf("got %s %v", text, err)
	}
}

func FuzzAnEnvFileNeverShowsInAnError(f *testing.F) {
	for _, seed := range []string{"K=canary", "export K='canary", "K=\"canary\\n$X\"", "K: canary #", "\xff\xfeK"} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), ".env")
	f.Fuzz(func(t *testing.T, data []byte) {
		data = []byte(strings.ReplaceAll(string(data), "canary", "canary_7Q2x"))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		key, _, err := Reference("env:K").Resolve(t.Context(), Sources{Getenv: none, EnvFile: path})
		if err != nil && strings.Contains(err.Error(), "canary_7Q2x") {
			t.Fatalf("%q: %v", data, err)
		}
		if err == nil && !keyShape().MatchString(key.value) {
			t.Fatalf("%q: took %q for a key", data, key.value)
		}
	})
}
