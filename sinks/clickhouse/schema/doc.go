// Package schema has the tables and views of the warehouse as plain SQL, and what the data
// dictionary says of each view.
//
// tables/ has the numbered migrations of the storage tables, views/ the views that are made anew
// when they change. A file has placeholders for the two databases, the cluster and the time zone
// ([Dialect.Fill]), and nothing else that is not SQL.
package schema
