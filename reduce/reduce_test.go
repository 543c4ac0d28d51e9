package reduce

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func check(t *testing.T, text string, o Options) {
	t.Helper()
	for name, stage := range map[string]func(string, Options) Result{"plain": Plain, "cut": Cut} {
		got := stage(text, o)
		if !utf8.ValidString(got.Text) {
			t.Fatalf("%s: %q is not UTF-8", name, got.Text)
		}
		if i := strings.IndexFunc(got.Text, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }); i >= 0 {
			t.Fatalf("%s: %q holds a control character", name, got.Text)
		}
		if len(got.Text) > len(text)+3*markerChars {
			t.Fatalf("%s: %d bytes became %d: %q", name, len(text), len(got.Text), got.Text)
		}
		if most := o.filled(1).MaxChars; utf8.RuneCountInString(got.Text) > most {
			t.Fatalf("%s: %d characters, want at most %d", name, utf8.RuneCountInString(got.Text), most)
		}
		if again := stage(text, o); again != got {
			t.Fatalf("%s: not the same twice: %q and %q", name, got.Text, again.Text)
		}
		if o.Skipped > 0 && o.filled(1).MaxChars <= tinyBudget {
			continue // no marker keeps the two sides of the seam apart then
		}
		next := o
		next.Skipped, next.Seam = 0, 0
		if again := stage(got.Text, next); again.Text != got.Text {
			t.Fatalf("%s: not idempotent:\n%q\n%q", name, got.Text, again.Text)
		}
	}
}

func FuzzOutputIsLegibleShortAndStable(f *testing.F) { // REDUCE-1, REDUCE-2, REDUCE-3
	for _, s := range []string{
		"", "a", "abc\b\bX\n", "a\r\nb\r\n", "\x1b]0;t\x07x\x1b[31mred\x1b[m", "\x1b]never ends\nok", "50%\n60%\n70%\n80%\n",
		strings.Repeat("same\n", 9), strings.Repeat("x", 2000), strings.Repeat("日本", 900) + "\nerror: z\n", "a\xff\xfe\n", "\u202eabc\u2066",
		strings.Repeat("line\n\n\n", 100), "A_TOKEN=abcdefgh\nhttps://u:pass@h/\n", "x (×3)\nx (×3)\nx (×3)\nx (×3)",
		"-----BEGIN PRIVATE KEY-----\nA: b\n\n" + strings.Repeat(keyRow+"\n", 9) + "ab==\n-----END PRIVATE KEY-----\n" + keyRow + "\n\nx\n-----END PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(keyRow+"\nab\n\n", 9) + "x y\n" + keyRow, "API_TOKEN=\"abcd1234efgh\n  ijkl5678\nmn\"",
	} {
		f.Add(s, uint16(0), uint16(0), uint16(0), true)
		f.Add(s, uint16(150), uint16(10), uint16(3), false)
	}
	f.Fuzz(func(t *testing.T, text string, chars, lines, skipped uint16, mask bool) {
		check(t, text, Options{MaxChars: int(chars), MaxLines: int(lines), Skipped: int(skipped), Seam: len(text) / 2, Mask: mask})
	})
}

func TestPlainShowsWhatAPersonSees(t *testing.T) { // REDUCE-4, REDUCE-5
	for _, c := range []struct{ in, want string }{
		{"abc\rX\n", "Xbc"},
		{"abc\b\bX\n", "aXc"},
		{"  1%\r 50%\r100%\n", "100%"},
		{"load\r\x1b[Kdone\n", "done"},
		{"a\r\nb\r\n", "a\nb"},
		{"\x1b[1;31mred\x1b[0m \x1b]8;;http://h/\x1b\\txt\x1b]8;;\x1b\\\n", "red txt"},
		{"\x1b]0;never ends\nnext", "\nnext"[1:]},
		{"a\n\n\n\nb\n\n", "a\n\nb"},
		{"x\nx\nx\nx\nxyz", "x\nx\nx\nx\nxyz"},
		{strings.Repeat("the same line\n", 7), "the same line (×7)"},
		{"get 10%\nget 20%\nget 55%\nget 100%\nok", "get 100% (×4)\nok"},
		{"a  \nb", "a\nb"},
		{"\u202eevil\u2066 \U000e0041tag", "evil tag"},
	} {
		if got := Plain(c.in, Options{}).Text; got != c.want {
			t.Errorf("Plain(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCutChangesNothingWithinTheBudget(t *testing.T) { // REDUCE-7
	text := "a  \n\n\nb\nb\nb\nb"
	if got := Cut(text, Options{}); got.Text != text || got.Dropped != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestPlainKeepsHeadTailAndWhatMatters(t *testing.T) { // REDUCE-6
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "compiling unit %c%d\n", 'a'+i%26, i)
		if i == 2500 {
			b.WriteString("main.go:7: error: undefined: foo\n")
		}
	}
	b.WriteString("2 errors, build stopped")
	got := Plain(b.String(), Options{})
	lines := strings.Split(got.Text, "\n")
	if len(lines) > 60 {
		t.Errorf("%d lines", len(lines))
	}
	for _, want := range []string{"compiling unit a0", "main.go:7: error: undefined: foo", "2 errors, build stopped"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%q is missing from\n%s", want, got.Text)
		}
	}
	shown := 0
	for _, l := range lines {
		if !strings.HasPrefix(l, "… ") {
			shown++
		}
	}
	if got.Lines != 5002 || got.Dropped != 5002-shown {
		t.Errorf("Lines %d, Dropped %d, shown %d", got.Lines, got.Dropped, shown)
	}
}

func TestSkippedLinesAreCountedWhereTheyStood(t *testing.T) { // REDUCE-8
	got := Plain("a\nb\ny\nz", Options{Skipped: 90, Seam: 4})
	if want := "a\nb\n… 90 lines left out …\ny\nz"; got.Text != want || got.Dropped != 90 || got.Lines != 94 {
		t.Errorf("got %+v", got)
	}
}

// masked is text as a reader gets it.
func masked(text string) string {
	text, _ = unhide(hide(text))
	return text
}

func TestMaskHidesSecrets(t *testing.T) { // REDUCE-10
	for _, c := range []struct{ in, want string }{
		{"key sk-" + strings.Repeat("a1", 20) + " end", "key *** end"},
		{"GH_TOKEN=ghp_" + strings.Repeat("x", 36), "GH_TOKEN=***"},
		{"DB_PASSWORD=hunter2", "DB_PASSWORD=***"},
		{"git clone https://me:hunter2@host/x", "git clone https://me:***@host/x"},
		{"Authorization: Bearer abc.def.ghi", "Authorization: Bearer ***"},
		{"token = parse(x)", "token = parse(x)"},
		{"a secret: none", "a secret: none"},
		{"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=***"},
		{"aws_secret_access_key = wJalrXUtnFEMI7MDENG", "aws_secret_access_key = ***"},
		{`export API_KEY="abc def"`, `export API_KEY="abc def"`},
		{`{"password": "hunter2x", "user": "ann"}`, `{"password": "***", "user": "ann"}`},
		{"GET /x?access_token=abc123def&y=1", "GET /x?access_token=***&y=1"},
		{"  db_password: s3cr3tvalue", "  db_password: ***"},
		{"postgres://app:p4ss@db:5432/x redis://:pw123@h", "postgres://app:***@db:5432/x redis://:***@h"},
		{"-H 'Authorization: token abcd1234efgh'", "-H 'Authorization: token ***'"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "***"},
		{"glpat-abcdefghij0123456789 xoxb-1234567890-abcdef", "*** ***"},
		// What only looks like one.
		{"commit 5fd0559fd2a6c1e0b3f7a9d8e6c5b4a392817065", "commit 5fd0559fd2a6c1e0b3f7a9d8e6c5b4a392817065"},
		{"id=123e4567-e89b-12d3-a456-426614174000", "id=123e4567-e89b-12d3-a456-426614174000"},
		{`{"image": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="}`, `{"image": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="}`},
		{"max_tokens=4096 MAX_TOKENS=8192 token_count=12345678", "max_tokens=4096 MAX_TOKENS=8192 token_count=12345678"},
		{"token=parse(x1)", "token=parse(x1)"},
		{"func f(token: string, password: String)", "func f(token: string, password: String)"},
		{"DB_PASSWORD=$SECRET TOKEN_FILE=/run/secrets/t1", "DB_PASSWORD=$SECRET TOKEN_FILE=/run/secrets/t1"},
		{"sk-learn and sk-very-short", "sk-learn and sk-very-short"},
		{"http://host:8080/a@b 10:30:45 a::b", "http://host:8080/a@b 10:30:45 a::b"},
	} {
		if got := masked(c.in); got != c.want {
			t.Errorf("masked(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdef\nabcdef\n-----END RSA PRIVATE KEY-----\nok"
	for i, text := range []string{key, "before: all\n" + key[strings.Index(key, "MII"):]} { // the beginning may be out of sight
		for _, got := range []Result{Plain(text, Options{Mask: true}), Cut(text, Options{Mask: true})} {
			if strings.Contains(got.Text, "abcdef") || !strings.HasSuffix(got.Text, "ok") || i == 1 && !strings.HasPrefix(got.Text, "before: all\n") {
				t.Errorf("got %q", got.Text)
			}
		}
	}
}

func TestMaskHidesAKeyThatIsOneLine(t *testing.T) { // REDUCE-10
	for _, c := range []struct{ in, want string }{
		{
			"{\n  \"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG\\nAbC=\\n-----END PRIVATE KEY-----\\n\",\n  \"client_email\": \"me@here\"\n}",
			"{\n  \"private_key\": \"-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\\n\",\n  \"client_email\": \"me@here\"\n}",
		},
		{
			"K='-----BEGIN EC PRIVATE KEY----- MHcCAQEEIIGLlamZ0123 -----END EC PRIVATE KEY-----' and on\nnext line",
			"K='-----BEGIN EC PRIVATE KEY-----***-----END EC PRIVATE KEY-----' and on\nnext line",
		},
		{"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG\nMIIEvQIB\n-----END", "-----BEGIN PRIVATE KEY-----***\n***\n-----END"},
		{"\"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANB", "\"-----BEGIN PRIVATE KEY-----***"}, // it is being printed
		{"it says -----BEGIN PRIVATE KEY----- there", "it says -----BEGIN PRIVATE KEY----- there"},
		{"a:-----BEGIN PRIVATE KEY-----\nb:-----BEGIN PRIVATE KEY-----", "a:-----BEGIN PRIVATE KEY-----\nb:-----BEGIN PRIVATE KEY-----"},
		{"-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG\n-----END CERTIFICATE-----"},
	} {
		if got := Cut(c.in, Options{Mask: true}); got.Text != c.want || got.Masked != strings.Count(c.want, "***") {
			t.Errorf("%q: %d masked, %q", c.in, got.Masked, got.Text)
		}
	}
	long := strings.Repeat("-----BEGIN PRIVATE KEY-----", 40000) // it takes no longer than its length
	if got := Cut(long, Options{MaxChars: len(long), Mask: true}); got.Text != long {
		t.Error("marks alone were changed")
	}
}

func BenchmarkPlain(b *testing.B) {
	text := strings.Repeat("2026-01-01 12:00:00 some ordinary line of a log with words in it\n", 10000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Plain(text, Options{Mask: true})
	}
}

func TestALineOverTheBudgetShowsItsEnds(t *testing.T) { // REDUCE-9
	for _, text := range []string{strings.Repeat("a", 40000) + strings.Repeat("b", 40000), "first\n" + strings.Repeat("a", 40000) + strings.Repeat("b", 40000) + "\nlast"} {
		got := Cut(text, Options{MaxChars: 10000})
		if n := utf8.RuneCountInString(got.Text); n > 10000 || n < 9000 || !strings.Contains(got.Text, "bbbb") || !strings.Contains(got.Text, "characters]") || got.Dropped == 0 {
			t.Errorf("%d characters: %.60q … %q", n, got.Text, got.Text[len(got.Text)-60:])
		}
	}
}

func TestWhatIsCutTwiceIsCountedOnce(t *testing.T) { // REDUCE-9
	for _, most := range []int{100, 200, 300, 400, 600, 2000} {
		for name, stage := range map[string]func(string, Options) Result{"plain": Plain, "cut": Cut} {
			text := "one\n" + strings.Repeat("x", 200_000) + "\ntwo\n" + strings.Repeat("y", 100_000)
			got := stage(text, Options{MaxChars: most}).Text
			for _, letter := range []string{"x", "y"} {
				told, shown := 0, strings.Count(got, letter)
				for line := range strings.Lines(got) {
					_, after, cut := strings.Cut(line, "…[")
					if cut && strings.Contains(line, letter) {
						_, _ = fmt.Sscanf(after, "%d characters]…", &told)
					}
				}
				if all := strings.Count(text, letter); shown > 0 && told > 0 && told+shown != all {
					t.Errorf("%s at most %d: %d %s show and %d are told of %d:\n%s", name, most, shown, letter, told, all, got)
				}
			}
		}
	}
}
