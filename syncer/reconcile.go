package syncer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
)

// Reconciliation proves days (DESIGN §7): what the mirrored orders add up to is
// compared with what the service reports. Both sides move, so a day is bracketed: the
// orders are walked to the end and added up, the service is asked, and they are walked
// and added up once more. A day that equals the service's on either side is proven. One
// that moved in between is unsettled. One that is unchanged but unequal is only suspected,
// since a change may show up to two minutes after its stamp. It differs when a second
// bracket, after that time, shows the same difference (reconcile_settle.go).

// dayProof is what a bracket found about one day.
type dayProof struct {
	day      api.Date
	location string // empty: all locations of the source together
	// verdict is empty for a suspect.
	verdict string
	reason  string
	// passing: it is unproven since nobody answered, which says nothing about it.
	passing     bool
	differences []sinks.Difference
	ids         []string
	sum         uint64 // of the figures of both sides
	orders      uint64 // the larger of the two counts
	requests    uint64
	at          time.Time // by the service's clock
	found       time.Time // by this machine's
	tried       bool      // it was healed, and differs
	cut         bool      // its healing has not come to an end
}

func (p dayProof) key() string { return dayKey(p.day, p.location) }

func (p dayProof) suspect() bool { return p.verdict == "" }

// bracket asks for days between walks of the orders: the walk behind one question is
// the one before the next.
type bracket struct {
	totals *totals
	found  []dayProof
	// silent: there is nothing to compare with yet, and nothing to be said of it.
	silent bool
	deep   bool  // it asks for many days, behind the turns
	broken error // why the orders could not be brought up to date, or added up
}

// newBracket begins with a walk. Without compare the service is asked all the same,
// and nothing is compared.
func (st *totals) newBracket(ctx context.Context, compare bool) *bracket {
	b := &bracket{totals: st, silent: !compare || st.notComparable() != nil}
	b.walk(ctx)
	return b
}

// errIncomparable tells that the orders of the mirror are not those to compare.
var errIncomparable = errors.New("not compared")

// notComparable is why the orders of the mirror cannot be compared with anything, nil
// when they can.
func (st *totals) notComparable() error {
	orders := st.beside.orders
	switch {
	case orders.off():
		off := fmt.Sprintf("the stream %s is off, so there is nothing to compare the service's totals with", registry.Orders)
		return fmt.Errorf("%w: %w", errIncomparable, &MisfitError{off})
	case !orders.complete():
		return fmt.Errorf("%w: the backfill of %s has not reached its end: let larder run or larder sync finish it", errIncomparable, registry.Orders)
	}
	return nil
}

// lane is where the questions stand in the budget.
func (b *bracket) lane() *api.Client {
	if b.deep {
		return b.totals.source.lanes.deep
	}
	return b.totals.source.lanes.reconcile
}

// await waits until the limits have room for a deep question: where they are small that
// takes long, and the stream's guard is free meanwhile.
func (b *bracket) await(ctx context.Context) error {
	if !b.deep {
		return nil
	}
	return b.totals.source.lanes.awaitDeep(ctx)
}

// walk brings the orders up to date.
func (b *bracket) walk(ctx context.Context) {
	if b.silent || b.broken != nil {
		return
	}
	orders := b.totals.beside.orders
	if err := orders.catchUpNow(ctx); err != nil {
		b.broken = fmt.Errorf("the orders could not be brought up to date: %w", err)
	}
}

// ask asks for a span, stores what it brings and compares it. The caller holds the
// stream's guard. The error is about the question, or the sink's; the days are
// unproven then.
func (b *bracket) ask(ctx context.Context, lane *api.Client, sp span) error {
	if b.totals.notAskedFor(sp.location) {
		return nil
	}
	before := b.compute(ctx, sp)
	answer, err := b.totals.askAndStore(ctx, lane, sp)
	if err != nil {
		b.unproven(sp, err)
		return err
	}
	b.walk(ctx)
	after := b.compute(ctx, sp)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch {
	case b.silent:
	case b.broken != nil:
		b.all(sp, dayProof{verdict: sinks.VerdictUnproven, reason: b.broken.Error(), passing: true, at: answer.at})
	default:
		b.judge(sp, answer, before, after)
	}
	return nil
}

// askAndStore asks for a span and stores the days that have changed.
func (st *totals) askAndStore(ctx context.Context, lane *api.Client, sp span) (report, error) {
	in, answer, err := st.askTotals(ctx, lane, sp)
	if err != nil {
		return report{}, err
	}
	if in.Empty() {
		in.PassedBy()
		return answer, nil
	}
	return answer, st.writer.Store(ctx, in)
}

// compute adds up the mirrored orders of a span.
func (b *bracket) compute(ctx context.Context, sp span) map[api.Date]dayFigures {
	if b.silent || b.broken != nil {
		return nil
	}
	st := b.totals
	sink, q := st.source.sink, st.dayQuery(sp)
	add := sink.SalesDays
	if st.def.Vanish {
		add = sink.SalesProducts
	}
	all, err := add(ctx, q)
	if err != nil {
		b.broken = fmt.Errorf("the mirrored orders could not be added up: %w", err)
		return nil
	}
	days, err := mirrored(all)
	if err != nil {
		b.broken = err
	}
	return days
}

// dayQuery selects the orders that the source answers for (see scope).
func (st *totals) dayQuery(sp span) sinks.DayQuery {
	s := st.source
	key := s.identity()
	var own sinks.LiveQuery
	s.scope(key, &own)
	return sinks.DayQuery{
		Business: key.business, From: string(sp.from), To: string(sp.to), Location: sp.location,
		Source: own.Source, Locations: own.Locations, Except: own.Except,
	}
}

// judge compares each day of a span.
func (b *bracket) judge(sp span, answer report, before, after map[api.Date]dayFigures) {
	service, seed := b.totals.readReport(sp, answer.rows), b.totals.seed
	for _, day := range sp.days() {
		p := judgeDay(*service[day], before[day], after[day])
		p.day, p.location, p.at, p.found, p.requests = day, sp.location, answer.at, time.Now(), 1
		p.sum = service[day].sumOf(seed) ^ rotated(after[day].sumOf(seed))
		b.found = append(b.found, p)
	}
}

func rotated(sum uint64) uint64 { return sum<<1 | sum>>63 }

// judgeDay compares what the service says with the mirror before and after.
func judgeDay(service reported, before, after dayFigures) dayProof {
	p := dayProof{orders: max(countOf(service.figures), countOf(after))}
	if service.bad != "" {
		p.verdict, p.reason = sinks.VerdictUnproven, service.bad
		return p
	}
	before, after = service.comparable(before), service.comparable(after)
	p.differences = differ(service.figures, after)
	switch {
	case len(p.differences) == 0, len(differ(service.figures, before)) == 0:
		p.verdict, p.reason, p.differences = sinks.VerdictProven, service.aside(), nil
	case len(differ(before, after)) > 0:
		p.verdict, p.reason, p.differences = sinks.VerdictUnsettled, "orders of the day changed while it was compared", nil
	}
	return p
}

func countOf(f dayFigures) (n uint64) {
	if _, err := fmt.Sscan(f.figureOr("orders"), &n); err != nil {
		return 0
	}
	return n
}

// unproven notes that the days of a span could not be asked for.
func (b *bracket) unproven(sp span, err error) {
	if b.silent {
		return
	}
	b.all(sp, dayProof{verdict: sinks.VerdictUnproven, reason: "the service was asked: " + err.Error(), passing: !refuses(sp.location, err), at: b.totals.source.serviceNow().UTC()})
}

// all notes one finding for every day of a span.
func (b *bracket) all(sp span, p dayProof) {
	for _, day := range sp.days() {
		p.day, p.location, p.requests = day, sp.location, 1
		b.found = append(b.found, p)
	}
}

// doubtful are the days to look at once more: the suspects, and what was changed of
// days that the turns do not ask for.
func (b *bracket) doubtful() []dayProof {
	var all []dayProof
	for _, p := range b.found {
		if p.suspect() || p.verdict == sinks.VerdictUnsettled && !b.totals.recent(p.day) {
			all = append(all, p)
		}
	}
	return all
}
