package proof

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
)

// Reconciliation proves days (DESIGN §7): what the mirrored orders add up to is
// compared with what the service reports. Both sides move, so a day is bracketed: the
// orders are walked to the end and added up, the service is asked, and they are walked
// and added up once more. A day that equals the service's on either side is proven. One
// that moved in between is unsettled. One that is unchanged but unequal differs, as far as one
// can see: a change may show up to two minutes after its stamp. So it is a drift only when a
// second bracket, after that time, shows the same difference (recheck.go).

// dayProof is what a bracket found about one day.
type dayProof struct {
	Day      types.Date
	Location string // empty: all locations of the source together
	// Verdict is empty for a day that differs, as far as one bracket can show.
	Verdict string
	Reason  string
	// explained is the refunds that api.md leaves open, by which a day differs; empty for none.
	explained string
	removed   []string // orders whose refunds are its difference: each has to be asked for
	asked     []string // those that were
	// passing: the earlier verdict is kept. There was no answer, or it is to be asked again.
	passing     bool
	differences []sinks.Difference
	gap         gap
	ids         []string
	sum         uint64 // of the figures of both sides
	verdictHash uint64 // of a day that differs: hash of what its verdict reports
	isNew       bool   // it is not the last verdict over again
	requests    uint64
	at          time.Time // by the service's clock
	found       time.Time // by this machine's
	first       time.Time // when the first look found it
}

// gap is what is known of a difference, as long as it is the same.
type gap struct {
	hash     uint64 // 0 for none
	found    uint64 // the version clock when it was found
	since    uint64 // and when the day was found to differ, by other figures perhaps
	fetched  bool   // fetching the day's orders anew did not help
	resynced bool   // a full resync that began after the day was found to differ did not help
}

func (p dayProof) key() string { return DayKey(p.Day, p.Location) }

func (p dayProof) differs() bool { return p.Verdict == "" }

// bracket asks for days between walks of the orders: the walk behind one question is
// the one before the next.
type bracket struct {
	totals *Totals
	found  []dayProof
	deep   bool // it asks for many days, behind the turns
	// broken is why nothing can be compared any more. There are no verdicts while there is nothing to
	// compare with yet (errIncomparable).
	broken error
}

// newBracket begins with a walk.
func (st *Totals) newBracket(ctx context.Context, deep bool) *bracket {
	b := &bracket{totals: st, deep: deep, broken: st.shared.notComparable()}
	b.walk(ctx)
	return b
}

// errIncomparable means that the orders of the mirror are not those to compare.
var errIncomparable = errors.New("not compared")

// notComparable is why the orders of the mirror cannot be compared with anything, nil
// when they can.
func (d *Shared) notComparable() error {
	switch {
	case d.Orders.Off():
		off := fmt.Sprintf("the stream %s is off, so there is nothing to compare the service's totals with", registry.Orders)
		return fmt.Errorf("%w: %w", errIncomparable, stream.Misfit(off))
	case !d.Orders.Complete():
		return fmt.Errorf("%w: the backfill of %s has not reached its end: let larder run or larder sync finish it", errIncomparable, registry.Orders)
	}
	return nil
}

// await waits until the limits have room for a deep question: where they are small that
// takes long, and the stream's guard is free meanwhile.
func (b *bracket) await(ctx context.Context) error {
	if !b.deep {
		return nil
	}
	return b.totals.Source.Lanes.AwaitDeep(ctx)
}

// walk brings the orders up to date.
func (b *bracket) walk(ctx context.Context) {
	if b.broken != nil {
		return
	}
	if err := b.totals.shared.Orders.Guard.Run(ctx, b.totals.shared.Orders.CatchUp); err != nil {
		b.broken = fmt.Errorf("the orders could not be brought up to date: %w", err)
	}
}

// ask asks for a span, stores what it brings and compares it. The caller holds the
// stream's guard. The error is about the question, or the sink's; the days are
// unproven then.
func (b *bracket) ask(ctx context.Context, sp Span) error {
	st := b.totals
	if st.NotAskedFor(sp.Location) {
		return nil
	}
	lane := st.Source.Lanes.Reconcile
	if b.deep {
		lane = st.Source.Lanes.Deep
	}
	before := b.compute(ctx, sp)
	r, err := st.askAndStore(ctx, lane, sp)
	if err != nil {
		b.unproven(sp, dayProof{Reason: "the service was asked: " + err.Error(), passing: !refuses(sp.Location, err), at: st.Source.ServiceNow().UTC()})
		return err
	}
	b.walk(ctx)
	after := b.compute(ctx, sp)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if b.broken == nil {
		b.broken = b.judge(ctx, sp, r, before, after)
	}
	if b.broken != nil {
		b.unproven(sp, dayProof{Reason: b.broken.Error(), passing: true, at: r.Date})
	}
	return nil
}

// compute adds up the mirrored orders of a span.
func (b *bracket) compute(ctx context.Context, sp Span) map[types.Date]dayFigures {
	if b.broken != nil {
		return nil
	}
	st := b.totals
	add := st.Source.Sink.SalesDays
	if st.Def.LinesMayVanish {
		add = st.Source.Sink.SalesProducts
	}
	all, err := add(ctx, st.shared.dayQuery(sp))
	if err != nil {
		b.broken = fmt.Errorf("the mirrored orders could not be added up: %w", err)
		return nil
	}
	days, err := mirrored(all)
	b.broken = err
	return days
}

// dayQuery selects the orders that the source answers for (see stream.Source.Scope).
func (d *Shared) dayQuery(sp Span) sinks.DayQuery {
	key := d.source.Identity()
	var own sinks.LiveQuery
	d.source.Scope(key, &own)
	return sinks.DayQuery{
		Business: key.Business, From: string(sp.From), To: string(sp.To), Location: sp.Location,
		Source: own.Source, Locations: own.Locations, Except: own.Except,
	}
}

// judge compares each day of a span.
func (b *bracket) judge(ctx context.Context, sp Span, r answer, before, after map[types.Date]dayFigures) error {
	service := readReport(sp, r, b.totals.Def.LinesMayVanish)
	var found []dayProof
	for _, day := range sp.Days() {
		p := judgeDay(*service[day], before[day], after[day])
		p.Day, p.Location, p.at, p.found, p.requests = day, sp.Location, r.Date, time.Now(), 1
		p.sum = service[day].sumOf() ^ bits.RotateLeft64(after[day].sumOf(), 1)
		if len(p.differences) > 0 {
			p.gap = b.totals.verdicts.gap(p)
		}
		found = append(found, p)
	}
	if err := b.explainRefunds(ctx, sp, found); err != nil {
		return err
	}
	if err := b.reportTotals(ctx, sp, r, service); err != nil {
		return err
	}
	b.found = append(b.found, found...)
	return nil
}

// judgeDay compares what the service reports with the mirror before and after.
func judgeDay(service reported, before, after dayFigures) (p dayProof) {
	if service.bad != "" {
		p.Verdict, p.Reason = sinks.VerdictUnproven, service.bad
		return p
	}
	before, after = service.comparable(before), service.comparable(after)
	p.differences = differ(service.figures, after)
	switch {
	case len(p.differences) == 0, len(differ(service.figures, before)) == 0:
		p.Verdict, p.Reason, p.differences = sinks.VerdictProven, service.aside(), nil
	case len(differ(before, after)) > 0:
		p.Verdict, p.Reason, p.differences = sinks.VerdictUnsettled, "orders of the day changed while it was compared", nil
	case onlyRounding(p.differences, after):
		p.Verdict, p.Reason = sinks.VerdictExplained, "the service rounds the gross of its lines otherwise: it differs by at most 0.005 for each line that is rounded, and 0.005 for the sum"
	}
	p.differences = p.differences[:min(len(p.differences), mostFigures)]
	return p
}

// unproven notes that every day of a span is unproven, for one reason.
func (b *bracket) unproven(sp Span, p dayProof) {
	if errors.Is(b.broken, errIncomparable) {
		return
	}
	for _, day := range sp.Days() {
		p.Day, p.Location, p.Verdict, p.requests = day, sp.Location, sinks.VerdictUnproven, 1
		b.found = append(b.found, p)
	}
}

// doubtful are the days to look at once more: those that differ, and what was changed of days
// that the turns do not ask for.
func (b *bracket) doubtful() []dayProof {
	var all []dayProof
	for _, p := range b.found {
		if p.differs() || p.Verdict == sinks.VerdictUnsettled && !b.totals.shared.isRecent(p.Day) {
			all = append(all, p)
		}
	}
	return all
}

// compare brackets some spans, and leaves the stream's guard free between two of them. It fails
// when there is nothing to compare with.
func (st *Totals) compare(ctx context.Context, spans []Span, deep bool) ([]dayProof, error) {
	if err := st.shared.notComparable(); err != nil {
		return nil, err
	}
	b := st.newBracket(ctx, deep)
	for _, sp := range spans {
		if err := b.await(ctx); err != nil {
			return b.found, err
		}
		if err := st.Guard.Run(ctx, func(ctx context.Context) error { return b.ask(ctx, sp) }); err != nil {
			return b.found, err
		}
	}
	return b.found, nil
}

// spansCovering returns the fewest ranges that cover the days.
func spansCovering(days []dayProof) []Span {
	places := make([]Span, len(days))
	for i, p := range days {
		places[i] = Span{From: p.Day, To: p.Day, Location: p.Location}
	}
	return Covering(places)
}
