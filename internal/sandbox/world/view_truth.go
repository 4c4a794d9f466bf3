package world

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// ReasonGone is the reason of a row that left its list without a tombstone: a
// mirror that has seen it must not show it as live, one that has not knows
// nothing of it.
const ReasonGone = "gone"

// TruthRow is a row that a mirror of a stream must hold.
type TruthRow struct {
	ID string `json:"id"`
	// Row is the row as the API serves it; nil for one that is not live.
	Row json.RawMessage `json:"row,omitempty"`
	// Reason is why it is not live: deleted, cancelled, unpaid, or gone.
	Reason string `json:"reason,omitempty"`
}

// Truth calls yield for every row that a mirror of a stream must hold: live rows with
// their JSON and removed ones with the reason. Rows that moved out of the key's locations
// are not mentioned. yield must not ask the restaurant for anything.
func (v *View) Truth(stream string, yield func(TruthRow) error) error {
	switch stream {
	case StreamCategories:
		return truthOf(v, v.b.categories, yield)
	case StreamProducts:
		return truthOf(v, v.b.products, yield)
	case StreamIngredients:
		return truthOf(v, v.b.ingredients, yield)
	case StreamSalesOrders:
		return v.truthOfOrders(yield)
	case StreamLocations:
		return v.truthOfLocations(yield)
	case StreamAllergens:
		for _, a := range v.Allergens() {
			if err := yield(TruthRow{ID: a.Code, Row: units.JSON(a)}); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("no stream %q", stream)
}

func truthOf[T any](v *View, t *table[T], yield func(TruthRow) error) error {
	for _, r := range t.rows {
		if !v.shows(r.loc) {
			continue
		}
		row := TruthRow{ID: r.id}
		switch {
		case r.purged:
			row.Reason = ReasonGone
		case r.deleted():
			row.Reason = ReasonDeleted
		default:
			row.Row = t.bytes(r)
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) truthOfOrders(yield func(TruthRow) error) error {
	for n := range v.b.orders {
		o := &v.b.orders[n]
		if !v.visible[o.loc] || !v.b.listed(o) {
			continue
		}
		row := TruthRow{ID: v.b.orderID(uint32(n)), Reason: o.reason()}
		if row.Reason == "" {
			row.Row = v.appendOrder(nil, uint32(n))
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) truthOfLocations(yield func(TruthRow) error) error {
	for loc, l := range v.b.locations {
		if !v.allowed(loc) {
			continue
		}
		row := TruthRow{ID: l.id, Reason: ReasonGone}
		if l.active {
			row.Reason = ""
			row.Row = units.JSON(v.b.encodeLocation(l, v.now))
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

// Stamp is when a row was last changed, where it is, and whether it is a tombstone.
type Stamp struct {
	At       time.Time
	Location string // "" for a row that every location shares
	Removed  bool
}

// Stamps are the updated_at of the rows of a cursor list, tombstones included, by id.
// Those without one are left out.
func (v *View) Stamps(stream string) (map[string]Stamp, error) {
	b := v.b
	switch stream {
	case StreamCategories:
		return stampsOf(v, b.categories), nil
	case StreamProducts:
		return stampsOf(v, b.products), nil
	case StreamIngredients:
		return stampsOf(v, b.ingredients), nil
	case StreamSalesOrders:
		all := make(map[string]Stamp, len(b.orders))
		for n := range b.orders {
			if o := &b.orders[n]; o.stamp != nullStamp && v.visible[o.loc] && b.listed(o) {
				all[b.orderID(uint32(n))] = Stamp{time.UnixMicro(o.stamp).UTC(), b.locations[o.loc].id, !o.counts()}
			}
		}
		return all, nil
	}
	return nil, fmt.Errorf("no list %q", stream)
}

func stampsOf[T any](v *View, t *table[T]) map[string]Stamp {
	all := make(map[string]Stamp, len(t.rows))
	for _, r := range t.rows {
		if r.stamp != nullStamp && !r.purged && v.shows(r.loc) {
			at := Stamp{At: time.UnixMicro(r.stamp).UTC(), Removed: r.deleted()}
			if r.loc != sharedLocation {
				at.Location = v.b.locations[r.loc].id
			}
			all[r.id] = at
		}
	}
	return all
}
