package tunnel

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
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

	tooManyUnreached = 3 // calls in a row that did not reach the MCP server: the client is started anew
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
	mcp   *door
	ctl   *door
	stop  context.CancelFunc
	since time.Time
	hide  *strings.Replacer // takes secrets out of what a client says
	nudge chan struct{}     // a call did not reach the MCP server: have a look

	mu        sync.Mutex
	client    *child
	begun     time.Time // when the client was started
	state     clientState
	heard     bool      // the client has told its state since it was started
	refused   int       // of the last failed poll
	lastError string    // of the last failed poll, while polls fail
	moved     time.Time // when polling last got somewhere, good or bad
	calls     int64     // whose answers the client says to have passed on
	lastCall  time.Time // and when it last did
	callErrs  int64     // calls that failed between the client and the MCP server
	failedAt  time.Time // when the last of them did
	failedID  string    // which that was
	callErr   string    // and how
	unreached int       // calls in a row that did not get as far as the MCP server
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
		Options: o, files: f, stop: stop, since: time.Now(), hide: o.Key.redactor(o.Getenv), nudge: make(chan struct{}, 1), log: &logFile{path: f.log},
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
	held, err := hold(ctx, s.lock)
	if err != nil {
		return lockFault(s.Config.Alias, err)
	}
	if !held {
		return busy(s.Config.Alias)
	}
	if err := signUp(s.files.lock, s.Place.Sockets); err != nil {
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

func lockFault(alias string, err error) error {
	return &fault.Error{Op: "tunnel " + alias, Code: fault.Storage, Detail: "the lock cannot be used", Hint: "see that termpilot's folder may be written", Err: err}
}

// busy says that an alias has a supervisor already.
func busy(alias string) error {
	return &fault.Error{
		Op: "tunnel " + alias, Code: fault.TunnelBusy, Detail: "another supervisor has this alias",
		Hint: "see termpilot chatgpt status, or disconnect first",
	}
}

func (s *supervisor) run(ctx context.Context) error {
	server := &http.Server{
		Handler: s.Handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 10 * time.Minute,
		ErrorLog: slog.NewLogLogger(s.Options.Log.Handler(), slog.LevelDebug),
	}
	s.mcp = &door{path: s.files.mcp, serve: func(l net.Listener) { _ = server.Serve(l) }} // watchSockets finds out when it no longer serves
	s.ctl = &door{path: s.files.control, serve: func(l net.Listener) { serveControl(l, s.reply) }}
	defer s.mcp.close()
	defer server.Close() // and every call that runs in it
	if err := s.mcp.open(); err != nil {
		return err
	}
	s.tryServer(ctx) // it listens before the client starts
	defer s.ctl.close()
	if err := s.ctl.open(); err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.watchSockets(ctx) })
	s.log.say("supervisor %d started for %s", os.Getpid(), s.Config.TunnelID)
	s.keepRunning(ctx)
	s.log.say("supervisor %d ends", os.Getpid())
	wg.Wait()
	return nil
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
	out := &listener{hide: s.hide, log: s.log, told: func(r record) { said.hear(r); s.hear(r) }}
	_ = os.Remove(s.files.health) // a client that was killed leaves it, and the next cannot listen
	k, err := start(s.Config, s.files, s.Key, s.Getenv, out)
	if err != nil {
		return "it does not start: " + err.Error()
	}
	s.mu.Lock()
	s.client, s.begun, s.moved = k, time.Now(), time.Now()
	s.state, s.heard, s.refused, s.lastError, s.unreached = clientState{}, false, 0, "", 0
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
		if s.astray() {
			s.log.say("tunnel-client %d does not reach the MCP server, which answers", k.cmd.Process.Pid)
			k.stop()
			return "its calls did not reach the MCP server, and it was ended"
		}
		if s.deaf(time.Now()) {
			s.log.say("tunnel-client %d has told of no poll, good or bad, for %v", k.cmd.Process.Pid, deafAfter)
			k.stop()
			return "it told of no poll any more, and was ended"
		}
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

// watchSockets opens our sockets anew when they were taken away, or when the MCP
// server no longer answers on its own.
func (s *supervisor) watchSockets(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	tried := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.nudge:
			tried = time.Time{}
		case <-look.C:
		}
		s.trim()
		if s.ctl.missing() {
			s.reopen(s.ctl, "control")
		}
		if !s.mcp.missing() {
			if time.Since(tried) < tryEvery {
				continue
			}
			tried = time.Now()
			s.tryServer(ctx)
			if s.answers() || ctx.Err() != nil {
				continue
			}
		}
		s.reopen(s.mcp, "MCP server's")
		s.tryServer(ctx)
	}
}

// trim begins the file anew that holds what this process says on its standard error,
// when it is longer than a log may be.
func (s *supervisor) trim() {
	switch had, err := private.Trim(s.files.launched, maxLog); {
	case err != nil:
		s.log.say("%s is too long: %v", s.files.launched, err)
	case had > 0:
		s.log.say("%s had %d bytes, and is begun anew", s.files.launched, had)
	}
}

func (s *supervisor) reopen(d *door, name string) {
	s.log.say("the %s socket is gone or does not answer; it is opened anew", name)
	if err := d.open(); err != nil {
		s.log.say("%v", err)
	}
}

// answers reports whether the MCP server did when it was last tried.
func (s *supervisor) answers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serverErr == ""
}

// reply answers a question.
func (s *supervisor) reply(q question) answer {
	switch q.Op {
	case opStatus:
		status := s.status(time.Now())
		return answer{Status: &status}
	case opSame:
		return answer{Same: q.Runs == fingerprint(s.Config, s.Version, s.Getenv) && s.Key.equal(Secret{q.Key})}
	case opStop:
		s.stop()
		status := s.status(time.Now())
		return answer{Status: &status}
	}
	return answer{}
}
