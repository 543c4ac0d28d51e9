package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"sync"
	"time"

	"termpilot/fault"
)

// Size is the size of a person's terminal, in cells.
type Size struct{ Columns, Rows int }

// Left is how a person's visit to a session ended.
type Left struct {
	Detached bool   // the person left, or their input ended; the session lives
	Code     *int   // the session ended with this exit status, if it is known
	Signal   string // the session was ended by this signal
}

// Attach joins a person's terminal to a session over conn, which comes from
// [DialAttach] and is closed at the end. It paints the screen to stdout, then
// passes bytes both ways, until the session ends, the person types detachKey
// (0: no such key), stdin ends, or ctx does. Sizes that arrive on resize become
// the session's; the first is read before anything is shown, unless resize is
// nil. Attach returns while a Read of stdin may still wait, which it then
// ignores; it never writes after it returned. The caller has put the terminal
// into raw mode, and restores it.
//
// SessionNotFound, SessionEnded when there is nothing to show;
// BackendUnavailable when the host goes away.
func Attach(ctx context.Context, conn net.Conn, session string, stdin io.Reader, stdout io.Writer, resize <-chan Size, detachKey byte) (Left, error) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	h := hello{V: 1, Op: "attach", Session: session}
	if resize != nil {
		select {
		case size := <-resize:
			h.Columns, h.Rows = size.Columns, size.Rows
		case <-ctx.Done():
			return Left{Detached: true}, nil
		}
	}
	w := &frameWriter{w: conn}
	if err := w.frame(frameHello, raw(h)); err != nil {
		return Left{}, unavailable("attach", "the host went away", err)
	}
	left := make(chan struct{})
	over := make(chan struct{})
	go forwardInput(w, stdin, detachKey, left) // may wait in Read for longer than we live
	var resizing sync.WaitGroup
	defer resizing.Wait()
	defer close(over)
	resizing.Go(func() { forwardSizes(w, resize, left, over) })
	result, err := showOutput(conn, stdout)
	select {
	case <-left:
		return Left{Detached: true}, nil
	default:
	}
	if ctx.Err() != nil {
		return Left{Detached: true}, nil
	}
	if err == nil {
		return result, nil
	}
	if fault.CodeOf(err) == fault.Internal {
		err = unavailable("attach", "the host went away", err)
	}
	return Left{}, err
}

// frameWriter lets several goroutines write whole frames.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (f *frameWriter) frame(kind byte, payload []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return writeFrame(f.w, kind, payload)
}

// forwardInput passes on what a person types until the detach key or the end.
func forwardInput(w *frameWriter, stdin io.Reader, detachKey byte, left chan<- struct{}) {
	buf := make([]byte, 32<<10)
	for {
		n, err := stdin.Read(buf)
		typed := buf[:n]
		at := -1
		if detachKey != 0 {
			at = bytes.IndexByte(typed, detachKey)
		}
		if at >= 0 {
			typed = typed[:at]
		}
		if len(typed) > 0 && w.frame(frameInput, typed) != nil {
			return
		}
		if at >= 0 || err != nil {
			close(left)
			_ = w.frame(frameDetach, nil)
			return
		}
	}
}

func forwardSizes(w *frameWriter, resize <-chan Size, left, over <-chan struct{}) {
	for {
		select {
		case size, ok := <-resize:
			if !ok {
				resize = nil
				continue
			}
			var payload [4]byte
			binary.BigEndian.PutUint16(payload[:], uint16(min(max(size.Columns, 0), 65535)))
			binary.BigEndian.PutUint16(payload[2:], uint16(min(max(size.Rows, 0), 65535)))
			if w.frame(frameResize, payload[:]) != nil {
				return
			}
		case <-left:
			return
		case <-over:
			return
		}
	}
}

// showOutput writes what the host shows until the session or the host ends.
func showOutput(conn io.Reader, stdout io.Writer) (Left, error) {
	for {
		kind, payload, err := readFrame(conn)
		if err != nil {
			return Left{}, err
		}
		switch kind {
		case frameOutput, frameRedraw:
			if _, err := stdout.Write(payload); err != nil {
				return Left{}, err
			}
		case frameEnd:
			var e exit
			if err := json.Unmarshal(payload, &e); err != nil {
				return Left{}, err
			}
			return Left{Code: e.Code, Signal: e.Signal}, nil
		case frameError:
			return Left{}, faultOf("attach", payload)
		}
	}
}
