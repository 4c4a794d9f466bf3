// Package memory divides an engine's memory: between statements, merges and caches.
//
// What may live here: amounts that follow from one limit. What may not: statements,
// connections or whoever asks.
package memory
