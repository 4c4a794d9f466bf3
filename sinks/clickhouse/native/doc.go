// Package native lays batches of rows out in ClickHouse's Native format.
//
// What may live here: types as the server declares them, blocks, and their bytes. What may
// not: statements, connections, and what a row means.
package native
