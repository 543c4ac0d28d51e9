package tmux

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"termpilot/process"
)

// conn is one control-mode connection: a tmux process whose standard input
// takes commands and whose standard output tells answers and notifications.
type conn struct {
	cmd  *exec.Cmd
	note func(note) // called by the reading goroutine for each notification

	// loose: the server does not say which answers are to our own commands.
	loose bool

	token string // ends the answers of each call; nobody else can know it
	errs  tail   // what tmux said on its standard error
	ready chan struct{}
	done  chan struct{} // nothing of the connection runs any more

	failed chan struct{} // closed when lost is set
	ended  chan struct{} // closed when the tmux process has

	owing *time.Timer // asks for nothing when it ends
	heard int         // bytes since it was set last; the reading goroutine's

	mu      sync.Mutex
	more    *sync.Cond
	out     []byte // not yet written
	calls   []*call
	count   int
	posted  int64 // bytes of commands that were handed in, and how many of them may have
	taken   int64 // reached tmux
	lost    error // why the connection ended, or is to end
	reason  string
	session string // that it is attached to
}

// call is one line of commands and its answers.
type call struct {
	end    string // the line that ends it
	from   int64  // where in all that was posted it begins
	raw    bool   // its answers hold text of programs, which could look like anything
	finish func(*call)
	done   chan struct{}

	answers []answer // one for each command that was carried out
	lines   [][]byte // of a raw call: everything that came after the first answer
	size    int
	err     error
}

// answer is what one command printed, or why it was refused.
type answer struct {
	lines   [][]byte
	refused bool
}

func (a answer) text() string { return string(bytes.Join(a.lines, []byte("\n"))) }

// refusal is tmux's own reason.
type refusal string

func (r refusal) Error() string { return string(r) }

// errors of a connection.
var (
	errLost   = errors.New("the connection to the tmux server ended")
	errSilent = errors.New("the tmux server does not answer")
	errFlood  = errors.New("the tmux server takes no commands")
	errSpeech = errors.New("the tmux server answered out of order")
	errUnread = errors.New("the tmux server tells something that is not understood")
	errUnsure = errors.New("the connection to the tmux server ended before the answer")
)

// unanswered is why a call got no answer that may have been carried out.
type unanswered struct{ error }

func (e unanswered) Unwrap() error { return e.error }

// maxWaiting is how many bytes of commands may wait for the server.
const maxWaiting = 32 << 20

// connect starts a connection and returns when it is attached.
func connect(ctx context.Context, program string, loose bool, args, env []string, told func(note)) (*conn, error) {
	c := &conn{
		note: told, loose: loose, token: rand.Text(), ready: make(chan struct{}), done: make(chan struct{}),
		failed: make(chan struct{}), ended: make(chan struct{}), cmd: exec.Command(program, args...),
	}
	c.more = sync.NewCond(&c.mu)
	c.owing = time.AfterFunc(owed, func() { c.post(&call{}, nothing) })
	c.owing.Stop()
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	c.cmd.Env, c.cmd.Dir = env, "/"
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr, c.cmd.ExtraFiles = theirIn, theirOut, &c.errs, hold(in)
	c.cmd.WaitDelay = time.Second
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is not meant for it
	began := make(chan error, 1)
	go func() {
		defer out.Close()
		defer in.Close()
		// By itself tmux (3.3a) waits without end for a client whose output nobody
		// reads, and its server for the client.
		err := process.StartTied(c.cmd, syscall.SIGKILL)
		for _, f := range append(c.cmd.ExtraFiles, theirIn, theirOut) {
			_ = f.Close()
		}
		began <- err
		if err != nil {
			return
		}
		var wg sync.WaitGroup
		wg.Go(func() { c.write(in) })
		wg.Go(func() { c.read(out) })
		wg.Go(c.cut)
		_ = c.cmd.Wait() // its status says no more than its words do
		close(c.ended)
		rest := lastWait
		if c.isLost() && !c.isReady() { // and nothing is to come
			rest = parting
		}
		_ = in.SetWriteDeadline(past)
		_ = out.SetReadDeadline(time.Now().Add(rest))
		wg.Wait()
		close(c.done)
		_ = out.SetReadDeadline(time.Time{})
		_, _ = io.Copy(io.Discard, out) // what tmux has not let go of yet must not end before
	}()
	if err := <-began; err != nil {
		return nil, err
	}
	select {
	case <-c.ready:
		return c, nil
	case <-c.done:
		return nil, c.why()
	case <-ctx.Done():
		c.close()
		return nil, errSilent
	}
}

// close ends the connection, and returns when nothing of it runs any more, and tmux
// has told everybody who was there.
func (c *conn) close() {
	c.fail(errLost)
	<-c.done
}

// cut ends the tmux process when the connection is given up.
//
// The polite way to leave, an end of the input, would be no good: until the client has
// left, what panes print counts as told to it, and when something else of theirs waits
// for it then, tmux (3.2 to 3.6) ends, with all sessions. Of a client whose process is
// gone it lets go at once. But one that has not said all of itself yet must not be cut
// short, because tmux crashes at that.
func (c *conn) cut() {
	<-c.failed
	select {
	case <-c.ended:
	case <-c.ready:
	case <-time.After(leaving):
	}
	if !stopped(c.ended) {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // and what it has started: the program may be a script that runs tmux
	}
}

const (
	// leaving is how long a connection that is given up may take to say all of itself.
	leaving = 300 * time.Millisecond
	// parting is how long tmux may take to notice that a client has gone that was not
	// there yet: it has a copy of the output's end until then.
	parting = 100 * time.Millisecond
)

// why says in tmux's own words, where it has any, why the connection ended.
func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := strings.TrimSpace(c.errs.String())
	if said == "" {
		said = c.reason
	}
	if said == "" {
		return c.lost
	}
	return fmt.Errorf("%w: %s", c.lost, said)
}

// fail ends the connection. Only the first cause counts.
func (c *conn) fail(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		c.lost = cause
		close(c.failed)
		c.owing.Stop()
		c.more.Broadcast()
	}
}

// isLost reports whether the connection has ended, or is about to.
func (c *conn) isLost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost != nil
}

// at is the session that the connection is attached to.
func (c *conn) at() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// abandon ends the calls that will get no answer. Nothing is read any more.
func (c *conn) abandon() {
	c.mu.Lock()
	calls, cause, taken := c.calls, c.lost, c.taken
	c.calls = nil
	c.mu.Unlock()
	for _, k := range calls {
		if k.err = cause; k.from < taken {
			k.err = unanswered{cause}
		}
		c.complete(k)
	}
}

func (c *conn) complete(k *call) {
	if k.finish != nil {
		k.finish(k)
	}
	close(k.done)
}

// post hands in a line of commands. Their answers are told to k.finish, by the
// reading goroutine at their place in the stream, and close k.done.
func (c *conn) post(k *call, line string) {
	k.done = make(chan struct{})
	c.mu.Lock()
	c.count++
	k.end = fmt.Sprintf("%s-%d", c.token, c.count)
	separator := "\n" // on a line of its own it is carried out also after a refusal
	if k.raw {
		separator = " ; " // and nothing comes in between
	}
	text := line + separator + "display-message -p " + k.end + "\n"
	switch {
	case c.lost != nil:
		k.err = c.lost
	case len(c.out)+len(text) > maxWaiting:
		k.err = errFlood
	default:
		c.calls = append(c.calls, k)
		c.out = append(c.out, text...)
		k.from = c.posted
		c.posted += int64(len(text))
		c.more.Signal()
	}
	failed := k.err != nil
	c.mu.Unlock()
	if failed {
		c.complete(k)
	}
}

// do hands in a line of commands and waits for its answers. The first refusal
// is an error, and then the commands after it in the line were not carried out.
func (c *conn) do(ctx context.Context, line string) ([]answer, error) {
	k := &call{}
	c.post(k, line)
	select {
	case <-k.done:
	case <-ctx.Done():
		return nil, errSilent
	}
	return k.answers, k.failure()
}

func (k *call) failure() error {
	if k.err != nil {
		return k.err
	}
	for _, a := range k.answers {
		if a.refused {
			return refusal(a.text())
		}
	}
	return nil
}

// write passes commands on to tmux until the connection ends.
func (c *conn) write(in io.Writer) {
	for {
		c.mu.Lock()
		for len(c.out) == 0 && c.lost == nil {
			c.more.Wait()
		}
		if c.lost != nil {
			c.mu.Unlock()
			return
		}
		text := c.out
		c.out, c.taken = nil, c.posted
		c.mu.Unlock()
		if _, err := in.Write(text); err != nil {
			c.fail(errLost)
			return
		}
	}
}

// read takes in all that tmux tells until it ends.
func (c *conn) read(out io.Reader) {
	defer c.abandon()
	r := bufio.NewReaderSize(out, 64<<10)
	var d decoder
	var long []byte
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > maxLine {
				c.fail(errSpeech)
				return
			}
			continue
		}
		if err != nil {
			c.fail(errLost)
			return
		}
		if long != nil {
			line = append(long, line...)
			long = nil
		}
		if err := d.take(c, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			c.fail(err)
			return
		}
		if c.heard += len(line); c.heard > muchHeard && r.Buffered() == 0 {
			c.heard = 0
			c.owing.Reset(owed)
		}
	}
}

// A pane that is read too slowly is left out, and tmux says so. But when it
// finds that out while it writes, and something else waits to be written
// behind what it then leaves out, it (3.3a for one) writes neither before the
// next occasion. So after much was heard and then nothing more, it is asked for
// nothing, which is an occasion.
const (
	muchHeard = 4 << 10 // less than tmux writes before it looks how long something has waited
	owed      = 50 * time.Millisecond
	nothing   = "display-message -p ''"
)

// tail keeps the last of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 500

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
