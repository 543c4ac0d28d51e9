package connector

var composerAgent = define(head{
	name: "composer_agent", title: "Launch Composer", set: agents, access: writes, destroys: true, reaches: true,
	about: "Launch Composer like claude_agent.",
}, launch("composer"), launchedWords).like(claudeAgent)
