// Package verify compares every row of the API with what is stored of it. It only reads.
//
// Contents: which rows are compared, when, and what is reported.
//
// A [Pass] compares the streams of its sources, each by its kind: lists (list.go), streams
// without a cursor (whole.go) and totals (totals.go). Two rows are equal when their JSON means
// the same (json.go) and each typed column holds what package mapping makes of the stored row
// (columns.go).
//
// # States
//
// A row that differs is a suspect. When all streams of a source have been compared, the pass
// waits until the daemon has had two turns of its schedule, and compares the suspects once
// more. A suspect that is equal then has settled. It is a difference when the API shows the
// same row before and after the wait, and moving when it shows another one.
//
// # What holds
//
//   - Memory is bounded by [Limits], however many rows there are and differ: 16 million ids a
//     list, four lists at once.
//   - Nothing is written.
//
// # When something fails
//
// An error ends the verification of its stream, and of no other. A refused cursor begins the
// list anew: rows that are compared twice do no harm.
package verify
