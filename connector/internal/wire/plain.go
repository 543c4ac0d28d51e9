package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// plainRefusal writes a response, but has a request that the SDK refuses in plain
// text answered with a JSON-RPC error of its own id: what carries messages for
// others, as tunnel-client does, passes nothing else on.
type plainRefusal struct {
	http.ResponseWriter
	id   json.RawMessage
	held bool // what is written is a refusal
	text []byte
}

// refusable returns w, or a plainRefusal when the body is a request.
func refusable(w http.ResponseWriter, body []byte) (out http.ResponseWriter, finish func()) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(body, &m) != nil || m.Method == "" || m.ID == nil || bytes.Equal(m.ID, []byte("null")) {
		return w, func() {}
	}
	r := &plainRefusal{ResponseWriter: w, id: m.ID}
	return r, r.finish
}

// Unwrap is for [http.ResponseController].
func (r *plainRefusal) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader holds a refusal back.
func (r *plainRefusal) WriteHeader(status int) {
	if status == http.StatusBadRequest && strings.HasPrefix(r.Header().Get("Content-Type"), "text/plain") {
		r.held = true
		return
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *plainRefusal) Write(data []byte) (int, error) {
	if !r.held {
		return r.ResponseWriter.Write(data)
	}
	r.text = append(r.text, data[:min(len(data), 1<<10-len(r.text))]...)
	return len(data), nil
}

func (r *plainRefusal) finish() {
	if !r.held {
		return
	}
	failure := map[string]any{"code": jsonrpc.CodeInvalidRequest, "message": strings.TrimSpace(string(r.text))}
	if bytes.HasPrefix(r.text, []byte("JSON RPC not handled")) {
		failure = map[string]any{"code": jsonrpc.CodeMethodNotFound, "message": "method not found"}
	}
	r.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(r.ResponseWriter).Encode(map[string]any{"jsonrpc": "2.0", "id": r.id, "error": failure}) // whoever asked may have gone
}
