package main

import (
	"runtime/debug"
	"strings"
	"sync"
)

// unreleased is what a build from a source tree without a tag calls itself.
const unreleased = "0.1.0-dev"

// version is the version that was built in: the module's when it was installed
// as one, else unreleased with the commit where it is known.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unreleased
	}
	if v := strings.TrimPrefix(info.Main.Version, "v"); v != "" && v != "(devel)" && !strings.HasPrefix(v, "0.0.0-") {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return unreleased + "+" + s.Value[:12]
		}
	}
	return unreleased
})
