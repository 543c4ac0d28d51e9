package vt_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"termpilot/vt"
)

// replyForm is every reply that there is. Numbers have at most five digits.
var replyForm = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`\x1b\[\?62;22c`,
	`\x1b\[>1;10;0c`,
	`\x1b\[0n`,
	`\x1b\[\??\d{1,4};\d{1,4}R`,
	`\x1b\[\?997;1n`,
	`\x1b\[\??\d{1,5};[0123]\$y`,
	`\x1bP>\|termpilot\(1\)\x1b\\`,
	`\x1b\[\?\d{1,2}u`,
	`\x1b\[[4689];\d{1,5};\d{1,5}t`,
	`\x1b\](?:1[012]|4;\d{1,3});rgb:[0-9a-f]{4}/[0-9a-f]{4}/[0-9a-f]{4}(?:\x1b\\|\x07)`,
	`\x1bP1\$r[0-9;:]+m\x1b\\`,
	`\x1bP1\$r\d{1,4};\d{1,4}r\x1b\\`,
	`\x1bP1\$r[0-6] q\x1b\\`,
	`\x1bP0\$r\x1b\\`,
	`\x1bP0\+r\x1b\\`,
	`\x1bP1\+r[0-9A-F]+=[0-9A-F]+\x1b\\`,
}, "|") + `)`)

func ask(query string) string {
	term := vt.New(vt.Options{Version: "1.2"})
	term.Write([]byte(query))
	return string(term.Replies())
}

func TestQueriesAreAnswered(t *testing.T) { // VT-41
	for _, c := range []struct{ name, query, want string }{
		{"DA1", "\x1b[c", "\x1b[?62;22c"},
		{"DA1 with a parameter that asks nothing", "\x1b[1c", ""},
		{"DA2", "\x1b[>c", "\x1b[>1;10;0c"},
		{"DSR", "\x1b[5n", "\x1b[0n"},
		{"CPR", "\x1b[3;4H\x1b[6n", "\x1b[3;4R"},
		{"CPR in origin mode", "\x1b[5;10r\x1b[?6h\x1b[2;3H\x1b[6n", "\x1b[2;3R"},
		{"CPR with a pending wrap", strings.Repeat("x", 80) + "\x1b[6n", "\x1b[1;80R"},
		{"DECXCPR", "\x1b[?6n", "\x1b[?1;1R"},
		{"colour scheme", "\x1b[?996n", "\x1b[?997;1n"},
		{"XTVERSION", "\x1b[>0q", "\x1bP>|termpilot(1.2)\x1b\\"},
		{"DECRQM of a set mode", "\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"},
		{"DECRQM of a reset mode", "\x1b[?2004$p", "\x1b[?2004;2$y"},
		{"DECRQM of autowrap", "\x1b[?7$p", "\x1b[?7;1$y"},
		{"DECRQM of left and right margins", "\x1b[?69$p", "\x1b[?69;0$y"},
		{"DECRQM of an unknown mode", "\x1b[?9999$p", "\x1b[?9999;0$y"},
		{"DECRQM of grapheme clusters", "\x1b[?2027$p", "\x1b[?2027;3$y"},
		{"DECRQM of the alternate screen", "\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y"},
		{"DECRQM of insert mode", "\x1b[4h\x1b[4$p", "\x1b[4;1$y"},
		{"DECRQSS SGR", "\x1b[1;4:3;31;48;5;200;58:2::1:2:3m\x1bP$qm\x1b\\", "\x1bP1$r0;1;4:3;31;48:5:200;58:2::1:2:3m\x1b\\"},
		{"DECRQSS DECSTBM", "\x1b[3;9r\x1bP$qr\x1b\\", "\x1bP1$r3;9r\x1b\\"},
		{"DECRQSS DECSCUSR", "\x1b[5 q\x1bP$q q\x1b\\", "\x1bP1$r5 q\x1b\\"},
		{"DECRQSS of something else", "\x1bP$q\"p\x1b\\", "\x1bP0$r\x1b\\"},
		{"XTGETTCAP Co", "\x1bP+q436f\x1b\\", "\x1bP1+r436F=323536\x1b\\"},
		{"XTGETTCAP RGB and an unknown one", "\x1bP+q524742;515a\x1b\\", "\x1bP1+r524742=382F382F38\x1b\\\x1bP0+r\x1b\\"},
		{"size in cells", "\x1b[18t", "\x1b[8;24;80t"},
		{"size in pixels", "\x1b[14t", "\x1b[4;384;640t"},
		{"size of a cell", "\x1b[16t", "\x1b[6;16;8t"},
		{"text and background colour", "\x1b]10;?;?\x1b\\", "\x1b]10;rgb:eeee/eeee/eeee\x1b\\\x1b]11;rgb:0000/0000/0000\x1b\\"},
		{"palette", "\x1b]4;196;?;232;?\a", "\x1b]4;196;rgb:ffff/0000/0000\a\x1b]4;232;rgb:0808/0808/0808\a"},
		{"kitty flags", "\x1b[>5u\x1b[?u", "\x1b[?5u"},
		{"kitty flags popped", "\x1b[>5u\x1b[<u\x1b[?u", "\x1b[?0u"},
		{"kitty flags of the other screen", "\x1b[>5u\x1b[?1049h\x1b[?u", "\x1b[?0u"},
		{"kitty flags added", "\x1b[>1u\x1b[=4;2u\x1b[?u", "\x1b[?5u"},
		{"kitty flags taken away", "\x1b[>5u\x1b[=4;3u\x1b[?u", "\x1b[?1u"},
	} {
		if got := ask(c.query); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNoAnswerTellsTextOfTheProgram(t *testing.T) { // VT-40
	for _, query := range []string{
		"\x1b]2;rm -rf /\r\a\x1b[21t", "\x1b]1;rm\r\a\x1b[20t", "\x05", "\x1b]52;c;?\a", "\x1bP$qrm -rf /\r\x1b\\",
		"\x1bP+q726d\x1b\\", "\x1b]4;rm\r;?\a", "\x1b]50;?\a", "\x1b[?4m", "\x1b[13t", "\x1b[=c", "\x1bZ",
		"\x1b]1337;ReportCellSize\a", "\x1b]1337;ReportVariable=dXNlcg==\a", "\x1b]7;?\a", "\x1b[?26n", "\x1b]12;rm;?\a",
	} {
		got := ask(query)
		if strings.Contains(got, "rm") || strings.ContainsAny(got, "\r\n") {
			t.Errorf("%q makes it type %q", query, got)
		}
	}
	for seed := range uint64(200) {
		checkReplies(t, makeStream(rand.New(rand.NewPCG(seed, 9)), 300))
	}
}

func TestTheVersionIsCleaned(t *testing.T) { // VT-40
	for version, want := range map[string]string{
		"": "0", "v1.2.3-dev+a": "v1.2.3-dev+a", "1\x1b\\\r\n2 é": "1\\2", strings.Repeat("9", 50): strings.Repeat("9", 32),
	} {
		term := vt.New(vt.Options{Version: version})
		term.Write([]byte("\x1b[>q"))
		if got := string(term.Replies()); got != "\x1bP>|termpilot("+want+")\x1b\\" {
			t.Errorf("%q: %q", version, got)
		}
	}
}

func TestRepliesThatNobodyFetchesAreCapped(t *testing.T) { // VT-42
	term := vt.New(vt.Options{})
	term.Write([]byte(strings.Repeat("\x1b[c", 10_000)))
	got := string(term.Replies())
	if n := len(got); n > 4096 || n < 4000 || n%len("\x1b[?62;22c") != 0 {
		t.Errorf("%d bytes of replies", n)
	}
	term.Write([]byte("\x1b[5n"))
	if got := string(term.Replies()); got != "\x1b[0n" {
		t.Errorf("%q after the replies were fetched", got)
	}
}
