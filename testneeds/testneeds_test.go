package testneeds

import "testing"

func TestOnlyWholeNamesAreRequired(t *testing.T) {
	t.Setenv("TERMPILOT_TEST_REQUIRE", "zsh,node22")
	for name, want := range map[string]bool{"zsh": true, "node22": true, "sh": false, "node": false, "": false} {
		if got := Required(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}
