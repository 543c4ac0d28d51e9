package connector

var codexAgent = define(head{
	name: "codex_agent", title: "Launch Codex", set: agents, access: writes, destroys: true, reaches: true,
	about: "Launch Codex like claude_agent.",
}, launch("codex"), launchedWords).like(claudeAgent)
