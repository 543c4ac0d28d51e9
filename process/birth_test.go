package process

import (
	"os"
	"testing"
)

func TestAStartIsKnownAgainByItsBirth(t *testing.T) {
	own := mustLookup(t, os.Getpid())
	text := Birth(own.Start)
	if got := Born(text); !got.Equal(own.Start) || !Alive(own.PID, got) {
		t.Errorf("%q is born at %v, and the start is %v", text, got, own.Start)
	}
	for _, other := range []string{"", ".", "x", text + "-1"} {
		if got := Born(other); !got.IsZero() || Alive(own.PID, got) {
			t.Errorf("%q is born at %v", other, got)
		}
	}
}
