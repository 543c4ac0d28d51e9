package process

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// plain is a line as the kernel writes it, of a cat on /dev/pts/0, with room for a name.
const plain = "24914 (%s) S 24865 24914 24900 34816 24913 4194304 147 0 0 0 0 0 0 0 20 0 1 0 148994 3133440 382 18446744073709551615 94494980235264 94494980255145 140732644550192 0 0 0 0 0 0 1 0 0 17 1 0 0 0 0 0 94494980271152 94494980272768 95130472448640 140732644555040 140732644555044 140732644555044 140732644556779 0\n"

func TestStatIsReadWhateverTheNameHolds(t *testing.T) {
	for _, name := range []string{"cat", "a b", ")", "(", "x) S 1 1 1 1 (y", "a\nb", "", "tmux: server", "\xff)"} {
		got, err := parseStat(fmt.Appendf(nil, plain, name))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		want := stat{pid: 24914, ppid: 24865, pgid: 24914, sid: 24900, name: name, state: 'S', tty: 136 << 8, foreground: 24913, threads: 1, start: 148994}
		if got != want {
			t.Errorf("%q: got %+v, want %+v", name, got, want)
		}
	}
}

func TestAProcessWhoseFirstThreadEndedRuns(t *testing.T) {
	for threads, want := range map[string]string{" 20 0 1 0 ": Zombie, " 20 0 2 0 ": Running, " 20 0 0 0 ": Zombie} {
		line := strings.Replace(strings.Replace(fmt.Sprintf(plain, "cat"), " S ", " Z ", 1), " 20 0 1 0 ", threads, 1)
		if s, err := parseStat([]byte(line)); err != nil || s.stateName() != want {
			t.Errorf("%s: got %s %v, want %s", threads, s.stateName(), err, want)
		}
	}
}

func TestStatThatIsNotWholeIsRefused(t *testing.T) {
	whole := fmt.Sprintf(plain, "cat")
	for _, line := range []string{
		"", "\n", "24914", "24914 (cat", "24914 cat) S 1", whole[:60], "(cat) S" + whole[13:],
		strings.Replace(whole, "24865", "2x", 1), strings.Replace(whole, "148994", "-1", 1),
		strings.Replace(whole, "24865", "99999999999999999999", 1), strings.Replace(whole, " S ", " SS ", 1),
	} {
		if s, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q: got %+v", line, s)
		}
	}
}

func TestDeviceNumbersAreThoseOfStat(t *testing.T) {
	for packed, want := range map[uint32]uint64{
		0:                        0,
		34816:                    unix.Mkdev(136, 0),
		34816 + 255:              unix.Mkdev(136, 255),
		1<<20 | 136<<8 | 2:       unix.Mkdev(136, 258), // the 20-bit minor of today's kernels
		5<<8 | 1:                 unix.Mkdev(5, 1),
		0xfff<<20 | 136<<8 | 255: unix.Mkdev(136, 1048575),
	} {
		if got := device(packed); got != want {
			t.Errorf("%#x: got %#x, want %#x", packed, got, want)
		}
	}
}

func TestStartIsBootAndTicks(t *testing.T) {
	boot, err := parseBoot([]byte("cpu  1 2 3\nintr 5 0 0\nbtime 1796006341\nprocesses 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, want := stat{start: 148994}.started(boot), time.Unix(1796006341+1489, 940e6)
	if !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := parseBoot([]byte("cpu 1\n")); err == nil {
		t.Error("no btime, and no error")
	}
}

func TestOnlyABlockedReadCounts(t *testing.T) {
	for line, want := range map[string]bool{
		"running\n": false, "": false, "-1 0x7f 0x8\n": false, "230 0x0 0x0 0x7f\n": false,
		fmt.Sprintf("%d 0x0 0x7f 0x400\n", unix.SYS_READ): true, fmt.Sprintf("%d 0x0 0x7f 0x2\n", unix.SYS_READV): true,
	} {
		if _, ok := readingFrom([]byte(line)); ok != want {
			t.Errorf("%q: got %v", line, ok)
		}
	}
}

// FuzzStatNeverInventsAProcess holds parseStat to what the line says: a stat that it
// accepts can be written back and read as the same.
func FuzzStatNeverInventsAProcess(f *testing.F) {
	f.Add(fmt.Appendf(nil, plain, "cat"))
	f.Add(fmt.Appendf(nil, plain, "a) R 1 (b"))
	f.Add([]byte("1 (x) S"))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := parseStat(line)
		if err != nil {
			return
		}
		if s.pid < 0 || s.ppid < 0 || !strings.Contains(string(line), "("+s.name+")") {
			t.Fatalf("%q: got %+v", line, s)
		}
		again, err := parseStat(fmt.Appendf(nil, "%d (%s) %c %d %d %d %d %d 0 0 0 0 0 0 0 0 0 0 0 %d 0 %d 0\n",
			s.pid, s.name, s.state, s.ppid, s.pgid, s.sid, packed(s.tty), s.foreground, s.threads, s.start))
		if err != nil || again != s {
			t.Fatalf("%q: %+v was read again as %+v (%v)", line, s, again, err)
		}
	})
}

// packed is the opposite of device.
func packed(device uint64) uint32 {
	major, minor := device>>8&0xff, device&0xff|device>>12&0xfff00
	return uint32(minor&0xff | major<<8 | minor&0xfff00<<12)
}

// Another process reads another moment of boot when the clock was set in between.
func TestABirthOutlivesAClockThatIsSet(t *testing.T) {
	own := mustLookup(t, os.Getpid())
	text, real := Birth(own.Start), boot
	defer func() { boot = real }()
	boot = func() (int64, error) {
		from, err := real()
		return from - 3600, err
	}
	if Alive(own.PID, own.Start) {
		t.Error("the clock was not set")
	}
	if got := Born(text); !Alive(own.PID, got) {
		t.Errorf("%q is born at %v, and the process is %+v", text, got, mustLookup(t, os.Getpid()))
	}
	if got := Born("another-boot" + text[strings.IndexByte(text, '.'):]); !got.IsZero() {
		t.Errorf("of another boot: %v", got)
	}
}
