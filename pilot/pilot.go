// Package pilot says what running, reading, waiting, sending and opening mean
// on any terminal: the gate, the order of effects, policy and locks.
package pilot
