package syncer

import (
	"flag"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

var (
	onlySeed  = flag.Uint64("seed", 0, "simulation: play the episode of this seed alone")
	episodes  = flag.Int("episodes", 0, "simulation: how many episodes, of the seeds from 1 on (default those of usualSeeds, with -short those of shortSeeds)")
	soak      = flag.Duration("soak", 0, "simulation: play episodes of fresh seeds for so long")
	soakFrom  = flag.Uint64("from", 0, "simulation: the first of the fresh seeds; by the clock when 0")
	daemonLog = flag.Bool("daemonlog", false, "simulation: print the daemon's log too")
)

// TestSimulation runs the daemon against the sandbox through simulated time: an
// episode is hours or weeks of a restaurant's life, with whatever can go wrong
// (simulation_kinds_test.go), and at its end the mirror must equal the service.
//
// What an episode does is drawn from its seed alone (simulation_scenario_test.go). Its
// goroutines are scheduled by the runtime, though: of requests at one instant it
// is not said which comes first, so a seed replays its plan exactly, and its
// interleavings nearly always. Use -count for what shows only now and then:
//
//	go test ./syncer -run TestSimulation -seed 42 -count 20
func TestSimulation(t *testing.T) {
	sum := newTally()
	defer sum.print(t)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // episodes are small, and it is them that take the time
	switch {
	case *onlySeed != 0:
		t.Run(seedName(*onlySeed), func(t *testing.T) { simulate(t, *onlySeed, sum) })
	case *soak != 0:
		soaking(t, sum)
	case *episodes != 0:
		t.Run("episodes", func(t *testing.T) { inParallel(t, seedsFrom(1, *episodes), sum) })
	case testing.Short():
		t.Run("episodes", func(t *testing.T) { inParallel(t, shortSeeds, sum) })
	default:
		t.Run("episodes", func(t *testing.T) { inParallel(t, usualSeeds, sum) })
	}
}

// shortSeeds are few whose episodes take little time, and in which each kind of event is
// planned at least twice, like everything else that makes a difference to what runs
// beside what: with the race detector an episode takes many times as long.
var shortSeeds = []uint64{31, 47, 114, 122, 136, 144, 176, 197, 200, 212, 216, 217}

// usualSeeds are shortSeeds and others that take little time: each kind of event is planned at
// least three times. TestSimulationOfManySeeds plays the rest of the first 240.
var usualSeeds = slices.Concat(shortSeeds, []uint64{
	30, 38, 39, 59, 63, 65, 67, 70, 71, 85, 100, 120, 134, 152, 160, 168, 172, 173, 186, 195, 196, 203, 207, 211, 213, 230, 234, 237,
})

func TestSeedsPlanEveryKind(t *testing.T) {
	for _, set := range []struct {
		name  string
		seeds []uint64
		least int
	}{{"short", shortSeeds, 2}, {"usual", usualSeeds, 3}} {
		planned := plannedBy(set.seeds)
		for _, what := range everyKind() {
			if planned[what] < set.least {
				t.Errorf("%s: in %d episodes of the %s seeds %v, want %d", what, planned[what], set.name, set.seeds, set.least)
			}
		}
		if n := len(slices.Compact(slices.Sorted(slices.Values(set.seeds)))); n < len(set.seeds) {
			t.Errorf("the %s seeds name %d twice", set.name, len(set.seeds)-n)
		}
	}
}

// plannedBy counts the seeds that plan each kind of event, and each kind of world.
func plannedBy(seeds []uint64) map[string]int {
	planned := map[string]int{}
	for _, seed := range seeds {
		p := newScenario(seed)
		of := map[string]bool{
			"restaurants: " + fmt.Sprint(p.box.Businesses): true, "limits: " + p.box.Algorithm: true, "other daemons: " + fmt.Sprint(seed%2 == 1): true,
			"untold": p.unannounced, "one location": p.located, "full resync": p.schedule.FullResync != "", "verified": seed%3 == 0,
		}
		for _, ev := range p.events {
			of[ev.kind.name] = true
		}
		for what, is := range of {
			if is {
				planned[what]++
			}
		}
	}
	return planned
}

func everyKind() []string {
	want := []string{
		"restaurants: 1", "restaurants: 2", "restaurants: 3", "other daemons: true", "other daemons: false",
		"untold", "one location", "full resync", "verified",
		"limits: " + sandbox.AlgorithmFixed, "limits: " + sandbox.AlgorithmFixedFirst, "limits: " + sandbox.AlgorithmSliding, "limits: " + sandbox.AlgorithmBucket,
	}
	for _, k := range slices.Concat(kinds, unannouncedKinds, slowKinds, orderingKinds, []*kind{damageEvent, orderingMoves, hookFaults}) {
		want = append(want, k.name)
	}
	return want
}

func seedsFrom(first uint64, n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	return seeds
}

func seedName(seed uint64) string { return fmt.Sprintf("seed=%d", seed) }

// soaking plays episodes of fresh seeds until the time is up.
func soaking(t *testing.T, sum *tally) {
	first := *soakFrom
	if first == 0 {
		first = uint64(time.Now().Unix()) << 16
	}
	const batch = 64
	for end := time.Now().Add(*soak); time.Now().Before(end); first += batch {
		t.Run(seedName(first), func(t *testing.T) { inParallel(t, seedsFrom(first, batch), sum) })
		sum.print(t)
	}
}

func inParallel(t *testing.T, seeds []uint64, sum *tally) {
	for _, seed := range seeds {
		t.Run(seedName(seed), func(t *testing.T) {
			t.Parallel()
			simulate(t, seed, sum)
		})
	}
}

// simulate plays one episode.
func simulate(t *testing.T, seed uint64, sum *tally) {
	began := time.Now()
	var e *episode
	defer func() { sum.add(e, time.Since(began), t.Failed()) }()
	synctest.Test(t, func(t *testing.T) {
		e = newEpisode(t, newScenario(seed))
		e.play()
		e.finish()
	})
}
