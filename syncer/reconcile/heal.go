package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
)

// Healing walks the orders of a day that differs in range mode, tombstones included,
// and writes every row again. What is live on that day in the mirror below the version
// with which that began was not shown by the service: it is asked for one by one, and
// removed when the answer is 404.
//
// Refunds count on the day they were made, and belong to orders of other days. When the
// refunds differ, the orders of those that the mirror has are asked for. The others are
// looked for among the orders that changed on that day or later, and those of the week
// before. What differs after that stays a drift, for a person to look at.

// walkHeal names healing in runs and metrics. It has no checkpoint: the next run
// begins anew.
const walkHeal = "heal"

// extraRequests bound a healing beside the pages of its day.
const extraRequests = 120

// weekBefore is how many days before a day may hold the orders of its refunds that are
// not among those of the mirror.
const weekBefore = 7

// heal is the healing of one day.
type heal struct {
	orders *list.List
	totals *Proofs // one of whose days differs
	rows   *mapping.Comparer
	day    types.Date
	first  uint64 // rows below it were not shown
	most   uint64 // pages of one walk
	Extra  int    // requests left beside the pages of the day
	looks  uint64 // how often the day was asked for again
	IDs    []string
	// Rows that stay as they are.
	Left []string // since more were missing than are asked for one by one
	Lost []string // since the key does not have their location now
	Run  sinks.Run
}

// NewHeal begins the healing of a day; drifts are what was found of it.
func (st *Proofs) NewHeal(day types.Date, drifts []DayProof) *heal {
	s := st.Source
	h := &heal{
		orders: st.beside.Orders, totals: st, day: day, Extra: extraRequests, first: s.Versions.Take(1),
		Run: sinks.Run{Source: s.Name, Stream: registry.Orders, Walk: walkHeal, StartedAt: time.Now()},
	}
	h.rows = h.orders.Def.Plan.NewComparer(0)
	for _, p := range drifts {
		h.most = max(h.most, p.orders)
	}
	h.most += extraRequests // a page brings a row at least, unless all of it was removed
	return h
}

// healDay heals a day and looks at it again; drifts are its verdicts so far. Earlier
// are the orders that the run has healed on other days: one that had moved is healed on
// the day that has it, and the day that had lost it is whole then.
func (st *Proofs) healDay(ctx context.Context, day types.Date, drifts []DayProof, earlier []string) ([]DayProof, error) {
	h := st.NewHeal(day, drifts)
	now, err := drifts, error(nil)
	for _, step := range h.steps(drifts) {
		if !step.helps(now) {
			continue
		}
		if err = step.run(ctx); err == nil {
			now, err = h.lookAgain(ctx, drifts)
		}
		if err != nil || !slices.ContainsFunc(now, DayProof.suspect) {
			break
		}
	}
	h.ended(ctx, err)
	if len(h.IDs) == 0 {
		h.IDs = earlier
	}
	st.beside.Healed[day] = repair{at: time.Now(), IDs: fewIDs(h.IDs)}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i, before := range drifts {
		drifts[i] = h.verdict(before, proofIn(now, before), err)
	}
	return drifts, nil
}

// repair is what the last healing of a day did. The source's slot for healings guards
// it.
type repair struct {
	at  time.Time
	IDs []string
}

// step is one way to heal a day; what is small comes first.
type step struct {
	helps func(now []DayProof) bool
	run   func(ctx context.Context) error
}

func (h *heal) steps(drifts []DayProof) []step {
	always := func([]DayProof) bool { return true }
	var locations []string
	for _, p := range drifts {
		if p.Location != "" {
			locations = append(locations, p.Location)
		}
	}
	whole := step{always, func(ctx context.Context) error { return h.WalkDay(ctx, "") }}
	var steps []step
	if len(locations) > 0 { // narrower than all of the source
		steps = append(steps, step{always, func(ctx context.Context) error { return h.walkLocations(ctx, locations) }})
	} else {
		steps = append(steps, whole)
	}
	for _, run := range []func(context.Context) error{h.RefundedOrders, h.ChangesOfDay, h.WeekBefore, h.ChangesSince} {
		steps = append(steps, step{refundsDiffer, run})
	}
	if len(locations) > 0 && len(locations) < len(drifts) {
		steps = append(steps, whole)
	}
	return steps
}

func refundsDiffer(now []DayProof) bool {
	return slices.ContainsFunc(now, func(p DayProof) bool {
		return slices.ContainsFunc(p.differences, func(d sinks.Difference) bool { return d.Figure == "refunds" })
	})
}

func proofIn(all []DayProof, of DayProof) DayProof {
	i := slices.IndexFunc(all, func(p DayProof) bool { return p.key() == of.key() })
	if i < 0 {
		return of
	}
	return all[i]
}

// lookAgain brackets the days once more, and again while orders of them
// change.
func (h *heal) lookAgain(ctx context.Context, drifts []DayProof) (now []DayProof, err error) {
	for range settleRounds {
		h.looks++
		if now, err = h.totals.look(ctx, spansCovering(drifts), false, nil); err != nil {
			return now, err
		}
		if !slices.ContainsFunc(now, func(p DayProof) bool { return p.Verdict == sinks.VerdictUnsettled }) {
			break
		}
	}
	return now, nil
}

// verdict is what a day is after its healing. One that still differs, but otherwise
// than before, is a suspect again: orders of it may be on their way.
func (h *heal) verdict(before, now DayProof, err error) DayProof {
	now.requests = before.requests + h.Run.Requests + h.looks
	now.ids = slices.Concat(h.IDs, h.Left, h.Lost)
	switch {
	case err != nil && (api.IsTemporary(err) || errors.Is(err, ErrIncomparable)):
		now.Verdict, now.differences, now.cut = sinks.VerdictUnsettled, before.differences, true
		now.Reason = "it differs, and its healing was cut short, so it is tried again: " + err.Error()
	case err != nil:
		now.Verdict, now.differences, now.tried = sinks.VerdictDrift, before.differences, true
		now.Reason = "its healing failed: " + err.Error()
	case now.Verdict == sinks.VerdictProven: // by this healing, or that of a day before in the same run
		now.Verdict, now.differences = sinks.VerdictHealed, before.differences
	case now.Verdict == sinks.VerdictDrift, now.suspect() && sameGap(before.differences, now.differences):
		now.Verdict, now.Reason, now.tried = sinks.VerdictDrift, h.Reason(), true
		switch {
		case now.Reason != "": // the refunds may be in what was left
		case now.explained != "":
			now.Verdict, now.Reason = sinks.VerdictExplained, now.explained
		default:
			now.Reason = "all orders of the day were fetched anew, and they add up to other figures than the service reports"
		}
	case now.suspect():
		now.tried = true
	}
	return now
}

// Reason is why a day differs still, as far as the healing has found that; else empty.
func (h *heal) Reason() string {
	if len(h.Left) > 0 {
		return fmt.Sprintf("%d rows of the mirror are not in the service's list of the day; that is more than are asked for one by one, so none was removed: larder sync --full", len(h.Left))
	}
	if len(h.Lost) > 0 {
		lost := len(slices.Compact(slices.Sorted(slices.Values(h.Lost))))
		return fmt.Sprintf("%s of the mirror %s of locations that the key does not have now, and left to the next full resync: larder sync --full", text.Plural(lost, "row"), text.Verb(lost, "is", "are"))
	}
	var bad []string
	for _, id := range h.IDs {
		if h.orders.Writer.MaybeQuarantined(id) {
			bad = append(bad, id)
		}
	}
	if len(bad) > 0 {
		return "orders of the day are in quarantine: " + strings.Join(bad[:min(len(bad), 10)], ", ")
	}
	return ""
}

// ended stores the run.
func (h *heal) ended(ctx context.Context, err error) {
	s := h.orders.Source
	h.Run.FinishedAt = time.Now()
	if err != nil {
		h.Run.Error = err.Error()
	}
	s.Metrics.Walked(registry.Orders, walkHeal, err, time.Since(h.Run.StartedAt))
	c := s.Commit(registry.Orders)
	run := h.Run
	c.Run = &run
	if _, err := s.Commits.Write(ctx, c); err != nil && ctx.Err() == nil {
		s.Log.Error("store the run of a healing", "day", h.day, "err", err)
	}
}
