package main

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// timeVar defines a flag that says how long to wait: a duration such as 90s or
// 5m, or a number of seconds.
func timeVar(f *pflag.FlagSet, at *time.Duration, name string, usual time.Duration, usage string) {
	*at = usual
	f.Var((*timeValue)(at), name, usage)
}

type timeValue time.Duration

// String is "0" for no time, which help then does not tell as a default.
func (v *timeValue) String() string {
	if *v == 0 {
		return "0"
	}
	return time.Duration(*v).String()
}

// Type is what help calls such a value.
func (v *timeValue) Type() string { return "duration" }

func (v *timeValue) Set(text string) error {
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("want a time such as 90s or 5m, or a number of seconds")
	}
	*v = timeValue(d)
	return nil
}
