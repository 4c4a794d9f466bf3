// Package embedded is the ClickHouse engine that Larder can carry itself
// (DESIGN §8): it loads libchdb into the process, holds the data folder, and
// speaks ClickHouse's HTTP interface over it.
//
// What may live here: finding and loading the library, the folder's lock, a pool
// of connections, the HTTP front and its three ways in (in the process, over a
// socket in the data folder, over TCP for reading). What may not: tables, rows or
// anything else that knows what Larder stores; that is package clickhouse, which
// reaches an engine as it reaches any server, through clickhouse-go.
//
// One process can have one data folder open at a time. Another may be opened
// after Close; doing so many times over is for tests, since the engine is made to
// start once per process.
package embedded
