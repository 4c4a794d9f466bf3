// Package memsink is a sink in memory, for tests of the syncer. It keeps the
// contract of package sinks, and groups commits and delays receipts as a warehouse
// does. It can be down, and it can crash like a killed process: then it forgets every
// commit whose receipt was not resolved.
//
// Contents: that sink and ways to look into it.
package memsink
