package host

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"termpilot/fault"
	"termpilot/private"
)

// Suite is the value of IT2_SUITE with which programs that were made for
// iTerm2 find the host: they look for a socket at a fixed place below HOME.
const Suite = "termpilot"

// longestSocket is the longest path that a socket can have here.
const longestSocket = len(unix.RawSockaddrUnix{}.Path) - 1

// authOff is the file whose owner, root, lets every program of the user in
// without a cookie; authMagic ends its content, after its own path.
const (
	authOff   = "disable-automation-auth"
	authMagic = "61DF88DC-3423-4823-B725-22570E01C027"
)

// Credentials are what a program that was made for iTerm2 needs to reach the
// host. The cookie is a secret: whoever prints it says it to nobody else.
type Credentials struct {
	Suite  string `json:"suite"`  // IT2_SUITE
	Cookie string `json:"cookie"` // ITERM2_COOKIE
	Key    string `json:"key"`    // ITERM2_KEY
	Socket string `json:"socket"` // where the suite's programs connect
}

// CheckSuite reports whether there can be a socket for the suite's programs in
// the place of this process's environment. InvalidArgument when HOME is too long.
func CheckSuite() error {
	loc, err := Paths(os.Getenv)
	if err != nil {
		return err
	}
	return suiteFits(loc.Suite)
}

func suiteFits(path string) error {
	if len(path) <= longestSocket {
		return nil
	}
	return &fault.Error{
		Op: "host env", Code: fault.InvalidArgument,
		Detail: fmt.Sprintf("the home folder's path is too long for the socket of iTerm2's programs: %d bytes, at most %d", len(path), longestSocket),
		Hint:   "set HOME to a shorter path, for this command and for those programs",
	}
}

// AdmitSuite has the running host listen for programs that were made for
// iTerm2, and returns what lets them in: for any number of them, until the host
// ends. BackendUnavailable when no host runs; InvalidArgument when HOME is too
// long; Refused when the host was started in another HOME, or another host
// listens there.
func AdmitSuite(ctx context.Context) (Credentials, error) {
	loc, err := Paths(os.Getenv)
	if err != nil {
		return Credentials{}, err
	}
	payload, err := ask(ctx, loc, hello{V: 1, Op: "env", Suite: loc.Suite})
	if err != nil {
		return Credentials{}, err
	}
	var c Credentials
	if err := json.Unmarshal(payload, &c); err != nil {
		return Credentials{}, &fault.Error{Op: "host env", Code: fault.Protocol, Detail: "its answer cannot be read", Hint: "restart the host"}
	}
	return c, nil
}

// suite is the socket at which programs that were made for iTerm2 look for
// their server. It is opened when somebody asks for the credentials first:
// nobody can use it before, and a home stays free of its folders.
type suite struct {
	path   string
	serve  func(*door) // accepts until the door closes
	cookie string
	key    string

	mu     sync.Mutex
	lock   *flock.Flock // referenced for life: the collector would let go of it
	door   *door
	closed bool
	wg     sync.WaitGroup
}

// newSuite makes the credentials. They live in memory and as long as the host.
func newSuite(path string, serve func(*door)) (*suite, error) {
	cookie, err := newNonce()
	if err != nil {
		return nil, err
	}
	return &suite{path: path, serve: serve, cookie: cookie, key: newID()}, nil
}

// open listens, unless it does already, and returns the credentials. wanted is
// where the caller's programs will look.
func (s *suite) open(wanted string) (Credentials, error) {
	if wanted != s.path {
		return Credentials{}, &fault.Error{
			Op: "host env", Code: fault.Refused, Detail: "the running host was started in another HOME",
			Hint: "stop it, or use the HOME that it was started in",
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Credentials{}, unavailable("host env", "the host is ending", nil)
	}
	if s.door == nil {
		if err := s.occupy(); err != nil {
			return Credentials{}, err
		}
		s.wg.Go(func() { s.serve(s.door) })
	}
	return Credentials{Suite: Suite, Cookie: s.cookie, Key: s.key, Socket: s.path}, nil
}

// occupy takes the suite's place by the rules of the host's own. mu is held.
func (s *suite) occupy() error {
	if err := suiteFits(s.path); err != nil {
		return err
	}
	folder := filepath.Dir(s.path)
	for _, path := range []string{filepath.Dir(folder), folder} {
		if err := private.Folder(path); err != nil {
			return err
		}
	}
	lock := lockAt(s.path + ".lock")
	held, err := lock.TryLock()
	if held && !listens(context.Background(), s.path) { // who answers without the lock has lost its file
		door, err := openDoor(s.path)
		if err != nil {
			_ = lock.Close()
			return err
		}
		s.door, s.lock = door, lock
		return nil
	}
	_ = lock.Close()
	if err != nil {
		return unavailable("host env", "the socket's place cannot be used", err)
	}
	return &fault.Error{
		Op: "host env", Code: fault.Refused, Detail: "another host of this HOME listens for iTerm2's programs",
		Hint: "stop that host: it was started with another TERMPILOT_HOME", Err: errTaken,
	}
}

// close stops listening, and lets go of the place.
func (s *suite) close() {
	s.mu.Lock()
	s.closed = true
	s.door.close()
	s.mu.Unlock()
	s.wg.Wait()
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// admits reports whether a cookie lets its program in. Where root switched the
// check off, none is needed.
func (s *suite) admits(cookie string) bool {
	return subtle.ConstantTimeCompare([]byte(cookie), []byte(s.cookie)) == 1 ||
		switchedOff(filepath.Join(filepath.Dir(filepath.Dir(s.path)), authOff), 0)
}

// switchedOff reports whether a file says that cookies are not needed: a plain
// file of that owner, which holds its own path in hexadecimal and the magic.
func switchedOff(path string, owner int) bool {
	want := hex.EncodeToString([]byte(path)) + " " + authMagic
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(want)) {
		return false
	}
	if uid, ok := private.Owner(info); !ok || uid != owner {
		return false
	}
	got, err := os.ReadFile(path)
	return err == nil && string(got) == want
}

// serveSuite serves a client of the suite's socket, which must show its cookie.
func (h *server) serveSuite(conn *net.UnixConn) { h.serveConn(conn, h.suite.admits) }

// anyCookie is the rule of the host's own socket: its mode authenticates.
func anyCookie(string) bool { return true }
