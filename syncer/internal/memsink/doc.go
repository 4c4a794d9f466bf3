// Package memsink is a sink in memory, for tests of the syncer: it keeps the
// contract of package sinks, groups commits and delays receipts as a warehouse
// does, can be down, and can crash like a killed process, which forgets every
// commit whose receipt was not resolved.
//
// What may live here: that sink and ways to look into it. What may not: anything
// that production code uses.
package memsink
