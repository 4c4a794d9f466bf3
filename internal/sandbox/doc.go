// Package sandbox serves a working copy of the API, with invented restaurants, for demo,
// tests and benchmarks.
//
// It follows the API's description sentence by sentence, and can act out each of its open
// readings (Readings). The restaurants are in package world, their online orders in package
// ordering, and what brings the events of those to a receiver in package webhooks. Who may
// ask, and how often, is in package keys; what goes wrong on demand in package faults.
//
// A request is admitted, its parameters are read, and its route reads a view of the restaurant
// (readCall) or the restaurant's online orders (onlineCall) and writes the output.
//
// Contents: routes, parameters, errors, cursors, answers, and the truth that tests compare a
// mirror with. Nothing here starts a goroutine that outlives its call.
package sandbox
