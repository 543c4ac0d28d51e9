package journal

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"
)

func seeds() [][]byte {
	one := appendLine(nil, time.Unix(1, 5), []byte(`{"n":1}`))
	two := appendLine(bytes.Clone(one), time.Unix(2, 0), []byte(`"x"`))
	broken := bytes.Replace(two, []byte("n"), []byte("m"), 1)
	return [][]byte{nil, one, two, broken, two[:len(two)-3], append([]byte("\n\x00\n"), two...), append(bytes.Clone(one), one[10:]...)}
}

// FuzzAnyBytesGiveOnlyRecordsThatWereWritten holds reading and going on to what a
// file of arbitrary bytes really has. JRN-18
func FuzzAnyBytesGiveOnlyRecordsThatWereWritten(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, file []byte) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.WriteFile(dir+"/runs.000001.jsonl", file, 0o600); err != nil {
			t.Fatal(err)
		}
		before := records(t, dir, file)
		j := open(t, dir, Options{})
		if after := records(t, dir, file); !equal(before, after) {
			t.Fatalf("opening changed the records from %q to %q", before, after)
		}
		if err := j.Note(context.Background(), "new"); err != nil {
			t.Fatal(err)
		}
		got := records(t, dir, nil)
		if !equal(got, append(before, []byte(`"new"`))) {
			t.Fatalf("got %q, want %q and the new one", got, before)
		}
	})
}

// FuzzTheLastRecordIsFoundFromTheEnd holds the look at a file's end to one at all of it. JRN-5
func FuzzTheLastRecordIsFoundFromTheEnd(f *testing.F) {
	for i, s := range seeds() {
		f.Add(s, uint8(i), uint8(1))
		f.Add(append(bytes.Repeat(s, 3), "{torn"...), uint8(0), uint8(40*i))
	}
	f.Fuzz(func(t *testing.T, file []byte, from, tail uint8) {
		begin := int64(0) // a place between lines
		if i := bytes.LastIndexByte(file[:min(int(from), len(file))], '\n'); i >= 0 {
			begin = int64(i + 1)
		}
		want := begin
		for s := (scanner{from: bytes.NewReader(file), at: begin, end: int64(len(file))}); ; {
			l, err := s.next()
			if err != nil {
				break
			}
			if l.ok {
				want = l.end
			}
		}
		got, err := lastRecord(bytes.NewReader(file), begin, int64(len(file)), max(1, int64(tail)))
		if err != nil || got != want {
			t.Fatalf("got %d, %v, want %d", got, err, want)
		}
	})
}

// records reads without opening, as a process does that opened before.
func records(t *testing.T, dir string, file []byte) (list [][]byte) {
	t.Helper()
	j := &Journal{dir: dir, name: "runs", o: Options{Patience: time.Second}, changed: make(chan struct{})}
	for r, err := range j.Records(context.Background(), Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if file != nil && !bytes.Contains(file, append(bytes.Clone(r.Data), "}\n"...)) {
			t.Fatalf("record %q is not in the file", r.Data)
		}
		list = append(list, r.Data)
	}
	return list
}

func equal(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// FuzzALineIsReadAsItWasWritten holds the codec to itself. JRN-18
func FuzzALineIsReadAsItWasWritten(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, int64(1))
	}
	f.Fuzz(func(t *testing.T, line []byte, at int64) {
		if _, data, ok := parseLine(line); ok && !bytes.Contains(line, data) {
			t.Fatalf("%q is not in %q", data, line)
		}
		when := time.Unix(at%(1<<37), at&0x3fffffff%1e9).UTC()
		written := appendLine(nil, when, []byte(`{"n":1}`))
		got, data, ok := parseLine(written[:len(written)-1])
		if year := when.Year(); year < 0 || year > 9999 {
			return
		}
		if !ok || !got.Equal(when) || string(data) != `{"n":1}` {
			t.Fatalf("%q was read as %v %q %v", written, got, data, ok)
		}
		for i := range written[:len(written)-1] {
			flipped := bytes.Clone(written[:len(written)-1])
			flipped[i] ^= 1
			if _, _, ok := parseLine(flipped); ok {
				t.Fatalf("byte %d changed, and still a record: %q", i, flipped)
			}
		}
	})
}

func TestALineOverTheLimitIsDamageAndNotMemory(t *testing.T) { // JRN-18
	dir := folder(t)
	j := open(t, dir, Options{})
	add(t, j, 1, 1)
	f, err := os.OpenFile(files(t, dir)[0], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 40 {
		if _, err := f.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Write(appendLine([]byte("\n"), time.Now(), []byte(`{"n":2}`))); err != nil {
		t.Fatal(err)
	}
	got, gap := all(t, j, Position{})
	want(t, "behind a line of 40 MiB", got, count(1, 2))
	if !gap {
		t.Error("it is not told")
	}
}
