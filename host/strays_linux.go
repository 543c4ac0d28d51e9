package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processInfo is as much of a process as the search for those who outlive their
// session needs. Package process tells the rest.
type processInfo struct {
	pid     int
	parent  int
	group   int
	session int
	name    string
	state   byte // 'R', 'S', 'Z', …
}

func inspectProcess(pid int) (processInfo, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return processInfo{}, false
	}
	// The name is in parentheses and may itself hold blanks and parentheses.
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return processInfo{}, false
	}
	f := strings.Fields(string(data[end+1:]))
	if len(f) < 4 {
		return processInfo{}, false
	}
	p := processInfo{pid: pid, name: string(data[open+1 : end]), state: f[0][0]}
	p.parent, _ = strconv.Atoi(f[1])
	p.group, _ = strconv.Atoi(f[2])
	p.session, _ = strconv.Atoi(f[3])
	return p, true
}

// processProgram returns the path of the program that a process runs, or "".
func processProgram(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return path
}

// processes lists the processes that match. One that cannot be read is left out.
func processes(match func(processInfo) bool) []processInfo {
	paths, _ := filepath.Glob("/proc/[0-9]*")
	var list []processInfo
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		if p, ok := inspectProcess(pid); ok && match(p) {
			list = append(list, p)
		}
	}
	return list
}

// startedIn reports whether a process was started inside a session of ours, by
// the variable that every session's programs inherit.
func startedIn(pid int, session string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	want := []byte("TERMPILOT_SESSION_ID=" + session)
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(entry, want) {
			return true
		}
	}
	return false
}
