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

// proofTally sums up what runs of busy restaurants have shown.
type proofTally struct {
	mu      sync.Mutex
	worlds  int
	rounds  int
	days    int
	changes int
	alarms  int // without damage
	found   map[string]int
	harmed  []*harmed
	healed  []*healedDay
}

// take adds what a run has shown; it returns its rounds and verdicts.
func (s *proofTally) take(b *busy) (rounds int, found map[string]int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worlds, s.rounds, s.days, s.changes, s.alarms = s.worlds+1, s.rounds+b.rounds, s.days+b.days, s.changes+b.changes, s.alarms+b.alarms
	if s.found == nil {
		s.found = map[string]int{}
	}
	for verdict, n := range b.found {
		s.found[verdict] += n
	}
	s.harmed, s.healed = append(s.harmed, b.harmed...), append(s.healed, b.healed...)
	return b.rounds, maps.Clone(b.found)
}

func (s *proofTally) print(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Logf("%d worlds: %d rounds, %d days compared, %d changes beside those of the restaurant's own life; verdicts stored: %s; false alarms %d",
		s.worlds, s.rounds, s.days, s.changes, counts(s.found), s.alarms)
	if len(s.harmed) == 0 {
		return
	}
	healed, aside, kinds := 0, 0, map[string]int{}
	for _, h := range s.harmed {
		kinds[h.kind]++
		if !h.healed.IsZero() {
			healed++
		}
		if h.aside {
			aside++
		}
	}
	t.Logf("%d damages (%s), %d found and healed (%.4f), %d of them with a day beside", len(s.harmed), counts(kinds), healed, float64(healed)/float64(len(s.harmed)), aside)
	for _, moving := range []bool{true, false} {
		t.Logf("from damage to suspicion, moving days %v: %s; to healed: %s", moving,
			spread(s.times(moving, func(h *harmed) time.Time { return h.seen })), spread(s.times(moving, func(h *harmed) time.Time { return h.healed })))
	}
	t.Logf("requests of a healed day: %s", strings.Join(s.requests(), "; "))
}

// times are how long after their damage something was, of those of which it was.
func (s *proofTally) times(moving bool, when func(*harmed) time.Time) (all []time.Duration) {
	for _, h := range s.harmed {
		if at := when(h); h.moving == moving && !at.IsZero() {
			all = append(all, at.Sub(h.at))
		}
	}
	return all
}

// requests are those of healed days, by kind where a day had one kind of damage.
func (s *proofTally) requests() (lines []string) {
	by := map[string][]uint64{}
	for _, h := range s.healed {
		by["all"] = append(by["all"], h.requests)
		if len(h.kinds) == 1 {
			for kind := range h.kinds {
				by[kind] = append(by[kind], h.requests)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(by)) {
		lines = append(lines, kind+" "+spread(by[kind]))
	}
	return lines
}

// spread is the middle and the end of some figures.
func spread[T time.Duration | uint64](all []T) string {
	if len(all) == 0 {
		return "none"
	}
	slices.Sort(all)
	at := func(share float64) T { return all[min(int(share*float64(len(all))), len(all)-1)] }
	return fmt.Sprintf("p50 %v, p95 %v, p99 %v, max %v (of %d)", at(0.5), at(0.95), at(0.99), all[len(all)-1], len(all))
}
