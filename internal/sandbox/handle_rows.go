package sandbox

import (
	"errors"
	"slices"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// open holds the restaurant still, as the key sees it. The caller closes the view.
func (rq *request) open() {
	rq.view.Open(rq.b, func(id string) bool { return rq.key.AllLocations || slices.Contains(rq.key.LocationIDs, id) }, rq.now)
}

// narrow leaves location_id of what is seen. An unknown location is 404, one outside the
// key's restriction 403.
func (rq *request) narrow() *apiError {
	id, given := rq.q.text("location_id")
	if !given {
		return nil
	}
	switch err := rq.view.Narrow(id); {
	case errors.Is(err, world.ErrForbidden):
		return fail(codeLocation)
	case err != nil:
		return fail(codeNotFound)
	}
	return nil
}

// listing reads what all lists share. dataFilters are filters that change with
// the data; they cannot go with updated_since or include_deleted.
func (rq *request) listing(dataFilters ...string) rows.Listing {
	q := rq.q
	l := rows.Listing{Limit: rq.pageRows()}
	l.Since, l.Mirror = q.instant("updated_since")
	l.Tombstones, _ = q.flag("include_deleted")
	if l.Mirror || l.Tombstones {
		for _, f := range dataFilters {
			if q.has(f) {
				q.bad.add(f, "The %s cannot be combined with updated_since or include_deleted.", f)
			}
		}
	}
	l.After = rq.cursor().pos
	return l
}

// pageRows is how many rows the page has at most.
func (rq *request) pageRows() int {
	limit := rq.q.limit(maxLimit)
	if short := rq.s.opts.Readings.ShortPages; short > 0 {
		return min(limit, short)
	}
	return limit
}

// cursor reads the cursor of this walk.
func (rq *request) cursor() place {
	if !rq.q.has("cursor") {
		return place{}
	}
	p, ok := rq.cursors.open(rq.q.values.Get("cursor"), rq.filters(), rq.key.Business)
	if !ok || rq.page.cursorRefused {
		rq.q.bad.add("cursor", "The cursor is not valid for this list and these filters.")
		return place{}
	}
	return p
}

var filterNames = []string{"location_id", "updated_since", "include_deleted", "category_id", "available", "below_min", "from", "to"}

// filters is a hash of the list and its filters, which a cursor is bound to.
// The limit is none: it may change from page to page.
func (rq *request) filters() uint64 {
	h := seeded.Hash(rq.route.name)
	for _, name := range filterNames {
		if rq.q.has(name) {
			h = seeded.Mix(h ^ seeded.Hash(name+"="+rq.q.values.Get(name)))
		}
	}
	return h
}

// list answers a page of a list.
func (rq *request) list(page func(rows.Listing) (rows.Pos, bool), dataFilters ...string) *apiError {
	l := rq.listing(dataFilters...)
	if err := rq.q.bad.err(); err != nil {
		return err
	}
	rq.open()
	defer rq.view.Close()
	if err := rq.narrow(); err != nil {
		return err
	}
	rq.openPage()
	end, more := page(l)
	rq.closePage(place{pos: end}, more)
	return nil
}

// one answers the row with the id of the path.
func (rq *request) one(find func(*world.View, string) ([]byte, bool)) *apiError {
	rq.open()
	defer rq.view.Close()
	if err := rq.narrow(); err != nil {
		return err
	}
	row, ok := find(&rq.view, rq.id)
	if !ok {
		return fail(codeNotFound)
	}
	rq.addRow(func(out []byte) []byte { return append(out, row...) })
	return nil
}

func (rq *request) listCategories() *apiError {
	return rq.list(func(l rows.Listing) (rows.Pos, bool) { return rq.view.Categories(l, rq.addRow) })
}

func (rq *request) listProducts() *apiError {
	var category *string
	if id, given := rq.q.text("category_id"); given {
		category = &id
	}
	available := rq.q.optionalFlag("available")
	return rq.list(func(l rows.Listing) (rows.Pos, bool) { return rq.view.Products(l, category, available, rq.addRow) }, "category_id", "available")
}

func (rq *request) oneProduct() *apiError { return rq.one((*world.View).Product) }

func (rq *request) listIngredients() *apiError {
	below := rq.q.optionalFlag("below_min")
	return rq.list(func(l rows.Listing) (rows.Pos, bool) { return rq.view.Ingredients(l, below, rq.addRow) }, "below_min")
}

func (rq *request) oneIngredient() *apiError { return rq.one((*world.View).Ingredient) }

func (rq *request) listAllergens() *apiError {
	rq.out = append(rq.out, `{"data":[`...)
	for _, a := range catalogue.Allergens() {
		rq.addJSON(a)
	}
	rq.out = append(rq.out, "]}"...)
	return nil
}

func (rq *request) openPage() { rq.out = append(rq.out, `{"data":[`...) }

// addRow appends a row, maybe spoilt by a fault.
func (rq *request) addRow(write func(out []byte) []byte) {
	if rq.rows > 0 {
		rq.out = append(rq.out, ',')
	}
	rq.rows++
	start := len(rq.out)
	rq.out = write(rq.out)
	rq.spoilRow(start)
}

func (rq *request) addJSON(row any) {
	rq.addRow(func(out []byte) []byte { return append(out, units.JSON(row)...) })
}

// closePage ends the page with the cursor of the next one.
func (rq *request) closePage(end place, more bool) {
	rq.out = append(rq.out, `],"next_cursor":`...)
	switch {
	case more && rq.page.cursorMissing:
		rq.out = append(rq.out, "null"...)
	case more && rq.page.cursorRepeats && rq.q.has("cursor"):
		rq.out = units.AppendString(rq.out, rq.q.values.Get("cursor"))
	case more:
		end.filters, end.business = rq.filters(), uint32(rq.key.Business)
		rq.out = append(append(append(rq.out, '"'), rq.cursors.seal(end)...), '"')
	default:
		rq.out = append(rq.out, "null"...)
	}
	rq.out = append(rq.out, `,"has_more":`...)
	if more {
		rq.out = append(rq.out, "true}"...)
	} else {
		rq.out = append(rq.out, "false}"...)
	}
}
