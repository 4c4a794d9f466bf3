package syncer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/sinks"
)

// menuRoute is the route of a menu, as faults name it.
const menuRoute = "/locations/{location_id}/menu"

// orderingKinds are drawn beside the others.
var orderingKinds = []*kind{
	{"ordering off", 3, orderingOff},
	{"menu spoilt", 2, menuSpoilt},
}

func (p *scenario) drawOrdering(g *rand.Rand) {
	for range g.IntN(4) {
		p.events = append(p.events, event{at: between(g, 0, p.span), kind: drawFrom(g, orderingKinds), seed: g.Uint64()})
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return int(a.at - b.at) })
}

// orderingOff switches a restaurant's online ordering off, for a while.
func orderingOff(e *episode, g *rand.Rand) string {
	b, d := e.anyBusiness(g), e.aWhile(g)
	r := e.box.Restaurant(b)
	r.SwitchOrdering(false)
	e.after(d, "ordering is on", func() { r.SwitchOrdering(true) })
	return fmt.Sprintf("of restaurant %d for %s", b, d)
}

// menuSpoilt has menus answered for with nonsense, or with fields that nobody knows, under
// the ETag of what they are.
func menuSpoilt(e *episode, g *rand.Rand) string {
	f := faults.Fault{
		Route: menuRoute, Count: 1 + g.IntN(6),
		Kind: pick(g, faults.Null, faults.PriceText, faults.NumberAsString, faults.UnknownFields, faults.DuplicateKeys, faults.CutJSON, faults.ServerError),
	}
	if err := e.box.AddFault(f); err != nil {
		e.fault("%v", err)
	}
	return fmt.Sprintf("%s, %d times", f.Kind, f.Count)
}

// spoiltMenus is true when a restaurant's menus were served other than they are. A menu
// that was understood all the same stays until it changes, or a full resync brings it.
func (e *episode) spoiltMenus(business int) bool {
	return slices.ContainsFunc(e.box.Spoilt(), func(r faults.SpoiltRow) bool { return r.Business == business && r.Route == menuRoute })
}

// compareMenus compares the menus of the locations that a restaurant's key may use.
func (e *episode) compareMenus(business int) {
	if !e.mirrors(business, sandbox.StreamMenus) {
		return
	}
	r := e.box.Restaurant(business)
	rows := e.rows(sandbox.StreamMenus, r.ID())
	err := e.box.Truth(e.key(business), sandbox.StreamMenus, func(want sandbox.TruthRow) error {
		if e.plan.located && want.ID != r.LocationIDs()[0] {
			return nil
		}
		have, ok := rows[want.ID]
		delete(rows, want.ID)
		e.compareRow(fmt.Sprintf("r%d menus %q", business, want.ID), want, have, ok)
		return nil
	})
	if err != nil {
		e.fault("truth of menus: %v", err)
	}
	for id, row := range rows {
		if !row.Deleted {
			e.fault("r%d menus %q: live in the mirror, and none of the key's: %s", business, id, row.Raw)
		}
	}
}

// menus holds the versions that are stored against the rows: what is told to be the same
// is not asked for again.
func (v *watch) menus(c *sinks.Commit) {
	var at map[string]struct{ ETag, Digest string }
	if err := json.Unmarshal([]byte(c.Checkpoint.Position), &at); err != nil {
		v.e.fault("versions of menus of %s: %v", c.Source, err)
	}
	for id, is := range at {
		row := v.e.store.Row(c.Stream, c.Business, id)
		sum := sha256.Sum256([]byte(row.Raw))
		if is.Digest != "" && (row.Deleted || hex.EncodeToString(sum[:]) != is.Digest) {
			v.e.fault("%s menus: %q is stored as %s, and is %+v", c.Source, id, is.Digest, row)
		}
		if is.Digest == "" && is.ETag != "" {
			v.e.fault("%s menus: %q has an ETag, and no menu", c.Source, id)
		}
	}
	for id, row := range v.e.store.Rows(c.Stream, c.Business) {
		_, known := at[id]
		if cut, is := v.cut[id]; !known && !row.Deleted && (!is || cut != row.Version) { // the walk comes to it
			v.e.fault("%s menus: %q lives and has no version", c.Source, id)
		}
	}
}
