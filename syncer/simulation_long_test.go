//go:build long

package syncer

import (
	"slices"
	"testing"
)

// TestSimulationOfManySeeds plays the episodes of the first 240 seeds that TestSimulation
// leaves out.
func TestSimulationOfManySeeds(t *testing.T) {
	sum := newTally()
	defer sum.print(t)
	seeds := slices.DeleteFunc(seedsFrom(1, 240), func(seed uint64) bool { return slices.Contains(usualSeeds, seed) })
	t.Run("episodes", func(t *testing.T) { inParallel(t, seeds, sum) })
}

// TestSimulationOnTheEngineOfManySeeds plays the episodes that TestSimulationOnTheEngine leaves out.
func TestSimulationOnTheEngineOfManySeeds(t *testing.T) {
	sum := newTally()
	defer sum.print(t)
	for _, seed := range []uint64{2, 3, 4} {
		t.Run(seedName(seed), func(t *testing.T) { simulateOnTheEngine(t, seed, sum) })
	}
}
