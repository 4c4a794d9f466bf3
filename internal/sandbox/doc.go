// Package sandbox is a working copy of the API's read side, with invented
// restaurants, for demo, tests and benchmarks.
//
// It follows api.md sentence by sentence, and can act out each of its open
// readings (Readings). The world is made from a seed: of an order only what
// orders and finds it is kept in memory (64 bytes), its content is computed
// from seed, number and revision whenever it is served.
//
// What may live here: the world, the API served over it, faults, and the truth
// that tests compare a mirror with. What may not: anything of the syncer or of
// the client but the types of rows in package api, so that a mistake made there
// is seen here. Nothing here starts a goroutine but Serve.
package sandbox
