package proof

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
)

// Reconciliation proves days (docs/rules.md, Proof): what the mirrored orders add up to is
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
	// explained is the refunds that the API's description leaves open, by which a day differs; empty for none.
	explained string
	removed   []string // orders whose refunds are its difference: each has to be asked for
	asked     []string // those that were
	// passing: the earlier verdict is kept. There was no answer, or it is to be asked again.
	passing     bool
	differences []sinks.Difference
	gap         gap
	same        bool // it differs by as much as at the look before
	ids         []string
	hash        uint64 // of the figures of both sides; of a day that differs, of what its verdict reports
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
	many   bool // it asks for many days, behind the turns
	// patient: nobody waits for the answer, so statements and rows may wait for other sources' ones.
	patient bool
	pending pending
	// broken is why nothing can be compared. There are no verdicts while there is nothing to
	// compare with yet (errIncomparable).
	broken error
}

// newBracket begins with a walk.
func newBracket(ctx context.Context, st *Totals, many bool) *bracket {
	b := &bracket{totals: st, many: many, broken: st.shared.notComparable()}
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

// walk brings the orders up to date.
func (b *bracket) walk(ctx context.Context) {
	if b.broken != nil {
		return
	}
	orders := b.totals.shared.Orders
	if err := orders.Hurry(ctx, func(ctx context.Context) error { return orders.Guard.Run(ctx, orders.CatchUp) }); err != nil {
		b.broken = fmt.Errorf("the orders could not be brought up to date: %w", err)
	}
}

// await waits until all that the bracket has handed to the sink is durable.
func (b *bracket) await(ctx context.Context) error {
	if b.patient {
		return b.pending.wait(ctx, sinks.Gathers(b.totals.Source.FlushInterval))
	}
	return b.pending.wait(ctx, 0)
}

// question asks for a span, hands what it brings to the sink and compares it. Where the limits are small, one of
// many waits long for its turn, and the stream's guard is free meanwhile. The error is about the question,
// or the sink's; the days are unproven then.
func (b *bracket) question(ctx context.Context, sp Span) (found []dayProof, err error) {
	if b.broken != nil { // by the question before
		b.broken = b.totals.shared.notComparable()
		b.walk(ctx)
	}
	if b.many {
		if err := b.totals.Source.Lanes.AwaitDeep(ctx); err != nil {
			return nil, err
		}
	}
	err = b.totals.Guard.Run(ctx, func(ctx context.Context) (err error) {
		found, err = b.ask(ctx, sp)
		return err
	})
	return found, err
}

// ask does so once the stream's guard is held.
func (b *bracket) ask(ctx context.Context, sp Span) ([]dayProof, error) {
	st := b.totals
	if st.NotAskedFor(sp.Location) {
		return nil, nil
	}
	lane := st.Source.Lanes.Reconcile
	if b.many {
		lane = st.Source.Lanes.Deep
	}
	before := b.compute(ctx, sp)
	in, r, err := st.askTotals(ctx, lane, sp, false)
	if err == nil {
		err = b.pending.store(ctx, st.Writer, in, len(r.Rows))
	}
	if err != nil {
		return b.unproven(sp, dayProof{Reason: "the service was asked: " + err.Error(), passing: !refuses(sp.Location, err), at: st.Source.ServiceNow().UTC()}), err
	}
	b.walk(ctx)
	after := b.compute(ctx, sp)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var found []dayProof
	if b.broken == nil {
		found, b.broken = b.judge(ctx, sp, r, before, after)
	}
	if b.broken != nil {
		found = b.unproven(sp, dayProof{Reason: b.broken.Error(), passing: true, at: r.Date})
	}
	return found, nil
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
	q := st.shared.dayQuery(sp)
	q.Patient = b.patient
	all, err := add(ctx, q)
	if err != nil {
		b.broken = fmt.Errorf("the mirrored orders could not be added up: %w", err)
		return nil
	}
	return mirrored(all)
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
func (b *bracket) judge(ctx context.Context, sp Span, r answer, before, after map[types.Date]dayFigures) ([]dayProof, error) {
	service := readReport(sp, r, b.totals.Def.LinesMayVanish)
	var found []dayProof
	for _, day := range sp.Days() {
		p := judgeDay(*service[day], before[day], after[day])
		p.Day, p.Location, p.at, p.found, p.requests = day, sp.Location, r.Date, time.Now(), 1
		p.first = p.found
		p.hash = service[day].figures.sumOf() ^ maphash.String(seed, service[day].aside()) ^ bits.RotateLeft64(after[day].sumOf(), 1)
		if len(p.differences) > 0 {
			p.gap = b.totals.verdicts.gap(p)
		}
		found = append(found, p)
	}
	return found, errors.Join(b.explainRefunds(ctx, sp, found), b.reportTotals(ctx, sp, r, service))
}

// judgeDay compares what the service reports with the mirror before and after.
func judgeDay(service reported, before, after dayFigures) (p dayProof) {
	if service.bad != "" {
		p.Verdict, p.Reason = sinks.VerdictUnproven, service.bad
		return p
	}
	p.differences = differ(service.figures, after, service.ignored)
	switch {
	case len(p.differences) == 0, len(differ(service.figures, before, service.ignored)) == 0:
		p.Verdict, p.Reason, p.differences = sinks.VerdictProven, service.aside(), nil
	case len(differ(before, after, service.ignored)) > 0:
		p.Verdict, p.Reason, p.differences = sinks.VerdictUnsettled, "orders of the day changed while it was compared", nil
	case onlyRounding(p.differences, after):
		p.Verdict, p.Reason = sinks.VerdictExplained, "the service rounds the gross of its lines otherwise: it differs by at most 0.005 for each line that is rounded, and 0.005 for the sum"
	}
	p.differences = p.differences[:min(len(p.differences), mostFigures)]
	return p
}

// unproven are the days of a span, none of which could be compared, for one reason.
func (b *bracket) unproven(sp Span, p dayProof) (found []dayProof) {
	if errors.Is(b.broken, errIncomparable) {
		return nil
	}
	for _, day := range sp.Days() {
		p.Day, p.Location, p.Verdict, p.requests = day, sp.Location, sinks.VerdictUnproven, 1
		found = append(found, p)
	}
	return found
}

// compare brackets some days once more, and returns by DayKey what it found. It fails when there is nothing
// to compare with.
func compare(ctx context.Context, st *Totals, days []dayProof) (map[string]dayProof, error) {
	if err := st.shared.notComparable(); err != nil {
		return nil, err
	}
	b, found := newBracket(ctx, st, false), map[string]dayProof{}
	for _, sp := range spansCovering(days) {
		now, err := b.question(ctx, sp)
		for _, p := range now {
			found[p.key()] = p
		}
		if err != nil {
			return found, errors.Join(err, b.await(ctx))
		}
	}
	return found, b.await(ctx)
}

// spansCovering returns the fewest ranges that cover the days.
func spansCovering(days []dayProof) []Span {
	var all []Span
	for _, p := range days {
		all = append(all, Span{p.Day, p.Day, p.Location})
	}
	return Covering(all)
}
