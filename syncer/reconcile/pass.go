package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// Pass is one pass of some sources.
type Pass struct {
	request Request
	sources []*SourceProofs

	mu     sync.Mutex
	report Report
	asking []asking // by source
	// healing is how fast days are healed, by source, and waiting the stream whose
	// backfill is waited for, nil for none.
	healing []stream.Pace
	waiting []*list.List
	days    []days // by source
}

// NewPass begins a pass of no sources yet.
func NewPass(r Request) *Pass {
	return &Pass{request: r, report: Report{StartedAt: time.Now()}}
}

// Add adds a source to the pass, before that begins.
func (p *Pass) Add(d *SourceProofs) {
	p.sources, p.asking, p.healing, p.waiting = append(p.sources, d), append(p.asking, asking{}), append(p.healing, stream.Pace{}), append(p.waiting, nil)
	p.days = append(p.days, days{})
	p.report.Sources = append(p.report.Sources, SourceReport{Source: d.source.Name})
}

// Snapshot is the report so far.
func (p *Pass) Snapshot() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.report
	r.Sources, r.FinishedAt = slices.Clone(r.Sources), time.Now()
	for i := range r.Sources {
		r.Sources[i].Open = slices.Clone(r.Sources[i].Open) // the pass goes on sorting its own
		r.Sources[i].ExpectedLeft = p.expect(i)
		if st := p.waiting[i]; st != nil {
			r.Sources[i].Backfill = st.Progress()
		}
	}
	return r
}

// expect is how long a source's questions will take; the caller holds the lock.
func (p *Pass) expect(i int) status.Seconds {
	a, r := &p.asking[i], &p.report.Sources[i]
	if r.HealedDays < r.ToHeal {
		return status.Seconds(p.healing[i].Left(uint64(r.ToHeal - r.HealedDays)))
	}
	left := a.expect(p.sources[i].source.Lanes)
	if left > 0 && r.Asked == r.Steps {
		left += max(time.Until(r.SettlesAt), 0)
	}
	return status.Seconds(left)
}

func (p *Pass) change(i int, change func(*SourceReport)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.report.Sources[i])
}

// Ended notes how the pass of a source came to its end.
func (p *Pass) Ended(i int, state string, err error) {
	p.change(i, func(r *SourceReport) { r.State, r.Err, p.asking[i].left = state, status.FailureIn(state, err), 0 })
}

// question is a range of days of one stream.
type question struct {
	totals *Proofs
	span   totals.Span
}

// Source asks for all days of every totals stream of a source, the newest first, and then
// looks again at those that differed.
func (p *Pass) Source(ctx context.Context, i int) error {
	d := p.sources[i]
	on := d.On()
	if len(on) == 0 {
		return d.noTotals()
	}
	if err := p.waitComparable(ctx, i, on[0]); err != nil {
		return err
	}
	days, err := p.wanted(ctx, d)
	if err != nil {
		return err
	}
	if days.From > days.To {
		return fmt.Errorf("there is nothing to compare yet from %s on: the restaurant's day is %s", days.From, days.To)
	}
	asks := questions(on, days)
	p.change(i, func(r *SourceReport) {
		r.From, r.To, r.Steps, p.asking[i] = string(days.From), string(days.To), len(asks), askingFor(len(asks))
	})
	suspects := map[*Proofs][]DayProof{}
	var errs []error
	for _, q := range asks {
		found, err := p.ask(ctx, i, q)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s from %s to %s: %w", q.totals.Def.Name, q.span.From, q.span.To, err))
			if !api.IsNotFound(err) && !api.IsLocationForbidden(err) {
				break
			}
		}
		suspects[q.totals] = append(suspects[q.totals], found...)
		p.change(i, func(r *SourceReport) { r.Suspects = daysOf(slices.Collect(maps.Values(suspects))...) })
	}
	again := 0
	for _, st := range on {
		again += len(spansCovering(suspects[st]))
	}
	p.change(i, func(*SourceReport) { p.asking[i].left = again })
	for _, st := range on {
		errs = append(errs, p.settle(ctx, i, st, suspects[st]))
	}
	return errors.Join(errs...)
}

// wanted is the range of the request.
func (p *Pass) wanted(ctx context.Context, d *SourceProofs) (totals.Span, error) {
	s := d.source
	sp := totals.Span{From: types.Date(p.request.From), To: types.Date(p.request.To)}
	today := calendar.DayOf(s.ServiceNow())
	if sp.To == "" || sp.To > today {
		sp.To = today
	}
	if sp.From != "" {
		return sp, nil
	}
	first, err := s.Sink.FirstDay(ctx, s.Business())
	if err != nil {
		return sp, fmt.Errorf("first day of the orders: %w", err)
	}
	sp.From = types.Date(first)
	if reported := d.Daily().FirstReported(); reported != "" && (first == "" || reported < sp.From) {
		sp.From = reported
	}
	if sp.From == "" || sp.From > sp.To {
		sp.From = sp.To
	}
	return sp, nil
}

// questions cut the days into what the service answers at once, the newest first.
func questions(on []*Proofs, days totals.Span) []question {
	var all []question
	cut := totals.Ranges(days)
	slices.Reverse(cut)
	for _, sp := range cut {
		for _, st := range on {
			for _, l := range st.DeepLocations() {
				all = append(all, question{st, totals.Span{From: sp.From, To: sp.To, Location: l}})
			}
		}
	}
	return all
}

// ask asks one question; it returns the suspects.
func (p *Pass) ask(ctx context.Context, i int, q question) ([]DayProof, error) {
	if err := q.totals.record.readVerdicts(ctx, q.span.From, q.span.To); err != nil {
		return nil, err
	}
	found, err := q.totals.look(ctx, []totals.Span{q.span}, true, nil)
	var suspects, settled []DayProof
	for _, f := range found {
		if f.suspect() || f.Verdict == sinks.VerdictUnsettled {
			suspects = append(suspects, f)
		} else {
			settled = append(settled, f)
		}
	}
	p.change(i, func(r *SourceReport) {
		r.Asked++
		p.asking[i].answered()
		if len(suspects) > 0 {
			r.SettlesAt = time.Now().Add(q.totals.Source.SettleAfter)
		}
	})
	p.count(i, q.totals, settled)
	return suspects, errors.Join(err, q.totals.record.conclude(ctx, q.totals.unhealed(found)))
}

// settle looks at the suspects of a stream again.
func (p *Pass) settle(ctx context.Context, i int, st *Proofs, suspects []DayProof) error {
	if len(suspects) == 0 {
		return nil
	}
	if err := st.Prover.Take(ctx); err != nil {
		return err
	}
	defer st.Prover.Release()
	found, err := st.settle(ctx, suspects, settling{
		whyNot: func(DayProof) NotHealed {
			if p.request.Heal {
				return 0
			}
			return OnlyCompared
		},
		asked: func() { p.change(i, func(*SourceReport) { p.asking[i].answered() }) },
		differ: func(days int) {
			p.change(i, func(r *SourceReport) {
				r.ToHeal, r.HealedDays, r.StillDiffer, p.healing[i] = days, 0, 0, stream.Pace{}
				p.healing[i].Page(time.Now())
			})
		},
		healed: func(still bool) {
			p.change(i, func(r *SourceReport) {
				if r.HealedDays++; still {
					r.StillDiffer++
				}
				p.healing[i].Page(time.Now())
			})
		},
		stored: func(found []DayProof) { p.count(i, st, found) },
	})
	p.change(i, func(r *SourceReport) { r.ToHeal, r.HealedDays, r.StillDiffer = 0, 0, 0 })
	st.report(found)
	return err
}

// count takes verdicts into the report.
func (p *Pass) count(i int, st *Proofs, found []DayProof) {
	p.change(i, func(r *SourceReport) {
		for _, f := range found {
			*r.of(f.Verdict)++
			p.days[i].note(f, &r.Days)
			if f.Verdict != sinks.VerdictProven && len(r.Open) < mostOpen {
				r.Open = append(r.Open, st.record.verdictOf(f))
			}
		}
		r.Locations = len(p.days[i].locations)
		slices.SortStableFunc(r.Open, func(a, b sinks.Verdict) int { return cmp.Compare(a.Day, b.Day) })
	})
}
