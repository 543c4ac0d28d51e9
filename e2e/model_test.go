package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// model plays a vendor's model on the loopback interface: the streaming forms of
// Anthropic's Messages and OpenAI's Responses. A line of the last prompt says what
// it does:
//
//	SAY:text   answer that          RUN:cmd    ask for a shell command first
//	SLOW:s     take so long over it  FAIL:code  answer with this HTTP status
//	TASK:text  give this prompt to an agent of the agent's own first
type model struct {
	*httptest.Server

	mu   sync.Mutex
	last time.Time // when the last stream ended
	got  []string  // the prompts, newest last
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

// ended is when the last answer's last byte was sent.
func (m *model) ended() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// saw reports whether a prompt arrived exactly so.
func (m *model) saw(prompt string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.got, func(one string) bool { return strings.Contains(one, prompt) })
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch {
	case strings.HasSuffix(r.URL.Path, "/messages/count_tokens"):
		fmt.Fprint(w, `{"input_tokens":10}`)
	case strings.HasSuffix(r.URL.Path, "/messages"):
		m.answer(w, r, body, &anthropic{})
	case strings.HasSuffix(r.URL.Path, "/responses"):
		m.answer(w, r, body, &responses{})
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"data":[],"models":[],"error":{"type":"not_found_error","message":"not here"}}`)
	}
}

// dialect is one API's way to ask and to stream.
type dialect interface {
	prompt(body map[string]any) (text string, answered bool) // answered: a tool's result came after it
	tools(body map[string]any) []string
	begin(*stream)
	say(s *stream, parts []string, pause time.Duration)
	call(s *stream, tool, command string)
	end(*stream)
}

var directive = regexp.MustCompile(`(?m)^(SAY|RUN|SLOW|FAIL|TASK):(.*)$`)

func (m *model) answer(w http.ResponseWriter, r *http.Request, body map[string]any, d dialect) {
	text, answered := d.prompt(body)
	m.mu.Lock()
	m.got = append(m.got, text)
	m.mu.Unlock()
	does := map[string]string{}
	for _, found := range directive.FindAllStringSubmatch(text, -1) {
		does[found[1]] = strings.TrimSpace(found[2])
	}
	if code, err := strconv.Atoi(does["FAIL"]); err == nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		message := "it fails as it was told to"
		if code == http.StatusTooManyRequests {
			message = "this request would exceed the rate limit"
		}
		fmt.Fprintf(w, `{"type":"error","error":{"type":"api_error","message":%q}}`, message)
		return
	}
	if body["stream"] != true {
		fmt.Fprint(w, `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"title"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{w: w, flush: w.(http.Flusher), gone: r.Context().Done()}
	d.begin(s)
	tool := shellTool(d.tools(body))
	if a, ok := d.(*anthropic); ok && does["TASK"] != "" && !answered {
		a.use(s, "task", map[string]any{"description": "a part", "prompt": does["TASK"], "subagent_type": "general"})
	} else if does["RUN"] != "" && !answered && tool != "" {
		d.call(s, tool, does["RUN"])
	} else {
		words := does["SAY"]
		if answered {
			words = "the command was run"
		}
		if words == "" {
			words = "well"
		}
		parts, pause := []string{words}, time.Duration(0)
		if seconds, err := strconv.Atoi(does["SLOW"]); err == nil {
			for range seconds * 10 {
				parts = append(parts, ". ")
			}
			pause = 100 * time.Millisecond
		}
		d.say(s, parts, pause)
	}
	d.end(s)
	m.mu.Lock()
	m.last = time.Now()
	m.mu.Unlock()
}

// shellTool is the tool that runs commands, among those that are offered.
func shellTool(offered []string) string {
	for _, name := range []string{"exec_command", "shell_command", "run_terminal_command", "Bash", "bash", "shell"} {
		if slices.Contains(offered, name) {
			return name
		}
	}
	return ""
}

// stream is one answer as server-sent events.
type stream struct {
	w     http.ResponseWriter
	flush http.Flusher
	n     int
	made  []any
	gone  <-chan struct{} // the client is
	tool  bool
}

func (s *stream) event(kind string, fields map[string]any) {
	fields["type"] = kind
	data, _ := json.Marshal(fields)
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, data)
	s.flush.Flush()
}

// pause takes time, as a model does, unless nobody listens any more.
func (s *stream) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.gone:
	}
}

func objects(v any) (list []map[string]any) {
	all, _ := v.([]any)
	for _, one := range all {
		if o, ok := one.(map[string]any); ok {
			list = append(list, o)
		}
	}
	return list
}

func text(v any) string { s, _ := v.(string); return s }

// anthropic is the Messages API.
type anthropic struct{}

func (anthropic) prompt(body map[string]any) (string, bool) {
	answered := false
	for _, message := range slices.Backward(objects(body["messages"])) {
		if message["role"] != "user" {
			continue
		}
		if s := text(message["content"]); s != "" {
			return s, answered
		}
		for _, block := range slices.Backward(objects(message["content"])) {
			if block["type"] == "tool_result" {
				answered = true
			}
			if s := text(block["text"]); strings.TrimSpace(s) != "" && !strings.Contains(s, "<system-reminder>") && !strings.HasPrefix(s, "[Request interrupted") {
				return s, answered
			}
		}
	}
	return "", answered
}

func (anthropic) tools(body map[string]any) (names []string) {
	for _, t := range objects(body["tools"]) {
		names = append(names, text(t["name"]))
	}
	return names
}

func (anthropic) begin(s *stream) {
	s.event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 10, "output_tokens": 1},
	}})
}

func (anthropic) say(s *stream, parts []string, pause time.Duration) {
	s.event("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "text", "text": ""}})
	for _, p := range parts {
		s.event("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "text_delta", "text": p}})
		s.pause(pause)
	}
	s.event("content_block_stop", map[string]any{"index": 0})
}

func (a anthropic) call(s *stream, tool, command string) {
	a.use(s, tool, map[string]any{"command": command, "description": "a command"})
}

func (anthropic) use(s *stream, tool string, arguments map[string]any) {
	input, _ := json.Marshal(arguments)
	s.tool = true
	s.event("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{
		"type": "tool_use", "id": "toolu_" + strconv.FormatInt(time.Now().UnixNano(), 36), "name": tool, "input": map[string]any{},
	}})
	s.event("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "input_json_delta", "partial_json": string(input)}})
	s.event("content_block_stop", map[string]any{"index": 0})
}

func (anthropic) end(s *stream) {
	reason := "end_turn"
	if s.tool {
		reason = "tool_use"
	}
	s.event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 20}})
	s.event("message_stop", map[string]any{})
}

// responses is OpenAI's Responses API.
type responses struct{}

func (responses) prompt(body map[string]any) (string, bool) {
	answered := false
	for _, item := range slices.Backward(objects(body["input"])) {
		switch kind := text(item["type"]); {
		case strings.HasSuffix(kind, "call_output"):
			answered = true
		case (kind == "" || kind == "message") && item["role"] == "user":
			var all []string
			for _, c := range objects(item["content"]) {
				all = append(all, text(c["text"]))
			}
			if s := strings.Join(all, "\n"); !strings.HasPrefix(strings.TrimSpace(s), "<") {
				return s, answered
			}
		}
	}
	return "", answered
}

func (responses) tools(body map[string]any) (names []string) {
	for _, t := range objects(body["tools"]) {
		names = append(names, text(t["name"]), text(t["type"]))
	}
	return names
}

func (r responses) event(s *stream, kind string, fields map[string]any) {
	fields["sequence_number"] = s.n
	s.n++
	s.event(kind, fields)
}

func (r responses) begin(s *stream) {
	r.event(s, "response.created", map[string]any{"response": map[string]any{"id": "resp_1", "object": "response", "status": "in_progress", "output": []any{}}})
}

func (r responses) say(s *stream, parts []string, pause time.Duration) {
	item := map[string]any{"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []any{}}
	r.event(s, "response.output_item.added", map[string]any{"output_index": 0, "item": item})
	for _, p := range parts {
		r.event(s, "response.output_text.delta", map[string]any{"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": p})
		s.pause(pause)
	}
	r.done(s, map[string]any{
		"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": strings.Join(parts, ""), "annotations": []any{}}},
	})
}

func (r responses) call(s *stream, tool, command string) {
	arguments := map[string]any{"command": command}
	switch tool {
	case "exec_command":
		arguments = map[string]any{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "it was asked for"}
	case "shell":
		arguments = map[string]any{"command": []string{"bash", "-lc", command}}
	}
	data, _ := json.Marshal(arguments)
	id := strconv.FormatInt(time.Now().UnixNano(), 36)
	r.done(s, map[string]any{
		"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": tool, "arguments": string(data), "status": "completed",
	})
}

func (r responses) done(s *stream, item map[string]any) {
	s.made = append(s.made, item)
	r.event(s, "response.output_item.done", map[string]any{"output_index": 0, "item": item})
}

func (r responses) end(s *stream) {
	r.event(s, "response.completed", map[string]any{"response": map[string]any{
		"id": "resp_1", "object": "response", "status": "completed", "output": s.made,
		"usage": map[string]any{
			"input_tokens": 10, "input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens": 5,
			"output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 15,
		},
	}})
}
