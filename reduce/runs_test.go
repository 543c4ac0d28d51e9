package reduce

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// named is a log of the corpus.
func named(tb testing.TB, name string) sample {
	tb.Helper()
	all := corpus(tb)
	i := slices.IndexFunc(all, func(s sample) bool { return s.name == name })
	if i < 0 {
		tb.Fatalf("no log %q", name)
	}
	return all[i]
}

// What a model reads of every log is kept in testdata/read, to be read by people
// when it changes: could they, with this alone, put right what is wrong?
func TestWhatIsReadOfTheCorpus(t *testing.T) {
	for _, s := range corpus(t) {
		file := filepath.Join("testdata/read", s.name+".txt")
		got := Output(s.command, s.text, Options{Mask: true}).Text + "\n"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		} else if got != string(want) {
			t.Errorf("%s is not what is read (go test ./reduce -run Corpus -update):\n%s", file, got)
		}
	}
}

func TestARunThatIsCutShortIsNoResult(t *testing.T) { // REDUCE-62
	for _, name := range []string{"pytest-v", "pytest-pass", "unittest-v", "go-pass", "go-test-v", "go-test-json", "cargo-test-pass", "cargo-test-plain", "jest-verbose", "vitest-verbose", "mocha", "node-test"} {
		s := named(t, name)
		lines := strings.SplitAfter(s.text, "\n")
		got := Output(s.command, strings.Join(lines[:len(lines)*2/5], ""), Options{}).Text
		if !strings.Contains(got, "did not end here") {
			t.Errorf("%s: nobody is told that the run was cut short:\n%s", name, got)
		}
	}
}

func TestManyFailuresAreAllNamedOrCounted(t *testing.T) { // REDUCE-60
	for _, n := range []int{12, 40, 150, 3000} {
		var b strings.Builder
		b.WriteString("============================= test session starts ==============================\ncollected 5000 items\n\n")
		for i := range 40 {
			fmt.Fprintf(&b, "tests/test_%d.py %s\n", i, strings.Repeat(".", 60))
		}
		b.WriteString("=================================== FAILURES ===================================\n")
		for i := range n {
			fmt.Fprintf(&b, "_______ test_%c%d _______\n\n    def test():\n>       assert f(%d) == %d\nE       assert %d == %d\n\ntests/test_%d.py:7: AssertionError\n", 'a'+i%26, i, i, i, i+1, i, i%40)
		}
		fmt.Fprintf(&b, "================ %d failed, 2400 passed in 3.21s ================\n", n)
		got := holdRules(t, "pytest", b.String(), Options{})
		missing := 0
		for i := range n {
			if !strings.Contains(got.Text, fmt.Sprintf("test_%c%d", 'a'+i%26, i)) {
				missing++
			}
		}
		if missing > 0 && !strings.Contains(got.Text, fmt.Sprintf("… and %d more", missing)) && !strings.Contains(got.Text, ", …") || missing > 0 && n <= 40 {
			t.Errorf("of %d failures %d are missing:\n%s", n, missing, got.Text)
		}
		if !strings.Contains(got.Text, fmt.Sprintf("%d failed, 2400 passed", n)) {
			t.Errorf("no totals in\n%s", got.Text)
		}
	}
}

// readOf is what a model reads of a log of the corpus.
func readOf(t *testing.T, name string) string {
	t.Helper()
	s := named(t, name)
	return Output(s.command, s.text, Options{}).Text
}

func TestWhatPassedIsCountedNotShown(t *testing.T) { // REDUCE-61
	for name, passed := range map[string]string{
		"pytest-v": "test_price[0]", "unittest-v": "test_load_000", "go-test-v": "TestParseReadsWhatStringWrote", "go-test-json": "TestParseReadsWhatStringWrote",
		"cargo-test": "price_001", "jest-verbose": "counts 1 pears", "vitest": "counts 1 pears", "mocha": "counts 1 pears",
	} {
		if got := readOf(t, name); strings.Contains(got, passed) {
			t.Errorf("%s: %q passed and shows:\n%s", name, passed, got)
		}
	}
}

func TestErrorsThatDifferInNamesAloneAreOneWithTheirNumber(t *testing.T) { // REDUCE-63
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "src/a%d.c:%d:2: error: 'x%d' undeclared (first use in this function)\n", i, i+1, i)
	}
	b.WriteString("src/z.c:9:1: error: expected ';' before 'return'\nmake: *** [Makefile:3: all] Error 1\n")
	got := Output("make", b.String(), Options{}).Text
	for _, want := range []string{"301 errors", "src/a0.c:1:2: error: 'x0' undeclared", "299 more alike", "src/z.c:9:1: error: expected ';' before 'return'", "make: *** [Makefile:3: all] Error 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing from\n%s", want, got)
		}
	}
}

func TestErrorsOfAllFormsAreKnown(t *testing.T) { // REDUCE-63
	for _, c := range []struct{ command, error, below string }{
		{"golangci-lint run", "cmd/a.go:12:3: Error return value is not checked (errcheck)", "\tf.Close()\n\t       ^"},
		{"dotnet build", "src/Program.cs(5,13): error CS1002: ; expected [/src/app/x.csproj]", ""},
		{"swiftc a.swift", "a.swift:3:5: error: cannot find 'x' in scope", "    x = 1\n    ^"},
		{"shellcheck -f gcc a.sh", "a.sh:3:7: note: Double quote to prevent globbing [SC2086]", ""},
		{"ghc", "src/Main.hs:4:1: error: parse error on input ‘where’", ""},
		{"make", "src/b.c:7:9: ошибка: «x» не описан", "    7 |  x = 1;\n      |  ^"},
		{"make", "src/b.c:7:9: エラー: ‘x’ undeclared", ""},
	} {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "[%3d%%] Building C object CMakeFiles/app.dir/src/p%d.c.o\n", i/2, i)
		}
		b.WriteString(c.error + "\n" + c.below + "\n")
		for range 100 {
			b.WriteString("cc -O2 -Wall -c -o build/x.o src/x.c\n")
		}
		got := Output("make", b.String(), Options{}).Text
		if !strings.Contains(got, c.error) || strings.Contains(got, "Building") || countLines(got) > 8 {
			t.Errorf("%s: got\n%s", c.command, got)
		}
	}
}

func TestWarningsAreOneOfAKindWithTheirNumber(t *testing.T) { // REDUCE-64
	for name, want := range map[string]string{"make-pass": "39 more alike: src/part10.c:2:32", "pytest-v": "vat() is going away, use tax()"} {
		if got := readOf(t, name); strings.Count(got, want) != 1 || strings.Count(got, "arning") > 12 {
			t.Errorf("%s: %q shows %d times:\n%s", name, want, strings.Count(got, want), got)
		}
	}
}

func TestAWarningIsCountedUnlessTheTotalsDo(t *testing.T) { // REDUCE-64
	for totals, want := range map[string]string{"12": "test_a.py:3: UserWarning: old", "20": "test_a.py:3: UserWarning: old (×12)"} {
		text := "======= test session starts =======\nrootdir: /src/py\n\ntests/test_a.py " + strings.Repeat(".", 400) + "\n\n======= warnings summary =======\n" +
			"tests/test_a.py: 12 warnings\n  /src/py/tests/test_a.py:3: UserWarning: old\n    f()\n\n======= 400 passed, " + totals + " warnings in 0.10s =======\n"
		got := holdRules(t, "pytest", text, Options{}).Text
		if !strings.HasSuffix(got, "tests/"+want) {
			t.Errorf("%s in all: got\n%s\nwant at its end %q", totals, got, want)
		}
	}
}

func TestFilesThatCannotBeImportedForOneReasonAreOneFinding(t *testing.T) { // REDUCE-60
	got := readOf(t, "pytest-collect")
	if strings.Count(got, "No module named 'shop'") != 1 || !strings.Contains(got, "3 more alike: tests/test_price.py, tests/test_store.py, tests/test_text.py") {
		t.Errorf("got\n%s", got)
	}
}

func TestOldPackagesAreOneWarning(t *testing.T) { // REDUCE-64
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "npm warn deprecated pack%d@1.0.%d: Use something else, as this one is no longer looked after\n", i, i)
	}
	b.WriteString("\nadded 60 packages, and audited 61 packages in 2s\n\n2 packages are looking for funding\n  run `npm fund` for details\n\nfound 0 vulnerabilities\n")
	got := Output("npm ci", b.String(), Options{}).Text
	if !strings.HasPrefix(got, "npm warn deprecated (×30) pack0@1.0.0, pack1@1.0.1, ") || !strings.Contains(got, "added 60 packages, and audited 61 packages in 2s") || len(got) > 700 {
		t.Errorf("got\n%s", got)
	}
}

func TestAnInstallationTellsWhatCameWentAndFailed(t *testing.T) { // REDUCE-65
	for name, want := range map[string]string{
		"uv-install": "+ blinker==1.9.0, certifi==2026.10.19.post1, ", "pip-conflict": "- Flask-3.1.3", "pnpm-install": "+ eslint 8.57.1, express 4.22.3, ",
		"npm-eresolve": "npm error peer react@\"^18.3.1\" from react-dom@18.3.1", "apt-remove": "The following packages will be REMOVED: cowsay nginx-light toilet",
	} {
		if got := readOf(t, name); !strings.Contains(got, want) {
			t.Errorf("%s: %q is missing from\n%s", name, want, got)
		}
	}
}

func TestOfAnImageTheStepThatFailedIsShown(t *testing.T) { // REDUCE-66
	got := readOf(t, "docker-fail")
	if strings.Contains(got, "compiling unit") || !strings.Contains(got, "linking stopped") || !strings.Contains(got, "exit code: 3") {
		t.Errorf("got\n%s", got)
	}
}

// fuzzFamily fuzzes with logs of the corpus as seeds; what is fuzzed must not be
// slow, and so only short ones.
func fuzzFamily(f *testing.F, commands ...string) {
	for _, s := range corpus(f) {
		if slices.ContainsFunc(commands, func(c string) bool { return strings.HasPrefix(s.command, c) }) {
			text := s.text[:min(len(s.text), 1500)]
			f.Add(text, uint8(0), uint16(0))
			f.Add(text[len(text)/3:], uint8(0), uint16(70))
		}
	}
	f.Fuzz(func(t *testing.T, text string, which uint8, skipped uint16) {
		o := Options{Skipped: int(skipped), Seam: len(text) / 2}
		holdRules(t, commands[int(which)%len(commands)], text, o)
	})
}

func FuzzTestsInPythonHoldTheRules(f *testing.F) { fuzzFamily(f, "pytest", "python3 -m unittest") }

func FuzzTestsInGoHoldTheRules(f *testing.F) { fuzzFamily(f, "go test", "go build", "go vet") }

func FuzzCargoHoldsTheRules(f *testing.F) { fuzzFamily(f, "cargo") }

func FuzzTestsInJavaScriptHoldTheRules(f *testing.F) {
	fuzzFamily(f, "jest", "vitest", "mocha", "node --test")
}

func FuzzCompilersAndCheckersHoldTheRules(f *testing.F) {
	fuzzFamily(f, "make", "gcc", "clang", "cmake", "ninja", "javac", "mvn", "gradle", "tsc", "eslint", "ruff", "mypy", "flake8")
}

func FuzzInstallsHoldTheRules(f *testing.F) {
	fuzzFamily(f, "npm", "pnpm", "yarn", "pip", "uv", "apt-get")
}

func FuzzImageBuildsHoldTheRules(f *testing.F) { fuzzFamily(f, "docker build", "buildah") }

func BenchmarkOutput(b *testing.B) {
	for _, name := range []string{"pytest-v", "unittest-v", "go-test-v", "go-test-json", "cargo-test", "jest-verbose", "vitest", "mocha", "node-test", "make-errors", "tsc-pretty", "eslint", "mvn-test-fresh", "npm-ci-verbose", "pip-install", "apt-install", "docker-fail", "git-log", "git-diff-many", "grep-rn", "rg-heading", "find", "ls-lR", "tree", "du", "ps-aux", "kubectl-get", "systemctl-units", "journalctl", "http-server-log", "json-lines", "json-pretty", "trace-go", "trace-java", "curl-v"} {
		b.Run(name, func(b *testing.B) {
			s := named(b, name)
			text := strings.Repeat(s.text, 1+(1<<20)/len(s.text))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Output(s.command, text, Options{Mask: true})
			}
		})
	}
}
