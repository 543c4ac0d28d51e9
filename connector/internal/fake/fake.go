// Package fake is a pilot without terminals, for tests of the front end: its
// one session runs a handful of commands that it makes up.
package fake

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"termpilot/fault"
	"termpilot/pilot"
)

// Session is the id of the session that there is at the start.
const Session = "w0t0p0:FAKE"

// MaxWait is the longest that a call waits, as in the real pilot.
const MaxWait = 55 * time.Second

// Pilot answers calls. The zero value is ready. It is safe for concurrent use.
type Pilot struct {
	mu     sync.Mutex
	runs   map[string]*run
	opened int
	sent   []string
	ended  int // calls whose context ended
}

type run struct {
	command string
	until   time.Time
}

// Sent returns what was typed, in order: commands, texts and keys.
func (p *Pilot) Sent() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.sent...)
}

// Cancelled returns how many calls were given up because their context ended.
func (p *Pilot) Cancelled() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

func (p *Pilot) session(id string) pilot.SessionInfo {
	return pilot.SessionInfo{
		SessionID: id, Backend: "host", WindowID: "w0", TabID: "t0", Name: "work", Title: "bash", Profile: "Default", IsCurrent: id == Session,
		Job: "bash", Cwd: "/home/you", Host: "here", User: "you", Rows: 24, Columns: 80,
		Readiness: pilot.Readiness{State: pilot.Ready, Reason: "an empty prompt", Evidence: []string{"marks", "nonce", "foreground", "tty"}},
	}
}

func (p *Pilot) find(op, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == Session || strings.HasPrefix(id, "opened-") && p.opened > 0 {
		return nil
	}
	return &fault.Error{Op: op, Session: id, Code: fault.SessionNotFound, Hint: "list the sessions and use an exact id"}
}

// Sessions implements connector.Pilot.
func (p *Pilot) Sessions(_ context.Context, backend string) (pilot.Listing, error) {
	l := pilot.Listing{Backends: []pilot.BackendInfo{{Name: "host", State: "ok"}, {Name: "iterm2", State: "not_running", Reason: "iTerm2 is not running"}}}
	if backend == "" || backend == "host" {
		l.Sessions = append(l.Sessions, p.session(Session))
	}
	return l, nil
}

// Current implements connector.Pilot.
func (p *Pilot) Current(context.Context) (pilot.SessionInfo, error) { return p.session(Session), nil }

// Read implements connector.Pilot. The screen holds an escape sequence.
func (p *Pilot) Read(_ context.Context, r pilot.ReadRequest) (pilot.ReadResult, error) {
	if err := p.find("read", r.SessionID); err != nil {
		return pilot.ReadResult{}, err
	}
	return pilot.ReadResult{
		SessionID: r.SessionID, Content: "$ echo hi\n\x1b[31mhi\x1b[0m\n\u009b32m$ ", Cursor: "c1", Rows: 24, Columns: 80,
		CursorRow: 2, CursorColumn: 2, LineCount: 3, Readiness: p.session(r.SessionID).Readiness,
	}, nil
}

// Run implements connector.Pilot. It knows echo TEXT, false, sleep SECONDS,
// lines COUNT, panic, deaf SECONDS (which does not hear its cancellation) and vim.
func (p *Pilot) Run(ctx context.Context, r pilot.RunRequest) (pilot.RunResult, error) {
	if err := p.find("run", r.SessionID); err != nil {
		return pilot.RunResult{}, err
	}
	word, rest, _ := strings.Cut(r.Command, " ")
	res := pilot.RunResult{SessionID: r.SessionID, Command: r.Command, Status: pilot.Completed, ExitCode: new(int), Cwd: "/home/you", DurationMS: 1}
	n, _ := strconv.Atoi(rest)
	p.mu.Lock()
	p.sent = append(p.sent, r.Command)
	res.RunID = fmt.Sprintf("r%d", len(p.sent))
	if p.runs == nil {
		p.runs = map[string]*run{}
	}
	p.runs[res.RunID] = &run{command: r.Command, until: time.Now().Add(time.Duration(n) * time.Second)}
	p.mu.Unlock()
	switch word {
	case "echo":
		res.Output = rest + "\n"
	case "false":
		*res.ExitCode = 1
	case "lines":
		res.Output = strings.Repeat("a line of output\n", n)
	case "panic":
		panic("the fake was told to")
	case "deaf":
		time.Sleep(time.Duration(n) * time.Second)
	case "vim":
		return pilot.RunResult{}, &fault.Error{Op: "run", Session: r.SessionID, Code: fault.NotReady, Detail: "vim is running", Hint: "quit vim, or use send_keys"}
	case "sleep":
		if r.NoWait {
			res.Status, res.ExitCode, res.ExitReason = pilot.Submitted, nil, "not waited for"
			return res, nil
		}
		return p.await(ctx, res, r.Timeout, r.Progress)
	}
	return res, nil
}

// await waits for the end of a run, or of the patience for it.
func (p *Pilot) await(ctx context.Context, res pilot.RunResult, patience time.Duration, tell func(time.Duration, string)) (pilot.RunResult, error) {
	p.mu.Lock()
	left := time.Until(p.runs[res.RunID].until)
	p.mu.Unlock()
	patience = min(patience, MaxWait)
	if tell != nil {
		tell(0, res.Command+" runs")
	}
	timer := time.NewTimer(min(left, patience))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		p.mu.Lock()
		p.ended++
		p.mu.Unlock()
		return pilot.RunResult{}, context.Cause(ctx)
	case <-timer.C:
	}
	if left > patience {
		res.Status, res.ExitCode, res.ExitReason = pilot.StillRunning, nil, "the command still runs"
	}
	return res, nil
}

// Wait implements connector.Pilot.
func (p *Pilot) Wait(ctx context.Context, r pilot.WaitRequest) (pilot.WaitResult, error) {
	if r.RunID == "" {
		var res pilot.WaitResult
		for _, id := range r.SessionIDs {
			if err := p.find("wait", id); err != nil {
				return pilot.WaitResult{}, err
			}
			res.Sessions = append(res.Sessions, pilot.WaitSession{SessionID: id, Matched: true, Reason: "a prompt stands", State: pilot.Ready, Cursor: "c1"})
		}
		return res, nil
	}
	p.mu.Lock()
	known := p.runs[r.RunID]
	p.mu.Unlock()
	if known == nil {
		return pilot.WaitResult{}, &fault.Error{Op: "wait " + r.RunID, Code: fault.RunNotFound, Hint: "use the run_id that run_command returned"}
	}
	res, err := p.await(ctx, pilot.RunResult{RunID: r.RunID, SessionID: Session, Command: known.command, Status: pilot.Completed, ExitCode: new(int)}, r.Timeout, r.Progress)
	if err != nil {
		return pilot.WaitResult{}, err
	}
	return pilot.WaitResult{TimedOut: res.Status == pilot.StillRunning, Run: &res}, nil
}

// Open implements connector.Pilot.
func (p *Pilot) Open(_ context.Context, r pilot.OpenRequest) (pilot.Opened, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened++
	s := p.session(fmt.Sprintf("opened-%d", p.opened))
	o := pilot.Opened{SessionID: s.SessionID, WindowID: s.WindowID, TabID: s.TabID, Name: s.Name, Session: s}
	if r.Command != "" && !r.Ends {
		o.RunID = "r-first"
	}
	return o, nil
}

// Focus implements connector.Pilot.
func (p *Pilot) Focus(_ context.Context, sessionID string) (pilot.Arranged, error) {
	return p.arranged("focus", sessionID, func(s *pilot.SessionInfo) { s.IsCurrent = true })
}

// Resize implements connector.Pilot.
func (p *Pilot) Resize(_ context.Context, sessionID string, rows, columns int) (pilot.Arranged, error) {
	return p.arranged("resize", sessionID, func(s *pilot.SessionInfo) { s.Rows, s.Columns = rows, columns })
}

// Rename implements connector.Pilot.
func (p *Pilot) Rename(_ context.Context, sessionID, name string) (pilot.Arranged, error) {
	return p.arranged("rename", sessionID, func(s *pilot.SessionInfo) { s.Name = name })
}

func (p *Pilot) arranged(op, sessionID string, change func(*pilot.SessionInfo)) (pilot.Arranged, error) {
	if err := p.find(op, sessionID); err != nil {
		return pilot.Arranged{}, err
	}
	s := p.session(sessionID)
	change(&s)
	return pilot.Arranged{Session: s}, nil
}

// Profiles implements connector.Pilot.
func (p *Pilot) Profiles(context.Context, string) (pilot.ProfileListing, error) {
	return pilot.ProfileListing{
		Profiles: []pilot.Profile{{Backend: "host", Name: "Default", IsDefault: true}, {Backend: "host", Name: "zsh"}},
		Backends: []pilot.BackendInfo{{Name: "host", State: "ok"}},
	}, nil
}

// SendText implements connector.Pilot.
func (p *Pilot) SendText(_ context.Context, sessionID, text string, _ bool) (pilot.SendResult, error) {
	return p.send(sessionID, text)
}

// SendKeys implements connector.Pilot.
func (p *Pilot) SendKeys(_ context.Context, sessionID string, keys []string) (pilot.SendResult, error) {
	return p.send(sessionID, strings.Join(keys, " "))
}

func (p *Pilot) send(sessionID, what string) (pilot.SendResult, error) {
	if err := p.find("send", sessionID); err != nil {
		return pilot.SendResult{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, what)
	return pilot.SendResult{SessionID: sessionID, Delivered: true, TaskCompletion: "unknown"}, nil
}
