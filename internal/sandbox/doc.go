// Package sandbox serves a working copy of the API, with invented restaurants, for demo,
// tests and benchmarks.
//
// It follows api.md sentence by sentence, and can act out each of its open
// readings (Readings). The restaurants are in package world, their online orders in package
// ordering, and what brings the events of those to a receiver in package webhooks.
//
// What may live here: routes, parameters, errors, keys, limits, cursors, faults, and the
// truth that tests compare a mirror with. What may not: how a restaurant or an order moves;
// anything of the syncer or of the client but the types of rows in package api, so that a
// mistake made there is seen here. Nothing here starts a goroutine that outlives its call.
package sandbox
