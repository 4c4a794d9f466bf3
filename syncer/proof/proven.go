package proof

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Of sums up the verdicts about a source's days; nil without any. first is the day of the first
// mirrored order, empty when there is none; today is not over.
func Of(verdicts []sinks.Verdict, first, today types.Date) *status.ProofStatus {
	sum := proofSum{days: map[types.Date]proofDay{}}
	for _, v := range verdicts {
		sum.take(types.Date(v.Day), v.Subject, v.Verdict, v.AskedAt)
	}
	return sum.status(first, today)
}

// proofSum sums up verdicts.
type proofSum struct {
	days  map[types.Date]proofDay
	asked time.Time // the newest
}

// proofDay is what all verdicts about one day come to. daily: one of them is about the day's own
// totals.
type proofDay struct{ bad, drift, explained, daily bool }

func (s *proofSum) take(day types.Date, subject, verdict string, asked time.Time) {
	d := s.days[day]
	d.bad = d.bad || !isGood(verdict)
	d.drift = d.drift || verdict == sinks.VerdictDrift
	d.explained = d.explained || verdict == sinks.VerdictExplained
	d.daily = d.daily || subject == sinks.SubjectDaily
	s.days[day] = d
	s.asked = stream.Later(s.asked, asked)
}

// status is what they come to; nil without any. It agrees with the view proof: a day that
// was not asked about is not proven, and one that is not over neither.
func (s *proofSum) status(first, today types.Date) *status.ProofStatus {
	if len(s.days) == 0 {
		return nil
	}
	asked := slices.Sorted(maps.Keys(s.days))
	newest := asked[len(asked)-1]
	oldest, err := schedule.AddDays(newest, 1-MaxRange)
	if err != nil {
		return nil // it is not a valid date
	}
	if first == "" {
		first = asked[0]
	}
	sum := &status.ProofStatus{AskedAt: s.asked, FirstDay: string(max(first, oldest))}
	for _, d := range s.days {
		switch {
		case d.drift:
			sum.DriftDays++
		case d.bad:
			sum.OpenDays++
		case d.explained:
			sum.ExplainedDays++
		}
	}
	unbroken := true
	for day := types.Date(sum.FirstDay); day < today && day <= newest; {
		d := s.days[day]
		if !d.daily {
			sum.UnaskedDays++
		}
		if unbroken = unbroken && d.daily && !d.bad; unbroken {
			sum.ProvenUntil = string(day)
		}
		if day, err = schedule.AddDays(day, 1); err != nil {
			break
		}
	}
	return sum
}

// Proven is how far the days are proven, nil before the first verdict.
func (d *Shared) Proven() *status.ProofStatus {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.proof
}

// proofChanged sums up anew the verdicts about the last 92 days. What is asked for no more, such as a
// location that the key has lost, counts no more.
func (d *Shared) proofChanged() {
	today := d.today()
	from := addDays(today, 1-MaxRange)
	sum := proofSum{days: map[types.Date]proofDay{}}
	inactive := d.source.Identity().Inactive
	for _, st := range d.On() {
		locations, v := st.deepLocations(), st.verdicts
		v.mu.Lock()
		for key, last := range v.last {
			day, location, _ := strings.Cut(key, "/")
			if day >= string(from) && slices.Contains(locations, location) && !slices.Contains(inactive, location) {
				sum.take(types.Date(day), v.subject(), last.verdict, last.asked)
			}
		}
		v.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.proof = sum.status(d.first, today)
}

// readFirstDay reads which day the first mirrored order is of: at each deep run, and until there is
// one.
func (d *Shared) readFirstDay(ctx context.Context, deep bool) error {
	if d.knownFirst() != "" && !deep {
		return nil
	}
	first, err := d.firstDay(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.first = first
	return nil
}

// knownFirst is the day that was read last; empty while there is none.
func (d *Shared) knownFirst() types.Date {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first
}
