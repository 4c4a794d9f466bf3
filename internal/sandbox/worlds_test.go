package sandbox

import "testing"

// TestWorldsOfSeeds holds that a seed makes the world that it made before, on which pictures and
// the seeds of other tests rely. A change of worlds changes the sums here.
func TestWorldsOfSeeds(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"one restaurant":  {Options{Seed: 1, Orders: 300, Days: 20}, "f7db4d21bab962f346027d5388c8016bceb11bbc293a045328111b81eebefc85"},
		"six locations":   {Options{Seed: 2, Orders: 300, Days: 20, LocationsPer: 6, ProductsPer: 40}, "37d098ec1a62beb099a054418625a9b010318baceb1dd5f0d06b13d1db456f4c"},
		"two restaurants": {Options{Seed: 3, Orders: 100, Days: 20, Businesses: 2, ProductsPer: 30, Readings: Readings{StrangeIDs: true, NullUpdatedAt: 4, LongFloats: true}}, "2f17587d16fb188a255b94534dc26841231d7a3cac17999a37e0f911817f31ae"},
	} {
		if got := newHarness(t, c.o).fingerprint(); got != c.want {
			t.Errorf("%s: %s, was %s", name, got, c.want)
		}
	}
}
