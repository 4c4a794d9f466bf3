// Package oracle is a second implementation of the mapping, for tests: what the columns of a row
// must hold, from a description of the rows of the API's description that is written by hand (shapes.go).
//
// Contents: when two JSON values mean the same, and how rows lie in columns.
package oracle
