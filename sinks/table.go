package sinks

// Kind is the kind of a scalar value.
type Kind uint8

// The kinds, with how a [Vector] holds them.
const (
	Text     Kind = iota // bytes, UTF-8
	Bool                 // int64 0 or 1
	Int                  // int64
	Money                // int64, hundredths: Decimal(18,2)
	Quantity             // Int128, 1e-10 units: Decimal(38,10)
	Instant              // int64, microseconds since 1970-01-01T00:00:00Z
	Day                  // int64, days since 1970-01-01
)

func (k Kind) String() string {
	return [...]string{"text", "bool", "int", "money", "quantity", "instant", "day"}[k]
}

// Column is one data column of a table. Meta columns (_source, _version, …) are
// the sink's own and are not listed.
type Column struct {
	// Name is mechanical: totals_net_sales, or items.extras_name for arrays.
	Name string
	Kind Kind
	// Nullable values have a null mask. Arrays and maps are never null.
	Nullable bool
	// Depth is the number of arrays around the value: 0 scalar, 1 an array,
	// 2 an array of arrays.
	Depth int
	// Map makes the column a map from text to Kind; Depth is then 0.
	Map bool
}

// Table is a storage table: one per stream. Its rows are identified by
// (business, id); the sink adds business_id, id (unless a column has that name)
// and the meta columns.
type Table struct {
	Name    string // the stream's name, e.g. sales_orders
	Columns []Column
}

// Column returns the index of the named column, or -1.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}
