package proof

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Of sums up the verdicts about a source's days; nil without any. first is the day of the first
// mirrored order, empty when there is none; today is not over.
//
// It agrees with the view proof: a day that was not asked about is not proven, and one that is not over
// neither.
func Of(verdicts iter.Seq[sinks.Verdict], first, today types.Date) *status.ProofStatus {
	// proofDay is what all verdicts about one day come to. daily: one of them is about the day's own totals.
	type proofDay struct{ bad, drift, explained, daily bool }
	days, sum := map[types.Date]proofDay{}, &status.ProofStatus{}
	for v := range verdicts {
		d := days[types.Date(v.Day)]
		d.bad = d.bad || !isGood(v.Verdict)
		d.drift = d.drift || v.Verdict == sinks.VerdictDrift
		d.explained = d.explained || v.Verdict == sinks.VerdictExplained
		d.daily = d.daily || v.Subject == sinks.SubjectDaily
		days[types.Date(v.Day)] = d
		sum.AskedAt = stream.Later(sum.AskedAt, v.AskedAt)
	}
	if len(days) == 0 {
		return nil
	}
	asked := slices.Sorted(maps.Keys(days))
	newest := asked[len(asked)-1]
	oldest, err := schedule.AddDays(newest, 1-MaxRange)
	if err != nil {
		return nil // it is not a valid date
	}
	sum.FirstDay = string(max(cmp.Or(first, asked[0]), oldest))
	for _, d := range days {
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
		d := days[day]
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
func (d *Shared) Proven() *status.ProofStatus { return d.proof.Load() }

// proofChanged sums up anew the verdicts about the last 92 days. What is asked for no more, such as a
// location that the key has lost, counts no more.
func (d *Shared) proofChanged() {
	today := d.today()
	from := addDays(today, 1-MaxRange)
	inactive := d.source.Identity().Inactive
	d.proof.Store(Of(func(yield func(sinks.Verdict) bool) {
		for _, st := range d.On() {
			locations, v := st.deepLocations(), st.verdicts
			v.mu.Lock()
			for location, values := range v.last {
				if !slices.Contains(locations, location) || slices.Contains(inactive, location) {
					continue
				}
				for day, last := range values.all() {
					if day >= from && last.verdict != "" {
						yield(sinks.Verdict{Day: string(day), Subject: v.subject(), Verdict: last.verdict, AskedAt: last.askedAt()}) // it takes all
					}
				}
			}
			v.mu.Unlock()
		}
	}, d.knownFirst(), today))
}

// readFirstDay reads which day the first mirrored order is of: at each deep run, and until there is
// one.
func (d *Shared) readFirstDay(ctx context.Context, deep bool) error {
	if d.knownFirst() != "" && !deep {
		return nil
	}
	first, err := d.firstDay(ctx)
	if err == nil {
		d.first.Store(&first)
	}
	return err
}

// knownFirst is the day that was read last; empty while there is none.
func (d *Shared) knownFirst() types.Date {
	if first := d.first.Load(); first != nil {
		return *first
	}
	return ""
}
