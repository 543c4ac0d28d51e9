package main

import (
	"context"

	"termpilot/agent"
)

// hook is `termpilot hook VENDOR [JSON]`, which coding agents call when something
// happened, and wait for. It says nothing and succeeds whatever it is
// given: an agent must not be kept from its work.
func (a *app) hook(ctx context.Context, args []string) {
	if len(args) == 0 {
		return
	}
	argument := ""
	if len(args) > 1 {
		argument = args[len(args)-1]
	}
	_ = agent.Hook(ctx, args[0], a.getenv, a.in, argument) // nobody could act on it here
}
