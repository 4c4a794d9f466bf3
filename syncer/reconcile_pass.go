package syncer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
)

// reconcilePass is one pass of some sources.
type reconcilePass struct {
	request ReconcileRequest
	sources []*days

	mu     sync.Mutex
	report ReconcileReport
	asking []asking // by source
	// healing is how fast days are healed, by source, and waiting the stream whose
	// backfill is waited for, nil for none.
	healing []pace
	waiting []*list
}

func newReconcilePass(r ReconcileRequest) *reconcilePass {
	return &reconcilePass{request: r, report: ReconcileReport{StartedAt: time.Now()}}
}

// add adds a source to the pass, before that begins.
func (p *reconcilePass) add(d *days) {
	p.sources, p.asking, p.healing, p.waiting = append(p.sources, d), append(p.asking, asking{}), append(p.healing, pace{}), append(p.waiting, nil)
	p.report.Sources = append(p.report.Sources, SourceReconcile{Source: d.source.name})
}

// picture is the report so far.
func (p *reconcilePass) picture() ReconcileReport {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.report
	r.Sources, r.FinishedAt = slices.Clone(r.Sources), time.Now()
	for i := range r.Sources {
		r.Sources[i].Open = slices.Clone(r.Sources[i].Open) // the pass goes on sorting its own
		r.Sources[i].ExpectedLeft = p.expect(i)
		if st := p.waiting[i]; st != nil {
			r.Sources[i].Backfill = st.progress()
		}
	}
	return r
}

// expect is how long a source's questions will take; the caller holds the lock.
func (p *reconcilePass) expect(i int) Seconds {
	a, r := &p.asking[i], &p.report.Sources[i]
	if r.HealedDays < r.ToHeal {
		return Seconds(p.healing[i].left(uint64(r.ToHeal - r.HealedDays)))
	}
	left := a.expect(p.sources[i].source.lanes)
	if left > 0 && r.Asked == r.Steps {
		left += max(time.Until(r.SettlesAt), 0)
	}
	return Seconds(left)
}

func (p *reconcilePass) change(i int, change func(*SourceReconcile)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.report.Sources[i])
}

// ended notes how the pass of a source came to its end.
func (p *reconcilePass) ended(i int, state string, err error) {
	p.change(i, func(r *SourceReconcile) { r.State, r.Err, p.asking[i].left = state, err, 0 })
}

// question is a range of days of one stream.
type question struct {
	totals *totals
	span   span
}

// source asks for all days of every totals stream of a source, the newest first, and then
// looks again at those that differed.
func (p *reconcilePass) source(ctx context.Context, i int) error {
	d := p.sources[i]
	on := d.on()
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
	if days.from > days.to {
		return fmt.Errorf("there is nothing to compare yet from %s on: the restaurant's day is %s", days.from, days.to)
	}
	asks := questions(on, days)
	p.change(i, func(r *SourceReconcile) {
		r.From, r.To, r.Steps, p.asking[i] = string(days.from), string(days.to), len(asks), askingFor(len(asks))
	})
	suspects := map[*totals][]dayProof{}
	var errs []error
	for _, q := range asks {
		found, err := p.ask(ctx, i, q)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s from %s to %s: %w", q.totals.def.Name, q.span.from, q.span.to, err))
			if !api.IsNotFound(err) && !api.IsLocationForbidden(err) {
				break
			}
		}
		suspects[q.totals] = append(suspects[q.totals], found...)
		p.change(i, func(r *SourceReconcile) { r.Suspects = daysOf(slices.Collect(maps.Values(suspects))...) })
	}
	again := 0
	for _, st := range on {
		again += len(spansCovering(suspects[st]))
	}
	p.change(i, func(*SourceReconcile) { p.asking[i].left = again })
	for _, st := range on {
		errs = append(errs, p.settle(ctx, i, st, suspects[st]))
	}
	return errors.Join(errs...)
}

// wanted is the range of the request.
func (p *reconcilePass) wanted(ctx context.Context, d *days) (span, error) {
	s := d.source
	sp := span{from: api.Date(p.request.From), to: api.Date(p.request.To)}
	today := calendar.DayOf(s.serviceNow())
	if sp.to == "" || sp.to > today {
		sp.to = today
	}
	if sp.from != "" {
		return sp, nil
	}
	first, err := s.sink.FirstDay(ctx, s.business())
	if err != nil {
		return sp, fmt.Errorf("first day of the orders: %w", err)
	}
	sp.from = api.Date(first)
	if reported := d.daily().firstReported(); reported != "" && (first == "" || reported < sp.from) {
		sp.from = reported
	}
	if sp.from == "" || sp.from > sp.to {
		sp.from = sp.to
	}
	return sp, nil
}

// questions cut the days into what the service answers at once, the newest first.
func questions(on []*totals, days span) []question {
	var all []question
	cut := ranges(days)
	slices.Reverse(cut)
	for _, sp := range cut {
		for _, st := range on {
			for _, l := range st.deepLocations() {
				all = append(all, question{st, span{sp.from, sp.to, l}})
			}
		}
	}
	return all
}

// ask asks one question; it returns the suspects.
func (p *reconcilePass) ask(ctx context.Context, i int, q question) ([]dayProof, error) {
	if err := q.totals.recallVerdicts(ctx, q.span.from, q.span.to); err != nil {
		return nil, err
	}
	found, err := q.totals.look(ctx, []span{q.span}, true, nil)
	var suspects, settled []dayProof
	for _, f := range found {
		if f.suspect() || f.verdict == sinks.VerdictUnsettled {
			suspects = append(suspects, f)
		} else {
			settled = append(settled, f)
		}
	}
	p.change(i, func(r *SourceReconcile) {
		r.Asked++
		p.asking[i].answered()
		if len(suspects) > 0 {
			r.SettlesAt = time.Now().Add(q.totals.source.settleAfter)
		}
	})
	p.count(i, q.totals, settled)
	return suspects, errors.Join(err, q.totals.conclude(ctx, q.totals.unhealed(found)))
}

// settle looks at the suspects of a stream again.
func (p *reconcilePass) settle(ctx context.Context, i int, st *totals, suspects []dayProof) error {
	if len(suspects) == 0 {
		return nil
	}
	if err := st.prover.take(ctx); err != nil {
		return err
	}
	defer st.prover.free()
	found, err := st.settle(ctx, suspects, settling{
		whyNot: func(dayProof) string {
			if p.request.Heal {
				return ""
			}
			return onlyCompared
		},
		asked: func() { p.change(i, func(*SourceReconcile) { p.asking[i].answered() }) },
		differ: func(days int) {
			p.change(i, func(r *SourceReconcile) {
				r.ToHeal, r.HealedDays, r.StillDiffer, p.healing[i] = days, 0, 0, pace{}
				p.healing[i].page(time.Now())
			})
		},
		healed: func(still bool) {
			p.change(i, func(r *SourceReconcile) {
				if r.HealedDays++; still {
					r.StillDiffer++
				}
				p.healing[i].page(time.Now())
			})
		},
		stored: func(found []dayProof) { p.count(i, st, found) },
	})
	p.change(i, func(r *SourceReconcile) { r.ToHeal, r.HealedDays, r.StillDiffer = 0, 0, 0 })
	st.report(found)
	return err
}

// count takes verdicts into the report.
func (p *reconcilePass) count(i int, st *totals, found []dayProof) {
	p.change(i, func(r *SourceReconcile) {
		by := map[string]*uint64{
			sinks.VerdictProven: &r.Proven, sinks.VerdictHealed: &r.Healed, sinks.VerdictDrift: &r.Drift,
			sinks.VerdictUnsettled: &r.Unsettled, sinks.VerdictUnproven: &r.Unproven,
		}
		for _, f := range found {
			*by[f.verdict]++
			if f.verdict != sinks.VerdictProven && len(r.Open) < mostOpen {
				r.Open = append(r.Open, st.verdictOf(f))
			}
		}
		slices.SortStableFunc(r.Open, byDay)
	})
}

func byDay(a, b sinks.Verdict) int {
	switch {
	case a.Day < b.Day:
		return -1
	case a.Day > b.Day:
		return 1
	default:
		return 0
	}
}
