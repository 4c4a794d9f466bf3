package syncer

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// damageEvent is drawn beside the other kinds, where every change is told by the
// service: what differs then is damage, or was served other than it is.
var damageEvent = &kind{name: "damage", happen: damageOrders}

// done is what was damaged in an episode.
type done struct {
	business int
	*damage
}

// alarm is a verdict that claims that a day differed.
type alarm struct {
	business int
	at       time.Time
	unseen   bool // see unseenRefunds
	sinks.Verdict
}

func damageOrders(e *episode, g *rand.Rand) string {
	if e.real != nil {
		return "not in this warehouse"
	}
	b := e.anyBusiness(g)
	v := e.vandal(b, g)
	for _, d := range e.damages {
		for id := range d.was {
			v.done[strings.TrimSuffix(id, copied)] = v.done[strings.TrimSuffix(id, copied)] || d.business == b
		}
	}
	orders := v.orders(func(r memsink.Row) bool { return !r.Deleted })
	if len(orders) == 0 {
		return "no order"
	}
	d := v.harm(readSold(orders[0].Raw).Day)
	if d == nil {
		return "nothing to damage"
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.damages = append(e.damages, done{b, d})
	return d.String()
}

// damagedRows are the orders of a restaurant that were ever damaged.
func (e *episode) damagedRows(business int) map[string]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids := map[string]bool{}
	for _, d := range e.damages {
		for id := range d.was {
			ids[id] = ids[id] || d.business == business
		}
	}
	return ids
}

// unDeleted is true when an order lived by mistake. When range mode does not list it,
// being cancelled or unpaid, 404 is all that healing knows of it, until a full resync.
func (e *episode) unDeleted(id string) bool {
	return slices.ContainsFunc(e.damages, func(d done) bool { return d.wasUnDeleted(id) })
}

// provable are the sources whose days can be proven.
func (e *episode) provable() (sources []string) {
	for i, s := range e.syncer.Status().Sources {
		if e.mirrors(i, registry.Orders) && e.mirrors(i, registry.Daily) {
			sources = append(sources, s.Name)
		}
	}
	return sources
}

// withoutRemoved takes lost orders out of a damage that the service has removed since, where the configuration names
// locations: the tombstone of an order that is not stored does not say whether it is of one of them, and is left out.
func (e *episode) withoutRemoved(d done) {
	if !e.plan.located {
		return
	}
	err := e.box.Truth(e.key(d.business), registry.Orders, func(r sandbox.TruthRow) error {
		if was, damaged := d.was[r.ID]; damaged && was == 0 && r.Row == nil {
			delete(d.was, r.ID)
		}
		return nil
	})
	if err != nil {
		e.fault("truth of the orders: %v", err)
	}
}

// proven has every day compared, and healed where the warehouse was damaged, or where refunds
// are explained after that. A full resync that it makes may be held, and is confirmed here.
// The world stands still, so that no day may be other than proven then.
func (e *episode) proven(heal bool) {
	sources := e.provable()
	if len(sources) == 0 {
		return
	}
	from := e.began.Add(min(e.plan.ahead, 0)).AddDate(0, 0, -e.plan.box.Days-5)
	request := proof.Request{Sources: sources, From: string(schedule.DayOf(from)), Heal: heal || e.plan.leavesOpen(sinks.SubjectDaily)}
	r, err := e.syncer.Reconcile(e.t.Context(), request, nil)
	if request.Heal && err == nil && errorOf(r) == nil && r.Drift() > 0 {
		if resync, failed := e.syncer.RunOnce(e.t.Context(), Selection{Sources: sources, Streams: []string{registry.Orders}, Full: true, ConfirmSweep: true}, nil); failed != nil || resync.Err() != nil {
			e.fault("the full resync that is confirmed: %v, %v", failed, resync.Err())
		}
		r, err = e.syncer.Reconcile(e.t.Context(), request, nil)
	}
	if err != nil || errorOf(r) != nil {
		e.fault("reconcile: %v, %v", err, errorOf(r))
	}
	for _, s := range r.Sources {
		for _, v := range s.Open {
			if v.Verdict != sinks.VerdictHealed && v.Verdict != sinks.VerdictExplained && !e.mayHaveMoved(v, s.Open) {
				e.fault("reconcile %s, while nothing changes: %+v", s.Source, v)
			}
		}
	}
	for _, d := range e.damages {
		e.withoutRemoved(d)
		v := &vandal{store: e.store, business: e.box.Restaurant(d.business).ID()}
		if slices.Contains(sources, fmt.Sprintf("r%d", d.business)) && !v.mended(d.damage) {
			e.fault("never healed: %s", d.damage)
		}
	}
}

// mayHaveMoved is true of the refunds of one location which are explained in all locations together: they
// may be of an order that moved and was removed between two walks. A tombstone has no location.
func (e *episode) mayHaveMoved(v sinks.Verdict, open []sinks.Verdict) bool {
	return e.plan.unannounced && v.Location != "" && e.mayBeExplained(v) && slices.ContainsFunc(open, func(all sinks.Verdict) bool {
		return all.Location == "" && all.Day == v.Day && all.Verdict == sinks.VerdictExplained && e.mayBeExplained(all)
	})
}

// noFalseAlarm finds verdicts that a day differed though nothing was wrong with it.
func (e *episode) noFalseAlarm() {
	if e.plan.unannounced {
		return // what the service does not tell makes days differ
	}
	early := map[string]bool{}                // the last drift of a day was one before its healing
	drifts := map[string][]sinks.Difference{} // the last drift of a day that is not healed yet
	for _, a := range e.watch.alarmsSoFar() {
		key := fmt.Sprint(a.business, a.Subject, a.Day, a.Location)
		drift, differed := drifts[key]
		ends := differed && a.Verdict.Verdict == sinks.VerdictHealed && slices.Equal(a.Differences, drift)
		if delete(drifts, key); a.Verdict.Verdict == sinks.VerdictDrift {
			early[key], drifts[key] = !a.HealingTried, a.Differences
		}
		if ends {
			continue // the drift was looked into above; its day may be asked for again as late as the next night
		}
		held := a.Verdict.Verdict == sinks.VerdictDrift && strings.Contains(a.Reason, "in quarantine") // which may hold the refunds
		if (early[key] || held || a.Verdict.Verdict == sinks.VerdictHealed) && e.mayBeExplained(a.Verdict) {
			continue // healed: such an order lives again, and was fetched before a walk has brought it
		}
		if !a.unseen && !e.causes(a) {
			e.fault("r%d at +%s: no damage was done to %+v", a.business, a.at.Sub(e.began), a.Verdict)
		}
	}
}

// mayBeExplained is true of refunds alone where the service counts those of removed orders: a day
// that differs by them is a drift until its healing has come to an end.
func (e *episode) mayBeExplained(v sinks.Verdict) bool {
	return v.Subject == sinks.SubjectDaily && e.plan.leavesOpen(v.Subject) && len(v.Differences) == 1 && v.Differences[0].Figure == "refunds"
}

// unseenRefunds reports whether the mirror lacks only refunds of orders that it has as tombstones
// of unpaid orders, and has never had otherwise. An order that was refunded and unpaid between
// two walks looks like one that was never paid (docs/architecture/reconciliation.md). Refunds of
// other removed orders may be among them, and no others.
func (e *episode) unseenRefunds(business int, v sinks.Verdict) bool {
	if v.Verdict != sinks.VerdictDrift || !e.mayBeExplained(v) {
		return false
	}
	r, removed, unseen := e.box.Restaurant(business), new(big.Rat), new(big.Rat)
	for id, row := range e.store.Rows(registry.Orders, r.ID()) {
		if !row.Deleted {
			continue
		}
		refunds, err := r.Refunds(id)
		if err != nil {
			return false
		}
		for _, refund := range refunds {
			if string(schedule.DayOf(refund.At)) != v.Day || v.Location != "" && v.Location != refund.Location {
				continue
			}
			amount := big.NewRat(refund.Amount, 100)
			if removed.Add(removed, amount); row.Raw == "" && row.Reason == sandbox.ReasonUnpaid {
				unseen.Add(unseen, amount)
			}
		}
	}
	gap, _ := new(big.Rat).SetString(v.Differences[0].Service)
	mirror, _ := new(big.Rat).SetString(v.Differences[0].Mirror)
	gap.Sub(gap, mirror)
	return unseen.Sign() > 0 && unseen.Cmp(gap) <= 0 && gap.Cmp(removed) <= 0
}

// causes is true when the day of an alarm has an order that was damaged or served
// other than it is, or totals that were.
func (e *episode) causes(a alarm) bool {
	for _, d := range e.damages {
		if d.business == a.business && d.days[a.Day] {
			return true
		}
	}
	for id := range e.spoilt(a.business, registry.Orders) {
		raw := e.store.Row(registry.Orders, e.box.Restaurant(a.business).ID(), id).Raw
		if raw == "" || slices.Contains(readSold(raw).days(), a.Day) {
			return true
		}
	}
	return slices.ContainsFunc(e.box.Requests(), func(r sandbox.Request) bool { return e.spoiltTotals(a, r) })
}

// spoiltTotals is true when a request brought totals of the day that were not the
// service's, shortly before.
func (e *episode) spoiltTotals(a alarm, r sandbox.Request) bool {
	if r.Route != "/sales/daily" && r.Route != "/sales/products" || len(r.Faults) == 0 {
		return false
	}
	uri, err := url.Parse(r.URI)
	if err != nil {
		return true
	}
	asked := proof.Span{From: types.Date(uri.Query().Get("from")), To: types.Date(uri.Query().Get("to"))}
	past := a.at.Sub(r.At.Add(-e.plan.ahead))
	return asked.Covers(types.Date(a.Day)) && past >= 0 && past < 3*time.Hour
}
