// Package types has what the service sends, as Go types: rows, documents and events with the
// fields that the API's description names.
//
// Contents: types, the names of their values, and how an instant is read. The types are the only
// thing that the sandbox shares with the client and the syncer.
//
// Struct tags read by package mapping, beside encoding/json's:
//
//	enum:"a,b"          the values the API's description names. Others land too, and are reported.
//	column:"-"          part of the row, but not a column of its own.
//	column:"required"   not there in every answer, but in those that are mirrored.
//	row:"id"            the field that identifies the row within its business.
//
// A pointer is a field that may be null; a missing field reads as null.
// A struct flattens with "_", a slice of structs becomes arrays of one length,
// a map becomes a map column (two, for a map of structs with two fields).
package types
