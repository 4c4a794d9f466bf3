// Package clickhouse is the sink that writes to ClickHouse, remote or embedded:
// the schema with its migrations, the writer with group commit, the state, and
// the queries that the program itself asks.
//
// Contents: ClickHouse's dialect and everything that knows which table holds what.
//
// The way of a commit: [Sink.Write] queues it. The flusher takes everything that is
// queued and writes the live rows, with one INSERT per table. Then it writes the
// tombstones, with one INSERT … SELECT per table that copies the last known values, and
// quarantine and drift. Only then it writes checkpoints, runs and statuses (docs/rules.md R1). A
// step that fails is tried again, with the same rows, until it succeeds: rows and
// tombstones are decided by their version, so writing them twice is harmless.
package clickhouse
