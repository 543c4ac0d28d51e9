package vt_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"termpilot/vt"
)

// A case is a stream and what xterm.js makes of it; testdata/cases.json.
type xtermCase struct {
	Name    string
	Columns int `json:"cols"`
	Rows    int
	Ops     []struct {
		Write  []byte `json:"w"`
		Resize []int  `json:"r"`
	}
	Want []xtermState `json:"want_any_of"`
}

type xtermState struct {
	Lines      []string `json:"lines"`
	Scrollback []string `json:"sb"`
	Continues  []int    `json:"wr"` // 1: the row continues the one before
	X          int      `json:"cx"`
	Y          int      `json:"cy"`
	Alternate  bool     `json:"alt"`
	Reply      []byte   `json:"reply"`
}

// differences are the cases in which this terminal does something else on
// purpose; specs/vt.md argues each. The value is what it does instead.
var differences = map[string]func(*xtermState){
	"07 ZWJ emoji": func(s *xtermState) { s.X = 5 }, // VT-90
	"13 CBT/CHT": func(s *xtermState) { // VT-91
		s.Lines[0], s.Lines[1] = "        Y          X", ""
		s.Continues[1], s.X, s.Y = 0, 9, 0
	},
	"48 invalid UTF-8": func(s *xtermState) { // VT-92
		s.Lines[0], s.X = "a\ufffdb\ufffd(\ufffdc\ufffdd\ufffd\ufffde", 12
	},
	"55 resize narrower": func(s *xtermState) { // VT-93
		s.Lines[4], s.Continues[4], s.X, s.Y = "kl", 1, 2, 4
	},
	// VT-94: what xterm.js leaves to its embedder, or answers as xterm.
	"51 DCS sixel swallow":                answers("\x1bP1+r544E=787465726D2D323536636F6C6F72\x1b\\"),
	"64 kitty kbd push/pop/query":         answers("\x1b[?1u"),
	"66 XTMODKEYS / DECSCUSR / XTVERSION": answers("\x1bP>|termpilot(1)\x1b\\"),
	"reply:DA1":                           answers("\x1b[?62;22c"),
	"reply:DA2":                           answers("\x1b[>1;10;0c"),
	"reply:XTVERSION":                     answers("\x1bP>|termpilot(1)\x1b\\"),
	"reply:OSC10":                         answers("\x1b]10;rgb:eeee/eeee/eeee\x1b\\"),
	"reply:OSC11":                         answers("\x1b]11;rgb:0000/0000/0000\a"),
	"reply:OSC12":                         answers("\x1b]12;rgb:eeee/eeee/eeee\a"),
	"reply:OSC4":                          answers("\x1b]4;1;rgb:cdcd/0000/0000\a"),
	"reply:KITTY":                         answers("\x1b[?0u"),
	"reply:XTGETTCAP":                     answers("\x1bP1+r544E=787465726D2D323536636F6C6F72\x1b\\"),
	"reply:WIN18":                         answers("\x1b[8;6;20t"),
	"reply:WIN14":                         answers("\x1b[4;96;160t"),
}

func answers(reply string) func(*xtermState) {
	return func(s *xtermState) { s.Reply = []byte(reply) }
}

func (s *xtermState) String() string {
	b, _ := json.Marshal(s)
	return string(b)
}

func stateOf(term *vt.Terminal) *xtermState {
	s := &xtermState{Lines: []string{}, Scrollback: []string{}, Continues: []int{}, Reply: []byte{}}
	_, rows := term.Size()
	top := term.Dropped() + int64(term.History())
	for _, r := range term.Text(term.Dropped(), term.History()) {
		s.Scrollback = append(s.Scrollback, strings.TrimRight(r.Text, " "))
	}
	wraps := 0
	for _, r := range term.Text(top, rows) {
		s.Lines = append(s.Lines, strings.TrimRight(r.Text, " "))
		s.Continues = append(s.Continues, wraps)
		if wraps = 0; r.Wrapped {
			wraps = 1
		}
	}
	c := term.Cursor()
	s.X, s.Y = c.Column, int(c.Row-top)
	s.Alternate = term.Modes().Alternate
	s.Reply = append(s.Reply, term.Replies()...)
	return s
}

func loadCases(t testing.TB) []xtermCase {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []xtermCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestTerminalDoesWhatXtermDoes(t *testing.T) { // VT-1
	for _, c := range loadCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			term := vt.New(vt.Options{Columns: c.Columns, Rows: c.Rows, Version: "1"})
			for _, op := range c.Ops {
				if op.Resize != nil {
					term.Resize(op.Resize[0], op.Resize[1])
				}
				term.Write(op.Write)
			}
			got := stateOf(term).String()
			var want []string
			for _, w := range c.Want {
				if w.Reply == nil {
					w.Reply = []byte{}
				}
				if change := differences[c.Name]; change != nil {
					change(&w)
				}
				want = append(want, w.String())
				if got == w.String() {
					return
				}
			}
			t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\nor\n"))
		})
	}
}
