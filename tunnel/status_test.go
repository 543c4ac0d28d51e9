package tunnel

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"termpilot/fault"
)

func TestWhatIsToldHasAShape(t *testing.T) { // TUN-37
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, told := range map[string]any{
		`{"alias":"","tunnel_id":"","running":false,"healthy":false,"ready":false,"pid":0,"version":"","client_pid":0,"client_version":"",` +
			`"polling":"","poll_age_seconds":0,"refused":0,"last_error":"","runs_tunnel":"","runs_url":"","key_error":"","knows_tunnel":false,"tools":0,` +
			`"server_error":"","calls":0,"call_errors":0,"last_call_error":"","restarts":0,"last_exit":"","log_path":"","key_from":"","raw_logging":false,` +
			`"base_url":"","tunnel_client":""}`: Status{},
		`"since":"2026-01-02T03:04:05Z"`:                                            Status{Since: at},
		`"client_since":"2026-01-02T03:04:05Z"`:                                     Status{ClientSince: at},
		`"last_poll":"2026-01-02T03:04:05Z"`:                                        Status{LastPoll: at},
		`"last_call":"2026-01-02T03:04:05Z"`:                                        Status{LastCall: at},
		`"last_call_failed":"2026-01-02T03:04:05Z"`:                                 Status{LastCallFailed: at},
		`{"alias":"a","was_running":true,"pid":1,"client_pid":2,"login_file":"/x"}`: Ended{Alias: "a", WasRunning: true, PID: 1, ClientPID: 2, LoginFile: "/x"},
		`{"v":1,"alias":"a","tunnel_id":"t","key":"env:K","client":"/c","base_url":"u","serve":["--read-only=true"]}`: Config{
			V: 1, Alias: "a", TunnelID: "t", Key: "env:K", Client: "/c", BaseURL: "u", Serve: []string{"--read-only=true"},
		},
	} {
		if got, err := json.Marshal(told); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("got %s %v, want %s", got, err, want)
		}
	}
}

func TestTheAliasesThatCouldBeMeantAreNamed(t *testing.T) { // TUN-4
	p := Place{Home: t.TempDir(), Sockets: t.TempDir()}
	if _, err := Load(p, "a"); !errors.Is(err, fault.TunnelNotSetUp) || strings.Contains(fault.HintOf(err), "--alias") {
		t.Errorf("got %v, %s", err, fault.HintOf(err))
	}
	f, err := p.make("work")
	if err == nil {
		err = Config{V: configVersion, Alias: "work", TunnelID: testTunnel, Key: "env:K", Client: "/c", BaseURL: "https://x"}.save(f.config)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(p, "a"); !errors.Is(err, fault.TunnelNotSetUp) || !strings.HasSuffix(fault.HintOf(err), "--alias: work") {
		t.Errorf("got %v, %s", err, fault.HintOf(err))
	}
	if err := os.WriteFile(f.config, []byte(`{"v":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(p, "work"); !errors.Is(err, fault.Storage) {
		t.Errorf("a newer configuration: %v", err)
	}
}
