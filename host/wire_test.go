package host

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func text(s string) message { return message{data: []byte(s)} }

// took is what an outbox gives out, within a second of the bubble's clock.
func took(t *testing.T, o *outbox) (n int, after time.Duration) {
	t.Helper()
	began := time.Now()
	if !o.await() {
		t.Fatal("the outbox is closed")
	}
	return len(o.take()), time.Since(began)
}

func TestAnAnswerLingersForWhatFollowsIt(t *testing.T) { // HOST-191
	synctest.Test(t, func(t *testing.T) {
		o := newOutbox(func() {})
		defer o.close()
		o.lingers()
		o.later(text("answer"))
		o.boundLinger()
		o.wake()
		if n, after := took(t, o); n != 1 || after != lingerTime {
			t.Errorf("alone: %d messages after %v", n, after)
		}
		o.lingers()
		o.later(text("answer"))
		o.boundLinger()
		o.wake()
		time.AfterFunc(lingerTime/2, func() {
			o.later(text("start"))
			o.later(text("prompt"))
			o.hurry()
			o.wake()
		})
		if n, after := took(t, o); n != 3 || after != lingerTime/2 {
			t.Errorf("with its prompt: %d messages after %v", n, after)
		}
		o.lingers()
		o.later(text("answer"))
		o.hurry()
		o.boundLinger() // it has ended
		if _, after := took(t, o); after != 0 {
			t.Errorf("hurried: after %v", after)
		}
		o.lingers()
		o.later(text("answer"))
		o.boundLinger()
		time.AfterFunc(lingerTime/2, func() { // the next request
			o.hurry()
			o.lingers()
			o.later(text("answer"))
			o.boundLinger()
			o.wake()
		})
		if n, after := took(t, o); n != 2 || after != lingerTime/2 {
			t.Errorf("again and again: %d messages after %v", n, after)
		}
		o.later(text("another"))
		o.wake()
		if _, after := took(t, o); after != 0 {
			t.Errorf("without lingering: after %v", after)
		}
	})
}

func TestALingeringClientIsClosedAtOnce(t *testing.T) { // HOST-191
	synctest.Test(t, func(t *testing.T) {
		o := newOutbox(func() {})
		o.lingers()
		o.later(text("answer"))
		o.close()
		o.boundLinger()
		if o.await() || len(o.take()) > 0 {
			t.Error("it gives out messages")
		}
	})
}

func TestOnlyTheLastWordIsSent(t *testing.T) { // HOST-192
	word := func(about, text string) message { return message{about: about, data: []byte(text)} }
	end := message{data: []byte("end"), fixes: true}
	for _, c := range []struct {
		name   string
		queued []message
		want   string
	}{
		{"others between", []message{word("a", "1"), text("start"), word("b", "2"), word("a", "3")}, "start 2 3"},
		{"an end between", []message{word("a", "1"), word("a", "2"), end, word("a", "3"), word("a", "4")}, "2 end 4"},
		{"what is about nothing", []message{text("1"), text("2")}, "1 2"},
	} {
		o := newOutbox(func() {})
		for _, m := range c.queued {
			o.later(m)
		}
		size := 0
		var got []string
		for _, m := range o.messages {
			size += len(m.data)
			got = append(got, string(m.data))
		}
		if strings.Join(got, " ") != c.want || o.size != size {
			t.Errorf("%s: got %q of %d bytes, want %q of %d", c.name, got, o.size, c.want, size)
		}
	}
}

func TestAWriteThatFindsNoRoomWaitsOnlyInTheWriter(t *testing.T) { // HOST-81
	w, theirs := attended(t)
	owed := make(chan struct{}, 1)
	w.more = func() {
		select {
		case owed <- struct{}{}:
		default:
		}
	}
	sent := 0
	for {
		n, err := w.Write(bytes.Repeat([]byte("x"), 1000))
		if sent += n; errors.Is(err, errCrowded) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	<-owed
	go func() {
		w.hold(true)
		n, err := w.Write(bytes.Repeat([]byte("y"), 4*maxBurst))
		if failed := w.release(); n != 4*maxBurst || err != nil || failed != nil {
			t.Errorf("wrote %d bytes, %v, %v", n, err, failed)
		}
		_ = w.Close()
	}()
	got, err := io.ReadAll(theirs)
	if want := strings.Repeat("x", sent) + strings.Repeat("y", 4*maxBurst); err != nil || string(got) != want {
		t.Errorf("read %d bytes of %d, %v", len(got), len(want), err)
	}
}
