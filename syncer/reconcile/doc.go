// Package reconcile keeps the service's own totals, and proves days with them.
//
// What may live here: which days are asked for, what their figures say beside those of the
// mirror, and how a day that differs is healed. What may not: how orders are walked (package
// list), and when a turn comes (packages schedule and syncer).
//
// A stream of totals ([Totals]) goes back to the first sale (totals_fill.go), asks for
// yesterday and today at every turn, for the last 92 days in deep runs (deep.go), and for
// all days again in full resyncs (totals_again.go). By location only, where several sources
// are of one restaurant (shared_totals.go). What the totals of one source share is [Days].
//
// # States
//
// A bracket (bracket.go) walks the orders before and after it asks for a day. The day is
// then proven, unsettled, unproven, or suspected. A suspect is looked at once more minutes
// later (settle.go). If it differs in the same way it is a drift, and is healed (heal.go,
// heal_rows.go). What stands about a day is a verdict in the warehouse (verdicts.go).
//
// # What holds
//
//   - A day is a drift only when two brackets, more than two minutes apart, show the same
//     difference.
//   - One healing of a source runs at a time.
//   - A row is buried by a healing only when the service answers 404 for it, and the key has
//     its location.
//
// # When something fails
//
// A day that could not be asked for is unproven, and what was found before stands. A healing
// that is cut short is tried again; after some times it is left to the next deep run. A deep
// run that was cut short is owed, and made up for.
package reconcile
