package host

import (
	"testing"
	"testing/synctest"
	"time"
)

// took is what an outbox gives out, within a second of the bubble's clock.
func took(t *testing.T, o *outbox) (n int, after time.Duration) {
	t.Helper()
	began := time.Now()
	burst, ok := o.take()
	if !ok {
		t.Fatal("the outbox is closed")
	}
	return len(burst), time.Since(began)
}

func TestAnAnswerLingersForWhatFollowsIt(t *testing.T) { // HOST-191
	synctest.Test(t, func(t *testing.T) {
		o := newOutbox(func() {})
		defer o.close()
		o.lingers()
		o.later([]byte("answer"))
		o.wake()
		if n, after := took(t, o); n != 1 || after != lingerTime {
			t.Errorf("alone: %d messages after %v", n, after)
		}
		o.lingers()
		o.later([]byte("answer"))
		o.wake()
		time.AfterFunc(lingerTime/2, func() {
			o.later([]byte("start"))
			o.later([]byte("prompt"))
			o.hurry()
			o.wake()
		})
		if n, after := took(t, o); n != 3 || after != lingerTime/2 {
			t.Errorf("with its prompt: %d messages after %v", n, after)
		}
		o.lingers()
		o.lingers() // does not begin anew
		time.AfterFunc(lingerTime/2, o.lingers)
		o.later([]byte("answer"))
		if _, after := took(t, o); after != lingerTime {
			t.Errorf("again and again: after %v", after)
		}
		o.later([]byte("another"))
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
		o.later([]byte("answer"))
		o.close()
		if _, ok := o.take(); ok {
			t.Error("it gives out messages")
		}
	})
}
