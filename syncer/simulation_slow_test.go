package syncer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/syncer/status"
)

// What needs several rare things at once is brought about on purpose here, beside what
// chance brings: walks so slow that the world moves under them, and a daemon that dies
// before it can know what the one before has spent.

// slowKinds are drawn beside the others, and crowd where the backfill is.
var slowKinds = []*kind{
	{"slow line", 3, slowedDown},
	{"killed again and again", 1, killedAgain},
	{"same stamp again", 2, sameStamp},
}

func (p *scenario) drawSlow(g *rand.Rand) {
	for range g.IntN(4) {
		at := pick(g, 0, between(g, 0, min(20*time.Minute, p.span/4)))
		p.events = append(p.events, event{at: at, kind: drawFrom(g, slowKinds), seed: g.Uint64()})
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return int(a.at - b.at) })
}

// slowest is how long a request or its answer may be held up: both together stay within
// the client's patience.
const slowest = 28 * time.Second

// slowedDown holds some requests and answers up, while rows change every few seconds,
// stamped now or as long ago as can be: behind the cursors of the walks under way, and
// in pages that are answered and not there yet. Where keys are limited, a location may
// be away for a part of it.
func slowedDown(e *episode, g *rand.Rand) string {
	if e.real != nil {
		return "not with this warehouse" // whose time is not the bubble's
	}
	d := between(g, 5*time.Minute, 40*time.Minute)
	d = min(d, e.plan.span/3)
	b, list := e.anyBusiness(g), anyList(g)
	e.slowed(true)
	e.after(d, "the line is fast again", func() { e.slowed(false) })
	crowd := e.crowd(g, b, list)
	for at := time.Duration(0); at < d; at += between(g, 2*time.Second, 6*time.Second) {
		e.at(time.Now().Add(at), "", func() string { e.touchOne(g, b, list); return "" })
	}
	if g.IntN(2) == 0 {
		e.after(between(g, 0, d), "cursors invalid", func() { e.box.InvalidateCursors() })
	}
	away := ""
	if e.plan.unannounced && g.IntN(2) == 0 {
		away = e.awayMeanwhile(g, b, d)
	}
	return fmt.Sprintf("for %s, with changes to %s%s", d, crowd, away)
}

// touchOne stamps a row anew.
func (e *episode) touchOne(g *rand.Rand, business int, list string) {
	r := e.box.Restaurant(business)
	ids := r.IDs(list)
	if len(ids) == 0 || e.frozen.Load() {
		return
	}
	at := e.serviceNow()
	if g.IntN(2) == 0 {
		at = at.Add(-between(g, sandbox.MaxStampDelay-10*time.Second, sandbox.MaxStampDelay-2*time.Second))
	}
	if err := r.At(at).Touch(list, ids[g.IntN(len(ids))]); err != nil {
		e.fault("%v", err)
	}
}

// awayMeanwhile takes a location from the key within d and gives it back; the daemon may
// be killed in between.
func (e *episode) awayMeanwhile(g *rand.Rand, business int, d time.Duration) string {
	ids := e.box.Restaurant(business).LocationIDs()
	if len(ids) < 2 {
		return ""
	}
	lost := ids[g.IntN(len(ids)):][:1]
	left := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(lost, id) })
	from := between(g, 0, d/2)
	to := between(g, from, d)
	e.after(from, "a location is away", func() {
		e.updateKey(business, func(k *sandbox.Key) { k.AllLocations, k.LocationIDs = false, left })
	})
	if g.IntN(2) == 0 {
		e.after(between(g, from, to), "kill", func() { killed(e, g) })
	}
	e.after(to, "it is back", func() {
		e.updateKey(business, func(k *sandbox.Key) { k.AllLocations, k.LocationIDs = true, nil })
	})
	return fmt.Sprintf("; %q away from +%s to +%s", lost, from, to)
}

// sameStamp changes rows twice, and stamps both changes alike: what was brought between
// them is not what is to stay.
func sameStamp(e *episode, g *rand.Rand) string {
	b, rounds := e.anyBusiness(g), 1+g.IntN(20)
	ids := e.box.Restaurant(b).IDs("ingredients")
	for round := range rounds {
		if len(ids) == 0 {
			break
		}
		id := ids[g.IntN(len(ids))]
		e.at(time.Now().Add(time.Duration(round)*2*time.Minute), "", func() string {
			at := e.serviceNow()
			e.setStock(g, b, id, at)
			e.at(time.Now().Add(between(g, time.Second, sandbox.MaxStampDelay-2*time.Second)), "", func() string {
				e.setStock(g, b, id, at)
				return ""
			})
			return ""
		})
	}
	return fmt.Sprintf("%d ingredients of restaurant %d", rounds, b)
}

// setStock counts an ingredient anew, unless it was removed meanwhile.
func (e *episode) setStock(g *rand.Rand, business int, id string, at time.Time) {
	r := e.box.Restaurant(business)
	if !slices.Contains(r.IDs("ingredients"), id) {
		return
	}
	if err := r.At(at).SetStock(id, g.Int64N(1_000_000)); err != nil {
		e.fault("%v", err)
	}
}

func (e *episode) slowed(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.slow = on
}

// killedAgain kills the daemon every few seconds, whether or not it has come to ask
// anything by then.
func killedAgain(e *episode, g *rand.Rand) string {
	if e.real != nil {
		return "not with this warehouse"
	}
	n, at := 3+g.IntN(12), time.Duration(0)
	for range n {
		at += between(g, 500*time.Millisecond, 12*time.Second)
		e.after(at, "killed again", func() {
			if e.upAt.IsZero() {
				e.kill(g)
				e.away(0)
			}
		})
	}
	return fmt.Sprintf("%d times within %s", n, at)
}

// lostAreRemoved finds what stays of locations that the key has lost, long after that:
// rows that live though the service does not list them, and a full resync that is still
// owed. A sweep may wait for a person.
func (e *episode) lostAreRemoved(business int) {
	synctest.Wait()
	usable := e.syncer.served()[business].Identity().Locations
	for _, list := range cursorLists {
		if !e.mirrors(business, list) || e.plan.located || e.sweepHeld(business, list) {
			continue
		}
		listed := map[string]bool{}
		err := e.box.Truth(e.key(business), list, func(r sandbox.TruthRow) error {
			listed[r.ID] = r.Row != nil
			return nil
		})
		if err != nil {
			e.fault("truth of %s: %v", list, err)
		}
		for id, row := range e.rows(list, e.box.Restaurant(business).ID()) {
			place := placeOf(row.Raw)
			if !row.Deleted && !listed[id] && place != "" && !slices.Contains(usable, place) {
				e.fault("r%d %s %q: live in the mirror, of location %q that the key has lost: %s", business, list, id, place, row.Raw)
			}
		}
		if left := e.watch.doubt[fmt.Sprintf("r%d %s", business, list)]; len(left) > 0 {
			e.fault("r%d %s: no full resync has come for locations %q", business, list, left)
		}
	}
}

func (e *episode) sweepHeld(business int, list string) bool {
	return slices.ContainsFunc(e.syncer.Status().Sources[business].Streams, func(st status.StreamStatus) bool {
		return st.Name == list && st.State == status.StateHeld
	})
}
