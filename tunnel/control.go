package tunnel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"termpilot/fault"
)

// The control socket takes one question, a JSON line, and gives one answer. It
// is private: only this user's processes reach it.

type question struct {
	Op   string `json:"op"`             // status, stop or same
	Key  string `json:"key,omitempty"`  // for same: the key in question, which is not kept
	Runs string `json:"runs,omitempty"` // for same: the fingerprint in question
}

const (
	opStatus = "status"
	opStop   = "stop"
	opSame   = "same"
)

type answer struct {
	Status *Status `json:"status,omitempty"`
	Same   bool    `json:"same,omitempty"`
}

const (
	maxQuestion    = 16 << 10
	controlTimeout = 10 * time.Second
)

// serveControl answers until the listener is closed, and returns when every
// answer has been given.
func serveControl(l net.Listener, reply func(question) answer) {
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, 16)
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files, which passes
			time.Sleep(100 * time.Millisecond)
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			_ = conn.Close() // nobody of ours asks this often
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(controlTimeout))
			line, err := bufio.NewReader(io.LimitReader(conn, maxQuestion)).ReadBytes('\n')
			var q question
			if err != nil || json.Unmarshal(line, &q) != nil {
				return
			}
			_ = json.NewEncoder(conn).Encode(reply(q)) // whoever asked may have gone
		})
	}
}

// errNobody says that no supervisor listens.
var errNobody = errors.New("no supervisor listens")

// put asks the supervisor behind a control socket. errNobody when there is none;
// Deadline when one listens and does not answer.
func put(ctx context.Context, socket string, q question) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return answer{}, errors.Join(errNobody, err)
	}
	defer conn.Close()
	end, _ := ctx.Deadline()
	_ = conn.SetDeadline(end)
	var a answer
	err = json.NewEncoder(conn).Encode(q)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(conn, 1<<20)).Decode(&a)
	}
	switch {
	case err == nil:
		return a, nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return answer{}, errors.Join(errNobody, err) // it ended while it was asked
	}
	return answer{}, &fault.Error{
		Op: "tunnel", Code: fault.Deadline, Detail: "the supervisor listens but does not answer",
		Hint: "run termpilot chatgpt disconnect, then set up again", Err: err,
	}
}

// inquire asks the supervisor of an alias, wherever it listens, and says whether
// there is one and at which paths. One that begins or ends has the lock before and
// after it listens, so a second passes before errNobody is believed of one that has it.
func (p Place) inquire(ctx context.Context, alias string, q question) (a answer, held bool, f files, err error) {
	for end := time.Now().Add(time.Second); ; time.Sleep(20 * time.Millisecond) {
		held, _, f = p.find(alias)
		a, err = put(ctx, f.control, q)
		if !errors.Is(err, errNobody) || !held || ctx.Err() != nil || time.Now().After(end) {
			return a, held, f, err
		}
	}
}
