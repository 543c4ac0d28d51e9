package connector

var codexAgent = define(head{
	name: "codex_agent", title: "Launch Codex", set: agents, access: writes, destroys: true, reaches: true,
	about: "Launch Codex as claude_agent does.",
}, launch("codex"), launchedWords).like(claudeAgent)
