package world

import (
	"fmt"

	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
	"github.com/larder-sync/larder/internal/sandbox/world/stock"
)

// The streams of the restaurant's own rows, as code names them.
const (
	StreamLocations   = "locations"
	StreamAllergens   = "allergens"
	StreamCategories  = "categories"
	StreamProducts    = "products"
	StreamIngredients = "ingredients"
	StreamSalesOrders = "sales_orders"
)

// lists are where the rows of the cursor lists are, by stream.
var lists = map[string]func(*Business) list{
	StreamCategories:  func(b *Business) list { return b.catalogue.Categories },
	StreamProducts:    func(b *Business) list { return b.catalogue.Products },
	StreamIngredients: func(b *Business) list { return b.stock.Ingredients },
	StreamSalesOrders: func(b *Business) list { return b.sales },
}

// snapshots are what a mirror must hold of the streams without a cursor, by stream.
var snapshots = map[string]func(*View) []rows.TruthRow{
	StreamLocations: (*View).truthOfLocations,
	StreamAllergens: truthOfAllergens,
}

// list is one of the cursor lists, as tests change it and compare a mirror with it.
type list interface {
	LiveIDs() []string
	Edit(id string, e rows.Edit, stamp int64) error
	Truth(sees func(loc int) bool, yield func(rows.TruthRow) error) error
	Stamps(sees func(loc int) bool) map[string]rows.Stamp
}

// list is nil for a stream without a cursor.
func (b *Business) list(stream string) list {
	if of := lists[stream]; of != nil {
		return of(b)
	}
	return nil
}

// Truth calls yield for every row that a mirror of a stream must hold: live rows with
// their JSON and removed ones with the reason. Rows that moved out of the key's locations
// are not mentioned. yield must not ask the restaurant for anything.
func (v *View) Truth(stream string, yield func(rows.TruthRow) error) error {
	if l := v.b.list(stream); l != nil {
		return l.Truth(v.shows, yield)
	}
	snapshot := snapshots[stream]
	if snapshot == nil {
		return fmt.Errorf("no stream %q", stream)
	}
	for _, row := range snapshot(v) {
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) truthOfLocations() []rows.TruthRow {
	var all []rows.TruthRow
	for loc, l := range v.b.locations.All {
		switch {
		case !v.allowed(loc):
		case l.Active:
			all = append(all, rows.TruthRow{ID: l.ID, Row: units.JSON(v.b.locations.Show(l, v.now))})
		default:
			all = append(all, rows.TruthRow{ID: l.ID, Reason: rows.ReasonGone})
		}
	}
	return all
}

func truthOfAllergens(*View) []rows.TruthRow {
	var all []rows.TruthRow
	for _, a := range catalogue.Allergens() {
		all = append(all, rows.TruthRow{ID: a.Code, Row: units.JSON(a)})
	}
	return all
}

// Stamps are the updated_at of the rows of a cursor list, tombstones included, by id.
// Those without one are left out.
func (v *View) Stamps(stream string) (map[string]rows.Stamp, error) {
	if l := v.b.list(stream); l != nil {
		return l.Stamps(v.shows), nil
	}
	return nil, fmt.Errorf("no list %q", stream)
}

// Categories lists categories. It returns where the page ends and whether there is more.
func (v *View) Categories(l rows.Listing, emit rows.Emit) (end rows.Pos, more bool) {
	return page(v, v.b.catalogue.Categories, l, nil, emit)
}

// Products lists products; of one category, or available or sold out, when asked for.
func (v *View) Products(l rows.Listing, categoryID *string, available *bool, emit rows.Emit) (end rows.Pos, more bool) {
	return page(v, v.b.catalogue.Products, l, func(p *catalogue.Product) bool { return p.Matches(categoryID, available) }, emit)
}

// Ingredients lists ingredients; below their minimum or not, when asked for.
func (v *View) Ingredients(l rows.Listing, belowMin *bool, emit rows.Emit) (end rows.Pos, more bool) {
	return page(v, v.b.stock.Ingredients, l, func(i *stock.Ingredient) bool { return belowMin == nil || i.BelowMin() == *belowMin }, emit)
}

// Product is one live product, as it is served.
func (v *View) Product(id string) ([]byte, bool) { return one(v, v.b.catalogue.Products, id) }

// Ingredient is one live ingredient, as it is served.
func (v *View) Ingredient(id string) ([]byte, bool) { return one(v, v.b.stock.Ingredients, id) }

// page lists the rows that the key sees; where match is not nil, those that match.
func page[T any](v *View, t *rows.Table[T], l rows.Listing, match func(*T) bool, emit rows.Emit) (end rows.Pos, more bool) {
	return t.Page(l, func(r *rows.Row[T]) bool { return v.shows(r.Loc) && (match == nil || match(&r.Val)) }, func(r *rows.Row[T]) {
		emit(func(out []byte) []byte { return append(out, t.JSON(r)...) })
	})
}

func one[T any](v *View, t *rows.Table[T], id string) ([]byte, bool) {
	r := t.Live(id)
	if r == nil || !v.shows(r.Loc) {
		return nil, false
	}
	return t.JSON(r), true
}
