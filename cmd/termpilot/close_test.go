package main

import "testing"

func TestFlagsOfCloseSayOneThing(t *testing.T) { // CLI-2
	for _, c := range []struct {
		flags closeFlags
		named bool
		good  bool
	}{
		{closeFlags{}, true, true},
		{closeFlags{tab: true, dry: true}, true, true},
		{closeFlags{window: true, force: true}, true, true},
		{closeFlags{all: true, force: true}, false, true},
		{closeFlags{inspect: true}, true, true},
		{closeFlags{inspect: true}, false, true},
		{closeFlags{}, false, false},
		{closeFlags{tab: true}, false, false},
		{closeFlags{tab: true, window: true}, true, false},
		{closeFlags{all: true}, true, false},
		{closeFlags{all: true, tab: true}, false, false},
		{closeFlags{inspect: true, force: true}, true, false},
	} {
		if err := c.flags.check(c.named); (err == nil) != c.good {
			t.Errorf("%+v, a session named: %v: got %v", c.flags, c.named, err)
		}
	}
}
