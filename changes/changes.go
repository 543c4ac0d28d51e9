// Package changes wakes whoever waits for a file to change, by the kernel's own
// notice and without looking again and again.
package changes

import "sync"

// Folder is a watch over one folder. C holds a token when something may have
// changed in it since the token was last taken: a file was made, written,
// renamed or removed. There may be one token too many, never one too few.
type Folder struct {
	C <-chan struct{}

	c     chan struct{}
	close func()
	once  sync.Once
}

// Watch watches a folder that exists. An error means that this system cannot:
// the caller then has to look by itself. Changes that another machine makes, on
// a folder of the network, may go unseen.
func Watch(folder string) (*Folder, error) {
	f := &Folder{c: make(chan struct{}, 1)}
	f.C = f.c
	end, err := f.begin(folder)
	if err != nil {
		return nil, err
	}
	f.close = end
	return f, nil
}

// Close ends the watch and returns when nothing of it is left. It may be called again.
func (f *Folder) Close() { f.once.Do(f.close) }

// wake leaves a token.
func (f *Folder) wake() {
	select {
	case f.c <- struct{}{}:
	default: // there is one already
	}
}
