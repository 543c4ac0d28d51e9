package agent

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termpilot/fault"
	"termpilot/process"
)

// maxHook is the most bytes of what a vendor tells; the rest is not read.
const maxHook = 8 << 20

// The variables by which what a launch's program starts knows the launch.
const (
	launchVariable = "TERMPILOT_LAUNCH_ID"
	folderVariable = "TERMPILOT_LAUNCH_DIR"
)

// Hook takes what a vendor's program tells by one of its hooks, from its
// standard input or, as Codex's notify does, in its last argument, and appends it
// to the journal of the launch that it belongs to. It needs nothing that runs,
// and does nothing for a program that no launch of ours started. The vendor must
// never be kept from its work: whoever calls this ends with 0 whatever it returns.
func Hook(ctx context.Context, vendorName string, getenv func(string) string, in io.Reader, argument string) error {
	v := vendorOf(vendorName)
	folder := getenv(folderVariable)
	if v == nil || !filepath.IsAbs(folder) || !launchID().MatchString(filepath.Base(folder)) || getenv(launchVariable) != filepath.Base(folder) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	l, err := readLaunch(folder)
	if err != nil || l.Provider != v.name {
		return err
	}
	data := []byte(argument)
	if argument == "" {
		if data, err = readAll(ctx, in); err != nil {
			return err
		}
	}
	if len(data) > maxHook {
		return refused("hook", l.Session, fault.TooLarge, "the vendor told more than 8 MiB", "")
	}
	e, ok := v.hook(data)
	if !ok {
		return nil
	}
	own, pid := ofLaunch(v, folder)
	if !own {
		return nil
	}
	e.Source, e.PID = fromHook, pid
	return record(ctx, folder, false, e.kept())
}

// readAll reads what a vendor tells, until ctx ends: what is not closed by then
// is left to the end of this process.
func readAll(ctx context.Context, in io.Reader) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	all := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, maxHook+1))
		all <- read{data, err}
	}()
	select {
	case r := <-all:
		return r.data, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ofLaunch reports whether the program that called this hook is the one that was
// launched, and not another of the same vendor that it started: the nearest one
// above this process, which is pid, must be the topmost. What cannot be told counts
// as its own: the chat that it names still has to be the right one.
func ofLaunch(v *vendor, folder string) (own bool, pid int) {
	launched, _ := readProcess(folder)
	nearest, top := 0, 0
	for at, steps := os.Getppid(), 0; at > 1 && steps < 64; steps++ {
		p, err := process.Lookup(at)
		if err != nil {
			break
		}
		if v.is(p) {
			if nearest == 0 {
				nearest = at
			}
			top = at
		}
		if at == launched.PID {
			if nearest == 0 {
				nearest, top = at, at
			}
			break
		}
		at = p.PPID
	}
	return nearest == top, nearest
}

// telling reports whether the agent runs a hook of ours now, as on a busy machine it
// may for seconds: what that tells is not known yet.
func (s *story) telling() bool {
	table, err := process.Snapshot()
	if err != nil {
		return false
	}
	line := " hook " + s.launch.Provider
	return slices.ContainsFunc(table.Where(func(e process.Entry) bool { return slices.Contains(s.pids(), e.PPID) }), func(e process.Entry) bool {
		p, err := process.Lookup(e.PID)
		return err == nil && slices.ContainsFunc(p.Argv, func(word string) bool { return strings.Contains(word, line) })
	})
}

// is reports whether a process runs the vendor's program.
func (v *vendor) is(p process.Process) bool {
	name := filepath.Base(p.Name)
	if len(p.Argv) > 0 && name != filepath.Base(p.Argv[0]) && strings.HasPrefix(filepath.Base(p.Argv[0]), name) {
		name = filepath.Base(p.Argv[0])
	}
	return slices.Contains(v.programs, name)
}

// words reads a JSON object of which a vendor may change any part.
type words map[string]json.RawMessage

func parseWords(data []byte) (words, bool) {
	var w words
	return w, json.Unmarshal(data, &w) == nil && w != nil
}

// text is the first of some members that is a text.
func (w words) text(names ...string) string {
	for _, name := range names {
		var s string
		if json.Unmarshal(w[name], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// many reports whether a member is a list that holds something.
func (w words) many(name string) bool {
	var list []json.RawMessage
	return json.Unmarshal(w[name], &list) == nil && len(list) > 0
}

// promptEvent is the event of an accepted prompt. The text itself is not kept.
func promptEvent(chat, vendorTurn, text string) event {
	return event{Kind: prompted, Chat: chat, VendorTurn: vendorTurn, Exact: exactDigest(text), Loose: looseDigest(text), Chars: len([]rune(text))}
}

// limitWords are those by which an error of a vendor's says that a limit was
// reached. Errors alone are held against them, never an answer or a screen.
var limitWords = []string{"429", "rate limit", "rate_limit", "ratelimit", "usage limit", "usage_limit", "weekly limit", "quota", "limit reached", "too many requests"}

func isLimit(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(limitWords, func(w string) bool { return strings.Contains(text, w) })
}

// clipped is what a vendor says of an error, as far as it is kept.
func clipped(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 2000 {
		text = strings.ToValidUTF8(text[:2000], "") + "…"
	}
	return text
}
