package agent

import (
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

// shelf keeps the launches of folders that have not changed since they were read:
// there may be thousands, and every call asks for them. It knows nothing by itself.
// A launch and its process are written by a rename, which changes the time of their
// folder, and are read anew then.
type shelf struct {
	mu    sync.Mutex
	known map[string]shelved
}

// shelved is what a folder held when it had changed last.
type shelved struct {
	at      time.Time // when that was
	launch  Launch
	process running
	ran     bool
}

// coarse is the least that two changes of a folder must lie apart so that every file
// system tells them apart by their times.
const coarse = 2 * time.Second

// read returns the launches of folders, in their order, without those that cannot be read.
func (s *shelf) read(in func(name string) string, folders []fs.FileInfo) []Launch {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	known := make(map[string]shelved, len(folders))
	all := make([]Launch, 0, len(folders))
	for _, info := range folders {
		one, ok := s.known[info.Name()]
		if !ok || !one.at.Equal(info.ModTime()) {
			l, err := readLaunch(in(info.Name()))
			if err != nil {
				continue
			}
			one = shelved{at: info.ModTime(), launch: l}
			one.process, one.ran = readProcess(in(info.Name()))
		}
		all = append(all, one.launch)
		if now.Sub(one.at) > coarse { // else another change may bear the same time
			known[info.Name()] = one
		}
	}
	s.known = known // without those that are gone
	return all
}

// process is readProcess of a folder, as of the last read.
func (s *shelf) process(folder string) (r running, ran bool) {
	s.mu.Lock()
	one, ok := s.known[filepath.Base(folder)]
	s.mu.Unlock()
	if !ok {
		return readProcess(folder)
	}
	return one.process, one.ran
}
