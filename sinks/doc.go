// Package sinks is the contract between the syncer and a warehouse: tables and
// batches of rows in neutral, columnar form, commits, receipts and state.
//
// Contents: types without a warehouse's dialect, and the rules every sink keeps (package sinktest
// proves them).
//
// Data flows one way. The syncer maps a page to a [Batch], puts it into a
// [Commit] together with the tombstones of that page and the checkpoint that
// covers it, and hands it to [Sink.Write]. The sink groups the commits of all
// sources and streams, makes their rows durable first and their checkpoints
// after, and then resolves the receipts (docs/rules.md R1).
package sinks
