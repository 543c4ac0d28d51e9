package connector

var grokAgent = define(head{
	name: "grok_agent", title: "Launch Grok", set: agents, access: writes, destroys: true, reaches: true,
	about: "Launch Grok like claude_agent.",
}, launch("grok"), launchedWords).like(claudeAgent)
