// Package native lays batches of rows out in ClickHouse's Native format.
//
// Contents: types as the server declares them, blocks, and their bytes.
package native
