package syncer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tally counts what the episodes of a run went through.
type tally struct {
	mu        sync.Mutex
	began     time.Time
	episodes  int
	failed    int
	simulated time.Duration
	real      time.Duration // summed over the episodes
	slowest   time.Duration
	slowSeed  uint64
	requests  int
	stirred   int
	checked   int
	verdicts  int
	alarms    int // verdicts that a day differed
	damages   int
	faults    map[string]int
	kinds     map[string]int
	hooked    int64 // orders that webhooks brought
}

func newTally() *tally {
	return &tally{began: time.Now(), faults: map[string]int{}, kinds: map[string]int{}}
}

func (s *tally) add(e *episode, took time.Duration, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.episodes++
	s.real += took
	if failed {
		s.failed++
	}
	if e == nil {
		return
	}
	if took > s.slowest {
		s.slowest, s.slowSeed = took, e.plan.seed
	}
	s.simulated += e.plan.span
	s.requests += e.asked
	s.stirred += e.stirred
	s.checked += e.watch.checked
	s.verdicts += e.watch.verdicts
	s.alarms += len(e.watch.alarms)
	s.damages += len(e.damages)
	for k, n := range e.box.FaultsInjected() {
		s.faults[k] += n
	}
	s.hooked += e.delivered.Load()
	for k, n := range e.did {
		s.kinds[k] += n
	}
}

func (s *tally) print(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wall := time.Since(s.began)
	t.Logf("%d episodes in %s (%.0f a minute), %d with differences; %.0f days simulated, %.1f a second; %d requests, %d changes between them, %d rows checked behind checkpoints",
		s.episodes, wall.Round(time.Second), float64(s.episodes)/wall.Minutes(), s.failed,
		s.simulated.Hours()/24, s.simulated.Hours()/24/wall.Seconds(), s.requests, s.stirred, s.checked)
	t.Logf("%d verdicts stored, %d of them that a day differed; the warehouse was damaged %d times", s.verdicts, s.alarms, s.damages)
	t.Logf("webhooks brought %d orders", s.hooked)
	t.Logf("events: %s", counts(s.kinds))
	t.Logf("faults: %s", counts(s.faults))
	t.Logf("an episode takes %s on average, the slowest (seed %d) %s", (s.real / time.Duration(max(s.episodes, 1))).Round(time.Millisecond), s.slowSeed, s.slowest.Round(time.Millisecond))
}

func counts(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}
