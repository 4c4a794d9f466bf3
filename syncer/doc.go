// Package syncer keeps the mirror: streams, walks, checkpoints, versions,
// schedule, snapshots and totals.
//
// What may live here: the rules of DESIGN §5, and everything that decides what
// is fetched when and what it means. What may not: SQL or anything a warehouse
// knows (package sinks is the contract), HTTP (package api), limits (package
// budget), the mapping of JSON to columns (package syncer/mapping).
package syncer
