// Command termpilot lets MCP clients see and safely drive a
// person's terminals.
//
// This package is words and wiring: it parses flags, calls one function of
// another package and prints what that returns. The promises are in
// specs/cli.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(invoke())
}

// invoke is the whole program but for leaving it, so that what it defers is done.
func invoke() int {
	// A reader that leaves (`termpilot demo | head`) fails a write. It must not
	// kill the process before what it started is cleared away.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	a := &app{in: os.Stdin, out: os.Stdout, errs: os.Stderr, getenv: os.Getenv}
	return a.run(ctx, os.Args[1:])
}
