package world

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Mutations change and remove rows of each list, and leave some: else a simulation would compare
// less than it seems to.
func TestEveryListChangesAtRandom(t *testing.T) {
	clock := time.Date(2026, 3, 20, 10, 0, 0, 0, time.UTC)
	world, err := New(Options{Seed: 1, Orders: 50, Days: 5, ProductsPer: 10, Epoch: clock, Now: func() time.Time { return clock }})
	if err != nil {
		t.Fatal(err)
	}
	r, g := world.Restaurant(0), rand.New(rand.NewPCG(1, 1)) //nolint:gosec // not a secret
	clock = clock.Add(time.Hour)
	for range 500 {
		if _, err := r.Mutate(g, false); err != nil {
			t.Fatal(err)
		}
	}
	for stream, of := range lists {
		changed, removed := 0, 0
		for _, s := range of(r.b).Stamps(func(int) bool { return true }) {
			switch {
			case !s.At.Equal(clock):
			case s.Removed:
				removed++
			default:
				changed++
			}
		}
		if changed == 0 || removed == 0 {
			t.Errorf("%s: %d rows changed, %d removed: its mutations are missing, or leave nothing", stream, changed, removed)
		}
	}
}
