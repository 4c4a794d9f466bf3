package syncer

import (
	"slices"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/verify"
)

// TestNoDayOfABusyRestaurantDiffersFalsely requests the totals every few seconds in the busiest
// hour of a day, and all of them every hour. -soak plays fresh seeds.
func TestNoDayOfABusyRestaurantDiffersFalsely(t *testing.T) { noDayDiffersFalsely(t, 1) }

func noDayDiffersFalsely(t *testing.T, hours int) {
	sum := &proofTally{}
	defer sum.print(t)
	delays := []time.Duration{0, 30 * time.Second, sandbox.MaxStampDelay}
	seeded(t, uint64(len(delays)), func(t *testing.T, seed uint64) {
		opts := sandbox.Options{
			Orders: 300, Days: 10, ProductsPer: 10, Pace: 4,
			Readings: sandbox.Readings{StampDelay: delays[seed%3], NewMapKeys: seed%2 == 0},
		}
		inBusyWorld(t, seed, opts, func(t *testing.T, b *busy) {
			time.Sleep(16*time.Hour + 30*time.Minute) // to the evening
			defer b.flow()()
			b.schedule = Schedule{Reconcile: "@every 20s", ReconcileDeep: "30 * * * *", FullResync: "0 4 1 7 *"}
			b.run()
			b.until("backfill", time.Hour, b.filled)
			b.counting()
			time.Sleep(time.Duration(hours) * time.Hour)
			// Without the walk behind the question, or that before it, one of five to ten
			// verdicts is unsettled.
			n, found := sum.take(b)
			if proven := found[sinks.VerdictProven]; n < 350*hours || proven < 100*hours || found[sinks.VerdictUnsettled] > proven/20 {
				t.Errorf("%d rounds, verdicts %v", n, found)
			}
		})
	})
}

// TestDamageToABusyRestaurantIsFoundAndHealed damages the mirror every few hours, on the standard
// schedule. Each damage is healed by the full resync that a day owes at the latest. -soak plays
// fresh seeds.
func TestDamageToABusyRestaurantIsFoundAndHealed(t *testing.T) { damageIsFoundAndHealed(t, 1) }

func damageIsFoundAndHealed(t *testing.T, nights time.Duration) {
	sum := &proofTally{}
	defer sum.print(t)
	seeded(t, 2, func(t *testing.T, seed uint64) {
		const history = 20
		opts := sandbox.Options{
			Orders: 400, Days: history, ProductsPer: 10, Pace: 3,
			Readings: sandbox.Readings{StampDelay: time.Duration(seed%3) * 30 * time.Second, RangeByChange: seed%2 == 0},
		}
		inBusyWorld(t, seed, opts, func(_ *testing.T, b *busy) {
			freeze := b.flow()
			b.schedule = Schedule{FullResync: "0 4 1 7 *"} // which would repair everything
			b.run()
			b.until("backfill", time.Hour, b.filled)
			b.counting()
			b.deep()
			for end := time.Now().Add(nights * day); time.Now().Before(end); {
				b.harm(history)
				time.Sleep(between(b.vandal.g, 10*time.Minute, 3*time.Hour))
			}
			freeze()
			b.deep()
			time.Sleep(time.Hour) // of a full resync that is owed, and the deep run after it
			b.allHealed()
			sum.take(b)
		})
	})
}

// allHealed expects that nothing is wrong any more, and that a verdict tells why.
func (b *busy) allHealed() {
	for key, v := range b.verdicts() {
		if v.Verdict != sinks.VerdictProven && v.Verdict != sinks.VerdictHealed {
			b.t.Errorf("at the end, %s: %+v", key, v)
		}
	}
	_, err := b.syncer.Verify(b.t.Context(), Selection{Streams: []string{registry.Orders}}, func(f verify.Finding) {
		unDeleted := slices.ContainsFunc(b.harmed, func(h *harmed) bool { return h.wasUnDeleted(f.ID) })
		if unDeleted && (f.Field == "reason" || f.Field == "deleted_at") {
			return // range mode does not list what was cancelled or unpaid: 404 is all it says
		}
		b.t.Errorf("wrong at the end: order %s, %s: %s, in the mirror %s", f.ID, f.Field, f.API, f.Mirror)
	}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	stamps, err := b.box.Stamps(b.box.Key(0, sandbox.RoleMain).Value, registry.Orders)
	if err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.harmed = slices.DeleteFunc(b.harmed, func(h *harmed) bool {
		return h.healed.IsZero() && !h.mended.IsZero() && h.overtaken(stamps)
	})
	for _, h := range b.harmed {
		switch {
		case !h.healed.IsZero():
		case !h.mended.IsZero(): // with a day beside it, whose healing names it
			h.healed, h.aside = h.mended, true
		default:
			b.t.Errorf("never healed: %s", h.damage)
		}
	}
}

// seeded plays the usual seeds, from 1 on, or fresh ones while -soak lasts.
func seeded(t *testing.T, usual uint64, play func(t *testing.T, seed uint64)) {
	first, n := uint64(1), usual
	switch {
	case *onlySeed != 0:
		first, n = *onlySeed, 1
	case *soak != 0:
		first = max(*soakFrom, 1)
	}
	for end := time.Now().Add(*soak); ; first += n {
		t.Run(seedName(first), func(t *testing.T) {
			for seed := first; seed < first+n; seed++ {
				t.Run(seedName(seed), func(t *testing.T) {
					t.Parallel()
					play(t, seed)
				})
			}
		})
		if !time.Now().Before(end) {
			return
		}
	}
}
