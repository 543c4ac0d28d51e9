package connector

var grokAgent = define(head{
	name: "grok_agent", title: "Launch Grok", set: agents, access: writes, destroys: true, reaches: true,
	about: "Launch Grok as claude_agent does.",
}, launch("grok"), launchedWords).like(claudeAgent)
