// Package vt is a terminal emulator without a terminal: bytes of a program's
// output in; cells, lines, cursor, modes and the answers the program waits
// for out.
//
// [New] makes a [Terminal]; [Terminal.Write] feeds it. Everything is read by
// value ([Terminal.Rows], [Terminal.Text], [Terminal.Cursor]), so what a
// reader holds never changes under it. The package is pure: no goroutine, no
// clock, no I/O. Answers to queries are collected, and the owner drains them
// with [Terminal.Replies]; time-outs belong to the owner too
// ([Terminal.Release]).
//
// Rows have absolute numbers, counted as iTerm2 counts them: row r is the
// row r-[Terminal.Dropped] of the scrollback followed by the screen. A row
// keeps its number while output scrolls. Numbers change when the width
// changes (the scrollback is wrapped anew) and when the scrollback is
// cleared. A [Pin] is a position that follows its text through all of that.
//
// Output is hostile until proven otherwise. Whatever is written, a Terminal
// takes time in proportion to the bytes times, at worst, the size of the
// screen; its memory stays within what its Options and its size allow; and
// its replies hold nothing that the program chose beyond bounded numbers.
//
// A Terminal is not safe for concurrent use.
package vt
