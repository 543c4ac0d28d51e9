package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"termpilot/fault"
)

func TestFaultsEndWithTheCodesOfTheTable(t *testing.T) { // CLI-3
	for code, want := range map[fault.Code]int{
		fault.NotReady: exitRefused, fault.Busy: exitRefused, fault.NoIntegration: exitRefused, fault.Unverified: exitRefused,
		fault.Blocked: exitRefused, fault.NotAllowed: exitRefused, fault.NameTaken: exitRefused, fault.Refused: exitRefused,
		fault.TunnelBusy: exitRefused, fault.KeyMissing: exitRefused, fault.KeyInvalid: exitRefused, fault.KeyRefused: exitRefused,
		fault.AgentBusy: exitRefused, fault.AgentWaiting: exitRefused, fault.TypedText: exitRefused, fault.NotLoggedIn: exitRefused,
		fault.ModelUnknown: exitRefused, fault.OperationTaken: exitRefused, fault.Stale: exitRefused,
		fault.AgentNotFound: exitGone, fault.AgentEnded: exitGone, fault.OperationNotFound: exitGone, fault.AgentMissing: exitFailed,
		fault.SessionNotFound: exitGone, fault.SessionEnded: exitGone, fault.RunNotFound: exitGone,
		fault.WindowNotFound: exitGone, fault.TabNotFound: exitGone, fault.NoCurrentSession: exitGone,
		fault.TunnelNotFound: exitGone, fault.TunnelNotSetUp: exitGone, fault.ClientMissing: exitFailed, fault.Unreachable: exitFailed,
		fault.Deadline: exitTimeout, fault.InvalidArgument: exitUsage, fault.TooLarge: exitUsage,
		fault.Storage: exitFailed, fault.Internal: exitFailed, fault.BackendUnavailable: exitFailed,
	} {
		err := fmt.Errorf("wrapped: %w", &fault.Error{Op: "run", Code: code})
		if got := exitCode(err); got != want {
			t.Errorf("%s: got %d, want %d", code, got, want)
		}
	}
	if got := exitCode(errors.New("anything else")); got != exitFailed {
		t.Errorf("an unnamed error: got %d, want %d", got, exitFailed)
	}
	if got := exitCode(usage(&fault.Error{Code: fault.NotReady})); got != exitUsage {
		t.Errorf("a usage error: got %d, want %d", got, exitUsage)
	}
}

func TestExitCodesAreThoseOfTheTable(t *testing.T) { // CLI-1
	spec, err := os.ReadFile("../../specs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"ok": exitOK, "failed": exitFailed, "usage": exitUsage, "timeout": exitTimeout,
		"gone": exitGone, "running": exitRunning, "limited": exitLimited, "refused": exitRefused,
	}
	rows := regexp.MustCompile(`(?m)^\| (\d) \| (\w+) \|`).FindAllStringSubmatch(string(spec), -1)
	if len(rows) != len(want) {
		t.Errorf("specs/cli.md has %d rows, want %d", len(rows), len(want))
	}
	for _, row := range rows {
		if got, _ := strconv.Atoi(row[1]); got != want[row[2]] {
			t.Errorf("%s: the table says %d, the program %d", row[2], got, want[row[2]])
		}
	}
}
