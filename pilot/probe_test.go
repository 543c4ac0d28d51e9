package pilot

import (
	"strings"
	"testing"
)

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
