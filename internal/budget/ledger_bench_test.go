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
				permit, err := keys[i%n].Acquire(context.Background(), Fresh, false)
				if err != nil {
					b.Fatal(err)
				}
				permit.Done(Answer{Status: 200, Limit: -1, Remaining: -1})
				i++
			}
		})
	}
}

// BenchmarkOpens is the decision alone, for a backfill with a full window: the
// dearest there is.
func BenchmarkOpens(b *testing.B) {
	for _, limit := range []int{120, 600} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			w := newWindow(limit, 1)
			for i := range limit - 1 {
				w.add(minute * instant(i+1) / instant(limit))
			}
			b.ReportAllocs()
			for b.Loop() {
				w.opens(1, Backfill)
			}
		})
	}
}
