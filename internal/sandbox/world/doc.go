// Package world is the invented restaurants behind the sandbox: their rows, orders and
// totals, and how these move in time.
//
// It is made from a seed. Of an order only what orders and finds it is kept in memory
// (64 bytes); its content is computed from seed, number and revision whenever it is
// read. A View reads a restaurant as somebody sees it who may use some of its locations;
// a Restaurant changes it. Readings choose between what api.md leaves open.
//
// What may live here: rows as api.md describes them, lists in its orders, totals by its
// rules. What may not: HTTP, keys, limits, faults. Nothing here starts a goroutine.
package world
