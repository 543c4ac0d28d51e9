package terminal_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"termpilot/terminal"
)

func TestOneLineKeepsWhatIsSeen(t *testing.T) { // TERM-61
	for in, want := range map[string]string{
		"":                            "",
		" ":                           "",
		"make test":                   "make test",
		"two  blanks stay":            "two  blanks stay",
		"a\tb\nc\r\nd":                "a b c  d",
		"  ok ":                       "ok",
		"x\x1b]0;y\x07z":              "x]0;yz",
		"a\u0085b\u2028c\u2029d":      "a b c d",
		"\u202eevil\u200f":            "evil",
		"hidden\U000e0041\U000e0042":  "hidden",
		"\ufeffbom\u200b":             "bom",
		"👩\u200d💻 日本 é":               "👩\u200d💻 日本 é",
		"bad \xff\xfe utf8\xc3":       "bad  utf8",
		"\x9b31m":                     "31m",
		"\u009b31m":                   "31m",
		strings.Repeat("é", 21):       strings.Repeat("é", 20) + "…",
		strings.Repeat("é", 20):       strings.Repeat("é", 20),
		strings.Repeat("a", 20) + "b": strings.Repeat("a", 20) + "…",
		strings.Repeat("a", 20) + " ": strings.Repeat("a", 20),
	} {
		if got := terminal.OneLine(in, 20); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", in, got, want)
		}
	}
	if long := strings.Repeat("é", 5000); terminal.OneLine(long, 0) != long {
		t.Error("without a limit something was cut")
	}
}

func FuzzOneLineIsOneSafeLine(f *testing.F) { // TERM-61
	f.Add("a\x1b[0m\n\u202e\xff", 4)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most &= 0xff
		got := terminal.OneLine(text, most)
		if !utf8.ValidString(got) || strings.TrimSpace(got) != got {
			t.Fatalf("%q gave %q", text, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
		}) {
			t.Fatalf("%q gave %q", text, got)
		}
		if n := utf8.RuneCountInString(got); most > 0 && n > most+1 {
			t.Fatalf("%d characters, at most %d", n, most)
		}
		if most == 0 && terminal.OneLine(got, 0) != got {
			t.Fatalf("%q changes again", got)
		}
	})
}
