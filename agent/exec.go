package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"termpilot/fault"
	"termpilot/private"
	"termpilot/process"
)

// running is the process of a launch.
type running struct {
	PID   int    `json:"pid"`
	Birth string `json:"birth"`
}

const processFile = "process.json"

func readProcess(folder string) (running, bool) {
	data, err := private.Read(filepath.Join(folder, processFile), 1<<10)
	var r running
	return r, err == nil && json.Unmarshal(data, &r) == nil && r.PID > 1
}

// alive reports whether the process still runs.
func (r running) alive() bool { return process.Alive(r.PID, process.Born(r.Birth)) }

// Exec turns this process into the agent of a launch, in the environment that the
// launch asks for: what others left there is taken out, what is ours put in, and
// nothing else. It is called once in a launch, by what was typed or given to the
// terminal, and returns only when it failed.
func Exec(ctx context.Context, folder string, environ []string) error {
	const op = "agent exec"
	if !filepath.IsAbs(folder) || !launchID().MatchString(filepath.Base(folder)) {
		return refused(op, "", fault.InvalidArgument, "this is no folder of a launch", "launch an agent with termpilot agent launch")
	}
	l, err := readLaunch(folder)
	if err != nil {
		return err
	}
	if r, ran := readProcess(folder); ran {
		detail := "this launch was carried out already"
		if r.alive() {
			detail += ", and its agent runs"
		}
		return refused(op, l.Session, fault.NotAllowed, detail, "launch another one")
	}
	self, err := process.Lookup(os.Getpid())
	if err != nil {
		return err
	}
	r := running{PID: self.PID, Birth: process.Birth(self.Start)}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := private.Write(filepath.Join(folder, processFile), data); err != nil {
		return err
	}
	if err := record(ctx, folder, true, event{Kind: started, PID: r.PID, Birth: r.Birth, Source: fromProcess}); err != nil {
		return err
	}
	err = l.become(environ, folder)
	note := record(ctx, folder, true, event{Kind: gone, Source: fromProcess, Reason: "its program could not be started: " + err.Error()})
	return errors.Join(&fault.Error{
		Op: op, Session: l.Session, Code: fault.AgentMissing, Detail: l.Binary + " cannot be started in " + l.Cwd,
		Hint: "see that the program and the folder are there, and launch the agent again", Err: err,
	}, note)
}

// become turns this process into the agent. It returns only when it failed.
func (l Launch) become(environ []string, folder string) error {
	if err := os.Chdir(l.Cwd); err != nil {
		return err
	}
	env := l.environment(environ, folder)
	if v := vendorOf(l.Provider); v.adjust != nil {
		var err error
		if env, err = v.adjust(env, folder); err != nil {
			return err
		}
	}
	return syscall.Exec(l.Binary, append([]string{l.Binary}, l.Argv...), env)
}

// environment is what the agent gets of what this process has.
func (l Launch) environment(environ []string, folder string) []string {
	set := append(slices.Clone(l.Set), l.Lineage.variables()...)
	set = append(set, launchVariable+"="+l.ID, folderVariable+"="+folder)
	var names []string
	for _, entry := range set {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	kept := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return leaked(entry) || slices.Contains(names, name)
	})
	return append(kept, set...)
}

// maxRecordFile is the most bytes of a vendor's small file that are read.
const maxRecordFile = 1 << 20

func limited(f io.Reader) io.Reader { return io.LimitReader(f, maxRecordFile) }
