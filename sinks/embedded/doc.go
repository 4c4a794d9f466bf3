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
// One process can open one data folder, once, and holds it until it ends: the
// engine cannot be started again reliably after its last connection closed.
package embedded
