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

// reconcileAtOnce bounds the sources that are compared at the same time: each keeps the
// warehouse busy adding up days.
const reconcileAtOnce = 64

// Reconcile compares the days of the request with the service, overall and for each
// location, and heals what differs when it is asked to. Days that differ are looked at
// twice, minutes apart. progress, which may be nil, is called about every second and at
// the end. It may run beside [Syncer.Run]. The error is the caller's or the sink's; what
// went wrong with a source stands in the report.
func (y *Syncer) Reconcile(ctx context.Context, r ReconcileRequest, progress func(ReconcileReport)) (ReconcileReport, error) {
	sources, err := y.selected(Selection{Sources: r.Sources})
	if err != nil {
		return ReconcileReport{}, err
	}
	if err := r.Check(); err != nil {
		return ReconcileReport{}, err
	}
	if err := y.start(ctx); err != nil {
		return ReconcileReport{}, err
	}
	defer y.leases.Enter(func() []string { return namesOf(sources) })()
	p := &reconcilePass{request: r, sources: sources, asking: make([]asking, len(sources)), healing: make([]pace, len(sources)), waiting: make([]*list, len(sources)), report: ReconcileReport{StartedAt: time.Now()}}
	for _, s := range sources {
		p.report.Sources = append(p.report.Sources, SourceReconcile{Source: s.name})
	}
	var tell func()
	if progress != nil {
		tell = func() { progress(p.picture()) }
	}
	stop := every(time.Second, tell)
	var passes sync.WaitGroup
	places := make(chan struct{}, reconcileAtOnce)
	for i, s := range sources {
		passes.Go(func() {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				p.source(ctx, i, s)
			case <-ctx.Done():
			}
		})
	}
	passes.Wait()
	stop()
	if ctx.Err() != nil {
		return p.picture(), context.Cause(ctx)
	}
	return p.picture(), nil
}

// reconcilePass is one pass of some sources.
type reconcilePass struct {
	request ReconcileRequest
	sources []*source

	mu     sync.Mutex
	report ReconcileReport
	asking []asking // by source
	// healing is how fast days are healed, by source, and waiting the stream whose
	// backfill is waited for, nil for none.
	healing []pace
	waiting []*list
}

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
	left := a.expect(p.sources[i].lanes)
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

// source reconciles one source. It ends when the source is over.
func (p *reconcilePass) source(ctx context.Context, i int, s *source) {
	err := func() error {
		ctx, leave, err := s.life.enter(ctx)
		if err != nil {
			return err
		}
		defer leave()
		if err := s.syncer.leases.Await(ctx, s.name); err != nil {
			return err
		}
		s.held()
		if err := s.protected(ctx, "probe", s.connect); err != nil {
			return err
		}
		return s.protected(ctx, "reconcile", func(ctx context.Context) error { return p.streams(ctx, i, s) })
	}()
	p.change(i, func(r *SourceReconcile) { r.State, r.Err, p.asking[i].left = s.stateNow(), err, 0 })
}

// question is a range of days of one stream.
type question struct {
	totals *totals
	span   span
}

// streams asks for all days of every totals stream, the newest first, and then looks
// again at those that differed.
func (p *reconcilePass) streams(ctx context.Context, i int, s *source) error {
	on := s.days.on()
	if len(on) == 0 {
		return s.noTotals()
	}
	if err := p.waitComparable(ctx, i, on[0]); err != nil {
		return err
	}
	days, err := p.days(ctx, s)
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

// days is the range of the request.
func (p *reconcilePass) days(ctx context.Context, s *source) (span, error) {
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
	if reported := s.days.daily().firstReported(); reported != "" && (first == "" || reported < sp.from) {
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
