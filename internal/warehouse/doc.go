// Package warehouse finds the way to the warehouse of a configuration: the process of its
// engine, or another host.
//
// What may live here: opening and waiting for a warehouse, its readers, its memory, its
// health, and what its damaged parts mean. What may not: SQL and tables (sinks/clickhouse),
// the engine itself (sinks/engine), and what a process does with a warehouse once it is
// open (internal/app).
package warehouse
