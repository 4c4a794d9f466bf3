// Package list follows lists with a cursor: walks, checkpoints, full resyncs and sweeps.
//
// Contents: where a walk begins and goes on, what its pages say, what a full resync has not seen.
//
// A [List] is walked whole, and rows of locations that the configuration leaves out are dropped
// on arrival. Its walks (walk.go) are of three kinds: incremental walks, backfills and full
// resyncs. The last two are long; one of them may run beside an incremental walk. A walk asks
// for a page and has its rows written into an intake. Then it hands the sink one commit with
// the rows, the tombstones, the quarantine entries and the checkpoint behind them, and asks for
// the next page ([api.Follow]) while the sink stores it. How many may be on their way is decided
// in window.go.
//
// # States
//
// A long walk's checkpoint has a phase beside its cursor (checkpoint.go): walked, held. What is stored
// of a list is a position with a lock of its own (state.go), the debt included. A full resync is
// owed while the debt of the list (locations.go) is above the version with which the last long
// walk began.
//
// # What holds
//
//   - A checkpoint is in the same commit as its rows or in a later one.
//   - The incremental walks have their start (List.initWatermark), durably, before the
//     backfill asks for its first page: what changes after the backfill is theirs.
//   - That a full resync is owed is stored ahead of all that walks hand over later.
//   - A sweep removes only what is below the version with which its resync began.
//
// # When something fails
//
// A walk goes on from its checkpoint at its next turn. A refused cursor starts it again from
// the last durable watermark minus the lookback, some times in a row. A full resync without
// updated_since begins again at its start, and a backfill without owes one. A cursor that
// repeats, or pages without an end, fail it.
package list
