package vt_test

import (
	"strings"
	"testing"

	"termpilot/vt"
)

func TestKeysAreEncoded(t *testing.T) {
	legacy, app, kitty, all := vt.Modes{}, vt.Modes{ApplicationCursor: true}, vt.Modes{KittyFlags: 1, ApplicationCursor: true}, vt.Modes{KittyFlags: 9}
	for _, c := range []struct {
		name  string
		modes vt.Modes
		want  string
	}{
		// VT-80
		{"enter", legacy, "\r"},
		{"enter", vt.Modes{NewLine: true}, "\r\n"},
		{"alt_enter", legacy, "\x1b\r"},
		{"tab", legacy, "\t"},
		{"shift_tab", legacy, "\x1b[Z"},
		{"escape", legacy, "\x1b"},
		{"backspace", legacy, "\x7f"},
		{"ctrl_backspace", legacy, "\b"},
		{"alt_backspace", legacy, "\x1b\x7f"},
		{"delete", legacy, "\x1b[3~"},
		{"insert", legacy, "\x1b[2~"},
		{"page_up", legacy, "\x1b[5~"},
		{"page_down", legacy, "\x1b[6~"},
		{"up", legacy, "\x1b[A"},
		{"down", legacy, "\x1b[B"},
		{"right", legacy, "\x1b[C"},
		{"left", legacy, "\x1b[D"},
		{"home", legacy, "\x1b[H"},
		{"end", legacy, "\x1b[F"},
		{"up", app, "\x1bOA"},
		{"end", app, "\x1bOF"},
		{"ctrl_up", app, "\x1b[1;5A"},
		{"shift_left", legacy, "\x1b[1;2D"},
		{"ctrl_alt_shift_right", legacy, "\x1b[1;8C"},
		{"ctrl_delete", legacy, "\x1b[3;5~"},
		{"f1", legacy, "\x1bOP"},
		{"f4", app, "\x1bOS"},
		{"shift_f1", legacy, "\x1b[1;2P"},
		{"f5", legacy, "\x1b[15~"},
		{"f6", legacy, "\x1b[17~"},
		{"f10", legacy, "\x1b[21~"},
		{"f11", legacy, "\x1b[23~"},
		{"f12", legacy, "\x1b[24~"},
		{"ctrl_f12", legacy, "\x1b[24;5~"},
		{"ctrl_a", legacy, "\x01"},
		{"ctrl_z", legacy, "\x1a"},
		{"ctrl_c", legacy, "\x03"},
		{"ctrl_C", legacy, "\x03"},
		{"ctrl_space", legacy, "\x00"},
		{"ctrl_[", legacy, "\x1b"},
		{"ctrl__", legacy, "\x1f"},
		{"ctrl_?", legacy, "\x7f"},
		{"ctrl_/", legacy, "\x1f"},
		{"alt_x", legacy, "\x1bx"},
		{"alt_ctrl_x", legacy, "\x1b\x18"},
		{"shift_x", legacy, "X"},
		{"x", legacy, "x"},
		{"space", legacy, " "},
		{"日", legacy, "日"},
		{"alt_é", legacy, "\x1bé"},
		{"_", legacy, "_"},
		{"f", legacy, "f"},
		// VT-81
		{"escape", kitty, "\x1b[27u"},
		{"enter", kitty, "\r"},
		{"shift_enter", kitty, "\x1b[13;2u"},
		{"tab", kitty, "\t"},
		{"shift_tab", kitty, "\x1b[9;2u"},
		{"ctrl_c", kitty, "\x1b[99;5u"},
		{"ctrl_C", kitty, "\x1b[99;6u"},
		{"alt_x", kitty, "\x1b[120;3u"},
		{"x", kitty, "x"},
		{"shift_x", kitty, "X"},
		{"up", kitty, "\x1b[A"},
		{"ctrl_up", kitty, "\x1b[1;5A"},
		{"f1", kitty, "\x1b[P"},
		{"x", all, "\x1b[120u"},
		{"X", all, "\x1b[120;2u"},
		{"enter", all, "\x1b[13u"},
		{"backspace", all, "\x1b[127u"},
		{"space", all, "\x1b[32u"},
	} {
		got, ok := vt.EncodeKey(c.name, c.modes)
		if !ok || string(got) != c.want {
			t.Errorf("%s with %+v: %q, %v, want %q", c.name, c.modes, got, ok, c.want)
		}
	}
	for _, name := range []string{"", "ctrl_", "f0", "f13", "f01", "F1", "Enter", "ctrl_1", "ctrl_é", "xy", "\x1b", "\x7f", "\xff", "alt", "ctrl_alt_"} { // VT-80
		if got, ok := vt.EncodeKey(name, vt.Modes{}); ok {
			t.Errorf("%q is a key: %q", name, got)
		}
	}
}

func TestPastedTextCannotEndThePaste(t *testing.T) { // VT-82
	on := vt.Modes{BracketedPaste: true}
	for _, c := range []struct {
		in    string
		modes vt.Modes
		want  string
	}{
		{"a\nb", on, "\x1b[200~a\nb\x1b[201~"},
		{"a\nb", vt.Modes{}, "a\nb"},
		{"a\x1b[201~rm\r", on, "\x1b[200~arm\r\x1b[201~"},
		{"a\x1b[20\x1b[201~1~rm\r", on, "\x1b[200~arm\r\x1b[201~"},
		{"a\u009b201~rm\r", on, "\x1b[200~arm\r\x1b[201~"},
	} {
		if got := string(vt.EncodePaste([]byte(c.in), c.modes)); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzPastedTextCannotEndThePaste(f *testing.F) { // VT-82
	f.Add("a\x1b[20\x1b[201~1~")
	f.Add("a\x1b[2\u009b201~01~")
	f.Fuzz(func(t *testing.T, text string) {
		got := string(vt.EncodePaste([]byte(text), vt.Modes{BracketedPaste: true}))
		for _, end := range []string{"\x1b[201~", "\u009b201~"} {
			if i := strings.Index(got, end); i >= 0 && i != len(got)-len(end) {
				t.Errorf("%q ends at %d of %d", got, i, len(got))
			}
		}
	})
}
