// Package memory divides an engine's memory: between statements, merges and caches.
//
// Contents: amounts that follow from one limit.
package memory
