package budget

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkEnter is what one request costs in a ledger of so many keys, limits
// out of the way.
func BenchmarkEnter(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			l := NewLedger(Options{})
			keys := make([]*Key, n)
			for i := range keys {
				keys[i] = l.Key(fmt.Sprintf("key%d", i), 1)
				keys[i].SetLimits(Limits{PerMinute: 1 << 40, BusinessPerMinute: 1 << 40, HeavyPerMinute: 1 << 40}, fmt.Sprint(i))
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				pass, err := keys[i%n].Enter(context.Background(), Fresh, false)
				if err != nil {
					b.Fatal(err)
				}
				pass.Leave(Answer{Status: 200, Limit: -1, Remaining: -1})
				i++
			}
		})
	}
}

// BenchmarkDecide is the decision alone, for a backfill with a full window: the
// dearest there is.
func BenchmarkDecide(b *testing.B) {
	for _, limit := range []int{120, 600} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			w := newWindow(limit, 1, 0)
			for i := range limit - 1 {
				w.own = append(w.own, minute*instant(i+1)/instant(limit))
			}
			windows := []*window{w}
			b.ReportAllocs()
			for b.Loop() {
				decide(1, true, windows)
			}
		})
	}
}
