// Package mapping turns the JSON of one row into the columns of a batch.
//
// Contents: what a table looks like, given a type of package types; what a value of each kind may
// be; what is reported about rows that are bad ([RowError]), deleted ([Tombstone]) or not as
// the API's description says ([DriftItem]).
//
// A [Plan] is compiled once from a Go type; a [Mapper] walks the JSON of a row
// along it, token by token, and appends every value to its vector, without
// reflection, a tree or floats. A row lands whole or not at all. Money and
// quantities are exact: what does not fit is an error that names field and value.
// Instants, percentages, rates and coordinates that are finer than their columns
// are cut and reported (docs/rules.md R8).
//
// A [Comparer] compares a row with what is stored of it, the columns with what the stored row
// maps to.
package mapping
