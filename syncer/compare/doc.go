// Package compare tells, field by field, where a row of the API and what a
// warehouse holds of it differ in meaning.
//
// What may live here: when two JSON values mean the same, how the rows that
// api.md describes lie in columns by the naming rule of DESIGN §4, and the id of a
// row. What may not: package syncer/mapping, the Go types it reads (internal/api)
// or anything made of them: this package is the second opinion that finds their
// mistakes. Nor what is fetched when, nor what a difference leads to.
package compare
