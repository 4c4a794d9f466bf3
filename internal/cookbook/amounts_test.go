package cookbook

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"
)

// amount is in bani.
type amount int64

// bani reads an amount of the API's, which has exactly two decimals.
func bani[T ~string](text T) amount {
	n := new(big.Rat).Mul(number(text), big.NewRat(100, 1))
	if !n.IsInt() {
		panic(fmt.Sprintf("%q has parts of a ban", text))
	}
	return amount(n.Num().Int64())
}

func (a amount) rat() *big.Rat  { return big.NewRat(int64(a), 100) }
func (a amount) float() float64 { return float64(a) / 100 }
func number[T ~string](text T) *big.Rat {
	n, ok := new(big.Rat).SetString(string(text))
	if !ok {
		panic(fmt.Sprintf("%q is no number", text))
	}
	return n
}

// toBani rounds to the ban, halves away from zero.
func toBani(n *big.Rat) amount {
	text := n.FloatString(2)
	return bani(text)
}

// rounded is what ClickHouse's round makes of a float.
func rounded(n float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.RoundToEven(n*p) / p
}

// percent is a share of a whole in percent, with one decimal.
func percent(part, whole amount) float64 { return rounded(part.float()*100/whole.float(), 1) }

// change is from before to now, in percent with one decimal.
func change(now, before amount) float64 { return percent(now-before, before) }

// cell is a value as text, in one form for all that mean the same.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return `\N`
	case amount:
		return v.rat().RatString()
	case *big.Rat:
		return v.RatString()
	case float64:
		return plain(strconv.FormatFloat(v, 'f', -1, 64))
	case string:
		return plain(v)
	}
	return plain(fmt.Sprint(v))
}

func plain(text string) string {
	if n, ok := new(big.Rat).SetString(text); ok {
		return n.RatString()
	}
	return text
}

// sorted orders rows by columns counted from 1, falling ones below 0, and keeps the
// first limit of them; all when it is 0.
func sorted(rows [][]any, limit int, columns ...int) [][]any {
	slices.SortStableFunc(rows, func(a, b []any) int {
		for _, c := range columns {
			n := max(c, -c) - 1
			order := compare(a[n], b[n])
			if c < 0 {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
	if limit > 0 && len(rows) > limit {
		rows = rows[:limit]
	}
	return rows
}

func compare(a, b any) int {
	switch a := a.(type) {
	case string:
		return cmp.Compare(a, b.(string))
	case amount:
		return cmp.Compare(a, b.(amount))
	case int:
		return cmp.Compare(a, b.(int))
	case float64:
		return cmp.Compare(a, b.(float64))
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	}
	panic(fmt.Sprintf("%T has no order", a))
}

func TestAmounts(t *testing.T) {
	for text, want := range map[string]amount{"0.005": 1, "-0.005": -1, "1.2349": 123, "7": 700} {
		if got := toBani(number(text)); got != want {
			t.Errorf("%s is %d bani, want %d", text, got, want)
		}
	}
	if got := rounded(2.25, 1); got != 2.2 {
		t.Errorf("2.25 becomes %v", got)
	}
}
