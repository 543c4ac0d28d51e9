package process

import (
	"bytes"
	"errors"
	"strconv"
	"time"
)

// stat is what /proc/PID/stat says (proc_pid_stat(5)).
type stat struct {
	pid, ppid, pgid int
	sid             int
	name            string
	state           byte
	threads         int    // that live
	tty             uint64 // device number; 0 is none
	foreground      int    // process group of that terminal; -1 is none
	start           uint64 // ticks after boot
}

var errStat = errors.New("malformed /proc/PID/stat")

// parseStat reads one line. The name may hold blanks and brackets: it goes from
// the first "(" to the last ")", since no later field has one.
func parseStat(line []byte) (stat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return stat{}, errStat
	}
	s := stat{name: string(line[open+1 : end])}
	// state ppid pgrp session tty_nr tpgid … num_threads, starttime: fields 3 to 8, 20 and 22
	var fields [20][]byte
	n := 0
	for f := range bytes.FieldsSeq(line[end+1:]) {
		if n == len(fields) {
			break
		}
		fields[n] = f
		n++
	}
	if n < len(fields) || len(fields[0]) != 1 || fields[0][0] <= ' ' || fields[0][0] > '~' {
		return stat{}, errStat
	}
	s.state = fields[0][0]
	tty, start := 0, int64(0)
	for _, f := range []struct {
		text []byte
		to   *int
	}{
		{bytes.TrimSpace(line[:open]), &s.pid},
		{fields[1], &s.ppid},
		{fields[2], &s.pgid},
		{fields[3], &s.sid},
		{fields[4], &tty},
		{fields[5], &s.foreground},
		{fields[17], &s.threads},
	} {
		n, err := strconv.ParseInt(string(f.text), 10, 64)
		if err != nil || n != int64(int32(n)) && n != int64(uint32(n)) {
			return stat{}, errStat
		}
		*f.to = int(n)
	}
	start, err := strconv.ParseInt(string(fields[19]), 10, 64)
	if err != nil || start < 0 || s.pid < 0 || s.ppid < 0 {
		return stat{}, errStat
	}
	s.tty, s.start = device(uint32(tty)), uint64(start)
	return s, nil
}

// device turns the kernel's packed device number into that of stat(2): "the
// minor device number is contained in the combination of bits 31 to 20 and 7 to
// 0; the major device number is in bits 15 to 8".
func device(packed uint32) uint64 {
	if packed == 0 {
		return 0
	}
	major, minor := uint64(packed>>8&0xff), uint64(packed>>12&0xfff00|packed&0xff)
	return major<<8 | minor&0xff | minor&0xfff00<<12
}

// ticks is USER_HZ, the unit of times in /proc: 100 on every architecture that
// Go runs on.
const ticks = 100

// started is a start time, given the moment of boot.
func (s stat) started(boot int64) time.Time {
	return time.Unix(boot+int64(s.start/ticks), int64(s.start%ticks)*int64(time.Second/ticks))
}

func (s stat) stateName() string {
	switch s.state {
	case 'T', 't':
		return Stopped
	case 'Z', 'X', 'x':
		if s.threads > 1 { // its first thread ended, and the others go on
			return Running
		}
		return Zombie
	}
	return Running
}

// parseBoot finds the moment of boot in /proc/stat, in seconds since 1970.
func parseBoot(text []byte) (int64, error) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("btime ")); ok {
			return strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
		}
	}
	return 0, errors.New("no btime in /proc/stat")
}
