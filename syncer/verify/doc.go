// Package verify compares every row of the API with what is stored of it.
//
// What may live here: what differs, what only moves, and what is behind by schedule. What
// may not: what is equal (package compare), and anything that writes: what a suspect needs is
// brought by walks of the daemon's own kind.
//
// A [Pass] verifies streams, each by its kind: lists (list.go), lists that are replaced as
// wholes (whole.go) and totals (totals.go).
//
// # States
//
// A row that differs at first sight is a suspect. It settles, or is a difference when the
// API shows it in the same way before and after a walk, and what is stored then is another;
// or it is moving, when it is another each time (again.go).
//
// # What holds
//
//   - Memory is bounded by [Limits], however many rows there are and differ.
//   - Of a source that another process serves, nothing is written.
//
// # When something fails
//
// An error ends the verification of its stream, and of no other. A refused cursor begins the
// list anew: rows that are compared twice do no harm.
package verify
