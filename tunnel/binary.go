package tunnel

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"termpilot/fault"
	"termpilot/lazy"
)

// oldest is the first tunnel-client that has all that is asked of it.
var oldest = [3]int{0, 0, 10}

// clientURL is where tunnel-client is to be had.
const clientURL = "https://github.com/openai/tunnel-client/releases"

// findClient returns the absolute path of tunnel-client and its version.
// path is the program or its name; "" looks for tunnel-client on PATH.
// ClientMissing when it is not there, does not run or is too old.
func findClient(ctx context.Context, path string) (found, version string, err error) {
	missing := func(detail string, err error) (string, string, error) {
		return "", "", &fault.Error{
			Op: "tunnel-client", Code: fault.ClientMissing, Detail: detail,
			Hint: "install it from " + clientURL + ", or pass its path as --tunnel-client", Err: err,
		}
	}
	name := path
	if name == "" {
		name = "tunnel-client"
	}
	found, err = exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil // a path that a person gave is taken as given
	}
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return missing(fmt.Sprintf("there is no program %.200q", name), nil)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, found, "--version")
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.WaitDelay = time.Second
	out := &head{}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) { // else it ended well, and something else has a copy of the output's end
		return missing(found+" does not run", err)
	}
	numbers, version, ok := parseVersion(string(out.text))
	if !ok {
		return missing(found+" tells no version: it is another program", nil)
	}
	if before(numbers, oldest) {
		return missing(fmt.Sprintf("%s is version %s; it must be at least %d.%d.%d", found, version, oldest[0], oldest[1], oldest[2]), nil)
	}
	return found, version, nil
}

var versionShape = lazy.Regexp(`^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})[^\s]*`)

// parseVersion reads what tunnel-client --version prints: "0.0.13-dev+SHA (git sha: SHA)".
func parseVersion(text string) (numbers [3]int, version string, ok bool) {
	m := versionShape().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return numbers, "", false
	}
	for i := range numbers {
		numbers[i], _ = strconv.Atoi(m[i+1])
	}
	return numbers, strings.TrimPrefix(m[0], "v"), true
}

func before(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// head keeps the first bytes of what a program prints, and ends it when it
// prints much more.
type head struct{ text []byte }

func (h *head) Write(data []byte) (int, error) {
	if len(h.text)+len(data) > 64<<10 {
		return 0, errors.New("it prints too much")
	}
	h.text = append(h.text, data...)
	return len(data), nil
}
