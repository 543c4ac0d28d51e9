package reduce

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// madeKey is a block that looks like a private key, and is none: rows lines of
// letters and figures, of a width.
func madeKey(r *rand.Rand, label string, rows, width int) []string {
	lines := []string{"-----BEGIN " + label + "-----"}
	if strings.HasPrefix(label, "PGP") {
		lines = append(lines, "Version: 1", "")
	}
	for i := range rows {
		b := make([]byte, width)
		for n := range b {
			b[n] = byte(r.UintN(256))
		}
		line := base64.StdEncoding.EncodeToString(b)[:width]
		if i == rows-1 {
			line = line[:1+r.IntN(width)]
		}
		lines = append(lines, line)
	}
	return append(lines, "-----END "+label+"-----")
}

// ways are how a block is written.
var ways = []func(i int, line string) string{
	func(_ int, line string) string { return line },
	func(_ int, line string) string { return "    " + line },
	func(_ int, line string) string { return "> " + line },
	func(_ int, line string) string { return "+" + line },
	func(_ int, line string) string { return `    "` + line + `\n"` },
	func(i int, line string) string {
		return strings.Repeat(" ", 6-len(strconv.Itoa(i))) + strconv.Itoa(i) + "\t" + line
	},
	func(_ int, line string) string { return "id_test:" + line },
	func(_ int, line string) string { return line + `\` },
}

var labels = []string{"PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"}

// leaks returns one of lines[from:to] that shows something of a body.
func leaks(lines []string, from, to int, spans [][]Span, body []string) string {
	for i := from; i < to; i++ {
		shown := mark(lines[i], spans[i-from])
		for _, b := range body {
			if len(b) > len(mask) && strings.Contains(shown, b) {
				return shown
			}
		}
	}
	return ""
}

func FuzzALineOfAKeyNeverShows(f *testing.F) { // REDUCE-20
	for i := range uint64(40) {
		f.Add(i, "$ cat key", "$ ls\nREADME", uint8(i), uint8(3*i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, before, after string, from, to, way uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		key := madeKey(r, labels[r.IntN(len(labels))], 2+r.IntN(30), 16+r.IntN(60))
		lines := strings.Split(before, "\n")
		above := len(lines)
		for i, line := range key {
			lines = append(lines, ways[int(way)%len(ways)](i, line))
		}
		lines = append(lines, strings.Split(after, "\n")...)
		a := int(from) % len(lines)
		b := a + int(to)%(len(lines)-a+1)
		var body []string
		for _, line := range key[1 : len(key)-1] {
			if !strings.Contains(line, ": ") {
				body = append(body, line)
			}
		}
		if strings.Contains(before+after, "-----") {
			return // its marks are other marks
		}
		// All is there, and lines are picked out of it.
		if text := leaks(lines, a, b, Secrets(lines, a, b, false), body); text != "" {
			t.Fatalf("%q shows of\n%s", text, strings.Join(lines, "\n"))
		}
		// One of the ends is not there.
		cut := min(max(a, above+3), above+len(key)-1)
		for _, part := range [][]string{lines[:cut], lines[cut:]} {
			if text := leaks(part, 0, len(part), Secrets(part, 0, len(part), true), body); text != "" {
				t.Fatalf("%q shows of\n%s", text, strings.Join(part, "\n"))
			}
		}
		// Both are not there.
		if width := len(body[0]); way%2 == 0 && width >= 32 && len(body) > 4 {
			part := body[1+r.IntN(len(body)-3):]
			if text := leaks(part, 0, len(part), Secrets(part, 0, len(part), true), body); text != "" {
				t.Fatalf("%q shows of\n%s", text, strings.Join(part, "\n"))
			}
		}
		// As it is shown by all stages.
		for name, got := range map[string]Result{
			"cut": Cut(strings.Join(lines, "\n"), Options{Mask: true, MaxLines: int(from), MaxChars: 40 * int(to)}),
			"out": Output("cat key", strings.Join(lines, "\n"), Options{Mask: true, MaxLines: int(from), MaxChars: 40 * int(to)}),
		} {
			for _, b := range body {
				if len(b) > len(mask) && strings.Contains(got.Text, b) {
					t.Fatalf("%s: %q shows in\n%s", name, b, got.Text)
				}
			}
			if got.Masked != strings.Count(got.Text, mask) && !strings.Contains(before+after, "***") {
				t.Fatalf("%s: %d masked in\n%s", name, got.Masked, got.Text)
			}
		}
	})
}

// keyRow is what a line of a key may be, made up.
const keyRow = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDm4de0Up1Xa0aB"

func TestAKeyEndsWhereItsLinesDo(t *testing.T) { // REDUCE-10, REDUCE-20
	for _, c := range []struct{ in, want string }{
		{ // its beginning and nothing of it
			"$ head -1 key\n-----BEGIN PRIVATE KEY-----\nme@here:/home/me/work/termpilot1$ ls\nREADME\nid_Key1_0123456789abcdef",
			"$ head -1 key\n-----BEGIN PRIVATE KEY-----\nme@here:/home/me/work/termpilot1$ ls\nREADME\nid_Key1_0123456789abcdef",
		},
		{"-----BEGIN PRIVATE KEY-----\n" + keyRow + "\n^C\n$ ls\n" + keyRow, "-----BEGIN PRIVATE KEY-----\n***\n^C\n$ ls\n" + keyRow},
		{"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + keyRow + "\nab==\n$ done", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n***\n***\n$ done"},
		{"  > -----BEGIN PGP PRIVATE KEY BLOCK-----\n  > \n  > " + keyRow + "\n  > =abcd\n  > -----END PGP PRIVATE KEY BLOCK-----\nok", "  > -----BEGIN PGP PRIVATE KEY BLOCK-----\n***\n***\n***\n  > -----END PGP PRIVATE KEY BLOCK-----\nok"},
		{"-----BEGIN PRIVATE KEY-----\nwhat: another program prints\n" + keyRow + "\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n***\n***\n-----END PRIVATE KEY-----"},
		{"$ tail -3 key\n  12\t" + keyRow + "\n  13\tab==\n  14\t-----END PRIVATE KEY-----", "$ tail -3 key\n***\n***\n  14\t-----END PRIVATE KEY-----"},
		{"a.pem:-----BEGIN PRIVATE KEY-----\nb.pem:-----BEGIN PRIVATE KEY-----\nb.pem:" + keyRow, "a.pem:-----BEGIN PRIVATE KEY-----\nb.pem:-----BEGIN PRIVATE KEY-----\n***"},
		// A key inside of base64, or without its marks.
		{"client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=", "client-key-data: ***"},
		{"LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1J\nSUV2UUlCQURBTkJna3Foa2lHOXcw\nQQ==\n$ ok", "***\n***\n***\n$ ok"},
		{"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n" + keyRow + "\nnot this", "***\n***\nnot this"},
		// A value in quotes over several lines.
		{"export API_TOKEN='abcd1234efgh\\\nijkl5678'\nnext", "export API_TOKEN='***\\\n***'\nnext"},
		{"API_TOKEN=\"abcd1234efgh\n  ijkl5678\nmn\"\nnext", "API_TOKEN=\"***\n  ***\nmn\"\nnext"},
		{"API_TOKEN=\"abcd1234efgh\nnot this\"", "API_TOKEN=\"***\nnot this\""},
		// What is no private key.
		{"$ base64 x\n" + keyRow + "\n" + keyRow + "\nab==\n$ ", "$ base64 x\n" + keyRow + "\n" + keyRow + "\nab==\n$ "},
		{"-----BEGIN PUBLIC KEY-----\n" + keyRow + "\n-----END PUBLIC KEY-----\n" + keyRow, "-----BEGIN PUBLIC KEY-----\n" + keyRow + "\n-----END PUBLIC KEY-----\n" + keyRow},
		{"done\n\n-----END PRIVATE KEY-----", "done\n\n-----END PRIVATE KEY-----"},
		{"-----BEGIN PUBLIC KEY----- or -----PRIVATE KEY-----\n" + keyRow, "-----BEGIN PUBLIC KEY----- or -----PRIVATE KEY-----\n" + keyRow},
	} {
		if got := Cut(c.in, Options{Mask: true}); got.Text != c.want || got.Masked != strings.Count(c.want, mask) {
			t.Errorf("%q: %d masked,\n got %q\nwant %q", c.in, got.Masked, got.Text, c.want)
		}
	}
}

func TestLinesOfAKeyAreKnownWithoutItsEnds(t *testing.T) { // REDUCE-20
	for name, c := range map[string]struct {
		lines []string
		open  bool
		want  int
	}{
		"the middle of a key":       {[]string{keyRow, keyRow, keyRow}, true, 3},
		"all of a text":             {[]string{keyRow, keyRow, keyRow}, false, 0},
		"a text that ends":          {[]string{keyRow, keyRow, keyRow, "$ "}, true, 0},
		"lines of different widths": {[]string{keyRow, keyRow + "ab", keyRow, keyRow + "ab"}, true, 0},
		"one line":                  {[]string{keyRow}, true, 0},
		"hashes":                    {[]string{"5fd0559fd2a6c1e0b3f7a9d8e6c5b4a392817065", "5fd0559fd2a6c1e0b3f7a9d8e6c5b4a392817065", "5fd0559fd2a6c1e0b3f7a9d8e6c5b4a392817065"}, true, 0},
		"more than a key has":       {slices.Repeat([]string{keyRow}, 5000), true, 0},
	} {
		got := 0
		for _, spans := range Secrets(c.lines, 0, len(c.lines), c.open) {
			got += len(spans)
		}
		if got != c.want {
			t.Errorf("%s: %d lines are hidden, want %d", name, got, c.want)
		}
	}
}

func TestFindingSecretsTakesNoLongerThanItsText(t *testing.T) { // REDUCE-20
	for _, line := range []string{
		"-----END PRIVATE KEY-----\n" + keyRow,
		"-----BEGIN PRIVATE KEY-----\n" + keyRow,
		"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ",
		"API_TOKEN=\"abcd1234efgh",
		strings.Repeat("-----END PRIVATE KEY-----abc -----BEGIN PRIVATE KEY-----", 20),
		keyRow,
	} {
		lines := strings.Split(strings.Repeat(line+"\n", 100_000), "\n") // minutes, when it were by the square
		Secrets(lines, 0, len(lines), true)
	}
}
