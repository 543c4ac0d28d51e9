package agent

import "time"

// How long what is waited for. Nothing here decides what is true: a look that finds
// what it waits for returns at once, and one whose patience ends says that it does
// not know. The few times by which something is concluded say so.

// Before and between keys.
const (
	// holdPatience is how long another writer's few bytes are waited for.
	holdPatience = 2 * time.Second
	// readyPatience is how long an agent's composer is waited for after its launch; a
	// vendor whose program computes longer has its own (vendor.starts).
	readyPatience = 30 * time.Second
	// clearPatience is how long a composer may take to become empty and quiet: an
	// agent that has just ended a turn draws for a while.
	clearPatience = 1500 * time.Millisecond
	// redrawPatience is how long an agent may take to draw its screen to the end.
	redrawPatience = 500 * time.Millisecond
	// drawPatience is how long an agent may take to show what a key does.
	drawPatience = 5 * time.Second
	// takePatience is how long an agent may leave its composer as it is after a text,
	// and after the Enter behind it. On an idle machine both take some 30 ms, on one
	// with fifteen times the work that it can do, seconds. A person would wait, too:
	// nothing can be done meanwhile but to give up.
	takePatience = 15 * time.Second
	// acceptPatience is how long the agent's word that it has a prompt is waited for
	// once its screen shows that Enter was taken.
	acceptPatience = time.Second
	// answerPatience is how long an answered dialog may take to go.
	answerPatience = 3 * time.Second
	// countPatience is how long the hook of a question that shows may take to tell of it.
	countPatience = time.Second
)

// How long something must have been so until it is believed.
const (
	// still is for a screen: an agent redraws its own in several steps.
	still = 150 * time.Millisecond
	// rewoundFor is for a prompt that stands in the composer again.
	rewoundFor = 600 * time.Millisecond
	// ticks is for a row that tells how long something has been at work, and stands in
	// the last answer as well: at work it counts seconds. stalls is for one that is in
	// no answer that is known, as of a chat that was taken up again: an agent that has
	// much to do may not get to draw it for seconds.
	ticks  = 1500 * time.Millisecond
	stalls = 10 * time.Second
	// idleFor is for a Claude that is idle and has told no end of its turn, nor written
	// one into its transcript, where it writes what it has every tenth of a second.
	idleFor = 3 * time.Second
)

// Around the processes that tell.
const (
	// hookPatience bounds everything that a hook does: the vendor waits for it.
	hookPatience = 5 * time.Second
	// lastWords is how long the hooks of a program that has ended may still come.
	lastWords = 400 * time.Millisecond
	// probePatience is how long an installed program may take to answer a question.
	probePatience = 20 * time.Second
	// toStart is how long a launch may take to start its program: one that has not
	// by then never will.
	toStart = 10 * time.Minute
)

// recordTicks is how often a record is looked at that will soon say more.
const recordTicks = 250 * time.Millisecond

// redraw is how many looks a second a screen that changes all the time gets, as a
// distance between two.
const redraw = 40 * time.Millisecond
