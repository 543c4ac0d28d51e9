package pilot

import (
	"strings"
	"testing"
	"time"

	"termpilot/terminal/terminaltest"
)

func TestAShellThatIsGivenNoTimeIsNotSaidToWantMore(t *testing.T) { // RUN-39
	commands := []string{"echo hi", "echo one\necho two", strings.TrimSpace(strings.Repeat("echo wrapped ", 12))}
	for _, shell := range shellsToTry {
		for _, from := range []string{"", "\r"} { // nothing is taken in, or all but the Enter
			for _, command := range commands {
				on(t, terminaltest.Options{Shell: shell}, func(b bench) {
					b.f.On(command, terminaltest.Prints("hi\n", 0))
					b.f.Freeze(b.sid(), from)
					time.AfterFunc(8*time.Second, func() { b.f.Thaw(b.sid()) })
					b.want(b.run(command), Completed, 0, "hi")
				})
			}
		}
	}
}

func TestALineThatIsNeverTakenIsNotKnown(t *testing.T) { // RUN-39
	inEveryShell(t, func(b bench) {
		b.f.Freeze(b.sid(), "\r")
		b.want(b.run("echo hi"), RunUnknown, -1, "")
	})
}

func TestNoLineIsTypedAheadOfAShellThatIsGivenNoTime(t *testing.T) { // RUN-6
	on(t, terminaltest.Options{Shell: "fish", NoPaste: true}, func(b bench) {
		b.f.Freeze(b.sid(), "\r")
		time.AfterFunc(5*time.Second, func() {
			if sent := b.f.Sent(b.sid()); len(sent) != 1 {
				b.t.Errorf("sent %q while the first line was not taken", sent)
			}
			b.f.Thaw(b.sid())
		})
		b.want(b.run("echo one\necho two"), Completed, 0, "one\ntwo")
	})
}

func TestALineOfWhichNobodyKnowsIsNotCalledUntyped(t *testing.T) { // RUN-6
	on(t, terminaltest.Options{Shell: "fish", NoPaste: true}, func(b bench) {
		b.f.Freeze(b.sid(), "\r")
		time.AfterFunc(5*time.Second, func() {
			b.f.LoseAnswer("send")
			b.f.Thaw(b.sid())
		})
		res := b.run("echo one\necho two")
		if res.Status != RunUnknown || !strings.Contains(res.ExitReason, "whether a line was typed is not known") || strings.Contains(res.ExitReason, "not typed: ") {
			b.t.Errorf("got %s (%s)", res.Status, res.ExitReason)
		}
	})
}

func TestALineEditorThatStillTakesTextInIsNotAtItsEnd(t *testing.T) { // RUN-11
	long := strings.Repeat("0123456789abcde ", 1000)
	for _, tc := range []struct {
		name, shown, typed string
		want               bool
	}{
		{"whole", "for i in 1 2\n    echo $i", "for i in 1 2\necho $i", true},
		{"nothing yet", "", "echo 'abc", false},
		{"a beginning", "echo 'a", "echo 'abc", false},
		{"a beginning of much", "printf '" + long[:5000], "printf '" + long, false},
		{"the end of much is enough", long[8000:], "printf '" + long, true},
		{"line ends and blanks", "echo 'a  \n  b", "echo 'a\r\nb\r\n", true},
		{"more than was typed", "x echo 'abc", "echo 'abc", true},
	} {
		if got := endsAlike(tc.shown, tc.typed); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
