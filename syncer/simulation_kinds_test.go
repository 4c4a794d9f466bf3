package syncer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/syncer/registry"
)

// kind is a kind of event: what happens, and how often beside the others.
type kind struct {
	name   string
	weight int
	happen func(e *episode, g *rand.Rand) string
}

var kinds = []*kind{
	{"kill", 10, killed},
	{"restart", 4, restarted},
	{"warehouse down", 4, warehouseDown},
	{"clock step", 4, clockStep},
	{"fault", 22, fault},
	{"cursors invalid", 5, func(e *episode, _ *rand.Rand) string { e.box.InvalidateCursors(); return "all" }},
	{"changes", 14, changes},
	{"one stamp", 4, oneStamp},
	{"malformed row", 5, malformed},
	{"location", 4, locationChanges},
	{"key disabled", 3, keyDisabled},
	{"key rotated", 3, keyRotated},
	{"key deleted", 2, keyDeleted},
	{"scopes", 4, scopesChange},
	{"limits", 4, limitsChange},
	{"configuration", 4, configuration},
	{"second daemon", 4, secondDaemon},
	{"other key", 3, otherKey},
	{"same key", 3, sameKey},
}

// unannouncedKinds happen where the scenario allows what only a full resync can see.
var unannouncedKinds = []*kind{
	{"key locations", 5, keyLocations},
}

func drawKind(g *rand.Rand, unannounced bool) *kind {
	from := kinds
	if unannounced {
		from = slices.Concat(kinds, unannouncedKinds)
	}
	return drawFrom(g, from)
}

func drawFrom(g *rand.Rand, from []*kind) *kind {
	total := 0
	for _, k := range from {
		total += k.weight
	}
	n := g.IntN(total)
	for _, k := range from {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("no kind")
}

// aWhile is a time out of order: mostly short, now and then very long.
func (e *episode) aWhile(g *rand.Rand) time.Duration {
	longest := pick(g, 10*time.Second, 2*time.Minute, 20*time.Minute, 3*time.Hour)
	return between(g, time.Second, min(longest, e.plan.span/3))
}

func killed(e *episode, g *rand.Rand) string {
	if !e.upAt.IsZero() {
		return "it is down already"
	}
	how := e.kill(g)
	e.away(pick(g, 0, 0, e.aWhile(g)))
	return how
}

func restarted(e *episode, g *rand.Rand) string {
	if !e.upAt.IsZero() {
		return "it is down already"
	}
	e.end()
	e.away(pick(g, 0, e.aWhile(g)))
	return "stopped in good order"
}

func warehouseDown(e *episode, g *rand.Rand) string {
	d := e.aWhile(g)
	e.setDown(true)
	e.after(d, "warehouse up", func() { e.setDown(false) })
	return "for " + d.String()
}

func (e *episode) setDown(down bool) {
	e.down = down
	if e.real != nil {
		e.real.setDown(down)
		return
	}
	e.sink.SetDown(down)
	if e.second != nil {
		e.second.sink.SetDown(down)
	}
}

func clockStep(e *episode, g *rand.Rand) string {
	d := pick(g, time.Second, 30*time.Second, 10*time.Minute, 2*time.Hour, day) * time.Duration(1-2*g.IntN(2))
	e.wall.Add(int64(d))
	return d.String()
}

// listRoutes are the routes of the cursor lists, with their streams.
var listRoutes = func() map[string]string {
	routes := map[string]string{}
	for _, list := range cursorLists {
		routes[definitionOf(list).Path] = list
	}
	return routes
}()

func fault(e *episode, g *rand.Rand) string {
	routes := []string{"", ""}
	for _, list := range cursorLists {
		routes = append(routes, definitionOf(list).Path)
	}
	routes = append(routes, "/me", "/locations", "/sales/daily")
	f := faults.Fault{
		Kind:       pick(g, faults.Kinds()...),
		Route:      pick(g, routes...),
		Delay:      between(g, time.Second, 90*time.Second),
		RetryAfter: g.IntN(120),
		Status:     pick(g, 200, 502, 404),
	}
	if g.IntN(2) == 0 {
		f.Count = 1 + g.IntN(20)
	} else {
		f.Probability = pick(g, 0.02, 0.1, 0.5, 1)
	}
	if err := e.box.AddFault(f); err != nil {
		e.fault("%v", err)
	}
	d := e.aWhile(g)
	e.after(d, "faults end", e.box.ClearFaults)
	return fmt.Sprintf("%s on %q, count %d, probability %g, for %s", f.Kind, f.Route, f.Count, f.Probability, d)
}

func changes(e *episode, g *rand.Rand) string {
	n := 1 + g.IntN(40)
	b := e.anyBusiness(g)
	for range n {
		e.mutate(g, b)
	}
	return fmt.Sprintf("%d of restaurant %d", n, b)
}

func (e *episode) anyBusiness(g *rand.Rand) int { return g.IntN(e.plan.box.Businesses) }

func anyList(g *rand.Rand) string {
	return pick(g, slices.Concat(cursorLists, []string{registry.Orders})...)
}

// oneStamp gives many rows one updated_at.
func oneStamp(e *episode, g *rand.Rand) string {
	return e.crowd(g, e.anyBusiness(g), anyList(g))
}

func (e *episode) crowd(g *rand.Rand, b int, list string) string {
	r := e.box.Restaurant(b)
	ids := r.IDs(list)
	g.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	ids = ids[:min(len(ids), 1+g.IntN(300))]
	if err := r.At(e.serviceNow()).Touch(list, ids...); err != nil {
		e.fault("%v", err)
	}
	return fmt.Sprintf("%d %s of restaurant %d", len(ids), list, b)
}

// malformed spoils a row for a while, stamped anew both times.
func malformed(e *episode, g *rand.Rand) string {
	b, list := e.anyBusiness(g), anyList(g)
	r := e.box.Restaurant(b)
	ids := r.IDs(list)
	if len(ids) == 0 {
		return "no row"
	}
	id := ids[g.IntN(len(ids))]
	bad := spoilt(e.rowNow(b, list, id), g)
	e.blur(rowName{b, list, id})
	if err := r.SetRaw(list, id, bad); err != nil {
		e.fault("%v", err)
	}
	e.after(e.aWhile(g), "row is good again", func() { e.goodAgain(rowName{b, list, id}) })
	return fmt.Sprintf("%s %q of restaurant %d: %s", list, id, b, bad)
}

// goodAgain serves a row as it is, stamped anew. It may have been purged meanwhile.
func (e *episode) goodAgain(r rowName) {
	if err := e.box.Restaurant(r.business).SetRaw(r.stream, r.id, nil); err != nil && !e.plan.unannounced {
		e.fault("%v", err)
	}
}

// rowNow is a row as the service has it.
func (e *episode) rowNow(business int, list, id string) map[string]any {
	row := map[string]any{}
	err := e.box.Truth(e.box.Key(business, sandbox.RoleTest).Value, list, func(r sandbox.TruthRow) error {
		if r.ID != id {
			return nil
		}
		return json.Unmarshal(r.Row, &row)
	})
	if err != nil {
		e.fault("%v", err)
	}
	return row
}

func spoilt(row map[string]any, g *rand.Rand) []byte {
	delete(row, "updated_at") // it comes without a stamp, or with the old one
	field := pick(g, "price", "stock", "totals", "position", "created_at", "items", "name")
	row[field] = pick[any](g, "abc", "12.345", "1e400", -1, []any{}, map[string]any{"x": 1}, "0001-01-01T00:00:00Z", nil)
	row["deep"] = []any{map[string]any{"new": true}}
	text, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	return text
}

func locationChanges(e *episode, g *rand.Rand) string {
	b := e.anyBusiness(g)
	r := e.box.Restaurant(b)
	ids := r.LocationIDs()
	id := ids[g.IntN(len(ids))]
	var err error
	what := pick(g, "renamed", "paused", "added", "inactive", "inactive")
	switch what {
	case "renamed":
		err = r.RenameLocation(id, fmt.Sprintf("Local %d", g.IntN(100)))
	case "paused":
		err = r.PauseOrdering(id, e.serviceNow().Add(e.aWhile(g)))
	case "added":
		if len(ids) < 5 {
			r.AddLocation()
		}
	case "inactive":
		err = r.SetLocationActive(id, false)
		e.after(e.aWhile(g), "location active", func() {
			if err := r.SetLocationActive(id, true); err != nil {
				e.fault("%v", err)
			}
			if e.plan.box.Readings.InactiveRowsHidden {
				e.passedBy(b, []string{id}) // only now are they told
			}
		})
	}
	if err != nil {
		e.fault("%v", err)
	}
	return fmt.Sprintf("%s: %q of restaurant %d", what, id, b)
}

// updateKey changes the key of a restaurant. Events overlap, so that one may give back
// what another took: every location that comes back is noted here.
func (e *episode) updateKey(business int, change func(*sandbox.Key)) {
	next := e.currentKey(business)
	was := e.withheld(business, next)
	change(&next)
	still := e.withheld(business, next)
	e.passedBy(business, slices.DeleteFunc(was, func(id string) bool { return slices.Contains(still, id) }))
	if err := e.box.UpdateKey(e.key(business), change); err != nil {
		e.fault("%v", err)
	}
}

func (e *episode) currentKey(business int) sandbox.Key {
	for _, k := range e.box.Keys() {
		if k.Value == e.key(business) {
			return k
		}
	}
	e.fault("restaurant %d has no key", business)
	return sandbox.Key{}
}

// withheld are the locations of a restaurant that a key does not have.
func (e *episode) withheld(business int, k sandbox.Key) []string {
	if k.AllLocations {
		return nil
	}
	return slices.DeleteFunc(e.box.Restaurant(business).LocationIDs(), func(id string) bool { return slices.Contains(k.LocationIDs, id) })
}

func keyDisabled(e *episode, g *rand.Rand) string {
	b, d := e.anyBusiness(g), e.aWhile(g)
	e.updateKey(b, func(k *sandbox.Key) { k.State = sandbox.KeyDisabled })
	e.after(d, "key enabled", func() { e.updateKey(b, func(k *sandbox.Key) { k.State = sandbox.KeyActive }) })
	return fmt.Sprintf("of restaurant %d for %s", b, d)
}

// keyRotated regenerates a key; the new one is put beside the old, and takes its
// place later, before or after the old one ends.
func keyRotated(e *episode, g *rand.Rand) string {
	b := e.anyBusiness(g)
	if _, next := e.keys[b].get(); next != "" {
		return "one is under way"
	}
	overlap := pick(g, time.Minute, time.Hour, day)
	key, _ := e.keys[b].get()
	k, err := e.box.RotateKey(key, overlap)
	if err != nil {
		e.fault("%v", err)
		return ""
	}
	e.keys[b].set(key, k.Value)
	d := e.aWhile(g)
	e.after(d, "the next key takes its place", func() { e.settleKey(b) })
	return fmt.Sprintf("of restaurant %d, overlap %s, in place in %s", b, overlap, d)
}

// settleKey moves the next key to its place.
func (e *episode) settleKey(business int) {
	if _, next := e.keys[business].get(); next != "" {
		e.keys[business].set(next, "")
	}
}

// keyDeleted deletes a key; another is made and put in place later.
func keyDeleted(e *episode, g *rand.Rand) string {
	b, d := e.anyBusiness(g), e.aWhile(g)
	e.updateKey(b, func(k *sandbox.Key) { k.State = sandbox.KeyDeleted })
	e.after(d, "another key is put in place", func() { e.replaceKey(b) })
	return fmt.Sprintf("of restaurant %d for %s", b, d)
}

var allScopes = []string{types.ScopeLocations, types.ScopeMenu, types.ScopeSales, types.ScopeStock, types.ScopeOrders}

func (e *episode) replaceKey(business int) {
	e.passedBy(business, e.withheld(business, e.currentKey(business)))
	k := e.box.AddKey(sandbox.Key{Business: business, Scopes: allScopes, AllLocations: true})
	e.keys[business].set(k.Value, "")
}

func scopesChange(e *episode, g *rand.Rand) string {
	b, d := e.anyBusiness(g), e.aWhile(g)
	left := slices.Clone(allScopes)
	g.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	left = left[:g.IntN(len(left))]
	e.updateKey(b, func(k *sandbox.Key) { k.Scopes = left })
	e.after(d, "scopes are whole", func() { e.updateKey(b, func(k *sandbox.Key) { k.Scopes = allScopes }) })
	return fmt.Sprintf("of restaurant %d are %s for %s", b, strings.Join(left, " "), d)
}

// limitsChange changes a key's limits; until /me has told, a 429 may come of it.
func limitsChange(e *episode, g *rand.Rand) string {
	b := e.anyBusiness(g)
	limits := types.RateLimits{PerMinute: pick(g, 15, 40, 120, 300), BusinessPerMinute: pick(g, 60, 600), HeavyPerMinute: pick(g, 5, 30), OrdersPerMinute: 30}
	e.updateKey(b, func(k *sandbox.Key) { k.Limits = limits })
	e.excuse(3*time.Hour + 10*time.Minute)
	return fmt.Sprintf("of restaurant %d: %+v", b, limits)
}

// otherKey has another program use another key of the restaurant.
func otherKey(e *episode, g *rand.Rand) string {
	b := e.anyBusiness(g)
	return e.others(g, e.box.Key(b, sandbox.RoleTest).Value)
}

// sameKey has another program use the daemon's key.
func sameKey(e *episode, g *rand.Rand) string { return e.others(g, e.key(e.anyBusiness(g))) }

func (e *episode) others(g *rand.Rand, key string) string {
	per, minutes := 1+g.IntN(150), 1+g.IntN(15)
	e.excuse(time.Duration(minutes+3) * time.Minute)
	for m := range minutes {
		for range per {
			at := time.Now().Add(time.Duration(m)*time.Minute + between(g, 0, time.Minute))
			path := pick(g, "/products?limit=1", "/me", "/sales/daily")
			e.at(at, "", func() string { e.foreign(key, path); return "" })
		}
	}
	return fmt.Sprintf("%d requests a minute for %d minutes", per, minutes)
}

// keyLocations limits a key to some locations, for a while or for good.
func keyLocations(e *episode, g *rand.Rand) string {
	b := e.anyBusiness(g)
	ids := e.box.Restaurant(b).LocationIDs()
	g.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	ids = ids[:1+g.IntN(len(ids))]
	e.updateKey(b, func(k *sandbox.Key) { k.AllLocations, k.LocationIDs = false, ids })
	if g.IntN(3) == 0 {
		return fmt.Sprintf("of restaurant %d are %q", b, ids)
	}
	d := e.aWhile(g)
	e.after(d, "key has all locations", func() {
		e.updateKey(b, func(k *sandbox.Key) { k.AllLocations, k.LocationIDs = true, nil })
	})
	return fmt.Sprintf("of restaurant %d are %q for %s", b, ids, d)
}

// passedBy notes the rows of locations that were away without the daemon hearing of it:
// a walk may have passed them by, and the next full resync brings them. One that has just
// begun may not have asked yet.
func (e *episode) passedBy(b int, lost []string) {
	if len(lost) == 0 || e.heard(b, lost) {
		return
	}
	for _, list := range cursorLists {
		e.blurLocations(b, list, lost)
	}
}

// heard is true when the daemon runs, and every source of a restaurant has been told
// that these locations are away.
func (e *episode) heard(b int, lost []string) bool {
	if !e.upAt.IsZero() {
		return false // what it was told may have died with it
	}
	for _, s := range e.syncer.served() {
		key := s.Identity()
		if e.businessOf(s.cfg.Name) == b &&
			(key.Business == "" || slices.ContainsFunc(key.Locations, func(l string) bool { return slices.Contains(lost, l) })) {
			return false
		}
	}
	return true
}

// blurLocations notes the rows of some locations, removed ones and those without a
// stamp too.
func (e *episode) blurLocations(b int, list string, locations []string) {
	all := e.box.Key(b, sandbox.RoleTest).Value
	stamps, err := e.box.Stamps(all, list)
	if err != nil {
		e.fault("%v", err)
	}
	for id, s := range stamps {
		if slices.Contains(locations, s.Location) {
			e.blur(rowName{b, list, id})
		}
	}
	err = e.box.Truth(all, list, func(r sandbox.TruthRow) error {
		if slices.Contains(locations, placeOf(string(r.Row))) {
			e.blur(rowName{b, list, r.ID})
		}
		return nil
	})
	if err != nil {
		e.fault("%v", err)
	}
}

// configuration has one source mirror some streams only, for a while, and moves the
// schedule; the daemon reads its configuration anew.
func configuration(e *episode, g *rand.Rand) string {
	b, d := e.anyBusiness(g), e.aWhile(g)
	e.streams[b] = pick(g, nil, []string{"sales_orders"}, []string{"products", "locations", "sales_daily"})
	e.schedule.Incremental = atEvery(e.plan.every * time.Duration(1+g.IntN(2)))
	e.reload()
	e.after(d, "configuration is as it was", func() {
		delete(e.streams, b)
		e.reload()
	})
	return fmt.Sprintf("restaurant %d has %q for %s, incremental %s", b, e.streams[b], d, e.schedule.Incremental)
}

// reload has a daemon that runs read its configuration.
func (e *episode) reload() {
	for _, w := range []*world{e.world, e.second} {
		if w == nil || w.stop == nil {
			continue
		}
		if _, err := w.syncer.Apply(e.configured(), e.schedule); err != nil {
			e.fault("apply the configuration: %v", err)
		}
	}
}

// secondDaemon starts another daemon on the same warehouse, for a while. It serves
// what the first one does not, and takes over when that one dies.
func secondDaemon(e *episode, g *rand.Rand) string {
	if e.second != nil || !e.shared() {
		return "not now"
	}
	w := &world{
		t: e.t, box: e.box, handler: e.handler, transport: e.transport, store: e.store,
		flush: e.flush, schedule: e.schedule, tune: e.tune, verbose: e.verbose,
	}
	e.second = w
	w.run(e.configured()...)
	w.sink.SetDown(e.down)
	d, dies := e.aWhile(g), g.IntN(2) == 0
	kept := g.IntN(4)
	e.after(d, "second daemon ends", func() {
		if dies {
			w.sink.Crash(kept)
		}
		e.endSecond()
	})
	return fmt.Sprintf("for %s, dies %v", d, dies)
}

func (e *episode) endSecond() {
	if e.second != nil {
		e.second.halt()
		e.second = nil
	}
}
