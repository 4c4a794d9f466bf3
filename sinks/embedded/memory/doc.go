// Package memory divides the engine's memory: between the daemon's own statements, merges,
// caches and those who ask beside them.
//
// What may live here: amounts that follow from one limit, and the lending of a share to
// statements. What may not: statements, connections or whoever asks.
package memory
