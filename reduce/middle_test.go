package reduce

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A fold of the beginning and the end loses what this file is about.

func TestChangesInTheMiddleOfAPatchShowOrAreCounted(t *testing.T) { // REDUCE-67
	var b strings.Builder
	const files, hunks = 9, 8
	for f := range files {
		fmt.Fprintf(&b, "diff --git a/src/f%d.go b/src/f%d.go\nindex 1234567..89abcde 100644\n--- a/src/f%d.go\n+++ b/src/f%d.go\n", f, f, f, f)
		for h := range hunks {
			at := 100*h + 10
			fmt.Fprintf(&b, "@@ -%d,3 +%d,4 @@ func f%d_%d() {\n context\n-old %d\n+new %d\n+more %d\n context\n", at, at, f, h, h, h, h)
		}
	}
	text := b.String()
	got := holdRules(t, "git diff", text, Options{}).Text
	if !strings.HasPrefix(got, fmt.Sprintf("%d files +%d −%d\n", files, 2*files*hunks, files*hunks)) {
		t.Errorf("no totals first:\n%s", got)
	}
	for f := range files {
		if want := fmt.Sprintf("src/f%d.go +%d −%d\n", f, 2*hunks, hunks); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}

	// Of one file the places of all hunks, or how many there are.
	one := text[:strings.Index(text[1:], "diff --git")+1]
	got = holdRules(t, "git diff", one+strings.Repeat(" context\n", 80), Options{}).Text
	for h := range hunks {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)@(\d+, )*%d\b`, 100*h+10)).MatchString(got) {
			t.Errorf("nobody is told of line %d:\n%s", 100*h+10, got)
		}
	}
}

func TestWhatIsLeftOfAFileIsCountedWithItsPlaces(t *testing.T) { // REDUCE-67
	got := readOf(t, "git-diff-file")
	for _, want := range []string{`(?m)^… \+47 −18 more in 13 hunks: @231, 817, `, `(?m)^… \+617 −473 more in 70 hunks, among them @20, .*, 2982$`} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestHitsBeyondTheFirstFilesAreCountedAndShow(t *testing.T) { // REDUCE-68
	var b strings.Builder
	const folders, files, hits = 12, 20, 15
	for d := range folders {
		for f := range files {
			for h := range hits {
				fmt.Fprintf(&b, "d%02d/file%02d.go:%d:\tif %c%c := do(%d); needle {\n", d, f, 10*h+1, 'a'+d, 'a'+f, h)
			}
		}
	}
	got := holdRules(t, "grep -rn needle .", b.String(), Options{}).Text
	if !strings.HasPrefix(got, fmt.Sprintf("%d hits in %d files\n", folders*files*hits, folders*files)) {
		t.Errorf("no totals first:\n%s", got)
	}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(d\d\d)/file\d\d\.go:\d+: `).FindAllStringSubmatch(got, -1) {
		shown[m[1]] = true
	}
	for d := range folders {
		if want := fmt.Sprintf(`(?m)^d%02d/(?: %d files, %d hits$|: file00.go %d, )`, d, files, files*hits, hits); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if !shown["d00"] || !shown["d11"] || len(shown) < folders/2 {
		t.Errorf("hits of %d folders show:\n%s", len(shown), got)
	}
}

func TestFailuresBeyondTheFirstAreNamed(t *testing.T) { // REDUCE-60
	const failures = 24
	for command, log := range map[string]struct{ begin, each, end string }{
		"pytest -v": {
			"======= test session starts =======\ncollected 900 items\n\n" + strings.Repeat("tests/test_ok.py::test_fine PASSED\n", 200) + "======= FAILURES =======\n",
			"_______ test_bad_%[1]d _______\n\n    def test():\n>       assert f(%[1]d)\nE       assert %[1]d == 0\n\ntests/test_x.py:%[1]d: AssertionError\n",
			"======= 24 failed, 876 passed in 3.21s =======\n",
		},
		"go test ./...": {
			strings.Repeat("ok  \ttermpilot/x\t0.01s\n", 50),
			"--- FAIL: TestBad_%[1]d (0.00s)\n    x_test.go:%[1]d: got %[1]d, want 0\n        and more\n        of this\n",
			"FAIL\nFAIL\texample.com/y\t0.01s\nFAIL\n",
		},
		"cargo test": {
			"running 900 tests\n" + strings.Repeat("test tests::fine ... ok\n", 200) + "\nfailures:\n\n",
			"---- tests::bad_%[1]d stdout ----\nthread 'tests::bad_%[1]d' panicked at src/lib.rs:%[1]d:5:\nassertion failed: f(%[1]d)\n\n",
			"\ntest result: FAILED. 876 passed; 24 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n",
		},
	} {
		var b strings.Builder
		b.WriteString(log.begin)
		for i := range failures {
			fmt.Fprintf(&b, log.each, i+1)
		}
		b.WriteString(log.end)
		got := holdRules(t, command, b.String(), Options{}).Text
		for i := range failures {
			if !regexp.MustCompile(fmt.Sprintf(`(?i)bad_%d\b`, i+1)).MatchString(got) {
				t.Errorf("%s: failure %d is not named:\n%s", command, i+1, got)
			}
		}
	}
}

func TestCommitsBeyondTheFirstAreCounted(t *testing.T) { // REDUCE-69
	var b, oneline strings.Builder
	const commits = 276
	for i := range commits {
		fmt.Fprintf(&b, "commit %040x\nAuthor: Ann Example <ann@example.com>\nDate:   Wed Nov 15 05:43:20 2023 +0000\n\n    change number %d\n\n    because of it\n\n", i+1, i)
		fmt.Fprintf(&oneline, "%07x change number %d\n", 1<<20+i, i)
	}
	for command, text := range map[string]string{"git log": b.String(), "git log --oneline": oneline.String()} {
		got := holdRules(t, command, text, Options{}).Text
		for _, want := range []string{"276", "change number 0\n", "change number 275"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", command, want, got)
			}
		}
	}
}
