// Package schema has the tables and views of the warehouse: their SQL, the numbered
// migrations that make them, and what the data dictionary says of each view.
//
// columns/ names the columns once, tables/ has the migrations of the storage tables, views/ the
// views that are made anew when they change.
package schema
