// Package tunnel looks after OpenAI's tunnel-client, through which ChatGPT
// reaches the MCP server of this machine.
//
// [Setup] checks everything that can be checked first and starts one supervisor
// per alias: a process that calls [Supervise]. It serves the MCP server on a
// private Unix socket, runs tunnel-client as its child and starts it anew when
// it dies or no longer hears. [Inspect] tells the truth about it, [Checks] layer
// by layer, and [Disconnect] ends only what is provably ours.
//
// The runtime key is a [Secret]: it goes from where its [Reference] points into
// the child's environment, and nowhere else. What is promised, and why it is
// done this way, is in specs/tunnel.md (TUN-n).
package tunnel
