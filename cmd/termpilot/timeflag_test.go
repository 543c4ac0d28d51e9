package main

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestATimeIsADurationOrSeconds(t *testing.T) { // CLI-35
	for text, want := range map[string]time.Duration{
		"0": 0, "90": 90 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "200ms": 200 * time.Millisecond,
		"": -1, "-1": -1, "-5s": -1, "1h30": -1, "1 m": -1, "x": -1, "99999999999999999999": -1, "9999999999": -1,
	} {
		var got time.Duration
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		timeVar(f, &got, "timeout", time.Second, "longest time")
		if err := f.Parse([]string{"--timeout=" + text}); err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestEveryTimeToWaitIsReadAlike(t *testing.T) { // CLI-35
	for path, cmd := range commands() {
		for _, name := range []string{"timeout", "max-wait"} {
			if f := cmd.Flags().Lookup(name); f != nil {
				if _, ok := f.Value.(*timeValue); !ok {
					t.Errorf("%s: --%s is read in another way", path, name)
				}
			}
		}
	}
}
