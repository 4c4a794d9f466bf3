// Package oracle is a second implementation of the mapping, for tests: what the columns of a row
// must hold, from a description of the rows of api.md that is written by hand (shapes.go).
//
// What may live here: when two JSON values mean the same, and how rows lie in columns. What may
// not: package mapping, the Go types it reads, or anything made of them: a mistake in either
// shows as a difference.
package oracle
