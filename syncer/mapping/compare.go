package mapping

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/larder-sync/larder/sinks"
)

// Difference is one field that is not the same on both sides.
type Difference struct {
	// Field is the path in the API's JSON (items.0.total), or the name of a column
	// (items.total) when Column is set; empty for the row as a whole.
	Field  string
	Column bool
	// API and Mirror are the values as JSON, empty where there is none.
	API, Mirror string
}

// Comparer compares rows of the API with what is stored of them. It is not safe for concurrent
// use.
type Comparer struct {
	mapper *Mapper
	batch  *sinks.Batch
	given  int
	text   []byte
}

// NewComparer returns a comparer of rows of the plan. The first so many columns are not compared:
// they are given with a row, and say how it came.
func (p *Plan) NewComparer(given int) *Comparer {
	return &Comparer{mapper: p.NewMapper(), batch: sinks.NewBatch(p.table, 1), given: given}
}

// Read reads the id of a row, empty when it has none that can be read, and its tombstone, if it
// is one.
func (c *Comparer) Read(raw []byte, context ...string) (id string, t *Tombstone) {
	defer c.batch.Rollback()
	r, err := c.mapper.Append(c.batch, raw, context...)
	if bad, ok := errors.AsType[*RowError](err); ok {
		return bad.ID, nil
	}
	return r.ID, r.Tombstone
}

// Differences compares a live row of the API with what is stored of it: the JSON, and the
// typed columns with the stored JSON mapped once more. A column of an older row that holds what
// the API says by now is right, too.
func (c *Comparer) Differences(api []byte, stored *sinks.StoredRow, context ...string) []Difference {
	found := jsonDifferences(api, stored.Raw)
	wrong, err := c.wrongColumns(stored.Raw, stored.Columns, context)
	if err != nil && len(found) == 0 {
		return []Difference{{API: Literal("cannot be stored: " + err.Error()), Mirror: Literal("live")}}
	}
	if len(found) > 0 && len(wrong) > 0 {
		if now, err := c.wrongColumns(api, stored.Columns, context); err == nil {
			wrong = slices.DeleteFunc(now, func(d Difference) bool {
				return !slices.ContainsFunc(wrong, func(w Difference) bool { return w.Field == d.Field })
			})
		}
	}
	return append(found, wrong...)
}

// wrongColumns are the columns that do not hold what a row says.
func (c *Comparer) wrongColumns(raw []byte, stored map[string]json.RawMessage, context []string) (wrong []Difference, err error) {
	defer c.batch.Rollback()
	r, err := c.mapper.Append(c.batch, raw, context...)
	if err == nil && r.Tombstone != nil {
		err = errors.New("it is a tombstone")
	}
	if err != nil {
		return nil, err
	}
	for i := c.given; i < len(c.batch.Vectors); i++ {
		name := c.batch.Table.Columns[i].Name
		got, there := stored[name]
		c.text = appendValue(c.text[:0], &c.batch.Vectors[i], 0, 0)
		if !there || len(jsonDifferences(c.text, got)) > 0 {
			wrong = append(wrong, Difference{Field: name, Column: true, API: string(c.text), Mirror: string(got)})
		}
	}
	return wrong, nil
}

// appendValue writes a value of a vector as [sinks.StoredRow] has it.
func appendValue(b []byte, v *sinks.Vector, level, at int) []byte {
	if level == len(v.Offsets) {
		return appendScalar(b, v, at)
	}
	first := begin(v.Offsets[level], at)
	brackets := "[]"
	if v.Column.Map {
		brackets = "{}"
	}
	b = append(b, brackets[0])
	for i := first; i < v.Offsets[level][at]; i++ {
		if i > first {
			b = append(b, ',')
		}
		if v.Column.Map {
			b = append(appendText(b, v.KeyBytes[begin(v.KeyEnds, int(i)):v.KeyEnds[i]]), ':')
		}
		b = appendValue(b, v, level+1, int(i))
	}
	return append(b, brackets[1])
}

// begin is where an element begins among others of which it is known where they end.
func begin(ends []uint64, i int) uint64 {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// InstantColumn is how columns show instants.
const InstantColumn = "2006-01-02T15:04:05.000000Z"

func appendScalar(b []byte, v *sinks.Vector, at int) []byte {
	if v.Column.Nullable && v.Nulls[at] != 0 {
		return append(b, "null"...)
	}
	switch v.Column.Kind {
	case sinks.Text:
		return appendText(b, v.Bytes[begin(v.Ends, at):v.Ends[at]])
	case sinks.Bool:
		return strconv.AppendBool(b, v.Ints[at] != 0)
	case sinks.Money:
		return appendDecimal(b, sinks.Int128{Lo: uint64(v.Ints[at]), Hi: v.Ints[at] >> 63}, forms[sinks.Money].scale) //nolint:gosec // two's complement
	case sinks.Quantity:
		return appendDecimal(b, v.Wide[at], forms[sinks.Quantity].scale)
	case sinks.Instant:
		return time.UnixMicro(v.Ints[at]).UTC().AppendFormat(b, `"`+InstantColumn+`"`)
	case sinks.Day:
		return time.Unix(v.Ints[at]*86400, 0).UTC().AppendFormat(b, `"`+time.DateOnly+`"`)
	default:
		return strconv.AppendInt(b, v.Ints[at], 10)
	}
}

func appendText(b, text []byte) []byte {
	b, _ = jsontext.AppendQuote(b, text) // columns hold UTF-8
	return b
}

// appendDecimal writes a number of units as a text with so many decimals.
func appendDecimal(b []byte, n sinks.Int128, decimals int) []byte {
	digits := strconv.FormatInt(int64(n.Lo), 10)
	if n.Hi != int64(n.Lo)>>63 { // more than 64 bits
		wide := new(big.Int).Lsh(big.NewInt(n.Hi), 64)
		digits = wide.Add(wide, new(big.Int).SetUint64(n.Lo)).String()
	}
	b = append(b, '"')
	digits, negative := strings.CutPrefix(digits, "-")
	if negative {
		b = append(b, '-')
	}
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - decimals
	return append(append(append(append(b, digits[:point]...), '.'), digits[point:]...), '"')
}
