// Package engine is the ClickHouse engine that Larder can carry itself
// (docs/architecture/engine.md): it loads libchdb into a process of its own, holds the data folder and runs
// statements on pools of connections.
//
// Contents: finding and loading the library, the folder's lock, the engine's configuration,
// connections, and what the engine does not notice itself: writes that the disk refused, damaged
// parts, a folder that was moved. Package clickhouse reaches an engine as it reaches any server,
// through clickhouse-go.
//
// One process can have one data folder open at a time. Another may be opened
// after Close; doing so many times over is for tests, since the engine is made to
// start once per process.
package engine
