package host

import (
	"slices"
	"testing"

	"termpilot/testneeds"
)

func TestOutputOverOlderTextIsToldOrSaidNotToBe(t *testing.T) { // HOST-195
	testneeds.Program(t, "bash")
	c := newHost(t).connect()
	id := c.openReady("bash")
	c.run(id, "seq 1 9")
	for _, command := range []string{`printf '\033[Hhello'`, `printf '\0337\033[Hhello\0338'`} {
		if exit, out := c.run(id, command); exit != 0 || out != "hello" {
			t.Errorf("%s: got %d %q", command, exit, out)
		}
	}
	if told := c.promptView(id).Strewn; len(told) != 0 {
		t.Errorf("strewn are %v", told)
	}
	var strewn []string
	for range 17 {
		strewn = append(strewn, c.promptView(id).ID)
		c.run(id, `printf 'a\nb\n\033[2A'`)
	}
	if told := c.promptView(id).Strewn; !slices.Equal(told, strewn[1:]) {
		t.Errorf("strewn are %v, want %v", told, strewn[1:])
	}
	for i, want := range []bool{false, true} {
		if got := c.prompt(id, strewn[i]).OutputRange != nil; got != want {
			t.Errorf("prompt %d has a range: %v", i, got)
		}
	}
}
