package vt_test

import (
	"fmt"
	"strings"
	"testing"

	"termpilot/vt"
)

func screenText(term *vt.Terminal) string {
	_, rows := term.Size()
	var lines []string
	for _, r := range term.Text(term.Dropped()+int64(term.History()), rows) {
		lines = append(lines, r.Text)
	}
	return strings.TrimRight(strings.Join(lines, "|"), "|")
}

func TestReadersSeeTheLastCompleteFrame(t *testing.T) { // VT-30
	term := vt.New(vt.Options{Columns: 10, Rows: 3})
	term.Write([]byte("one\r\ntwo\x1b[?2026h"))
	cursor, generation := term.Cursor(), term.Generation()
	term.Write([]byte("\x1b[2J\x1b[Hhalf a"))
	if got := screenText(term); got != "one|two" {
		t.Errorf("during the update: %q", got)
	}
	if term.Cursor() != cursor || term.Generation() != generation || !term.Modes().Synchronized {
		t.Errorf("during the update: cursor %v, generation %d, modes %+v", term.Cursor(), term.Generation(), term.Modes())
	}
	term.Write([]byte(" frame\x1b[?2026l"))
	if got := screenText(term); got != "half a fra|me" {
		t.Errorf("after the update: %q", got)
	}
	if term.Generation() == generation {
		t.Error("the generation did not change")
	}
}

func TestTheOwnerReleasesAnUpdateThatDoesNotEnd(t *testing.T) { // VT-31
	term := vt.New(vt.Options{Columns: 10, Rows: 3})
	term.Write([]byte("old\x1b[?2026h\rnew"))
	term.Release()
	if got := screenText(term); got != "new" {
		t.Errorf("after Release: %q", got)
	}
	term.Write([]byte("\x1b[?2026h\r!!!"))
	if got := screenText(term); got != "new" {
		t.Errorf("in the next update: %q", got)
	}
}

func TestAnUpdateEndsWithResizeResetAndScreenSwitch(t *testing.T) { // VT-32
	for _, end := range []func(*vt.Terminal){
		func(term *vt.Terminal) { term.Resize(12, 3) },
		func(term *vt.Terminal) { term.Write([]byte("\x1bcnew")) },
		func(term *vt.Terminal) { term.Write([]byte("\x1b[?1049h\x1b[Hnew")) },
	} {
		term := vt.New(vt.Options{Columns: 10, Rows: 3})
		term.Write([]byte("old\x1b[?2026h\rnew"))
		end(term)
		if got := screenText(term); got != "new" {
			t.Errorf("%q", got)
		}
	}
}

func TestRowsKeepTheirNumbersWhileAnUpdateScrolls(t *testing.T) { // VT-33
	term := vt.New(vt.Options{Columns: 10, Rows: 3})
	term.Write([]byte("0\r\n1\r\n2\r\n3\x1b[?2026h"))
	term.Write([]byte("\r\n4\r\n5\r\n6"))
	if got := fmt.Sprint(term.History(), term.Text(0, 10)); got != "1 [{0 false} {1 false} {2 false} {3 false}]" {
		t.Errorf("during the update: %s", got)
	}
	term.Write([]byte("\x1b[?2026l"))
	if got := fmt.Sprint(term.History(), term.Text(3, 2)); got != "4 [{3 false} {4 false}]" {
		t.Errorf("after the update: %s", got)
	}
}

func TestClearingTheScrollbackDuringAnUpdate(t *testing.T) { // VT-33
	term := vt.New(vt.Options{Columns: 10, Rows: 3})
	term.Write([]byte("0\r\n1\r\n2\r\n3\x1b[?2026h\x1b[2J\x1b[3J\x1b[Hnew"))
	if got := fmt.Sprint(term.Dropped(), term.History(), term.Text(0, 9)); got != "0 0 [{1 false} {2 false} {3 false}]" {
		t.Errorf("during the update: %s", got)
	}
}

func TestAFrameThatOutlivesTheScrollbackIsReleased(t *testing.T) { // VT-33
	term := vt.New(vt.Options{Columns: 10, Rows: 3, Scrollback: 5})
	term.Write([]byte("old\x1b[?2026h" + strings.Repeat("new\r\n", 100)))
	if got := screenText(term); got != "new|new" {
		t.Errorf("%q", got)
	}
	if err := vt.CheckInvariants(term); err != nil {
		t.Error(err)
	}
}
