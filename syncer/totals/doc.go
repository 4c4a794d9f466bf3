// Package totals stores the service's own totals, day by day.
//
// What may live here: which days are asked for, what has changed of them, and what vanished.
// What may not: what they say beside the mirror's figures (package reconcile), and when a
// turn comes (packages schedule and syncer).
//
// # States
//
// A stream of totals ([Totals]) goes back in steps of 92 days to the first sale (fill.go).
// It is asked for yesterday and today at every turn, and for all days again in full resyncs
// (again.go). A key that does not see all locations asks by location, one that does for all
// of them together. Other locations than before begin the backfill anew.
//
// # What holds
//
//   - A day is written only when it is not what was last written of it; a full resync writes
//     every day.
//   - The position of the backfill is stored behind the rows of its step.
//   - A line that vanished from a day is removed, unless a line of that day cannot be told
//     apart: it may be any.
//
// # When something fails
//
// The backfill goes on from the step that was not durable. A location that is refused holds
// up no other. A full resync goes on with the ranges that are left; after a restart it is
// made anew.
package totals
