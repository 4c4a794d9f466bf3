package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Pass is one pass of some sources.
type Pass struct {
	request   Request
	startedAt time.Time
	sources   []*sourcePass
}

// sourcePass is the pass of one source.
type sourcePass struct {
	request Request

	mu        sync.Mutex
	shared    *Shared
	report    SourceReport
	asking    asking
	healing   stream.Pace // how fast days are healed
	waiting   bool        // for the backfill, or a full resync, of the orders
	days      days
	locations map[string]bool // locations that have verdicts of their own
}

// NewPass begins a pass of no sources yet.
func NewPass(r Request) *Pass { return &Pass{request: r, startedAt: time.Now()} }

// Add adds a source to the pass, before that begins.
func (p *Pass) Add(d *Shared) {
	p.sources = append(p.sources, &sourcePass{
		request: p.request, shared: d, report: SourceReport{Source: d.source.Name}, days: days{}, locations: map[string]bool{},
	})
}

// Snapshot is the report so far.
func (p *Pass) Snapshot() Report {
	r := Report{StartedAt: p.startedAt, FinishedAt: time.Now()}
	for _, s := range p.sources {
		r.Sources = append(r.Sources, s.snapshot())
	}
	return r
}

// Ended notes how the pass of a source came to its end.
func (p *Pass) Ended(i int, state string, err error) {
	s := p.sources[i]
	s.change(func(r *SourceReport) { r.State, r.Err, s.asking.left = state, status.FailureIn(state, err), 0 })
}

// Source asks for all days of every totals stream of a source, the newest first, and then
// looks again at those that differed. Where it is to heal, it ends after the full resync that is
// owed: it makes that, or waits for the one that a daemon makes.
// d are the days of the source as it is served now.
func (p *Pass) Source(ctx context.Context, i int, d *Shared) error {
	s := p.sources[i]
	s.change(func(*SourceReport) { s.shared = d })
	return s.run(ctx, d)
}

func (s *sourcePass) snapshot() SourceReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.report
	r.Open = slices.Clone(r.Open) // the pass goes on sorting its own
	r.ExpectedLeft = s.expect()
	r.Days, r.Locations = s.days.counts(), len(s.locations)
	if s.waiting {
		r.Backfill = s.shared.Orders.Progress()
	}
	return r
}

// expect is how long the questions, or healings, will take. The caller holds mu.
func (s *sourcePass) expect() status.Seconds {
	r := &s.report
	if r.HealedDays < r.ToHeal {
		return status.Seconds(s.healing.Left(uint64(r.ToHeal - r.HealedDays)))
	}
	left := s.asking.expect(s.shared.source.Lanes)
	if left > 0 && r.Asked == r.Steps {
		left += max(time.Until(r.SettlesAt), 0)
	}
	return status.Seconds(left)
}

// change changes what is known of the source.
func (s *sourcePass) change(change func(*SourceReport)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.report)
}

func (s *sourcePass) run(ctx context.Context, d *Shared) error {
	on := d.On()
	if len(on) == 0 {
		return d.noTotals()
	}
	d.passes.Add(1)
	defer d.passes.Add(-1)
	if d.notComparable() != nil && !d.Orders.Off() {
		if err := s.wait(ctx, d, "the backfill"); err != nil {
			return err
		}
	}
	if err := d.notComparable(); err != nil {
		return err
	}
	days, err := s.wanted(ctx, d)
	if err != nil {
		return err
	}
	if days.From > days.To {
		return fmt.Errorf("there is nothing to compare yet from %s on: the restaurant's day is %s", days.From, days.To)
	}
	asks := questions(on, days)
	s.change(func(r *SourceReport) {
		r.From, r.To, r.Steps, s.asking = string(days.From), string(days.To), len(asks), askingFor(len(asks))
	})
	differ := make([][]dayProof, len(on))
	var errs []error
	for _, q := range asks {
		st := on[q.stream]
		found, err := s.ask(ctx, st, q.span)
		differ[q.stream] = append(differ[q.stream], found...)
		s.change(func(r *SourceReport) { r.Suspects = daysOf(slices.Concat(differ...)) })
		if err != nil {
			errs = append(errs, fmt.Errorf("%s from %s to %s: %w", st.Def.Name, q.span.From, q.span.To, err))
			if !refuses(cmp.Or(q.span.Location, "all"), err) {
				break
			}
		}
	}
	s.change(func(*SourceReport) { s.asking.left = len(spansCovering(slices.Concat(differ...))) })
	return errors.Join(append(errs, s.settleAll(ctx, d, on, differ))...)
}

// settleAll looks again at the days that differed, and once more after the full resync that they owe.
func (s *sourcePass) settleAll(ctx context.Context, d *Shared, on []*Totals, differ [][]dayProof) error {
	errs := make([]error, len(on), 2*len(on)+1)
	for i, st := range on {
		differ[i], errs[i] = s.settle(ctx, st, differ[i], s.request.Heal)
	}
	if s.request.Heal && len(slices.Concat(differ...)) > 0 && d.Orders.Resyncing() {
		err := s.wait(ctx, d, "the full resync that the orders owe")
		errs = append(errs, err)
		for i, st := range on {
			if err == nil && len(differ[i]) > 0 {
				var failed error
				differ[i], failed = s.afterResync(ctx, st, differ[i])
				errs = append(errs, failed)
			}
		}
	}
	for i, st := range on {
		s.count(st, differ[i])
	}
	return errors.Join(errs...)
}

// wait waits for a long walk of the orders that is under way, or makes it.
func (s *sourcePass) wait(ctx context.Context, d *Shared, what string) error {
	s.change(func(*SourceReport) { s.waiting = true })
	defer s.change(func(*SourceReport) { s.waiting = false })
	d.source.Log.Info("waiting for "+what+", to compare after it", "stream", registry.Orders)
	if err := d.Orders.Filler.Run(ctx, d.Orders.Fill); err != nil {
		return fmt.Errorf("%s of %s: %w", what, registry.Orders, err)
	}
	return nil
}

// noTotals is why no stream of totals is on.
func (d *Shared) noTotals() error {
	st := d.Daily()
	if scopes := d.source.Identity().Scopes; st.Configured() && !st.Def.Allowed(scopes) {
		return fmt.Errorf("the service's totals cannot be asked for: %w %s (it has %s): ask the restaurant to grant it", stream.ErrNoScope, strings.Join(st.Def.Scopes, " or "), cmp.Or(strings.Join(scopes, " "), "none"))
	}
	return stream.Misfit("none of its streams of totals is on: the configuration must want " + registry.Daily)
}

// wanted is the range of the request.
func (s *sourcePass) wanted(ctx context.Context, d *Shared) (Span, error) {
	sp := Span{From: types.Date(s.request.From), To: types.Date(s.request.To)}
	today := d.today()
	if sp.To == "" || sp.To > today {
		sp.To = today
	}
	if sp.From != "" {
		return sp, nil
	}
	first, err := d.firstDay(ctx)
	if err != nil {
		return sp, err
	}
	sp.From = first
	if _, at := d.Daily().back.now(); at.First != "" && (first == "" || at.First < first) {
		sp.From = at.First // the mirror may have lost its rows of that day
	}
	if sp.From == "" || sp.From > sp.To {
		sp.From = sp.To
	}
	return sp, nil
}

// question is a range of days of one of the streams.
type question struct {
	stream int // its index among those that are on
	span   Span
}

// questions cut the days into what the service answers at once, the newest first.
func questions(on []*Totals, days Span) (all []question) {
	cut := ranges(days)
	slices.Reverse(cut)
	for _, sp := range cut {
		for i, st := range on {
			for _, l := range st.deepLocations() {
				all = append(all, question{i, Span{sp.From, sp.To, l}})
			}
		}
	}
	return all
}

// ask asks one question; it returns the days that differ, or have moved.
func (s *sourcePass) ask(ctx context.Context, st *Totals, sp Span) ([]dayProof, error) {
	if err := st.verdicts.restore(ctx, sp.From, sp.To); err != nil {
		return nil, err
	}
	found, err := st.compare(ctx, []Span{sp}, true)
	again, settled := apart(found, func(f dayProof) bool { return f.differs() || f.Verdict == sinks.VerdictUnsettled })
	_, unsettled := st.verdicts.conclude(ctx, again)
	settled, stored := st.verdicts.conclude(ctx, settled)
	s.change(func(r *SourceReport) {
		r.Asked++
		s.asking.answered()
		if len(again) > 0 {
			r.SettlesAt = time.Now().Add(st.Source.SettleAfter)
		}
	})
	s.count(st, settled)
	return again, errors.Join(err, unsettled, stored)
}

// settle looks at the days of a stream again that differed. It returns those that differ still,
// whose verdicts are stored, and not counted yet.
func (s *sourcePass) settle(ctx context.Context, st *Totals, differed []dayProof, fetch bool) ([]dayProof, error) {
	if len(differed) == 0 {
		return nil, nil
	}
	if err := st.Settling.Take(ctx); err != nil {
		return differed, err
	}
	defer st.Settling.Release()
	c := recheck{totals: st, fetch: fetch, heal: s.request.Heal, report: func(found []dayProof, toHeal int) {
		s.change(func(r *SourceReport) {
			if r.ToHeal == 0 {
				r.ToHeal, s.healing, s.asking.left = toHeal, stream.Pace{}, 0
			}
			r.HealedDays = r.ToHeal - toHeal
			s.healing.Page(time.Now())
		})
		s.count(st, found)
	}}
	defer s.change(func(r *SourceReport) { r.ToHeal, r.HealedDays = 0, 0 })
	return c.run(ctx, differed)
}

// afterResync compares days again that differed before a full resync of the orders. It returns those
// that differ still.
func (s *sourcePass) afterResync(ctx context.Context, st *Totals, differed []dayProof) ([]dayProof, error) {
	found, failed := st.lookAfter(ctx, differed)
	differ, settled := apart(found, dayProof.differs)
	settled, err := st.verdicts.conclude(ctx, settled)
	s.count(st, settled)
	left, settling := s.settle(ctx, st, differ, false)
	return left, errors.Join(failed, err, settling)
}

// count takes verdicts into the report.
func (s *sourcePass) count(st *Totals, found []dayProof) {
	s.change(func(r *SourceReport) {
		for _, f := range found {
			*r.of(f.Verdict)++
			s.days.note(f)
			if f.Location != "" {
				s.locations[f.Location] = true
			}
			if f.Verdict != sinks.VerdictProven && len(r.Open) < mostOpen {
				r.Open = append(r.Open, st.verdicts.verdictOf(f))
			}
		}
		slices.SortStableFunc(r.Open, func(a, b sinks.Verdict) int { return cmp.Compare(a.Day, b.Day) })
	})
}
