package connector

import "slices"

// table is every tool, in the order in which it is listed.
var table = []tool{
	listSessions,
	getCurrentSession,
	readTerminal,
	runCommand,
	waitSession,
	diagnostics,
	sendText,
	sendKeys,
	createWindow,
	createTab,
	splitPane,
	focusSession,
	resizeSession,
	renameSession,
	listProfiles,
	inspectSessions,
	closeSession,
	closeTab,
	closeWindow,
	cleanAllSessions,
	listRecoveries,
	claudeAgent,
	codexAgent,
	grokAgent,
	composerAgent,
	launchAgent,
	agentTurn,
	agentApproval,
	agentConfigure,
}

// set is a group of tools that is offered or not as a whole.
type set string

const (
	core   set = "core"
	input  set = "input"
	layout set = "layout"
	closes set = "close"
	agents set = "agents"
)

// Toolsets returns the names that [Options].Toolsets may hold.
func Toolsets() []string {
	return []string{string(core), string(input), string(layout), string(closes), string(agents)}
}

func wanted(sets []string, s set) bool {
	return len(sets) == 0 || slices.Contains(sets, string(s))
}
