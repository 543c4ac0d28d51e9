package iterm

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"termpilot/host"
)

// patience is the longest wait for anything.
const patience = 20 * time.Second

// hostVariable makes a host of the test binary, for tests that kill it.
const hostVariable = "ITERM_TEST_SERVES_AS_HOST"

func TestMain(m *testing.M) {
	if os.Getenv(hostVariable) != "" {
		if err := host.Serve(context.Background(), host.Options{Env: os.Environ()}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
