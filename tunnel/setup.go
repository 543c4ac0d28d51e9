package tunnel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"termpilot/fault"
)

const (
	// startPatience is how long a supervisor may take to answer.
	startPatience = 15 * time.Second
	// pollPatience is how long the first poll may take: a long poll of pollTime,
	// and what the control plane and a slow machine add to it.
	pollPatience = 45 * time.Second
)

// Request is what a setup is asked for.
type Request struct {
	Config  Config  // Client may be a name or ""
	Sources Sources // where the key is looked for
	// AtLogin also has the supervisor started at each login. The key must then be
	// where it can be found without this shell.
	AtLogin bool
	// Command is how this program is started as the supervisor of the alias.
	Command Command
	// LoginCommand is the same at login, where no key is handed over.
	LoginCommand []string
	Version      string                    // of this program
	Step         func(name, detail string) // told after each step that went well; may be nil
}

// Prepare checks all that can be checked before anything runs: ids, the
// program, the key, the control plane. Then it writes the configuration, and
// what starts the supervisor at login. It returns what [Supervise] needs. TunnelBusy,
// and nothing is written, when the alias has a supervisor.
func Prepare(ctx context.Context, p Place, r Request) (c Config, key Secret, origin string, err error) {
	c, key, origin, err = r.check(ctx)
	if err != nil {
		return c, key, origin, err
	}
	f, err := p.make(c.Alias)
	if err != nil {
		return c, key, origin, err
	}
	alone, err := f.alone(c.Alias)
	if err != nil {
		return c, key, origin, err
	}
	defer alone.Close()
	if held, _, _ := p.find(c.Alias); held {
		return c, key, origin, busy(c.Alias)
	}
	return c, key, origin, r.write(c, f)
}

// alone takes the lock that lets one setup of an alias work at a time.
func (f files) alone(alias string) (*flock.Flock, error) {
	lock := flock.New(f.setup, flock.SetPermissions(0o600))
	switch free, err := lock.TryLock(); {
	case err != nil:
		return nil, lockFault(alias, err)
	case !free:
		return nil, &fault.Error{
			Op: "tunnel setup", Code: fault.TunnelBusy, Detail: "another setup of " + alias + " is at work",
			Hint: "wait until it has ended",
		}
	}
	return lock, nil
}

// Setup does what [Prepare] does, starts the supervisor, and returns when a poll
// has succeeded. Run again, it leaves alone what already runs as asked, and
// starts anew what does not. After an error that comes before the start, what
// ran before still runs.
func Setup(ctx context.Context, p Place, r Request) (Status, error) {
	c, key, origin, err := r.check(ctx)
	if err != nil {
		return Status{}, err
	}
	f, err := p.make(c.Alias)
	if err != nil {
		return Status{}, err
	}
	alone, err := f.alone(c.Alias)
	if err != nil {
		return Status{}, err
	}
	defer alone.Close()
	a, held, _, err := p.inquire(ctx, c.Alias, question{Op: opSame, Key: key.value, Runs: fingerprint(c, r.Version, r.Sources.Getenv)})
	if err != nil && !errors.Is(err, errNobody) {
		return Status{}, err
	}
	if err := r.write(c, f); err != nil {
		return Status{}, err // what runs still does
	}
	if held && !a.Same {
		if _, err := end(ctx, p, c.Alias); err != nil {
			return Status{}, err
		}
		r.step("supervisor", "the one that ran otherwise was ended")
	}
	if !a.Same {
		env := append(scrub(os.Environ(), c.Key.variable()), network(r.Sources.Getenv)...)
		if err := launch(ctx, f, r.Command(0, origin), env, key); err != nil {
			return Status{}, err
		}
	}
	return awaitReady(ctx, p, c.Alias, r.step)
}

// step tells of a step that went well.
func (r Request) step(name, detail string) {
	if r.Step != nil {
		r.Step(name, detail)
	}
}

// check makes sure of all that can be made sure of before anything is changed.
func (r Request) check(ctx context.Context) (c Config, key Secret, origin string, err error) {
	c = r.Config
	if err = c.check(); err != nil {
		return c, key, origin, err
	}
	r.step("settings", c.TunnelID+" as "+c.Alias)
	path, version, err := findClient(ctx, c.Client)
	if err != nil {
		return c, key, origin, err
	}
	c.Client = path
	r.step("tunnel-client", version+", "+path)
	if key, origin, err = c.Key.Resolve(ctx, r.Sources); err != nil {
		return c, key, origin, err
	}
	holds := fileOf(c.Key, origin)
	c.EnvFile = ""
	if c.Key.variable() != "" {
		c.EnvFile = holds
	}
	r.step("runtime key", "found in "+origin)
	if exposed(holds) {
		r.step("runtime key", "others can read that file: run chmod 600 "+holds)
	}
	if r.AtLogin && strings.HasPrefix(string(c.Key), "env:") && c.EnvFile == "" {
		return c, key, origin, &fault.Error{
			Op: "tunnel setup", Code: fault.InvalidArgument, Detail: "the key is in this shell's environment alone, which nobody has at login",
			Hint: "write it into a .env file and pass --env-file, or use --runtime-key file:/path",
		}
	}
	name, err := look(ctx, c.BaseURL, c.TunnelID, key)
	if err == nil {
		r.step("control plane", "knows the tunnel "+name)
	}
	return c, key, origin, err
}

// write puts on disk what was set up.
func (r Request) write(c Config, f files) error {
	if err := c.save(f.config); err != nil {
		return err
	}
	if !r.AtLogin {
		return nil
	}
	unit, err := installLogin(c.Alias, r.LoginCommand, r.Sources.Getenv)
	if err == nil {
		r.step("at login", "written to "+unit)
	}
	return err
}

// awaitReady waits for the first poll, and says what keeps it from succeeding.
func awaitReady(ctx context.Context, p Place, alias string, step func(name, detail string)) (Status, error) {
	ctx, cancel := context.WithTimeout(ctx, pollPatience)
	defer cancel()
	told := false
	for {
		s, err := Inspect(ctx, p, alias)
		if err != nil {
			return s, err
		}
		if s.Running && s.Tools > 0 && !told {
			told = true
			step("MCP server", fmt.Sprintf("answers on its private socket with %d tools", s.Tools))
		}
		switch {
		case s.Ready:
			step("polling", "a poll succeeded")
			return s, nil
		case !s.Running:
			return s, &fault.Error{Op: "tunnel setup", Code: fault.Internal, Detail: "the supervisor ended", Hint: "see " + s.LogPath}
		case s.ServerError != "":
			return s, &fault.Error{Op: "tunnel setup", Code: fault.Internal, Detail: "the MCP server does not answer: " + s.ServerError, Hint: "run termpilot chatgpt doctor"}
		case s.Polling == PollingFailing:
			return s, pollFault(s)
		case s.Restarts > 1 && s.ClientPID == 0:
			return s, &fault.Error{Op: "tunnel setup", Code: fault.ClientMissing, Detail: "tunnel-client does not stay up: " + s.LastExit, Hint: "see " + s.LogPath}
		}
		select {
		case <-ctx.Done():
			return s, &fault.Error{
				Op: "tunnel setup", Code: fault.Deadline, Detail: "no poll has succeeded yet; the supervisor goes on trying",
				Hint: "see termpilot chatgpt doctor in a minute",
			}
		case <-time.After(100 * time.Millisecond): // the supervisor tells by being asked
		}
	}
}

// pollFault is why polls fail, as an error.
func pollFault(s Status) error {
	switch s.Refused {
	case 401, 403:
		return &fault.Error{
			Op: "tunnel setup", Code: fault.KeyRefused, Detail: fmt.Sprintf("the key may not use the tunnel (%d %s)", s.Refused, s.LastError),
			Hint: "give the runtime key Use of tunnels, in the tunnel's organisation",
		}
	case 404:
		return &fault.Error{Op: "tunnel setup", Code: fault.TunnelNotFound, Detail: "polls find no tunnel (404 " + s.LastError + ")", Hint: "check the tunnel id"}
	}
	return &fault.Error{
		Op: "tunnel setup", Code: fault.Unreachable, Detail: "polls fail: " + s.LastError,
		Hint: "check the network; the supervisor goes on trying",
	}
}
