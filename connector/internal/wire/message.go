package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// kind is what a message is.
type kind uint8

const (
	call         kind = iota + 1 // has a method and an id
	notification                 // has a method only
	reply                        // answers a request of the server's, or says that one could not be read
)

// maxBatch is the most messages of a batch: their answers are kept until the last
// of them is there, and one of a few bytes may have a long one.
const maxBatch = 64

// message is one JSON-RPC message of a client, in its own spelling.
type message struct {
	kind   kind
	id     json.RawMessage // call: as the client wrote it
	method string
	params json.RawMessage // nil when there are none
	raw    []byte
}

// refusal is the answer to something that is no message.
type refusal struct {
	id   json.RawMessage // nil when it cannot be known
	code int64
	text string
}

// parse reads a line: nothing, one message, or a batch of them. Each message
// has a refusal in its place when it is none. A line that is no JSON at all,
// or is neither an object nor a batch, is one refusal and no batch.
func parse(line []byte) (ms []message, rs []refusal, batch bool) {
	line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	line = bytes.Trim(line, " \t\r\n")
	if len(line) == 0 {
		return nil, nil, false
	}
	if !json.Valid(line) {
		return nil, []refusal{{code: jsonrpc.CodeParseError, text: "the line is not JSON"}}, false
	}
	var parts []json.RawMessage
	switch line[0] {
	case '{':
		parts = []json.RawMessage{line}
	case '[':
		// Batches belong to the versions up to 2025-03-26, where a server must take them.
		for part := range elements(line) {
			if len(parts) == maxBatch {
				return nil, []refusal{invalid(nil, fmt.Sprintf("a batch has at most %d messages", maxBatch))}, false
			}
			parts = append(parts, part)
		}
		if len(parts) == 0 {
			return nil, []refusal{invalid(nil, "an empty batch is no request")}, false
		}
		batch = true
	default:
		return nil, []refusal{invalid(nil, "a message is a JSON object")}, false
	}
	for _, p := range parts {
		if m, r := parseOne(p); r != nil {
			rs = append(rs, *r)
		} else {
			ms = append(ms, m)
		}
	}
	return ms, rs, batch
}

// parseOne reads one message. Keys are matched exactly; the last of two equal
// keys counts. What answers is never refused, be it as it may: two sides that
// refuse each other's refusals would not end.
func parseOne(raw json.RawMessage) (message, *refusal) {
	no := func(id json.RawMessage, format string, args ...any) (message, *refusal) {
		r := invalid(id, fmt.Sprintf(format, args...))
		return message{}, &r
	}
	if !IsObject(raw) {
		return no(nil, "a message is a JSON object")
	}
	var id, version, method, params json.RawMessage
	var hasID, hasMethod, result, failed bool
	for name, value := range Members(raw) {
		switch name {
		case "id":
			id, hasID = value, true
		case "jsonrpc":
			version = value
		case "method":
			method, hasMethod = value, true
		case "params":
			params = value
		case "result":
			result = true
		case "error":
			failed = true
		}
	}
	m := message{id: id, params: params, raw: raw}
	if !hasMethod && (result || failed) {
		m.kind = reply
		return m, nil
	}
	if hasID && !usableID(id) {
		return no(nil, "id must be a string or a number")
	}
	if string(version) != `"2.0"` {
		return no(id, `jsonrpc must be "2.0"`)
	}
	if string(m.params) == "null" {
		m.params = nil
	}
	if !hasMethod {
		return no(id, "method is missing")
	}
	if method[0] == '"' {
		m.method, _ = unquote(method)
	}
	if m.method == "" {
		return no(id, "method must be a string that is not empty")
	}
	if len(m.params) > 0 && m.params[0] != '{' {
		return no(id, "params must be an object")
	}
	m.kind = notification
	if hasID {
		m.kind = call
	}
	if m.kind == call && strings.HasPrefix(m.method, notifications) {
		return no(id, "a notification has no id")
	}
	return m, nil
}

func invalid(id json.RawMessage, text string) refusal {
	return refusal{id: id, code: jsonrpc.CodeInvalidRequest, text: text}
}

func usableID(id json.RawMessage) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

// key makes ids comparable: two spellings of one string are one id.
func key(id json.RawMessage) string {
	if id[0] == '"' {
		if s, ok := unquote(id); ok {
			return "s" + s
		}
	}
	return "n" + string(id)
}

// standsAlone reports whether a request is of the era without a handshake: it
// names its protocol version itself.
func standsAlone(params json.RawMessage) bool {
	var p struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	return json.Unmarshal(params, &p) == nil && p.Meta.Version >= StatelessVersion
}

// answer is a JSON-RPC response. The id is null when the request's could not be
// read, as JSON-RPC 2.0 says.
type answer struct {
	Version string
	ID      json.RawMessage
	Result  json.RawMessage
	Error   *jsonrpc.Error
}

func (r refusal) answer() answer {
	return answer{Version: "2.0", ID: r.id, Error: &jsonrpc.Error{Code: r.code, Message: r.text}}
}

// encode returns answers as one line, with its line feed: an array if they are
// those of a batch. Results are put in as they are: the SDK has made JSON of
// them, on one line, and they may be long.
func encode(all []answer, isBatch bool) ([]byte, error) {
	size := 0
	for _, a := range all {
		size += len(a.Result) + len(a.ID) + 64
	}
	line := make([]byte, 0, size)
	if isBatch {
		line = append(line, '[')
	}
	for i, a := range all {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, `{"jsonrpc":"`...)
		line = append(line, a.Version...)
		line = append(line, `","id":`...)
		if a.ID == nil {
			line = append(line, "null"...)
		}
		line = append(line, a.ID...)
		switch {
		case a.Error != nil:
			var err error
			if line, err = AppendJSON(append(line, `,"error":`...), a.Error); err != nil {
				return nil, err
			}
		case len(a.Result) > 0:
			line = append(line, `,"result":`...)
			line = append(line, a.Result...)
		}
		line = append(line, '}')
	}
	if isBatch {
		line = append(line, ']')
	}
	return append(line, '\n'), nil
}
