package tunnel

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"termpilot/fault"
	"termpilot/private"
)

const (
	lookEvery    = 2 * time.Second  // how often the client is asked for its state
	tryEvery     = 30 * time.Second // how often our own MCP server is tried
	pollFresh    = 30 * time.Second // a poll as old as this is a good one: pollTime, twice over
	deafAfter    = 2 * time.Minute  // without a poll, good or bad: the client is started anew
	firstBackoff = time.Second
	lastBackoff  = time.Minute
	calmAfter    = time.Minute // up for so long, the backoff begins anew
)

// Options says what a supervisor supervises.
type Options struct {
	Place   Place
	Config  Config
	Key     Secret
	KeyFrom string       // where the key was found, in words
	Handler http.Handler // the MCP server: stateless streamable HTTP under /mcp
	Version string       // of this program
	Getenv  func(string) string
	Log     *slog.Logger
}

// supervisor is one running supervisor.
type supervisor struct {
	Options
	files files
	lock  *flock.Flock
	log   *logFile
	mcp   *mcpServer
	stop  context.CancelFunc
	since time.Time

	mu        sync.Mutex
	client    *child
	begun     time.Time // when the client was started
	state     clientState
	heard     bool      // the client has told its state since it was started
	refused   int       // of the last failed poll
	lastError string    // of the last failed poll, while polls fail
	moved     time.Time // when polling last got somewhere, good or bad
	calls     int64     // that the client says to have passed on
	lastCall  time.Time // and when it last did
	tools     int
	serverErr string
	restarts  int
	lastExit  string
}

// Supervise serves o.Handler on the alias's socket and keeps tunnel-client
// running until ctx ends or [Disconnect] asks it to; then it ends the child and
// returns nil. TunnelBusy when another supervisor has the alias.
func Supervise(ctx context.Context, o Options) error {
	if err := o.Config.check(); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f, err := o.Place.make(o.Config.Alias)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &supervisor{
		Options: o, files: f, stop: stop, since: time.Now(), log: &logFile{path: f.log},
		lock: flock.New(f.lock, flock.SetPermissions(0o600)),
	}
	defer s.log.close()
	if err := s.occupy(ctx); err != nil {
		return err
	}
	defer s.lock.Close()
	return s.run(ctx)
}

// occupy takes the alias, and ends the client of a supervisor that was killed.
func (s *supervisor) occupy(ctx context.Context) error {
	held, err := s.lock.TryLock()
	if err != nil {
		return &fault.Error{Op: "tunnel " + s.Config.Alias, Code: fault.Storage, Detail: "the lock cannot be used", Hint: "see that termpilot's folder may be written", Err: err}
	}
	if !held {
		return &fault.Error{
			Op: "tunnel " + s.Config.Alias, Code: fault.TunnelBusy, Detail: "another supervisor has this alias",
			Hint: "see termpilot chatgpt status, or disconnect first",
		}
	}
	if err := signUp(s.files.lock); err != nil {
		_ = s.lock.Close()
		return err
	}
	pid, err := endOrphan(ctx, s.files)
	if pid != 0 {
		s.log.say("ended tunnel-client %d, which a supervisor that died had left behind", pid)
	}
	if err != nil {
		_ = s.lock.Close()
		return err
	}
	return nil
}

func (s *supervisor) run(ctx context.Context) error {
	s.mcp = &mcpServer{path: s.files.mcp, handler: s.Handler, log: s.Options.Log}
	if err := s.mcp.open(); err != nil {
		return err
	}
	defer s.mcp.close()
	s.tryServer(ctx) // it listens before the client starts
	control, err := private.Listen(s.files.control)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { serveControl(own{control}, s.reply) })
	wg.Go(func() { s.watchServer(ctx) })
	s.log.say("supervisor %d started for %s", os.Getpid(), s.Config.TunnelID)
	s.keepRunning(ctx)
	s.log.say("supervisor %d ends", os.Getpid())
	err = control.Close()
	wg.Wait()
	return err
}

// keepRunning runs the client until ctx ends, again and again, waiting longer
// each time that it did not stay up for calmAfter.
func (s *supervisor) keepRunning(ctx context.Context) {
	wait := firstBackoff
	for ctx.Err() == nil {
		began := time.Now()
		reason := s.runOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) >= calmAfter {
			wait = firstBackoff
		}
		s.mu.Lock()
		s.restarts++
		s.lastExit = reason
		s.mu.Unlock()
		s.log.say("tunnel-client: %s; starting it again in %v", reason, wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, lastBackoff)
	}
}

// runOnce starts the client and watches it; it says why that ended.
func (s *supervisor) runOnce(ctx context.Context) (reason string) {
	said := &lastWords{}
	out := &listener{key: s.Key, log: s.log, told: func(r record) { said.hear(r); s.hear(r) }}
	_ = os.Remove(s.files.health) // a client that was killed leaves it, and the next cannot listen
	k, err := start(s.Config, s.files, s.Key, s.Getenv, out)
	if err != nil {
		return "it does not start: " + err.Error()
	}
	s.mu.Lock()
	s.client, s.begun, s.moved = k, time.Now(), time.Now()
	s.state, s.heard, s.refused, s.lastError = clientState{}, false, 0, ""
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.client, s.heard = nil, false
		s.mu.Unlock()
	}()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	quick := time.After(200 * time.Millisecond) // a client is up in about 150 ms
	for {
		select {
		case <-ctx.Done():
			k.stop()
			return "the supervisor ends"
		case <-k.done:
			if words := said.fatal(); words != "" {
				return k.end + ": " + words
			}
			return k.end
		case <-quick:
		case <-look.C:
		}
		s.look(ctx)
		if s.deaf(time.Now()) {
			s.log.say("tunnel-client %d no longer polls and does not say why", k.cmd.Process.Pid)
			k.stop()
			return "it no longer polled, and was ended"
		}
	}
}

// look asks the client for its state.
func (s *supervisor) look(ctx context.Context) {
	state, err := ask(ctx, s.files.health)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = err == nil
	if err != nil {
		return
	}
	if state.LastPoll.After(s.state.LastPoll) {
		s.refused, s.lastError = 0, ""
		s.moved = time.Now()
	}
	if state.PollErrors > s.state.PollErrors {
		s.moved = time.Now()
	}
	s.state = state
}

// deaf reports whether polling gets nowhere. A client that waits between two
// failing polls does get somewhere: it waits at most ten seconds.
func (s *supervisor) deaf(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.moved) > deafAfter
}

// hear takes in what the client says of its polls.
func (s *supervisor) hear(r record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Msg == "poll failed; backing off":
		s.refused, s.lastError = r.Status, r.why()
		s.moved = time.Now()
	case len(r.Msg) > 16 && r.Msg[:16] == "poller recovered":
		s.refused, s.lastError = 0, ""
	case r.Msg == "dispatcher forwarded command to MCP server":
		s.calls++
		s.lastCall = time.Now()
	}
}

// tryServer asks our own MCP server for its tools, the way that the client goes.
func (s *supervisor) tryServer(ctx context.Context) {
	tools, err := try(ctx, s.files.mcp)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if s.tools, s.serverErr = tools, ""; err != nil {
		s.serverErr = err.Error()
	}
}

// watchServer opens the MCP server's socket anew when it no longer answers.
func (s *supervisor) watchServer(ctx context.Context) {
	missing := time.NewTicker(lookEvery)
	defer missing.Stop()
	tried := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-missing.C:
		}
		_, err := os.Lstat(s.files.mcp) // cleaners of temporary folders take sockets away
		if err == nil && time.Since(tried) < tryEvery {
			continue
		}
		tried = time.Now()
		if err == nil {
			s.tryServer(ctx)
		}
		s.mu.Lock()
		ill := err != nil || s.serverErr != ""
		s.mu.Unlock()
		if !ill || ctx.Err() != nil {
			continue
		}
		s.log.say("the MCP server's socket does not answer; it is opened anew")
		if err := s.mcp.open(); err != nil {
			s.log.say("%v", err)
			continue
		}
		s.tryServer(ctx)
	}
}

// reply answers a question.
func (s *supervisor) reply(q question) answer {
	switch q.Op {
	case opStatus:
		status := s.status(time.Now())
		return answer{Status: &status}
	case opSame:
		return answer{Same: q.Config != nil && s.Config.same(*q.Config) && s.Key.equal(Secret{q.Key})}
	case opStop:
		s.stop()
		status := s.status(time.Now())
		return answer{Status: &status}
	}
	return answer{}
}

// status is how all of it stands.
func (s *supervisor) status(now time.Time) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Alias: s.Config.Alias, TunnelID: s.Config.TunnelID, Running: true, PID: os.Getpid(), Since: s.since, Version: s.Version,
		Polling: PollingStopped, PollAge: -1, Tools: s.tools, ServerError: s.serverErr, Calls: s.calls, LastCall: s.lastCall,
		Restarts: s.restarts, LastExit: s.lastExit, LogPath: s.files.log, KeyFrom: s.KeyFrom, BaseURL: s.Config.BaseURL, TunnelClient: s.Config.Client,
	}
	if s.client == nil {
		return st
	}
	st.ClientPID, st.ClientSince, st.Healthy = s.client.cmd.Process.Pid, s.begun, s.heard
	st.ClientVersion, st.RunsTunnel, st.RunsURL = s.state.Version, s.state.TunnelID, s.state.BaseURL
	st.KeyError, st.KnowsTunnel, st.RawLogging = s.state.MetadataError, s.state.HasTunnel, s.state.RawLogging
	st.LastPoll, st.LastError, st.Refused = s.state.LastPoll, s.lastError, s.refused
	if !st.LastPoll.IsZero() {
		st.PollAge = max(0, int(now.Sub(st.LastPoll).Seconds()))
	}
	switch {
	case st.LastError != "":
		st.Polling = PollingFailing
	case !st.LastPoll.IsZero() && now.Sub(st.LastPoll) <= pollFresh:
		st.Polling = PollingOK
	case st.LastPoll.IsZero() && now.Sub(s.begun) <= pollFresh:
		st.Polling = PollingPending
	default:
		st.Polling = PollingDeaf
	}
	st.Ready = st.Healthy && st.Polling == PollingOK && st.Tools > 0 && s.serverErr == ""
	return st
}

// same reports whether two configurations run the same.
func (c Config) same(other Config) bool {
	if len(c.Serve) != len(other.Serve) {
		return false
	}
	for i := range c.Serve {
		if c.Serve[i] != other.Serve[i] {
			return false
		}
	}
	return c.Alias == other.Alias && c.TunnelID == other.TunnelID && c.Client == other.Client && sameURL(c.BaseURL, other.BaseURL)
}
