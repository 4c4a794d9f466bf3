package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// Reconciliation proves days (DESIGN §7): what the mirrored orders add up to is
// compared with what the service reports. Both sides move, so a day is bracketed: the
// orders are walked to the end and added up, the service is asked, and they are walked
// and added up once more. A day that equals the service's on either side is proven. One
// that moved in between is unsettled. One that is unchanged but unequal is only suspected,
// since a change may show up to two minutes after its stamp. It differs when a second
// bracket, after that time, shows the same difference (settle.go).

// DayProof is what a bracket found about one day.
type DayProof struct {
	Day      types.Date
	Location string // empty: all locations of the source together
	// Verdict is empty for a suspect.
	Verdict string
	Reason  string
	// explained is what api.md leaves open that a suspect may differ by; empty for nothing.
	explained string
	// Passing: it is unproven since nobody answered, which says nothing about it.
	Passing     bool
	differences []sinks.Difference
	ids         []string
	sum         uint64 // of the figures of both sides
	orders      uint64 // the larger of the two counts
	requests    uint64
	at          time.Time // by the service's clock
	Found       time.Time // by this machine's
	notHealed   NotHealed // why it was not healed
	tried       bool      // it was healed, and differs, or is left to the next deep run
	cut         bool      // its healing has not come to an end
}

func (p DayProof) key() string { return totals.DayKey(p.Day, p.Location) }

func (p DayProof) suspect() bool { return p.Verdict == "" }

// bracket asks for days between walks of the orders: the walk behind one question is
// the one before the next.
type bracket struct {
	totals *Proofs
	Found  []DayProof
	// silent: there is nothing to compare with yet, and nothing to be said of it.
	silent bool
	deep   bool  // it asks for many days, behind the turns
	broken error // why the orders could not be brought up to date, or added up
}

// NewBracket begins with a walk. Without compare the service is asked all the same,
// and nothing is compared.
func (st *Proofs) NewBracket(ctx context.Context, compare bool) *bracket {
	b := &bracket{totals: st, silent: !compare || st.NotComparable() != nil}
	b.walk(ctx)
	return b
}

// ErrIncomparable means that the orders of the mirror are not those to compare.
var ErrIncomparable = errors.New("not compared")

// NotComparable is why the orders of the mirror cannot be compared with anything, nil
// when they can.
func (st *Proofs) NotComparable() error {
	orders := st.beside.Orders
	switch {
	case orders.Off():
		off := fmt.Sprintf("the stream %s is off, so there is nothing to compare the service's totals with", registry.Orders)
		return fmt.Errorf("%w: %w", ErrIncomparable, &stream.MisfitError{Text: off})
	case !orders.Complete():
		return fmt.Errorf("%w: the backfill of %s has not reached its end: let larder run or larder sync finish it", ErrIncomparable, registry.Orders)
	}
	return nil
}

// lane is where the questions stand in the budget.
func (b *bracket) lane() *api.Client {
	if b.deep {
		return b.totals.Source.Lanes.Deep
	}
	return b.totals.Source.Lanes.Reconcile
}

// await waits until the limits have room for a deep question: where they are small that
// takes long, and the stream's guard is free meanwhile.
func (b *bracket) await(ctx context.Context) error {
	if !b.deep {
		return nil
	}
	return b.totals.Source.Lanes.AwaitDeep(ctx)
}

// Asker asks for a span in the bracket's own lane.
func (b *bracket) Asker() func(context.Context, totals.Span) error {
	return func(ctx context.Context, sp totals.Span) error { return b.ask(ctx, b.lane(), sp) }
}

// walk brings the orders up to date.
func (b *bracket) walk(ctx context.Context) {
	if b.silent || b.broken != nil {
		return
	}
	orders := b.totals.beside.Orders
	if err := orders.CatchUpNow(ctx); err != nil {
		b.broken = fmt.Errorf("the orders could not be brought up to date: %w", err)
	}
}

// ask asks for a span, stores what it brings and compares it. The caller holds the
// stream's guard. The error is about the question, or the sink's; the days are
// unproven then.
func (b *bracket) ask(ctx context.Context, lane *api.Client, sp totals.Span) error {
	if b.totals.NotAskedFor(sp.Location) {
		return nil
	}
	before := b.compute(ctx, sp)
	answer, err := b.totals.AskAndStore(ctx, lane, sp)
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
		b.all(sp, DayProof{Verdict: sinks.VerdictUnproven, Reason: b.broken.Error(), Passing: true, at: answer.At})
	default:
		if err := b.judge(ctx, sp, answer, before, after); err != nil {
			b.broken = err
			b.all(sp, DayProof{Verdict: sinks.VerdictUnproven, Reason: err.Error(), Passing: true, at: answer.At})
		}
	}
	return nil
}

// compute adds up the mirrored orders of a span.
func (b *bracket) compute(ctx context.Context, sp totals.Span) map[types.Date]dayFigures {
	if b.silent || b.broken != nil {
		return nil
	}
	st := b.totals
	sink, q := st.Source.Sink, st.dayQuery(sp)
	add := sink.SalesDays
	if st.Def.LinesMayVanish {
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

// dayQuery selects the orders that the source answers for (see stream.Source.Scope).
func (st *Proofs) dayQuery(sp totals.Span) sinks.DayQuery {
	s := st.Source
	key := s.Identity()
	var own sinks.LiveQuery
	s.Scope(key, &own)
	return sinks.DayQuery{
		Business: key.Business, From: string(sp.From), To: string(sp.To), Location: sp.Location,
		Source: own.Source, Locations: own.Locations, Except: own.Except,
	}
}

// judge compares each day of a span.
func (b *bracket) judge(ctx context.Context, sp totals.Span, answer totals.Report, before, after map[types.Date]dayFigures) error {
	service, seed := b.totals.readReport(sp, answer.Rows), b.totals.record.seed
	var found []DayProof
	for _, day := range sp.Days() {
		p := judgeDay(*service[day], before[day], after[day])
		p.Day, p.Location, p.at, p.Found, p.requests = day, sp.Location, answer.At, time.Now(), 1
		p.sum = service[day].sumOf(seed) ^ rotated(after[day].sumOf(seed))
		found = append(found, p)
	}
	if err := b.totals.explainRefunds(ctx, sp, found); err != nil {
		return err
	}
	if err := b.totals.reportTotals(ctx, sp, answer, service); err != nil {
		return err
	}
	b.Found = append(b.Found, found...)
	return nil
}

func rotated(sum uint64) uint64 { return sum<<1 | sum>>63 }

// judgeDay compares what the service says with the mirror before and after.
func judgeDay(service reported, before, after dayFigures) DayProof {
	p := DayProof{orders: max(countOf(service.figures), countOf(after))}
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

func countOf(f dayFigures) (n uint64) {
	if _, err := fmt.Sscan(f.figureOr("orders"), &n); err != nil {
		return 0
	}
	return n
}

// unproven notes that the days of a span could not be asked for.
func (b *bracket) unproven(sp totals.Span, err error) {
	if b.silent {
		return
	}
	b.all(sp, DayProof{Verdict: sinks.VerdictUnproven, Reason: "the service was asked: " + err.Error(), Passing: !totals.Refuses(sp.Location, err), at: b.totals.Source.ServiceNow().UTC()})
}

// all notes one finding for every day of a span.
func (b *bracket) all(sp totals.Span, p DayProof) {
	for _, day := range sp.Days() {
		p.Day, p.Location, p.requests = day, sp.Location, 1
		b.Found = append(b.Found, p)
	}
}

// doubtful are the days to look at once more: the suspects, and what was changed of
// days that the turns do not ask for.
func (b *bracket) doubtful() []DayProof {
	var all []DayProof
	for _, p := range b.Found {
		if p.suspect() || p.Verdict == sinks.VerdictUnsettled && !b.totals.Recent(p.Day) {
			all = append(all, p)
		}
	}
	return all
}
