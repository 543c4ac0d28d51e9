package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"termpilot/iterm/api"
)

func TestKeystrokesAreReadFromWhatATerminalSends(t *testing.T) { // HOST-151
	for input, want := range map[string]string{
		"a":                    `"a" "a" 0 []`,
		"A":                    `"A" "A" 0 [SHIFT]`,
		"!":                    `"!" "!" 18 [SHIFT]`,
		"\x03":                 `"\x03" "c" 8 [CONTROL]`,
		"\x00":                 `"\x00" " " 49 [CONTROL]`,
		"\r":                   `"\r" "\r" 36 []`,
		"\x7f":                 `"\x7f" "\x7f" 51 []`,
		"\x1b":                 `"\x1b" "\x1b" 53 []`,
		"\x1bx":                `"x" "x" 7 [OPTION]`,
		"é":                    `"é" "é" -1 []`,
		"\x1b[A":               `"\uf700" "\uf700" 126 [FUNCTION]`,
		"\x1bOD":               `"\uf702" "\uf702" 123 [FUNCTION]`,
		"\x1b[1;6C":            `"\uf703" "\uf703" 124 [FUNCTION SHIFT CONTROL]`,
		"\x1b[15~":             `"\uf708" "\uf708" 96 [FUNCTION]`,
		"\x1b[3;3~":            `"\uf728" "\uf728" 117 [FUNCTION OPTION]`,
		"\x1b[Z":               `"\x19" "\x19" 48 [SHIFT]`,
		"ab":                   `"a" "a" 0 [], "b" "b" 11 []`,
		"\x1b\x1b[B":           `"\x1b" "\x1b" 53 [], "\uf701" "\uf701" 125 [FUNCTION]`,
		"\x1b[24;80R":          `none`,
		"\x1b[<0;1;1M":         `none`,
		"\x1b[I":               `none`,
		"\xff":                 `none`,
		"\x1b[200~rm\r":        `none`,
		"\x1b[200~x\x1b[201~y": `none, "y" "y" 16 []`,
	} {
		var got []string
		for _, k := range (&keyboard{}).cut([]byte(input)) {
			if !k.known {
				got = append(got, "none")
				continue
			}
			got = append(got, fmt.Sprintf("%q %q %d %v", k.text, k.ignoring, k.code, k.modifiers))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%q: got %s, want %s", input, text, want)
		}
	}
}

func TestAPersonsKeysAreToldAndCanBeKept(t *testing.T) { // HOST-151
	h := newHost(t)
	c, other := h.connect(), h.connect()
	id := c.open("sh", "Custom Command", `"Yes"`, "Command", `"/bin/cat"`)
	c.subscribe(api.NotificationType_NOTIFY_ON_KEYSTROKE, id)
	filter := &api.NotificationRequest{
		Session: ptr("all"), Subscribe: ptr(true), NotificationType: api.NotificationType_KEYSTROKE_FILTER.Enum(),
		Arguments: &api.NotificationRequest_KeystrokeFilterRequest{KeystrokeFilterRequest: &api.KeystrokeFilterRequest{
			PatternsToIgnore: []*api.KeystrokePattern{{
				RequiredModifiers: []api.Modifiers{api.Modifiers_SHIFT}, ForbiddenModifiers: []api.Modifiers{api.Modifiers_CONTROL},
				CharactersIgnoringModifiers: []string{"X"}, Keycodes: []int32{6},
			}},
		}},
	}
	if got := other.call(filter).GetNotificationResponse().GetStatus(); got != api.NotificationResponse_OK {
		t.Fatal(got)
	}
	conn, err := dial(t.Context(), h.loc.Attach)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	press := func(keys string) {
		t.Helper()
		if err := writeFrame(conn, frameInput, []byte(keys)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeFrame(conn, frameHello, raw(hello{V: 1, Op: "attach", Session: id})); err != nil {
		t.Fatal(err)
	}
	press("xXzZ\r")
	var told []string
	for range 5 {
		k := c.await("a keystroke", func(n *api.Notification) bool { return n.GetKeystrokeNotification() != nil }).GetKeystrokeNotification()
		told = append(told, k.GetCharacters())
		if k.GetSession() != id || k.GetAction() != api.KeystrokeNotification_KEY_DOWN {
			t.Errorf("told: %v", k)
		}
	}
	if got := strings.Join(told, ""); got != "xXzZ\r" {
		t.Errorf("told: %q", got)
	}
	c.awaitScreen(id, "xz")
	filter.Subscribe = ptr(false)
	if got := other.call(filter).GetNotificationResponse().GetStatus(); got != api.NotificationResponse_OK {
		t.Fatal(got)
	}
	press("XZ\r")
	c.awaitScreen(id, "XZ")
	if strings.Contains(c.screen(id), "xX") {
		t.Errorf("what was kept was typed: %q", c.screen(id))
	}
}

func FuzzKeystrokesLoseNoByte(f *testing.F) { // HOST-151
	for _, input := range []string{"abc", "\x1b[A\x1bOB\x1b", "\x1b[200~paste", "\x1b[201~\x1b[1;", "é\xff\x00", "\x1b[\x1b[15~"} {
		f.Add([]byte(input), 3)
	}
	f.Fuzz(func(t *testing.T, input []byte, at int) {
		k := &keyboard{}
		var all []byte
		at = min(max(at, 0), len(input))
		for _, part := range [][]byte{input[:at], input[at:]} {
			for _, key := range k.cut(part) {
				if len(key.bytes) == 0 {
					t.Fatal("a keystroke of no bytes")
				}
				all = append(all, key.bytes...)
			}
		}
		if !bytes.Equal(all, input) {
			t.Fatalf("%q became %q", input, all)
		}
	})
}

func TestAPasteIsNoKeysHoweverItIsCut(t *testing.T) { // HOST-151
	const input, want = "\x1b[200~a\x1b\x1b[20x\x1b[201~yz", "yz"
	for first := 3; first < len(input); first++ { // ESC [ alone is a key
		for second := first; second <= len(input); second++ {
			k, got, all := &keyboard{}, "", ""
			for _, part := range []string{input[:first], input[first:second], input[second:]} {
				for _, key := range k.cut([]byte(part)) {
					got, all = got+key.text, all+string(key.bytes)
				}
			}
			if all != input || got != want {
				t.Errorf("%q, %q, %q: the keys are %q, want %q", input[:first], input[first:second], input[second:], got, want)
			}
		}
	}
}
