package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestTheTextLeavesOutWhatIsEmpty(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{Op: "run", Session: "s4", Code: NotReady, Detail: "vim is running", Hint: "quit vim"}, "run s4: session_not_ready: vim is running"},
		{Error{Op: "open", Code: Storage, Err: io.ErrShortWrite}, "open: storage_failed: short write"},
		{Error{Code: Internal}, "internal"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestCodesAndCausesAreFoundThroughWrapping(t *testing.T) {
	err := fmt.Errorf("call: %w", &Error{Op: "run", Code: Busy, Err: &Error{Code: Storage, Hint: "make room", Err: io.EOF}})
	if !errors.Is(err, Busy) || !errors.Is(err, Storage) || !errors.Is(err, io.EOF) || errors.Is(err, NotReady) {
		t.Errorf("%v is not what it holds", err)
	}
	if got := CodeOf(err); got != Busy { // the outermost
		t.Errorf("got %s, want %s", got, Busy)
	}
	for _, one := range []error{err, errors.Join(io.EOF, err)} {
		if got := HintOf(one); got != "make room" { // the first there is
			t.Errorf("%v: got %q", one, got)
		}
	}
}

func TestWhatHasNoCodeIsInternal(t *testing.T) {
	for err, want := range map[error]Code{nil: "", io.EOF: Internal, Deadline: Deadline} {
		if got := CodeOf(err); got != want {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
	if got := HintOf(io.EOF); got != "" {
		t.Errorf("got the hint %q", got)
	}
}
