package journal

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// removeFiles removes the files of a journal by hand.
func removeFiles(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadingGoesOnWhenTheFilesWereRemovedByHand(t *testing.T) { // JRN-9, JRN-20
	for name, again := range map[string]bool{"the writer lives": false, "another writer begins": true} {
		for _, before := range []int{1, 3} { // records: the file is longer or shorter than the next, or it is the third
			t.Run(name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "j")
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				o := Options{Poll: time.Millisecond, MaxFile: 1}
				j := open(t, dir, o)
				for n := range before {
					if err := j.Append(ctx, n); err != nil {
						t.Fatal(err)
					}
				}
				writer, n := j, 0
				for r, err := range j.Follow(ctx, Position{}) {
					if err != nil {
						t.Fatal(err)
					}
					if n++; n == before {
						removeFiles(t, dir)
						if again {
							writer = open(t, dir, o)
						}
						if err := writer.Append(ctx, "x"); err != nil {
							t.Fatal(err)
						}
						var got []string
						for r, err := range j.Records(ctx, r.Next) {
							if err != nil || !r.Gap {
								t.Fatal(r, err)
							}
							got = append(got, string(r.Data))
						}
						if len(got) != 1 || got[0] != `"x"` {
							t.Errorf("%d before: got %q", before, got)
						}
					}
					if n > before {
						if string(r.Data) != `"x"` || r.Gap != again {
							t.Errorf("%d before: followed to %s, gap %v", before, r.Data, r.Gap)
						}
						break
					}
				}
				if n != before+1 {
					t.Errorf("%d before: the follower got %d records", before, n)
				}
			})
		}
	}
}
