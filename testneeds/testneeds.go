// Package testneeds is for tests that need something of the machine: they skip
// where it is missing, and fail where TERMPILOT_TEST_REQUIRE lists it, as it does
// where everything is said to be installed.
package testneeds

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Program returns the path of a program.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name)
	}
	return path
}

// Missing ends a test for want of something: skipped, or failed where it is required.
func Missing(t testing.TB, name string) {
	t.Helper()
	if Required(name) {
		t.Fatalf("%s is required here and is missing", name)
	}
	t.Skipf("%s is missing", name)
}

// Required reports whether TERMPILOT_TEST_REQUIRE, names with commas between
// them, lists a name.
func Required(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("TERMPILOT_TEST_REQUIRE"), ","), name)
}
