// Package syncer keeps the mirror: streams, walks, checkpoints, versions,
// schedule, snapshots and totals.
//
// What may live here: the rules of DESIGN §5, and everything that decides what
// is fetched when and what it means. What may not: SQL or anything a warehouse
// knows (package sinks is the contract), HTTP (package api), limits (package
// budget), the mapping of JSON to columns (package syncer/mapping).
//
// # The life of a row
//
// A [Syncer] has sources; a source (source.go) has streams (stream.go), made from
// one registry (package syncer/registry). A stream of the kind "list" has tracks (track.go),
// and a track is followed by walks (walk.go) of two kinds, incremental and
// backfill, at the same time. A walk asks for a page, has its rows written into an intake
// (package syncer/write), and hands the sink one commit with the rows, the tombstones, the
// quarantine entries and the checkpoint behind them. The next page is asked for
// while this one is mapped; how many pages may be on their way is the window's
// (window.go). Streams without a cursor are replaced as wholes (package syncer/snapshot); the
// service's totals are asked for by day (totals.go, totals_fill.go, days.go), all days
// again by full resyncs (totals_again.go), by location only where several sources are of
// one restaurant (shared_totals.go).
//
// # What holds at every instant
//
//   - A checkpoint is in the same commit as its rows or in a later one. What is in
//     memory may be ahead of what is stored, never the other way round.
//
//   - The incremental walks of a stream are born (track.initWatermark), durably, before its
//     backfill asks for the first page: what changes after the backfill is theirs.
//
//   - Rows are written through the stream's writer alone, which leaves out what was last
//     written just so. A walk that brings nothing writes nothing.
//
//   - One incremental walk, snapshot or totals pass of a stream runs at a time, and
//     one backfill (slot.go). Turns that come meanwhile are skipped; one of yesterday
//     and today waits until the question under way of a deep run is answered.
//
//   - A source begins only when the one of its name before it is at work no more and
//     what that one handed to the sink is durable (life.go, apply.go).
//
//   - Where other processes can reach the warehouse, a source asks and writes only
//     while this process holds it (lease.go, claim.go, held.go); one that was lost
//     is replaced by another that begins with what is stored.
//
// # When something fails
//
// A walk's error is its stream's (finish.go): the stream is failing, and is tried
// again at its next turn, from its checkpoint. If the error may be the whole
// source's, /me is asked (key.go); if that fails too the source is in trouble
// (trouble.go), and nothing but /me is asked until it answers, of all sources with wrong
// keys only so often (package keyprobe). A pass ([Syncer.RunOnce]) does not wait for a next turn:
// it tries again by itself (persist.go). A panic is an error
// of the stream it happened in.
//
// # Verification
//
// [Syncer.Verify] (verify.go) reads lists as walks do and compares instead of
// writing (verify_list.go, verify_whole.go, verify_totals.go); what differs is
// looked at again around a walk of the daemon's own kind (verify_again.go). When two
// JSON values mean the same, and what columns a row must have, is package
// syncer/compare's to say.
//
// # Reconciliation
//
// The two totals jobs and [Syncer.Reconcile] (reconcile_pass.go) prove days: a bracket
// (reconcile.go) walks the orders before and after it asks for the service's totals, and
// compares the figures (reconcile_figures.go) with what the sink adds up. The last 92
// days are the deep run's (deep.go). A day that
// differs is looked at once more minutes later (reconcile_settle.go), told in the log
// (reconcile_log.go), then healed (heal.go, heal_rows.go). What stands about a day is a verdict in the warehouse
// (reconcile_verdicts.go).
package syncer
