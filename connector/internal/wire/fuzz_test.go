package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzAnyInputIsAnsweredInJSONAndAPingAfterIt(f *testing.F) { // MCP-1
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		said, _ := conversation(f, file)
		f.Add([]byte(said))
	}
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":5}}\n\x00\xff\n[[]]\n[{}]\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		if bytes.Contains(input, []byte("deaf")) || len(input) > 1<<20 {
			t.Skip()
		}
		var out bytes.Buffer
		w := newWorld(t)
		ping := "\n" + `{"jsonrpc":"2.0","id":"the last","method":"ping"}` + "\n"
		if err := ServeStdio(t.Context(), w.mcp, w.direct, io.MultiReader(bytes.NewReader(input), strings.NewReader(ping)), &out); err != nil {
			t.Fatal(err)
		}
		answered := false
		for line := range bytes.Lines(out.Bytes()) {
			answered = checkLine(t, line) || answered
		}
		if !answered && !bytes.Contains(input, []byte("the last")) {
			t.Errorf("the ping was not answered; output:\n%s", out.Bytes())
		}
	})
}

// checkLine fails unless line is a JSON-RPC message or a batch of them, and
// reports whether it answers the ping.
func checkLine(t *testing.T, line []byte) (ping bool) {
	t.Helper()
	if !bytes.HasSuffix(line, []byte("\n")) {
		t.Fatalf("no line feed after %q", line)
	}
	var many []json.RawMessage
	if json.Unmarshal(line, &many) != nil {
		many = []json.RawMessage{line}
	}
	if len(many) == 0 {
		t.Fatalf("an empty batch: %q", line)
	}
	for _, one := range many {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(one, &m); err != nil || string(m["jsonrpc"]) != `"2.0"` {
			t.Fatalf("no JSON-RPC: %q (%v)", one, err)
		}
		_, hasResult := m["result"]
		_, hasError := m["error"]
		_, hasMethod := m["method"]
		if !hasMethod && hasResult == hasError {
			t.Fatalf("neither result nor error, or both: %q", one)
		}
		if _, hasID := m["id"]; !hasMethod && !hasID {
			t.Fatalf("an answer without id: %q", one)
		}
		ping = ping || string(m["id"]) == `"the last"`
	}
	return ping
}
