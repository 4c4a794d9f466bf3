package sinktest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// extremes are the values of each kind that are most likely to break something:
// the first and last that a warehouse must hold, and those with a history.
var (
	extremeTexts = []string{
		"", "plain", ` "quoted" 'twice' \ back`, "tab\tline\nreturn\rnul\x00end", "50% / 2 + ?a=b&c", "ștrudel cu mere 🍕",
		`\N`, "NULL", "{}", strings.Repeat("long ", longWords),
	}
	extremeMoney    = []int64{0, 1, -1, 999_999_999_999_999_999, -999_999_999_999_999_999, 12345}
	extremeInts     = []int64{0, 1, -1, math.MaxInt64, math.MinInt64}
	extremeInstants = []int64{
		0, -1, time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(),
		time.Date(2262, 4, 11, 23, 47, 16, 854775000, time.UTC).UnixMicro(), now.UnixMicro(),
	}
	extremeDays = []int64{0, -1, day(1900, 1, 1), day(2262, 4, 11), day(2026, 3, 29), day(2026, 10, 25)}
	extremeWide = []sinks.Int128{
		{}, {Lo: 1}, {Lo: math.MaxUint64, Hi: -1}, // 0, 1e-10, -1e-10
		wide("99999999999999999999999999999999999999"), wide("-99999999999999999999999999999999999999"),
		wide("18446744073709551616"), wide("-18446744073709551616"), wide("15000000000"),
	}
)

func day(year int, month time.Month, d int) int64 {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

// wide is an integer of decimal text in 128 bits of two's complement.
func wide(text string) sinks.Int128 {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic("not a number: " + text)
	}
	low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return sinks.Int128{Lo: low.Uint64(), Hi: new(big.Int).Rsh(n, 64).Int64()}
}

func (g *filler) scalar(v *sinks.Vector) {
	n := g.next()
	if v.Column.Nullable && n%3 == 2 {
		v.AppendZero()
		return
	}
	switch v.Column.Kind {
	case sinks.Text:
		v.AppendText([]byte(pick(extremeTexts, n)))
	case sinks.Bool:
		v.AppendInt(int64(n % 2))
	case sinks.Money:
		v.AppendInt(pick(extremeMoney, n))
	case sinks.Instant:
		v.AppendInt(pick(extremeInstants, n))
	case sinks.Day:
		v.AppendInt(pick(extremeDays, n))
	case sinks.Quantity:
		v.AppendWide(pick(extremeWide, n))
	default:
		v.AppendInt(pick(extremeInts, n))
	}
}

func pick[T any](from []T, n int) T { return from[n%len(from)] }

// filler makes values; each is another than the last.
type filler struct{ count int }

func (g *filler) next() int { g.count++; return g.count }

// fill appends one row to every vector. Arrays of one object have one length.
func (g *filler) fill(b *sinks.Batch, r int) {
	for i := range b.Vectors {
		g.count = r + i
		v := &b.Vectors[i]
		length := (r + len(objectOf(v.Column.Name))) % 4
		switch {
		case v.Column.Map:
			for k := range length {
				v.AppendKey([]byte(pick(extremeTexts[1:9], k+r)))
				g.scalar(v)
			}
			v.EndList(0)
		case v.Column.Depth > 0:
			g.list(v, 0, length, r)
		default:
			g.scalar(v)
		}
	}
}

// list ends a list of one level, and those in it. Lists within lists of one object have one
// length, too.
func (g *filler) list(v *sinks.Vector, level, length, r int) {
	for k := range length {
		if level+1 == v.Column.Depth {
			g.scalar(v)
		} else {
			g.list(v, level+1, (k+r)%3, r+k)
		}
	}
	v.EndList(level)
}

// objectOf is the array of objects that a column belongs to.
func objectOf(column string) string {
	object, _, _ := strings.Cut(column, ".")
	return object
}

// extreme makes a batch of n rows of extreme values.
func extreme(t *sinks.Table, n int, version uint64) *sinks.Batch {
	b := sinks.NewBatch(t, n)
	for r := range n {
		(&filler{}).fill(b, r)
		mustEnd(b, row(fmt.Sprintf("row-%02d", r), version+uint64(r)))
	}
	return b
}

// plain makes a batch of rows whose first text tells their id and version.
func plain(t *sinks.Table, rows ...sinks.Row) *sinks.Batch {
	b := sinks.NewBatch(t, len(rows))
	for _, r := range rows {
		for i := range b.Vectors {
			v := &b.Vectors[i]
			switch {
			case len(v.Offsets) > 0:
				v.EndList(0)
			case v.Column.Kind == sinks.Text && !v.Column.Nullable:
				v.AppendText([]byte(rawOf(r.ID, r.Version)))
			default:
				v.AppendZero()
			}
		}
		mustEnd(b, r)
	}
	return b
}

func rawOf(id string, version uint64) string { return fmt.Sprintf(`{"id":%q,"v":%d}`, id, version) }

func mustEnd(b *sinks.Batch, r sinks.Row) {
	if err := b.EndRow(r); err != nil {
		panic(err)
	}
}

// Values are the values of each row of a batch, by column. Text is as it is, booleans are
// bool. Integers, money and quantities are decimal text with all their decimals. Instants
// are 2006-01-02T15:04:05.000000Z, days 2006-01-02. Null is nil, arrays are []any and maps
// map[string]any.
func Values(b *sinks.Batch) []map[string]any {
	rows := make([]map[string]any, len(b.Rows))
	for r := range rows {
		rows[r] = map[string]any{}
		for i := range b.Vectors {
			v := &b.Vectors[i]
			rows[r][v.Column.Name] = valueAt(v, 0, r)
		}
	}
	return rows
}

// Columns are the values of one row of a batch as [sinks.StoredRow] has them.
func Columns(b *sinks.Batch, r int) map[string]json.RawMessage {
	columns := map[string]json.RawMessage{}
	for i := range b.Vectors {
		v := &b.Vectors[i]
		text, err := json.Marshal(numbers(v.Column.Kind, valueAt(v, 0, r)))
		if err != nil {
			panic(err) // texts, numbers, lists and maps of them
		}
		columns[v.Column.Name] = text
	}
	return columns
}

// numbers makes the texts of integers numbers of JSON.
func numbers(kind sinks.Kind, value any) any {
	switch x := value.(type) {
	case string:
		if kind == sinks.Int {
			return json.Number(x)
		}
	case []any:
		for i := range x {
			x[i] = numbers(kind, x[i])
		}
	case map[string]any:
		for key := range x {
			x[key] = numbers(kind, x[key])
		}
	}
	return value
}

func valueAt(v *sinks.Vector, level, at int) any {
	if level == len(v.Offsets) {
		return scalarAt(v, at)
	}
	begin := uint64(0)
	if at > 0 {
		begin = v.Offsets[level][at-1]
	}
	end := v.Offsets[level][at]
	if v.Column.Map {
		entries := map[string]any{}
		for i := begin; i < end; i++ {
			entries[textAt(v.KeyBytes, v.KeyEnds, int(i))] = scalarAt(v, int(i))
		}
		return entries
	}
	list := []any{}
	for i := begin; i < end; i++ {
		list = append(list, valueAt(v, level+1, int(i)))
	}
	return list
}

func scalarAt(v *sinks.Vector, at int) any {
	if v.Nulls != nil && v.Nulls[at] != 0 {
		return nil
	}
	switch v.Column.Kind {
	case sinks.Text:
		return textAt(v.Bytes, v.Ends, at)
	case sinks.Bool:
		return v.Ints[at] != 0
	case sinks.Money:
		return decimal(big.NewInt(v.Ints[at]), 2)
	case sinks.Quantity:
		n := new(big.Int).Lsh(big.NewInt(v.Wide[at].Hi), 64)
		return decimal(n.Add(n, new(big.Int).SetUint64(v.Wide[at].Lo)), 10)
	case sinks.Instant:
		return time.UnixMicro(v.Ints[at]).UTC().Format("2006-01-02T15:04:05.000000Z")
	case sinks.Day:
		return time.Unix(v.Ints[at]*86400, 0).UTC().Format(time.DateOnly)
	default:
		return strconv.FormatInt(v.Ints[at], 10)
	}
}

func textAt(bytes []byte, ends []uint64, at int) string {
	begin := uint64(0)
	if at > 0 {
		begin = ends[at-1]
	}
	return string(bytes[begin:ends[at]])
}

// decimal writes n with the last places digits behind the point.
func decimal(n *big.Int, places int) string {
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= places {
		digits = strings.Repeat("0", places-len(digits)+1) + digits
	}
	text := digits[:len(digits)-places] + "." + digits[len(digits)-places:]
	if n.Sign() < 0 {
		return "-" + text
	}
	return text
}
