package shellint

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseReadsEverySpelling(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct {
		command int
		text    string
		want    Mark
	}{
		// MARK-1
		{133, "A", Mark{Kind: PromptStart}},
		{133, "N;aid=7", Mark{Kind: PromptStart, AID: "7"}},
		{133, "P;k=i", Mark{Kind: PromptStart}},
		{133, "A;k=s;aid=x-1", Mark{Kind: PromptStart, Secondary: true, AID: "x-1"}},
		{133, "A;k=c", Mark{Kind: PromptStart, Secondary: true}},
		{133, "P;k=r", Mark{Kind: PromptStart, Right: true}},
		{133, "A;k=z;cl=line;redraw=0;click_events=1", Mark{Kind: PromptStart}},
		{133, "B;aid=x", Mark{Kind: PromptEnd, AID: "x"}},
		{133, "C;aid=x\r", Mark{Kind: OutputStart, AID: "x"}},
		{133, "C;cmdline_url=echo%20%E6%97%A5%0A%1b;n=s", Mark{Kind: OutputStart, Text: "echo 日\n", Nonce: "s"}},
		{133, "D;0;aid=x;n=secret", Mark{Kind: CommandEnd, HasExit: true, AID: "x", Nonce: "secret"}},
		{133, "D;130", Mark{Kind: CommandEnd, HasExit: true, Exit: 130}},
		{133, "D;1;eol=" + b64("%"), Mark{Kind: CommandEnd, HasExit: true, Exit: 1, HasEOL: true, EOL: "%"}},
		{133, "D;1;eol=" + b64("%") + ";precmd=1", Mark{Kind: CommandEnd, HasExit: true, Exit: 1, HasEOL: true, EOL: "%", Hooked: true}},
		{133, "D;1;eol=", Mark{Kind: CommandEnd, HasExit: true, Exit: 1, HasEOL: true}},
		{633, "A", Mark{Kind: PromptStart}},
		{633, "B", Mark{Kind: PromptEnd}},
		{633, "C", Mark{Kind: OutputStart}},
		{633, "D;2", Mark{Kind: CommandEnd, HasExit: true, Exit: 2}},
		{633, "F", Mark{Kind: PromptStart, Secondary: true}},
		{633, "G", Mark{Kind: PromptEnd, Secondary: true}},
		{633, `E;echo a\x3b\\x0a\x0ab;secret`, Mark{Kind: CommandLine, Text: "echo a;\\x0a\nb", Nonce: "secret"}},
		{633, `P;Cwd=/a\x3bb`, Mark{Kind: CurrentDir, Text: "/a;b"}},
		{633, "P;IsWindows=False", Mark{Kind: Property, Name: "IsWindows", Text: "False"}},
		{1337, "RemoteHost=me@corp@box", Mark{Kind: RemoteHost, User: "me@corp", Host: "box"}},
		{1337, "RemoteHost=me@", Mark{Kind: RemoteHost, User: "me"}},
		{1337, "CurrentDir=/a b;c", Mark{Kind: CurrentDir, Text: "/a b;c"}},
		{1337, "ShellIntegrationVersion=20;shell=bash", Mark{Kind: Version, Text: "20", Name: "bash"}},
		{1337, "SetUserVar=branch=" + b64("main\n"), Mark{Kind: UserVar, Name: "branch", Text: "main\n"}},
		{1337, "SetUserVar=branch", Mark{Kind: UserVar, Name: "branch", Unset: true}},
		{7, "file://box/a%20b%23", Mark{Kind: CurrentDir, Host: "box", Text: "/a b#"}},
		{7, "file://localhost/%E6%97%A5", Mark{Kind: CurrentDir, Text: "/日"}},
		{7, "file:///a%zz%4", Mark{Kind: CurrentDir, Text: "/a%zz%4"}},
		{7, "file:///a#b#n=secret", Mark{Kind: CurrentDir, Text: "/a#b", Nonce: "secret"}},
		{7, "file:///a#n=secret;at=9.1-4;d=3:7;tell=1", Mark{
			Kind: CurrentDir, Text: "/a", Nonce: "secret", AID: "9.1-4", Before: "9.1-3", HasExit: true, Exit: 7, Tells: true,
		}},
		{7, "file:///a#n=secret;at=9.1-4;d=x:7;d=3:;d=3:256;tell=2", Mark{Kind: CurrentDir, Text: "/a", Nonce: "secret", AID: "9.1-4"}},
		{7, "file:///a#n=secret;d=3:7;run=9", Mark{Kind: CurrentDir, Text: "/a", Nonce: "secret", AID: "9", Runs: true}},
		{7, "file:///a#n=secret;more=9.1-4", Mark{Kind: CurrentDir, Text: "/a", Nonce: "secret", AID: "9.1-4", Secondary: true}},
		{133, "S;aid=x;line=1;mode=c;drawn=1;n=secret", Mark{Kind: Standing, AID: "x", Nonce: "secret", Holds: true, Mode: true, Drawn: true}},
		{133, "S;1;line=0;k=s", Mark{Kind: Standing}},
		{7, "kitty-shell-cwd://box/a%20", Mark{Kind: CurrentDir, Host: "box", Text: "/a%20"}},
		// MARK-2: no control character leaves.
		{7, "file:///a%1b%5d%07b%c2%9b", Mark{Kind: CurrentDir, Text: "/a]b"}},
		// MARK-3: no status is made up.
		{133, "D", Mark{Kind: CommandEnd}},
		{133, "D;", Mark{Kind: CommandEnd}},
		{133, "D;junk", Mark{Kind: CommandEnd}},
		{133, "D;-1", Mark{Kind: CommandEnd}},
		{133, "D;+1", Mark{Kind: CommandEnd}},
		{133, "D;256", Mark{Kind: CommandEnd}},
		{133, "D;0x1", Mark{Kind: CommandEnd}},
		{133, "D;1.0", Mark{Kind: CommandEnd}},
		{133, "D;aid=x;1", Mark{Kind: CommandEnd, AID: "x"}},
	} {
		got, ok := Parse(c.command, []byte(c.text))
		if !ok {
			t.Errorf("%d;%s: no mark", c.command, c.text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%d;%s: %s", c.command, c.text, diff)
		}
	}
}

func TestParseLeavesOutWhatIsNoMark(t *testing.T) { // MARK-1, MARK-4
	long := strings.Repeat("x", maxText+1)
	for _, c := range []struct {
		command int
		text    string
	}{
		{133, ""},
		{133, "E"},
		{133, "AB"},
		{133, "L"},
		{133, ";A"},
		{134, "A"},
		{0, "A"},
		{633, "Z"},
		{633, "E"},
		{633, "P;x"},
		{1337, "CurrentDir"},
		{1337, "CurrentDir="},
		{1337, "SetUserVar=a.b=eA=="},
		{1337, "SetUserVar=a=%%"},
		{1337, "File=name=eA=="},
		{7, "/tmp"},
		{7, "http://a/b"},
		{7, "file://a"},
		{7, "file:///" + long},
		{133, strings.Repeat("A;", maxPayload)},
	} {
		if m, ok := Parse(c.command, []byte(c.text)); ok {
			t.Errorf("%d;%.40s: got %+v", c.command, c.text, m)
		}
	}
	if m, ok := Parse(133, []byte("A;aid="+long)); !ok || m.AID != "" {
		t.Errorf("a long id: got %v %v", ok, len(m.AID))
	}
	if m, ok := Parse(133, []byte("C;cmdline_url="+long)); !ok || m.Text != "" {
		t.Errorf("a long command: got %v %v", ok, len(m.Text))
	}
}

func FuzzParseIsTotal(f *testing.F) { // MARK-2, MARK-4
	for _, seed := range []string{
		"A;aid=x", "D;0;aid=x;eol=JQ==", "C;cmdline_url=a%20b", `E;a\x3b;n`, "P;Cwd=/x", "RemoteHost=a@b", "SetUserVar=a=eA==",
		"file://h/p%20#n=x", "kitty-shell-cwd://h/p", "D;\r", "A;k=s\xff\xfe",
	} {
		f.Add(133, []byte(seed))
		f.Add(7, []byte(seed))
		f.Add(633, []byte(seed))
		f.Add(1337, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, command int, payload []byte) {
		m, ok := Parse(command, payload)
		if !ok {
			return
		}
		if m.Kind == 0 || m.Exit < 0 || m.Exit > 255 || !m.HasExit && m.Exit != 0 || m.Blank {
			t.Fatalf("got %+v", m)
		}
		for _, s := range []string{m.Text, m.Name, m.User, m.Host, m.EOL} {
			if s != clean(s, "\t\n") || len(s) > 3*maxText {
				t.Fatalf("got %q", s)
			}
		}
		if len(m.AID) > maxField || len(m.Nonce) > maxField {
			t.Fatalf("got %+v", m)
		}
	})
}
