package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// run compares days of a source with the service and heals what differs: yesterday and today (a turn),
// the last 92 days (a deep run), or the days of a request (a pass of larder reconcile).
type run struct {
	heal    bool // days that differ are healed, else only reported
	patient bool // nobody waits for what it finds at first

	mu        sync.Mutex // guards what follows
	shared    *Shared
	began     time.Time
	report    SourceReport
	again     []dayProof         // the days that are looked at again
	left      int                // questions to come
	pace      stream.Pace        // of questions; of days while some are being healed
	broken    error              // why days could not be compared
	waiting   bool               // for the backfill, or a full resync, of the orders
	days      map[types.Date]int // the worst ranks of the verdicts about them
	locations map[string]bool    // locations that have verdicts of their own
}

func newRun(d *Shared, heal bool) *run {
	return &run{heal: heal, shared: d, began: time.Now(), report: SourceReport{Source: d.source.Name}, days: map[types.Date]int{}, locations: map[string]bool{}}
}

// change changes what is known of the run.
func (r *run) change(change func(*SourceReport)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report)
}

// expectQuestions notes how many questions there are to ask.
func (r *run) expectQuestions(n int) {
	r.change(func(so *SourceReport) { so.Steps, r.left = n, n })
}

// snapshot is the report so far.
func (r *run) snapshot() SourceReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	so := r.report
	so.Open = slices.Clone(so.Open) // the run goes on sorting its own
	so.ExpectedLeft = r.expect()
	so.Locations = len(r.locations)
	for _, rank := range r.days {
		so.Days.count(rank)
	}
	if r.waiting {
		so.Backfill = r.shared.Orders.Progress()
	}
	return so
}

// progress is how far the run is and how long it will take.
func (r *run) progress() *status.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &status.Progress{
		Walk: status.WalkDeep, StartedAt: r.began, Pages: uint64(r.report.Asked), RequestsLeft: uint64(r.left),
		ExpectedLeft: r.expect(), Suspects: r.report.Suspects,
	}
}

// answersForPace are enough for the pace at which questions are answered; of fewer, one that waited
// for another stream's would decide.
const answersForPace = 4

// expect is how long the questions, or healings, will take: as the limits let them pass, or as they
// are answered, whichever is slower. The caller holds mu.
func (r *run) expect() status.Seconds {
	so := &r.report
	switch {
	case so.HealedDays < so.ToHeal:
		return status.Seconds(r.pace.Left(uint64(so.ToHeal - so.HealedDays)))
	case r.left <= 0:
		return 0
	}
	left := r.shared.source.Lanes.ExpectDeep(r.left)
	if so.Asked >= answersForPace {
		left = max(left, r.pace.Left(uint64(r.left)))
	}
	if so.Asked == so.Steps {
		left += max(time.Until(so.SettlesAt), 0)
	}
	return status.Seconds(left)
}

// firstLook asks for spans of days of a stream and hands what is found to the sink after each question, which
// waits for no flush: all of it is durable at the end. Between two of many questions the turns are asked. It returns
// the days to look at again: those that differ, and of many questions those that moved, too. A location that is
// refused holds up no other.
func (r *run) firstLook(ctx context.Context, st *Totals, spans []Span, many bool) (again []dayProof, err error) {
	err = st.Attempt(ctx, sinks.WalkTotals, func(ctx context.Context) error {
		if many && !slices.Contains(st.Asked(), "") {
			if err := st.verdicts.withdrawOfAll(ctx); err != nil {
				return err
			}
		}
		if err := st.shared.readFirstDay(ctx, many && slices.Index(st.shared.On(), st) == 0); err != nil { // one stream is enough
			return err
		}
		from := st.shared.today()
		for _, sp := range spans {
			from = min(from, sp.From)
		}
		if err := st.shared.restore(ctx, from); err != nil {
			return err
		}
		b := newBracket(ctx, st, many)
		b.patient = r.patient
		ask, hold := b.question, func(ctx context.Context, f func(context.Context) error) error { return f(ctx) }
		if !many { // no question of a long walk comes between
			ask, hold = b.ask, st.Guard.Run
		}
		asked := hold(ctx, func(ctx context.Context) error {
			return st.each(spans, func(sp Span) error {
				found, err := ask(ctx, sp)
				differ, settled := apart(found, func(p dayProof) bool { return p.differs() || many && p.Verdict == sinks.VerdictUnsettled })
				again = append(again, differ...)
				_, unsettled := st.verdicts.handOver(ctx, differ, &b.pending)
				settled, handed := st.verdicts.handOver(ctx, settled, &b.pending)
				r.answered(differ, b.broken)
				r.count(st, settled)
				if err != nil && many {
					err = fmt.Errorf("from %s to %s: %w", sp.From, sp.To, err)
				}
				if err = errors.Join(err, unsettled, handed); err == nil && b.pending.rows > mostPending {
					err = b.pending.wait(ctx, 0)
				}
				return err
			})
		})
		return errors.Join(asked, b.await(ctx))
	})
	return again, err
}

// answered counts a question, and the days that are looked at again for it.
func (r *run) answered(differ []dayProof, broken error) {
	r.change(func(so *SourceReport) {
		r.again, r.broken = append(r.again, differ...), cmp.Or(r.broken, broken)
		so.Asked++
		days := map[types.Date]bool{}
		for _, p := range r.again {
			days[p.Day] = true
		}
		so.Suspects = len(days)
		r.left--
		r.pace.Page(time.Now())
		if len(differ) > 0 {
			so.SettlesAt = newestAsk(differ).Add(r.shared.source.SettleAfter)
		}
		if so.Asked == so.Steps {
			r.left = len(spansCovering(r.again))
		}
	})
}

// healed counts the verdicts about days that were looked at again, some of them healed; so many are
// still to be healed.
func (r *run) healed(st *Totals, found []dayProof, toHeal int) {
	r.change(func(so *SourceReport) {
		if so.ToHeal == 0 {
			so.ToHeal, r.pace, r.left = toHeal, stream.Pace{}, 0
		}
		so.HealedDays = so.ToHeal - toHeal
		r.pace.Page(time.Now())
	})
	r.count(st, found)
}

// count takes verdicts into the report.
func (r *run) count(st *Totals, found []dayProof) {
	r.change(func(so *SourceReport) {
		for _, p := range found {
			rank := rankOf(p.Verdict)
			so.count(rank)
			r.days[p.Day] = max(r.days[p.Day], rank)
			if p.Location != "" {
				r.locations[p.Location] = true
			}
			if p.Verdict != sinks.VerdictProven && len(so.Open) < mostOpen {
				so.Open = append(so.Open, st.verdicts.verdictOf(p))
			}
		}
		slices.SortStableFunc(so.Open, func(a, b sinks.Verdict) int { return cmp.Compare(a.Day, b.Day) })
	})
}
