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
	episodes  = flag.Int("episodes", 0, "simulation: how many episodes, of the seeds from 1 on (default 240, 40 under the race detector, those of shortSeeds with -short; none is begun after two minutes)")
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
		sum.until = time.Now().Add(enough)
		t.Run("episodes", func(t *testing.T) { inParallel(t, seedsFrom(1, usualEpisodes), sum) })
	}
}

// shortSeeds are few whose episodes take little time, and in which each kind of event is
// planned at least twice, like everything else that makes a difference to what runs
// beside what: with the race detector an episode takes many times as long, and the rows
// of hundreds more are compared without it.
var shortSeeds = []uint64{180, 181, 195, 196, 197, 211, 233, 235}

func TestShortSeedsPlanEveryKindTwice(t *testing.T) {
	planned := map[string]int{}
	for _, seed := range shortSeeds {
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
	want := []string{
		"restaurants: 1", "restaurants: 2", "restaurants: 3", "other daemons: true", "other daemons: false",
		"untold", "one location", "full resync", "verified",
		"limits: " + sandbox.AlgorithmFixed, "limits: " + sandbox.AlgorithmFixedFirst, "limits: " + sandbox.AlgorithmSliding, "limits: " + sandbox.AlgorithmBucket,
	}
	for _, k := range slices.Concat(kinds, unannouncedKinds, slowKinds, orderingKinds, []*kind{damageEvent, orderingMoves, hookFaults}) {
		want = append(want, k.name)
	}
	for _, what := range want {
		if planned[what] < 2 {
			t.Errorf("%s: in %d episodes of %v", what, planned[what], shortSeeds)
		}
	}
}

func seedsFrom(first uint64, n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	return seeds
}

// enough is how long usual episodes are begun. All of them need about two minutes
// where two cores are theirs; a machine that is slower or busy plays fewer.
const enough = 110 * time.Second

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
			if !sum.until.IsZero() && time.Now().After(sum.until) {
				sum.left()
				return
			}
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
