package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"termpilot/fault"
)

type entry struct {
	N    int    `json:"n"`
	Text string `json:"text,omitempty"`
}

func open(t testing.TB, dir string, o Options) *Journal {
	t.Helper()
	j, err := Open(dir, "runs", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func folder(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "runs") }

func add(t testing.TB, j *Journal, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		if err := j.Append(context.Background(), entry{N: n}); err != nil {
			t.Fatal(err)
		}
	}
}

// all returns the numbers of the records behind a position, and whether there is a gap.
func all(t testing.TB, j *Journal, after Position) (ns []int, gap bool) {
	t.Helper()
	for r, err := range j.Records(context.Background(), after) {
		if err != nil {
			t.Fatal(err)
		}
		var e entry
		if err := json.Unmarshal(r.Data, &e); err != nil {
			t.Fatal(err)
		}
		ns, gap = append(ns, e.N), gap || r.Gap
	}
	return ns, gap
}

func count(from, to int) (ns []int) {
	for n := from; n <= to; n++ {
		ns = append(ns, n)
	}
	return ns
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "runs.*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func want(t testing.TB, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestRecordsComeBackInOrder(t *testing.T) { // JRN-1
	dir := folder(t)
	j := open(t, dir, Options{})
	before := time.Now()
	add(t, j, 1, 20)
	if err := j.Note(t.Context(), entry{N: 21, Text: "\n\x00é<>\u2028"}); err != nil {
		t.Fatal(err)
	}
	got, gap := all(t, open(t, dir, Options{}), Position{})
	want(t, "another journal", got, count(1, 21))
	if gap {
		t.Error("a gap in a whole journal")
	}
	var last Record
	for r := range j.Records(t.Context(), Position{}) {
		last = r
	}
	var e entry
	if err := json.Unmarshal(last.Data, &e); err != nil || e.Text != "\n\x00é<>\u2028" || last.Time.Before(before.Add(-time.Second)) || last.Time.After(time.Now()) {
		t.Errorf("got %s at %v (%v)", last.Data, last.Time, err)
	}
	text, err := os.ReadFile(files(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) { // JRN-2
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestReadingGoesOnBehindAPosition(t *testing.T) { // JRN-3
	j := open(t, folder(t), Options{MaxFile: 500})
	add(t, j, 1, 30)
	var positions []Position
	for r, err := range j.Records(t.Context(), Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		positions = append(positions, r.Next)
	}
	for i, p := range positions {
		got, gap := all(t, j, p)
		want(t, fmt.Sprint(p), got, count(i+2, 30))
		if gap {
			t.Errorf("%v: a gap", p)
		}
	}
}

func TestATornTailIsCutWhereverItIsTorn(t *testing.T) { // JRN-4, JRN-5
	whole := folder(t)
	j := open(t, whole, Options{})
	add(t, j, 1, 2)
	two, err := os.ReadFile(files(t, whole)[0])
	if err != nil {
		t.Fatal(err)
	}
	add(t, j, 3, 3)
	three, err := os.ReadFile(files(t, whole)[0])
	if err != nil {
		t.Fatal(err)
	}
	for n := len(two); n < len(three); n++ {
		for _, junk := range []string{"", "\n", strings.Repeat("\x00", 100), "\x00\n\x00\n"} {
			dir := folder(t)
			path := filepath.Join(dir, "runs.000001.jsonl")
			first := open(t, dir, Options{})
			if err := os.WriteFile(path, append(three[:n:n], junk...), 0o600); err != nil {
				t.Fatal(err)
			}
			got, _ := all(t, first, Position{})
			if n == len(three)-1 && strings.HasPrefix(junk, "\n") {
				want(t, "whole", got, count(1, 3)) // only the line end was missing, and it is what junk begins with
				continue
			}
			want(t, "torn, before anybody wrote", got, count(1, 2))
			add(t, first, 4, 4) // this one has the file open, and has not seen the tail
			got, gap := all(t, open(t, dir, Options{}), Position{})
			want(t, fmt.Sprintf("torn at byte %d, %q behind", n, junk), got, []int{1, 2, 4})
			if gap {
				t.Errorf("torn at byte %d: a tail that was cut is told as a gap", n)
			}
		}
	}
}

func TestDamageInTheMiddleIsTold(t *testing.T) { // JRN-6
	dir := folder(t)
	j := open(t, dir, Options{})
	add(t, j, 1, 3)
	text, err := os.ReadFile(files(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), `"n":2`)
	text[at+4] = '7' // still JSON, and still a record in looks
	if err := os.WriteFile(files(t, dir)[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	got, gap := all(t, open(t, dir, Options{}), Position{})
	want(t, "damaged", got, []int{1, 3})
	if !gap {
		t.Error("the damage is not told")
	}
}

func TestWhatCanNeverBeARecordIsRefused(t *testing.T) { // JRN-7
	j := open(t, folder(t), Options{MaxRecord: 100})
	add(t, j, 1, 1)
	if err := j.Append(t.Context(), strings.Repeat("x", 99)); !errors.Is(err, fault.TooLarge) {
		t.Errorf("101 bytes of JSON: %v", err)
	}
	if err := j.Append(t.Context(), func() {}); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("a function: %v", err)
	}
	if err := j.Append(t.Context(), entry{N: 2, Text: strings.Repeat("x", 100-len(`{"n":2,"text":""}`))}); err != nil {
		t.Errorf("100 bytes of JSON: %v", err)
	}
	got, _ := all(t, j, Position{})
	want(t, "after refusals", got, count(1, 2))
	for _, name := range []string{"", "a/b", "..", "a.b", strings.Repeat("x", 65), "a b"} {
		if _, err := Open(t.TempDir(), name, Options{}); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

func TestFilesAreFilledAndTheOldestRemoved(t *testing.T) { // JRN-8
	dir := folder(t)
	j := open(t, dir, Options{MaxFile: 300, MaxTotal: 1000})
	add(t, j, 1, 100)
	list, total := files(t, dir), int64(0)
	for _, f := range list {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 300 {
			t.Errorf("%s has %d bytes", f, info.Size())
		}
		total += info.Size()
	}
	if total > 1300 || len(list) < 3 {
		t.Errorf("%d files of %d bytes", len(list), total)
	}
	got, gap := all(t, j, Position{})
	if len(got) == 0 || gap {
		t.Fatalf("got %v, gap %v", got, gap)
	}
	want(t, "what is kept", got, count(got[0], 100))
	got, gap = all(t, j, Position{File: 1}) // JRN-9
	if len(got) == 0 || !gap {
		t.Errorf("behind a position that was removed: %v, gap %v", got, gap)
	}
}

func TestFilesThatAreTooOldAreRemoved(t *testing.T) { // JRN-8
	dir := folder(t)
	j := open(t, dir, Options{MaxFile: 300})
	add(t, j, 1, 10)
	list := files(t, dir)
	old := time.Now().Add(-31 * 24 * time.Hour)
	for _, f := range list[:2] {
		if err := os.Chtimes(f, old, old); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, dir, Options{MaxFile: 300})
	if got := files(t, dir); !slices.Equal(got, list[2:]) {
		t.Errorf("%q stayed of %q", got, list)
	}
	for _, f := range files(t, dir) {
		if err := os.Chtimes(f, old, old); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir, Options{})
	got, _ := all(t, again, Position{})
	want(t, "when all is old", got, nil)
	add(t, j, 11, 11)
	got, _ = all(t, again, Position{})
	want(t, "and goes on", got, []int{11})
}

func TestFollowTellsOwnAndOthersRecords(t *testing.T) { // JRN-10
	dir := folder(t)
	j, other := open(t, dir, Options{MaxFile: 300, Poll: time.Millisecond}), open(t, dir, Options{MaxFile: 300})
	add(t, j, 1, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	next, stop := make(chan int), make(chan error, 1)
	go func() {
		for r, err := range j.Follow(ctx, Position{}) {
			if err != nil {
				stop <- err
				return
			}
			var e entry
			_ = json.Unmarshal(r.Data, &e)
			next <- e.N
		}
		stop <- nil
	}()
	expect := func(n int) {
		t.Helper()
		select {
		case got := <-next:
			if got != n {
				t.Fatalf("got record %d, want %d", got, n)
			}
		case err := <-stop:
			t.Fatalf("the sequence ended before record %d: %v", n, err)
		}
	}
	for n := 1; n <= 3; n++ {
		expect(n)
	}
	for n := 4; n <= 20; n++ {
		add(t, []*Journal{j, other}[n%2], n, n)
		expect(n)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-stop; err != nil {
		t.Errorf("the end of following: %v", err)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) { // JRN-10
	j := open(t, folder(t), Options{})
	add(t, j, 1, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range j.Follow(ctx, Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		cancel()
	}
}

func TestAClosedJournalTakesNothing(t *testing.T) { // JRN-11
	j := open(t, folder(t), Options{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), 1); !errors.Is(err, fault.Storage) {
		t.Errorf("append: %v", err)
	}
	for _, err := range j.Records(t.Context(), Position{}) {
		if !errors.Is(err, fault.Storage) {
			t.Errorf("read: %v", err)
		}
	}
	if err := j.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
}

func TestOnlyItsOwnerMayLookInside(t *testing.T) { // JRN-12
	dir := folder(t)
	j := open(t, dir, Options{})
	add(t, j, 1, 1)
	for path, perm := range map[string]fs.FileMode{dir: 0o700, files(t, dir)[0]: 0o600, filepath.Join(dir, "runs.lock"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != perm {
			t.Errorf("%s is %v", path, info.Mode())
		}
	}
	lax := t.TempDir()
	if err := os.Chmod(lax, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := open(t, lax, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(lax); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a folder of mode 755 is %v, %v", info.Mode(), err)
	}
}

func TestNoLinkAndNoOtherKindOfFileIsFollowed(t *testing.T) { // JRN-13
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, plant := range map[string]func(dir string) error{
		"link at the file":   func(dir string) error { return os.Symlink(victim, filepath.Join(dir, "runs.000001.jsonl")) },
		"link at the lock":   func(dir string) error { return os.Symlink(victim, filepath.Join(dir, "runs.lock")) },
		"pipe at the file":   func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "runs.000001.jsonl"), 0o600) },
		"folder at the file": func(dir string) error { return os.Mkdir(filepath.Join(dir, "runs.000001.jsonl"), 0o700) },
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Chmod(dir, 0o700), plant(dir)); err != nil {
			t.Fatal(err)
		}
		if j, err := Open(dir, "runs", Options{}); !errors.Is(err, fault.Storage) {
			t.Errorf("%s: %v", what, err)
			if err == nil {
				_ = j.Close()
			}
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, "runs", Options{}); !errors.Is(err, fault.NotAllowed) || fault.HintOf(err) == "" {
		t.Errorf("a link at the folder: %v", err)
	}
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("the file behind the links is %q", text)
	}
}

func TestARecordThatIsJSONIsAddedAsItIs(t *testing.T) { // JRN-1, JRN-2, JRN-7
	j := open(t, t.TempDir(), Options{})
	for said, want := range map[string]string{`{"a": "<" }`: `{"a": "<" }`, "{\n}": `{}`, `{`: ""} {
		err := j.Append(t.Context(), json.RawMessage(said))
		if want == "" {
			if !errors.Is(err, fault.InvalidArgument) {
				t.Errorf("%s: got %v", said, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for r, err := range j.Records(t.Context(), Position{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = string(r.Data)
		}
		if got != want {
			t.Errorf("%s came back as %s", said, got)
		}
	}
}
