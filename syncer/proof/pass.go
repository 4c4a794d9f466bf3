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
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Pass is one pass of some sources.
type Pass struct {
	request Request

	mu        sync.Mutex
	startedAt time.Time
	sources   []*passOf
}

// passOf is the pass of one source. The mu of the pass guards it.
type passOf struct {
	shared  *Shared
	report  SourceReport
	asking  asking
	healing stream.Pace // how fast days are healed
	waiting *list.List  // whose backfill, or full resync, is waited for; nil for none
	days    days
}

// NewPass begins a pass of no sources yet.
func NewPass(r Request) *Pass { return &Pass{request: r, startedAt: time.Now()} }

// Add adds a source to the pass, before that begins.
func (p *Pass) Add(d *Shared) {
	p.sources = append(p.sources, &passOf{shared: d, report: SourceReport{Source: d.source.Name}})
}

// Snapshot is the report so far.
func (p *Pass) Snapshot() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := Report{StartedAt: p.startedAt, FinishedAt: time.Now()}
	for _, o := range p.sources {
		s := o.report
		s.Open = slices.Clone(s.Open) // the pass goes on sorting its own
		s.ExpectedLeft = o.expect()
		if o.waiting != nil {
			s.Backfill = o.waiting.Progress()
		}
		r.Sources = append(r.Sources, s)
	}
	return r
}

// expect is how long a source's questions, or healings, will take.
func (o *passOf) expect() status.Seconds {
	r := &o.report
	if r.HealedDays < r.ToHeal {
		return status.Seconds(o.healing.Left(uint64(r.ToHeal - r.HealedDays)))
	}
	left := o.asking.expect(o.shared.source.Lanes)
	if left > 0 && r.Asked == r.Steps {
		left += max(time.Until(r.SettlesAt), 0)
	}
	return status.Seconds(left)
}

// change changes what is known of a source.
func (p *Pass) change(o *passOf, change func(*SourceReport)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&o.report)
}

// Ended notes how the pass of a source came to its end.
func (p *Pass) Ended(i int, state string, err error) {
	o := p.sources[i]
	p.change(o, func(r *SourceReport) { r.State, r.Err, o.asking.left = state, status.FailureIn(state, err), 0 })
}

// Source asks for all days of every totals stream of a source, the newest first, and then
// looks again at those that differed. Where it is to heal, it ends after the full resync that is
// owed: it makes that, or waits for the one that a daemon makes.
// d are the days of the source as it is served now.
func (p *Pass) Source(ctx context.Context, i int, d *Shared) error {
	o := p.sources[i]
	p.change(o, func(*SourceReport) { o.shared = d })
	on := d.On()
	if len(on) == 0 {
		return o.shared.noTotals()
	}
	o.shared.pass(1)
	defer o.shared.pass(-1)
	if err := p.waitComparable(ctx, o, on[0]); err != nil {
		return err
	}
	days, err := p.wanted(ctx, o.shared)
	if err != nil {
		return err
	}
	if days.From > days.To {
		return fmt.Errorf("there is nothing to compare yet from %s on: the restaurant's day is %s", days.From, days.To)
	}
	asks := questions(on, days)
	p.change(o, func(r *SourceReport) {
		r.From, r.To, r.Steps, o.asking = string(days.From), string(days.To), len(asks), askingFor(len(asks))
	})
	differ := map[*Totals][]DayProof{}
	var errs []error
	for _, q := range asks {
		found, err := p.ask(ctx, o, q)
		differ[q.totals] = append(differ[q.totals], found...)
		p.change(o, func(r *SourceReport) { r.Suspects = daysOf(allOf(on, differ)) })
		if err != nil {
			errs = append(errs, fmt.Errorf("%s from %s to %s: %w", q.totals.Def.Name, q.span.From, q.span.To, err))
			if !refuses(cmp.Or(q.span.Location, "all"), err) {
				break
			}
		}
	}
	p.change(o, func(*SourceReport) { o.asking.left = len(spansCovering(allOf(on, differ))) })
	return errors.Join(append(errs, p.settleAll(ctx, o, on, differ))...)
}

// settleAll looks again at the days that differed, and once more after the full resync that they owe.
func (p *Pass) settleAll(ctx context.Context, o *passOf, on []*Totals, differ map[*Totals][]DayProof) error {
	var errs []error
	left := map[*Totals][]DayProof{}
	for _, st := range on {
		still, err := p.settle(ctx, o, st, differ[st], p.request.Heal)
		left[st], errs = still, append(errs, err)
	}
	if p.request.Heal && len(allOf(on, left)) > 0 && o.shared.walkedWhole() {
		if err := p.wait(ctx, o, "the full resync that the orders owe"); err != nil {
			errs = append(errs, err)
		} else {
			for _, st := range on {
				still, err := p.afterResync(ctx, o, st, left[st])
				left[st], errs = still, append(errs, err)
			}
		}
	}
	for _, st := range on {
		p.count(o, st, left[st])
	}
	return errors.Join(errs...)
}

func allOf(on []*Totals, by map[*Totals][]DayProof) (all []DayProof) {
	for _, st := range on {
		all = append(all, by[st]...)
	}
	return all
}

// waitComparable waits for the backfill of the orders, that of locations which were
// gained included, or makes it when nobody else does.
func (p *Pass) waitComparable(ctx context.Context, o *passOf, st *Totals) error {
	orders := st.shared.Orders
	if orders.Off() || st.NotComparable() == nil {
		return st.NotComparable()
	}
	if err := p.wait(ctx, o, "the backfill"); err != nil {
		return err
	}
	return st.NotComparable()
}

// wait waits for a long walk of the orders, or makes it when nobody else does.
func (p *Pass) wait(ctx context.Context, o *passOf, what string) error {
	orders := o.shared.Orders
	p.change(o, func(*SourceReport) { o.waiting = orders })
	defer p.change(o, func(*SourceReport) { o.waiting = nil })
	o.shared.source.Log.Info("waiting for "+what+", to compare after it", "stream", registry.Orders)
	if err := orders.Filler.Run(ctx, orders.Fill); err != nil {
		return fmt.Errorf("%s of %s: %w", what, registry.Orders, err)
	}
	return nil
}

// noTotals is the error that says why no stream of totals is on.
func (d *Shared) noTotals() error {
	st := d.Daily()
	if scopes := d.source.Identity().Scopes; st.Configured() && !st.Def.Allowed(scopes) {
		return fmt.Errorf("the service's totals cannot be asked for: %w %s (it has %s): ask the restaurant to grant it", stream.ErrNoScope, strings.Join(st.Def.Scopes, " or "), cmp.Or(strings.Join(scopes, " "), "none"))
	}
	return &stream.MisfitError{Text: "none of its streams of totals is on: the configuration must want " + registry.Daily}
}

// wanted is the range of the request.
func (p *Pass) wanted(ctx context.Context, d *Shared) (Span, error) {
	sp := Span{From: types.Date(p.request.From), To: types.Date(p.request.To)}
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
	st := d.Daily()
	st.mu.Lock()
	reported := st.back.at.First // the mirror may have lost its rows of that day
	st.mu.Unlock()
	sp.From = first
	if reported != "" && (first == "" || reported < first) {
		sp.From = reported
	}
	if sp.From == "" || sp.From > sp.To {
		sp.From = sp.To
	}
	return sp, nil
}

// question is a range of days of one stream.
type question struct {
	totals *Totals
	span   Span
}

// questions cut the days into what the service answers at once, the newest first.
func questions(on []*Totals, days Span) []question {
	var all []question
	cut := ranges(days)
	slices.Reverse(cut)
	for _, sp := range cut {
		for _, st := range on {
			for _, l := range st.deepLocations() {
				all = append(all, question{st, Span{From: sp.From, To: sp.To, Location: l}})
			}
		}
	}
	return all
}

// ask asks one question; it returns the days that differ, or have moved.
func (p *Pass) ask(ctx context.Context, o *passOf, q question) ([]DayProof, error) {
	if err := q.totals.readVerdicts(ctx, q.span.From, q.span.To); err != nil {
		return nil, err
	}
	found, err := q.totals.look(ctx, []Span{q.span}, true)
	var again, settled []DayProof
	for _, f := range found {
		if f.differs() || f.Verdict == sinks.VerdictUnsettled {
			again = append(again, f)
		} else {
			settled = append(settled, f)
		}
	}
	_, unsettled := q.totals.conclude(ctx, again)
	settled, stored := q.totals.conclude(ctx, settled)
	p.change(o, func(r *SourceReport) {
		r.Asked++
		o.asking.answered()
		if len(again) > 0 {
			r.SettlesAt = time.Now().Add(q.totals.Source.SettleAfter)
		}
	})
	p.count(o, q.totals, settled)
	return again, errors.Join(err, unsettled, stored)
}

// settle looks at the days of a stream again that differed. It returns those that differ still,
// whose verdicts are stored, and not counted yet.
func (p *Pass) settle(ctx context.Context, o *passOf, st *Totals, differed []DayProof, heal bool) ([]DayProof, error) {
	if len(differed) == 0 {
		return nil, nil
	}
	if err := st.Settling.Take(ctx); err != nil {
		return differed, err
	}
	defer st.Settling.Release()
	left, err := st.settle(ctx, differed, heal, func(found []DayProof, toHeal int) {
		p.change(o, func(r *SourceReport) {
			if r.ToHeal == 0 {
				r.ToHeal, o.healing, o.asking.left = toHeal, stream.Pace{}, 0
			}
			r.HealedDays = r.ToHeal - toHeal
			o.healing.Page(time.Now())
		})
		p.count(o, st, found)
	})
	p.change(o, func(r *SourceReport) { r.ToHeal, r.HealedDays = 0, 0 })
	left, stored := st.leave(ctx, left, p.request.Heal)
	return left, errors.Join(err, stored)
}

// afterResync compares days again that differed before a full resync of the orders. It returns those
// that differ still.
func (p *Pass) afterResync(ctx context.Context, o *passOf, st *Totals, differed []DayProof) ([]DayProof, error) {
	if len(differed) == 0 {
		return nil, nil
	}
	found, failed := st.lookAfter(ctx, differed)
	settled, differ := split(found)
	settled, err := st.conclude(ctx, settled)
	p.count(o, st, settled)
	left, settling := p.settle(ctx, o, st, differ, false)
	return left, errors.Join(failed, err, settling)
}

// count takes verdicts into the report.
func (p *Pass) count(o *passOf, st *Totals, found []DayProof) {
	p.change(o, func(r *SourceReport) {
		for _, f := range found {
			*r.of(f.Verdict)++
			o.days.note(f, &r.Days)
			if f.Verdict != sinks.VerdictProven && len(r.Open) < mostOpen {
				r.Open = append(r.Open, st.verdictOf(f))
			}
		}
		r.Locations = len(o.days.locations)
		slices.SortStableFunc(r.Open, func(a, b sinks.Verdict) int { return cmp.Compare(a.Day, b.Day) })
	})
}
