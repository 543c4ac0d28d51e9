package main

import (
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// oneProcessor has Go code run on one processor until restore is called. A server
// of one client waits for others nearly all the time: what it does is handed from
// one goroutine to the next, and waking a second thread for each step would cost
// more than most steps. A person who sets GOMAXPROCS has it so.
func oneProcessor(getenv func(string) string) (restore func()) {
	if getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}

// polled returns in so that a reading that waits holds no thread, which would
// have to hand what it reads to another one: calls are answered sooner, and
// closing it ends the waiting. Only pipes and sockets can be had so, and only when
// writing to outs still waits; anything else is returned as it is. restore gives
// those who hold the same pipe, as the other commands of a group do, what they had.
func polled(in io.Reader, outs ...io.Writer) (from io.Reader, restore func()) {
	asIs := func() {}
	file, ok := in.(*os.File)
	if !ok {
		return in, asIs
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return in, asIs
	}
	fd, own := descriptor(in), -1
	if waits(fd) {
		own, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	if own < 0 || err != nil {
		return in, asIs
	}
	waited := make([]bool, len(outs))
	for i, out := range outs {
		waited[i] = waits(descriptor(out))
	}
	_ = unix.SetNonblock(fd, true)
	for i, out := range outs {
		if waited[i] != waits(descriptor(out)) { // one socket is both
			_ = unix.SetNonblock(fd, false)
			_ = unix.Close(own)
			return in, asIs
		}
	}
	return os.NewFile(uintptr(own), file.Name()), func() { _ = unix.SetNonblock(fd, false) }
}

// descriptor is that of an open file; -1 of anything else.
func descriptor(f any) int {
	number := -1
	if file, ok := f.(*os.File); ok {
		if raw, err := file.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { number = int(fd) })
		}
	}
	return number
}

// waits reports whether reading and writing wait.
func waits(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK == 0
}
