package syncer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
	"github.com/larder-sync/larder/syncer/write"
)

// finish ends what is out of order, lets the daemon come to rest, and compares.
func (e *episode) finish() {
	e.mend()
	e.rest("the daemon by itself")
	if len(e.damages) > 0 {
		e.proven(true)
	}
	for i := range e.keys {
		if !e.plan.unannounced {
			e.compareLists(i)
		} else {
			e.lostAreRemoved(i)
		}
		if !e.spoiltMenus(i) {
			e.compareMenus(i)
		}
		if !e.spoiltOrders(i) {
			e.compareOrders(i)
		}
	}
	e.onePass(Selection{Full: e.plan.unannounced || e.plan.seed%2 == 0, ConfirmSweep: e.plan.unannounced})
	e.onePass(Selection{Streams: orderingStreams, Full: e.spoiltOrdering(), ConfirmSweep: e.plan.unannounced})
	e.onePass(Selection{Streams: []string{registry.Daily, "sales_products"}})
	// Last, since whether a location takes orders depends on the hour, and the others take some.
	e.onePass(Selection{Streams: snapshots})
	for i := range e.keys {
		e.compareLists(i)
		e.compareLocations(i)
		e.compareMenus(i)
		e.compareOrders(i)
		e.compareTotals(i)
		e.quarantineClosed(i)
	}
	e.proven(false)
	e.noFalseAlarm()
	e.verified()
	e.politeness()
	e.end()
	if len(e.wrong) > 0 {
		e.t.Errorf("%s", e.report())
	}
}

// mend puts everything in order but what may stay as it is, and stops the world.
func (e *episode) mend() {
	g := rand.New(rand.NewPCG(e.plan.seed, 4))
	e.note("the world stops, what is out of order ends")
	e.todo = nil
	e.frozen.Store(true)
	e.stopWebhooks()
	e.slowed(false)
	e.box.ClearFaults()
	e.setDown(false)
	e.endSecond()
	clear(e.streams)
	e.reload()
	for i := range e.keys {
		e.mendKey(i, g.IntN(2) == 0)
		e.box.Restaurant(i).SwitchOrdering(true)
		e.box.OnlineOrders(i).StopGuests()
		e.mendLocations(i, e.plan.located || g.IntN(2) == 0)
	}
	e.mendRows()
	if !e.upAt.IsZero() {
		e.up()
	}
}

func (e *episode) mendKey(business int, whole bool) {
	e.settleKey(business)
	for _, k := range e.box.Keys() {
		if k.Value == e.key(business) && k.State == sandbox.KeyDeleted {
			e.replaceKey(business)
		}
	}
	e.updateKey(business, func(k *sandbox.Key) {
		k.State = sandbox.KeyActive
		if e.plan.located {
			k.AllLocations = true
		}
		if whole {
			k.Scopes = allScopes
		}
	})
}

func (e *episode) mendLocations(business int, all bool) {
	r := e.box.Restaurant(business)
	for _, id := range r.LocationIDs() {
		if all {
			if err := r.SetLocationActive(id, true); err != nil {
				e.fault("%v", err)
			}
		}
	}
}

// mendRows stamps the rows anew that were served other than they are, unless a full
// resync is to bring them: no other walk would.
func (e *episode) mendRows() {
	for _, r := range e.box.Spoilt() {
		if list := listRoutes[r.Route]; list != "" && !e.plan.unannounced {
			e.blur(rowName{r.Business, list, r.ID})
		}
	}
	for _, row := range e.blurredRows() {
		e.goodAgain(row)
	}
}

// rest waits until the daemon has had its turns and says that all is well.
func (e *episode) rest(what string) {
	settle := 2*e.plan.every + 4*time.Hour + 15*time.Minute
	time.Sleep(settle)
	for waited := time.Duration(0); !e.well(); waited += time.Minute {
		if waited > 12*time.Hour {
			e.fault("%s: not well %s after the world has stopped\n%s", what, settle+waited, e.describe())
			return
		}
		time.Sleep(time.Minute)
	}
	time.Sleep(settle)
}

// well is true when every backfill is done and no walk fails. A sweep may wait for
// a person, whom the pass at the end stands for.
func (e *episode) well() bool {
	for _, s := range e.syncer.Status().Sources {
		for _, st := range s.Streams {
			held := e.plan.unannounced && st.State == status.StateHeld
			held = held || e.plan.box.Readings.OrderingOff && slices.Contains(orderingStreams, st.Name) && st.State == status.StateAPIDisabled
			if s.State != status.StateRunning || st.State != status.StateRunning && st.State != status.StateOff && !held {
				return false
			}
		}
	}
	return true
}

// onePass makes a pass beside the daemon.
func (e *episode) onePass(sel Selection) {
	r, err := e.syncer.RunOnce(e.t.Context(), sel, nil)
	if err != nil || r.Err() != nil {
		e.fault("pass beside the daemon: %v, %v", err, r.Err())
	}
}

// verified has the daemon's own comparison look, which reads the typed columns too.
func (e *episode) verified() {
	if e.plan.seed%3 != 0 {
		return
	}
	e.columnsAreRight()
	r, err := e.syncer.Verify(e.t.Context(), Selection{}, func(f verify.Finding) {
		reasons := e.unDeleted(f.ID) && (f.Field == "reason" || f.Field == "deleted_at")
		if f.Kind != verify.FoundQuarantined && !reasons { // entries have a comparison of their own
			e.fault("verify: %+v", f)
		}
	}, nil)
	if err != nil || r.Err() != nil {
		e.fault("verify: %v, %v", err, r.Err())
	}
}

// mirrors is true when a stream is to be compared: it is on.
func (e *episode) mirrors(business int, stream string) bool {
	for _, st := range e.syncer.Status().Sources[business].Streams {
		if st.Name == stream {
			return st.State == status.StateRunning
		}
	}
	return false
}

// compareLists compares every row of the cursor lists with the service's.
func (e *episode) compareLists(business int) {
	for _, list := range cursorLists {
		if !e.mirrors(business, list) {
			continue
		}
		if err := e.compareList(business, list); err != nil {
			e.fault("truth of %s: %v", list, err)
		}
	}
}

func (e *episode) compareList(business int, list string) error {
	id := e.box.Restaurant(business).ID()
	rows := e.rows(list, id)
	only := ""
	if e.plan.located {
		only = e.box.Restaurant(business).LocationIDs()[0]
	}
	err := e.box.Truth(e.key(business), list, func(want sandbox.TruthRow) error {
		have, ok := rows[want.ID]
		delete(rows, want.ID)
		if here := placeOf(string(want.Row)); only == "" || want.Row != nil && (here == only || here == "") {
			e.compareRow(fmt.Sprintf("r%d %s %q", business, list, want.ID), want, have, ok)
		}
		return nil
	})
	for id, r := range rows {
		if !r.Deleted {
			e.fault("r%d %s %q: live in the mirror, unknown to the service: %s", business, list, id, r.Raw)
		}
	}
	return err
}

func (e *episode) compareRow(name string, want sandbox.TruthRow, have memsink.Row, ok bool) {
	switch {
	case want.Reason == sandbox.ReasonGone && (!ok || have.Deleted):
	case !ok:
		e.fault("%s: missing in the mirror; the service has reason %q, %s", name, want.Reason, want.Row)
	case want.Row == nil && !have.Deleted:
		e.fault("%s: live in the mirror, %s in the service: %s", name, want.Reason, have.Raw)
	case want.Row == nil && have.Reason == write.ReasonGone && e.unDeleted(want.ID):
	case want.Row == nil && want.Reason != have.Reason:
		e.fault("%s: removed as %q in the mirror, as %q in the service", name, have.Reason, want.Reason)
	case want.Row != nil && have.Deleted:
		e.fault("%s: removed (%s) in the mirror, live in the service: %s", name, have.Reason, want.Row)
	case want.Row != nil && string(want.Row) != have.Raw:
		e.fault("%s: differs\n mirror  %s\n service %s", name, have.Raw, want.Row)
	}
}

func placeOf(raw string) string {
	var row struct {
		LocationID string `json:"location_id"`
	}
	if json.Unmarshal([]byte(raw), &row) != nil {
		return ""
	}
	return row.LocationID
}

// compareLocations compares what is replaced as a whole.
func (e *episode) compareLocations(business int) {
	for _, list := range snapshots {
		if !e.mirrors(business, list) || e.plan.located {
			continue
		}
		rows := e.rows(list, e.box.Restaurant(business).ID())
		err := e.box.Truth(e.key(business), list, func(want sandbox.TruthRow) error {
			have, ok := rows[want.ID]
			e.compareRow(fmt.Sprintf("r%d %s %q", business, list, want.ID), want, have, ok)
			return nil
		})
		if err != nil {
			e.fault("truth of %s: %v", list, err)
		}
	}
}

// compareTotals compares the totals of yesterday and today, which a pass brings.
func (e *episode) compareTotals(business int) {
	if !e.mirrors(business, registry.Daily) {
		return
	}
	today := schedule.DayOf(e.serviceNow())
	from, err := schedule.AddDays(today, -1)
	if err != nil {
		e.fault("%v", err)
		return
	}
	locations := []string{""}
	switch key := e.me(business); {
	case e.plan.located:
		locations = e.box.Restaurant(business).LocationIDs()[:1]
	case !key.AllLocations:
		locations = key.LocationIDs
	}
	for _, location := range locations {
		e.compareReport(business, registry.Daily, fmt.Sprintf("/sales/daily?from=%s&to=%s", from, today), location)
		e.compareReport(business, "sales_products", fmt.Sprintf("/sales/products?group_by=day&from=%s&to=%s", from, today), location)
	}
}

// me is what the service says about the key of a restaurant.
func (e *episode) me(business int) (me types.Me) {
	status, body, err := e.box.Fetch(e.key(business), "/me")
	if err == nil {
		err = json.Unmarshal(body, &me)
	}
	if err != nil || status != 200 {
		e.fault("fetch /me: %d, %v", status, err)
	}
	return me
}

func (e *episode) compareReport(business int, stream, uri, location string) {
	if location != "" {
		uri += "&location_id=" + url.QueryEscape(location)
	}
	status, body, err := e.box.Fetch(e.key(business), uri)
	var report struct{ Data []json.RawMessage }
	if err == nil {
		err = json.Unmarshal(body, &report)
	}
	if err != nil || status != 200 {
		e.fault("fetch %s: %d, %v", uri, status, err)
		return
	}
	raws := make([][]byte, len(report.Data))
	for i, raw := range report.Data {
		raws[i] = raw
	}
	rows, def := e.rows(stream, e.box.Restaurant(business).ID()), &registry.Definition{LinesMayVanish: stream != registry.Daily}
	for i, r := range proof.PlaceRows(raws, def.LinesMayVanish) {
		id := proof.LineID(def, r, location)
		have, ok := rows[id]
		if r.Empty() && !ok && stream == registry.Daily {
			continue
		}
		e.compareRow(fmt.Sprintf("r%d %s %q", business, stream, id), sandbox.TruthRow{Row: raws[i]}, have, ok)
	}
}

// quarantineClosed finds entries that stay open though their rows are good.
func (e *episode) quarantineClosed(business int) {
	source := fmt.Sprintf("r%d", business)
	state, err := e.syncer.opts.Sink.State(e.t.Context(), source)
	if err != nil {
		e.fault("read the stored state: %v", err)
	}
	for stream, ids := range state.Quarantined {
		d := definitionOf(stream)
		if d.Kind == registry.KeyKind || d.Kind == registry.TotalsKind || !e.mirrors(business, stream) {
			continue
		}
		for _, id := range ids {
			// One of a row without an id may wait for the next full resync, which brings the row.
			if _, nameless := sinks.ContentHash(id); !nameless || !slices.Contains(cursorLists, stream) {
				e.fault("%s %s %q is still in quarantine", source, stream, id)
			}
		}
	}
}

// politeness finds answers 429 that are Larder's own doing.
func (e *episode) politeness() {
	for _, r := range e.box.Requests() {
		at := r.At.Add(-e.plan.ahead)
		others := slices.ContainsFunc(e.excused, func(s stretch) bool { return !at.Before(s.from) && at.Before(s.to) })
		if r.Status != 429 || others || strings.HasPrefix(r.From, strangers) || slices.Contains(r.Faults, faults.RateLimited) {
			continue
		}
		e.fault("429 at +%s to %s %s of key %s", at.Sub(e.began), r.Route, r.URI, r.App)
	}
}
