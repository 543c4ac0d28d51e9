package reduce

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// peerVersion is the version of aiterm-mcp that TABLE.md tells of.
const peerVersion = "0.27.8"

// peerEnv names the command that starts the peer's server. With it -update
// measures the peer anew; without it the figures of the table stay.
const peerEnv = "TERMPILOT_TEST_PEER"

// replay is the shell of the peer's sessions: whatever it is told to run prints
// the log. So the peer knows the command as it was typed, and reads the log's bytes.
const replay = `printf '$ '; read -r _; cat "$1"; printf '$ '; : > "$1.done"; read -r _`

// peer is a running server of the peer.
type peer struct {
	t       *testing.T
	session *mcp.ClientSession
	dir     string
}

func startPeer(t *testing.T, command string) *peer {
	t.Helper()
	p := &peer{t: t, dir: t.TempDir()}
	words := strings.Fields(command)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + p.dir, "XDG_RUNTIME_DIR=" + p.dir, "LANG=C.UTF-8"}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "table", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if got := session.InitializeResult().ServerInfo.Version; got != peerVersion {
		t.Fatalf("the peer is %s, and the table tells of %s", got, peerVersion)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "replay"), []byte(replay), 0o600); err != nil {
		t.Fatal(err)
	}
	p.session = session
	return p
}

func (p *peer) call(tool string, args map[string]any) (string, error) {
	r, err := p.session.CallTool(p.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		return "", fmt.Errorf("%s: %s", tool, text)
	}
	return text, nil
}

// read returns what the peer's pty_read says of a log after its command was
// typed, with the peer's reducers for commands or without.
func (p *peer) read(id string, s sample, reducers bool) (string, error) {
	log := filepath.Join(p.dir, id)
	text := strings.ReplaceAll(s.text, "\r\n", "\n") // the terminal ends lines with both anew
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		return "", err
	}
	if _, err := p.call("pty_open", map[string]any{"name": id, "shell": "bash " + filepath.Join(p.dir, "replay") + " " + log}); err != nil {
		return "", err
	}
	defer p.call("pty_close", map[string]any{"session_id": id})
	if _, err := p.call("pty_send", map[string]any{"session_id": id, "text": s.command, "force": true}); err != nil {
		return "", err
	}
	for tick := time.Now(); ; time.Sleep(20 * time.Millisecond) { // another program makes the file
		if _, err := os.Stat(log + ".done"); err == nil {
			break
		}
		if time.Since(tick) > time.Minute {
			return "", fmt.Errorf("%s was not printed", s.name)
		}
	}
	got, err := p.call("pty_read", map[string]any{"session_id": id, "wait": true, "timeout": 60, "rtk": reducers})
	if err != nil {
		return "", err
	}
	raw, err := p.call("pty_read", map[string]any{"session_id": id, "full": true, "raw": true})
	if err == nil && !strings.Contains(plainText(raw), plainText(s.text)) {
		err = fmt.Errorf("%s: the peer did not see the whole log", s.name)
	}
	return got, err
}

// plainText is text without what a terminal and a decoder may change.
func plainText(text string) string {
	return strings.NewReplacer("\r", "", "\ufffd", "").Replace(strings.ToValidUTF8(text, ""))
}

// peerTexts reads every log through the peer in both of its modes.
func peerTexts(t *testing.T, command string, samples []sample) map[string][2]string {
	p := startPeer(t, command)
	texts := make([][2]string, len(samples))
	todo := make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range todo {
				for mode := range 2 {
					text, err := p.read(fmt.Sprintf("t%03d-%d", i, mode), samples[i], mode == 1)
					if err != nil {
						t.Error(err)
					}
					texts[i][mode] = text
				}
			}
		})
	}
	for i := range samples {
		todo <- i
	}
	close(todo)
	wg.Wait()
	byName := map[string][2]string{}
	for i, s := range samples {
		byName[s.name] = texts[i]
	}
	return byName
}
