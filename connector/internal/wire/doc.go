// Package wire carries MCP messages between clients and an MCP server: over a
// pair of byte streams ([ServeStdio]) and over HTTP ([Handler]).
//
// It stands in front of the SDK because clients are not as orderly as the SDK
// expects them to be. A broken line costs one error answer and not the
// connection; ids come back exactly as they were sent; a tool may be called
// before the handshake; a call that was cancelled is not answered; the end of
// the input ends the calls that are still running; memory has a bound. Both
// eras of the protocol pass: 2025-11-25 and older, which begin with
// initialize, and 2026-07-28, in which each request stands alone.
//
// Nothing but protocol messages is ever written to the output.
package wire

// StatelessVersion is the first version of the protocol without a handshake.
const StatelessVersion = "2026-07-28"

// Protocol versions and methods that this package looks at ("Model Context
// Protocol", schema of 2025-11-25 and 2026-07-28).
const (
	handshakeVersion = "2025-11-25" // the newest version that has a handshake

	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	methodDiscover    = "server/discover"
	methodPing        = "ping"
	methodCall        = "tools/call"
	methodProgress    = "notifications/progress"
	metaVersion       = "io.modelcontextprotocol/protocolVersion" // of a request that stands alone
	methodListen      = "subscriptions/listen"
	notifications     = "notifications/"
)
