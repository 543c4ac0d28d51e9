package tunnel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"termpilot/terminal"
)

const (
	maxLog     = 1 << 20  // bytes of one log file; as many again are kept beside it
	maxLogLine = 16 << 10 // bytes of one line
	maxPart    = 64 << 10 // bytes of a line that has no end yet
)

// logFile is a file of at most maxLog bytes, with the one before it beside it.
// It may be used from several goroutines. A line that cannot be written, on a
// full disk, is lost; the next is tried again.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

func (l *logFile) line(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(text) > maxLogLine {
		text = append(text[:maxLogLine:maxLogLine], "…"...)
	}
	if l.file != nil && l.size+int64(len(text)) > maxLog {
		_ = l.file.Close()
		l.file = nil
		_ = os.Rename(l.path, l.path+".1")
	}
	if l.file == nil {
		file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return
		}
		l.file = file
		if info, err := file.Stat(); err == nil {
			l.size = info.Size()
		}
	}
	n, _ := l.file.Write(append(text, '\n'))
	l.size += int64(n)
}

// say writes a line of the supervisor's own.
func (l *logFile) say(format string, args ...any) {
	l.line(fmt.Appendf(nil, "%s termpilot: %s", time.Now().UTC().Format(time.RFC3339), terminal.OneLine(fmt.Sprintf(format, args...), maxLogLine)))
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// listener takes in what tunnel-client prints: it takes secrets out, leaves out
// what says nothing, writes the rest to the log, and hands what matters to told.
type listener struct {
	hide *strings.Replacer
	log  *logFile
	told func(record)
	part []byte
}

// record is one line of tunnel-client's JSON log, as far as it matters.
type record struct {
	Level   string `json:"level"`
	Msg     string `json:"msg"`
	Error   string `json:"error"`
	Status  int    `json:"status_code"`
	Code    string `json:"error_code"`
	Message string `json:"error_message"`
	Request string `json:"request_id"`
	Source  string `json:"failure_source"` // of a call that failed: "connect" when it did not reach the MCP server
	Kind    string `json:"transport_error_kind"`
	Plain   string `json:"-"` // a line that is no JSON: a fatal error, mostly
}

// Write takes in bytes; it never fails, so that the client never blocks on it.
func (l *listener) Write(data []byte) (int, error) {
	n := len(data)
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if room := maxPart - len(l.part); len(line) > room {
			line = line[:max(room, 0)]
		}
		l.part = append(l.part, line...)
		if !whole {
			break
		}
		l.take(l.part)
		l.part = l.part[:0]
		data = rest
	}
	return n, nil
}

// wiring is what tunnel-client's framework tells of itself at every start, about
// 100 KB of it.
var wiring = []string{"provided", "supplied", "run", "invoking", "invoked", "OnStart hook", "OnStop hook", "initialized custom fxevent"}

func (l *listener) take(line []byte) {
	line = bytes.TrimRight([]byte(l.hide.Replace(string(line))), "\r")
	if len(line) == 0 {
		return
	}
	r := record{}
	if line[0] != '{' || json.Unmarshal(line, &r) != nil {
		r = record{Plain: terminal.OneLine(string(line), 1000)}
		l.log.line([]byte(r.Plain))
		l.told(r)
		return
	}
	if r.Level == "INFO" || r.Level == "DEBUG" {
		for _, noise := range wiring {
			if strings.HasPrefix(r.Msg, noise) {
				return
			}
		}
	}
	l.log.line([]byte(strings.Map(printable, string(line))))
	l.told(r)
}

func printable(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

// why says in words why a poll failed.
func (r record) why() string {
	text := r.Error
	if r.Message != "" {
		text = r.Message
	}
	if r.Code != "" {
		text = r.Code + " " + text
	}
	return terminal.OneLine(text, 500)
}

// lastWords remembers what a client said that explains its end.
type lastWords struct {
	mu   sync.Mutex
	text string
}

func (w *lastWords) hear(r record) {
	text := ""
	switch {
	case r.Plain != "":
		text = r.Plain
	case r.Level == "ERROR":
		text = terminal.OneLine(strings.TrimSpace(r.Msg+" "+r.Error), 500)
	default:
		return
	}
	w.mu.Lock()
	w.text = text
	w.mu.Unlock()
}

func (w *lastWords) fatal() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text
}
