package host

import (
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"termpilot/process"
)

// job is the foreground job of a session: the leader of its process group, or
// another member when the leader is gone.
type job struct {
	pid  int
	name string
}

func (s *session) job() job {
	front, err := s.device.foreground()
	if err != nil || front <= 1 {
		return job{}
	}
	if name, err := process.Name(front); err == nil {
		return job{front, name}
	}
	table, err := process.Snapshot()
	if err != nil {
		return job{}
	}
	members := table.Where(func(e process.Entry) bool { return e.PGID == front && e.State != process.Zombie })
	if len(members) == 0 {
		return job{}
	}
	last := members[len(members)-1]
	return job{last.PID, last.Name}
}

// jobPID is job's number. A leader that is there need not be looked at.
func (s *session) jobPID() int {
	front, err := s.device.foreground()
	if err == nil && front > 1 && !errors.Is(unix.Kill(front, 0), unix.ESRCH) {
		return front
	}
	return s.job().pid
}

func (s *session) commandLine() string {
	p, err := process.Lookup(s.job().pid)
	if err != nil {
		return ""
	}
	return clean(strings.Join(p.Argv, " "))
}

// jobFolder is the working directory of the foreground job, or "".
func (s *session) jobFolder() string {
	p, err := process.Lookup(s.job().pid)
	if err != nil {
		return ""
	}
	return p.Cwd
}

// shownJob is a job's name as lists show it, which need not be of this moment:
// it is looked up anew only when another group is in front, or it is old.
type shownJob struct {
	front int
	name  string
	first time.Time // when front was first seen
	read  time.Time
}

const (
	// A program has its name a moment after its group is in front: exec comes later.
	jobSettles = 50 * time.Millisecond
	jobAge     = 2 * time.Second
)

// shownName is name for lists.
func (s *session) shownName() string {
	if name := s.facts.label(); name != "" {
		return name
	}
	front, err := s.device.foreground()
	if err != nil {
		return s.profile.Name
	}
	now := time.Now()
	s.facts.mu.Lock()
	known := s.facts.job
	s.facts.mu.Unlock()
	if known.front == front && known.name != "" && known.read.Sub(known.first) >= jobSettles && now.Sub(known.read) < jobAge {
		return known.name
	}
	fresh := shownJob{front: front, name: s.autoName(), first: now, read: now}
	if known.front == front {
		fresh.first = known.first
	}
	s.facts.mu.Lock()
	s.facts.job = fresh
	s.facts.mu.Unlock()
	return fresh.name
}
