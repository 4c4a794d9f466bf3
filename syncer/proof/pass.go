package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Pass is one pass of some sources.
type Pass struct {
	request   Request
	startedAt time.Time
	runs      []*run // one of each source
}

// NewPass begins a pass of no sources yet.
func NewPass(r Request) *Pass { return &Pass{request: r, startedAt: time.Now()} }

// Add adds a source to the pass, before that begins.
func (p *Pass) Add(d *Shared) { p.runs = append(p.runs, newRun(d, p.request.Heal)) }

// Snapshot is the report so far.
func (p *Pass) Snapshot() Report {
	r := Report{StartedAt: p.startedAt, FinishedAt: time.Now()}
	for _, s := range p.runs {
		r.Sources = append(r.Sources, s.snapshot())
	}
	return r
}

// Ended notes how the pass of a source came to its end.
func (p *Pass) Ended(i int, state string, err error) {
	r := p.runs[i]
	r.change(func(so *SourceReport) { so.State, so.Err, r.left = state, status.FailureIn(state, err), 0 })
}

// Source asks for all days of every totals stream of a source, the newest first, and then
// looks again at those that differed. Where it is to heal, it ends after the full resync that is
// owed: it makes that, or waits for the one that a daemon makes.
// d are the days of the source as it is served now.
func (p *Pass) Source(ctx context.Context, i int, d *Shared) error {
	r, on := p.runs[i], d.On()
	r.change(func(*SourceReport) { r.shared = d })
	if len(on) == 0 {
		return d.noTotals()
	}
	d.passes.Add(1)
	defer d.passes.Add(-1)
	if d.notComparable() != nil && !d.Orders.Off() {
		if err := r.wait(ctx, d, "the backfill"); err != nil {
			return err
		}
	}
	if err := d.notComparable(); err != nil {
		return err
	}
	days, err := p.request.wanted(ctx, d)
	if err != nil {
		return err
	}
	spans, n := make([][]Span, len(on)), 0
	for i, st := range on {
		for _, sp := range slices.Backward(ranges(days)) { // the newest first
			for _, l := range st.deepLocations() {
				spans[i] = append(spans[i], Span{sp.From, sp.To, l})
			}
		}
		n += len(spans[i])
	}
	r.expectQuestions(n)
	r.change(func(so *SourceReport) { so.From, so.To = string(days.From), string(days.To) })
	differ := make([][]dayProof, len(on))
	var errs []error
	for i, st := range on {
		var err error
		if differ[i], err = r.firstLook(ctx, st, spans[i], true); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", st.Def.Name, err))
		}
	}
	return errors.Join(append(errs, r.settleAll(ctx, d, on, differ))...)
}

// settleAll looks again at the days that differed, and once more after the full resync that they owe.
func (r *run) settleAll(ctx context.Context, d *Shared, on []*Totals, differ [][]dayProof) error {
	var errs []error
	settle := func(st *Totals, differed []dayProof, fetch bool) (left []dayProof) {
		if len(differed) == 0 {
			return nil
		}
		left = differed
		errs = append(errs, st.Settling.Run(ctx, func(ctx context.Context) (err error) {
			left, err = r.settle(ctx, st, differed, fetch)
			return err
		}))
		return left
	}
	for i, st := range on {
		differ[i] = settle(st, differ[i], r.heal)
	}
	if r.heal && len(slices.Concat(differ...)) > 0 && d.Orders.Resyncing() {
		err := r.wait(ctx, d, "the full resync that the orders owe")
		errs = append(errs, err)
		for i, st := range on {
			if err == nil && len(differ[i]) > 0 {
				found, failed := lookAfter(ctx, st, differ[i])
				differs, settled := apart(found, dayProof.differs)
				settled, stored := st.verdicts.conclude(ctx, settled)
				r.count(st, settled)
				errs = append(errs, failed, stored)
				differ[i] = settle(st, differs, false)
			}
		}
	}
	for i, st := range on {
		r.count(st, differ[i])
	}
	return errors.Join(errs...)
}

// wait waits for a long walk of the orders that is under way, or makes it.
func (r *run) wait(ctx context.Context, d *Shared, what string) error {
	r.change(func(*SourceReport) { r.waiting = true })
	defer r.change(func(*SourceReport) { r.waiting = false })
	d.source.Log.Info("waiting for "+what+", to compare after it", "stream", registry.Orders)
	if err := d.Orders.Filler.Run(ctx, d.Orders.Fill); err != nil {
		return fmt.Errorf("%s of %s: %w", what, registry.Orders, err)
	}
	return nil
}

// noTotals is why no stream of totals is on.
func (d *Shared) noTotals() error {
	st := d.Daily
	if scopes := d.source.Identity().Scopes; st.Configured() && !st.Def.Allowed(scopes) {
		return fmt.Errorf("the service's totals cannot be asked for: %w %s (it has %s): ask the restaurant to grant it", stream.ErrNoScope, strings.Join(st.Def.Scopes, " or "), cmp.Or(strings.Join(scopes, " "), "none"))
	}
	return stream.Misfit("none of its streams of totals is on: the configuration must want " + registry.Daily)
}

// wanted is the range of the request.
func (r Request) wanted(ctx context.Context, d *Shared) (Span, error) {
	sp := Span{From: types.Date(r.From), To: types.Date(r.To)}
	today := d.today()
	if sp.To == "" || sp.To > today {
		sp.To = today
	}
	if sp.From == "" {
		first, err := d.firstDay(ctx)
		if err != nil {
			return sp, err
		}
		sp.From = first
		if _, at := d.Daily.filledTo(); at.First != "" && (first == "" || at.First < first) {
			sp.From = at.First // the mirror may have lost its rows of that day
		}
		if sp.From == "" || sp.From > sp.To {
			sp.From = sp.To
		}
	}
	if sp.From > sp.To {
		return sp, fmt.Errorf("there is nothing to compare yet from %s on: the restaurant's day is %s", sp.From, sp.To)
	}
	return sp, nil
}
