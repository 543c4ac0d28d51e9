//go:build !race

package testneeds

// Race says that the race detector is on, under which everything takes ten times as long.
const Race = false
