package reduce

import "slices"

// reducers are tried in this order; one file has those of a family.
//
// A new one: a row in the variable of its family; a function that returns false
// for a text that it does not know, that gives every line it draws its place in
// the input, and that marks with tells what must survive when even its draft is
// too long; and a log of the real program in testdata/corpus with its facts.
var reducers = slices.Concat(
	gitReducers,
	pytestReducers,
	goReducers,
	cargoReducers,
	jsReducers,
	tapReducers,
	checkReducers,
	installReducers,
	imageReducers,
	searchReducers,
	fileReducers,
	rowReducers,
	describeReducers,
	webReducers,
	traceReducers,
	jsonReducers,
	logReducers,
)
