// Package reconcile proves days: it compares the service's totals with what the mirrored
// orders add up to, and heals a day that differs.
//
// What may live here: what the figures of a day say, what stands about it, and how it is
// healed. What may not: how totals are stored (package totals), how orders are walked
// (package list), and when a turn comes (packages schedule and syncer).
//
// A stream of totals has [Proofs]: of yesterday and today at every turn, of the last 92 days
// in deep runs (deep.go). What the totals of one source share is [SourceProofs]. A pass of larder
// reconcile is a [Pass].
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
//   - A row is removed by a healing only when the service answers 404 for it, and the key has
//     its location.
//
// # When something fails
//
// A day that could not be asked for is unproven, and what was found before stands. A healing
// that is cut short is tried again; after some times it is left to the next deep run. A deep
// run that was cut short is repeated before its turn.
package reconcile
