package reduce

import (
	"strings"
	"testing"
)

func TestTheProgramThatPrintedIsFound(t *testing.T) { // REDUCE-11
	for command, want := range map[string]string{
		"git status": "git status",
		"git -C /src/app -c color.ui=always diff -U5":      "git diff",
		"cd /src/app && git log --oneline | head -50":      "git log",
		"PAGER=cat FOO='a b' git show HEAD":                "git show",
		"sudo -u www env A=b systemctl status nginx":       "systemctl status",
		"time nice -n 5 go test -v ./...":                  "go test",
		"go -C sub test ./...":                             "go test",
		"npx -y jest --ci":                                 "jest",
		"pnpm exec tsc --noEmit":                           "tsc",
		"uv run --with x pytest -q":                        "pytest",
		"poetry run python -m pytest tests":                "pytest",
		"python3.12 -m unittest -v":                        "unittest",
		"/usr/bin/python3 -m pip install x":                "pip install",
		"docker exec -it -e A=b web ls -la /":              "ls",
		"docker run --rm -v /a:/b alpine:3 find / -name x": "find",
		"docker compose exec db ps aux":                    "ps",
		"docker compose logs -f web":                       "docker-compose logs",
		"docker-compose logs":                              "docker-compose logs",
		"kubectl -n prod get pods -o wide":                 "kubectl get",
		"kubectl exec pod-1 -- df -h":                      "df",
		"ssh host 'cd /x && git diff'":                     "git diff",
		"bash -lc 'set -e; cargo test 2>&1'":               "cargo test",
		"make 2>&1 | tee build.log":                        "make",
		"make |& tail -100":                                "make",
		"find . -name '*.go' | xargs grep -n foo":          "grep",
		"cat x.log | grep ERROR":                           "grep",
		"du -a . | sort -rn | head":                        "du",
		"(cd sub; cargo build) 2>&1 | less":                "cargo build",
		"for d in a b; do make -C $d; done":                "make",
		"if true; then git status; fi":                     "git status",
		"git status > out.txt":                             "",
		"git status 2> err.txt":                            "git status",
		"echo start; ./configure; make":                    "configure, make",
		"cat <<E\ngit status\nE":                           "cat",
		"# only words":                                     "",
		"timeout 30 stdbuf -oL command curl -v http://h/":  "curl",
		"":          "",
		"'unclosed": "unclosed",
	} {
		var got []string
		for _, p := range programs(command) {
			got = append(got, strings.TrimSpace(p.name+" "+p.sub))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("programs(%q) = %q, want %q", command, got, want)
		}
	}
}

func FuzzACommandLineIsReadWhateverItIs(f *testing.F) { // REDUCE-11
	for _, s := range []string{"a|b&&c;d", "$(x `y`", "cat <<E\n", "sudo sudo sudo", "bash -c 'bash -c \"bash -c x\"'", "docker compose compose", strings.Repeat("npx ", 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, p := range programs(command) {
			if p.name == "" {
				t.Errorf("%q: a program without a name", command)
			}
		}
	})
}

func FuzzNoReducerBreaksTheRules(f *testing.F) { // REDUCE-13, REDUCE-14, REDUCE-15
	names := append([]string{""}, programsWithRules()...)
	for i := range names {
		f.Add(uint8(i), "a\nb\n", uint16(0), uint16(0), uint16(0))
		f.Add(uint8(i), strings.Repeat("x/y.go:12:3: error: z\n\n+ foo\n", 60), uint16(500), uint16(20), uint16(7))
	}
	f.Fuzz(func(t *testing.T, which uint8, text string, chars, lines, skipped uint16) {
		holdRules(t, names[int(which)%len(names)], text, Options{MaxChars: int(chars), MaxLines: int(lines), Skipped: int(skipped), Seam: len(text) / 2})
	})
}
