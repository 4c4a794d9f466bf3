package mapping

import (
	"math/big"
	"strings"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// Value returns the value of one row of a vector in a form that reads well when
// a test fails: nil, string, bool, int64, []any or map[string]any, with money,
// quantities, instants and days as strings. It is not made to be fast.
func Value(v *sinks.Vector, row int) any {
	if len(v.Offsets) == 0 {
		return element(v, row)
	}
	listed := elements(v, 0, row)
	if !v.Column.Map {
		return listed
	}
	start := start(v.Offsets[0], row)
	entries := make(map[string]any, len(listed))
	for i, value := range listed {
		entries[slice(v.KeyBytes, v.KeyEnds, start+i)] = value
	}
	return entries
}

// Row returns the values of one row of a batch by column.
func Row(b *sinks.Batch, row int) map[string]any {
	values := make(map[string]any, len(b.Vectors))
	for i := range b.Vectors {
		values[b.Table.Columns[i].Name] = Value(&b.Vectors[i], row)
	}
	return values
}

func elements(v *sinks.Vector, level, i int) []any {
	values := []any{}
	for j := start(v.Offsets[level], i); j < int(v.Offsets[level][i]); j++ {
		if level+1 < len(v.Offsets) {
			values = append(values, elements(v, level+1, j))
		} else {
			values = append(values, element(v, j))
		}
	}
	return values
}

func start(ends []uint64, i int) int {
	if i == 0 {
		return 0
	}
	return int(ends[i-1])
}

func slice(b []byte, ends []uint64, i int) string { return string(b[start(ends, i):ends[i]]) }

func element(v *sinks.Vector, i int) any {
	if v.Column.Nullable && v.Nulls[i] != 0 {
		return nil
	}
	switch v.Column.Kind {
	case sinks.Text:
		return slice(v.Bytes, v.Ends, i)
	case sinks.Quantity:
		return point(wide(v.Wide[i]), quantityScale)
	case sinks.Bool:
		return v.Ints[i] != 0
	case sinks.Money:
		return point(big.NewInt(v.Ints[i]), moneyScale)
	case sinks.Instant:
		return time.UnixMicro(v.Ints[i]).UTC().Format(time.RFC3339Nano)
	case sinks.Day:
		return time.Unix(v.Ints[i]*86400, 0).UTC().Format(time.DateOnly)
	default:
		return v.Ints[i]
	}
}

func wide(n sinks.Int128) *big.Int {
	hi := new(big.Int).Lsh(big.NewInt(n.Hi), 64)
	return hi.Add(hi, new(big.Int).SetUint64(n.Lo))
}

// point writes n with the decimals of its scale.
func point(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}
