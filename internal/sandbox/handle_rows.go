package sandbox

import (
	"slices"

	"github.com/larder-sync/larder/internal/api"
)

// sees fills rq.visible: the locations of the key, narrowed to location_id. An
// unknown location is 404, one outside the key's restriction 403.
func (rq *request) sees() *apiError {
	b := rq.b
	want, given := rq.q.text("location_id")
	if given {
		loc, ok := b.locationOf(want)
		switch {
		case !ok:
			return fail(codeNotFound)
		case !rq.allowed(loc):
			return fail(codeLocation)
		case b.hidden(loc):
			return fail(codeNotFound)
		}
		rq.visible[loc] = true
		return nil
	}
	for loc := range b.locations {
		rq.visible[loc] = rq.allowed(loc) && !b.hidden(loc)
	}
	return nil
}

// allowed tells whether the key may use a location, active or not.
func (rq *request) allowed(loc int) bool {
	return rq.key.AllLocations || slices.Contains(rq.key.LocationIDs, rq.b.locations[loc].id)
}

// hidden tells whether the rows of a location left the lists with it.
func (b *business) hidden(loc int) bool {
	return b.readings.InactiveRowsHidden && !b.locations[loc].active
}

func (rq *request) shows(loc int) bool { return loc == sharedLocation || rq.visible[loc] }

// listing reads what all lists share. dataFilters are filters that change with
// the data; they cannot go with updated_since or include_deleted.
func (rq *request) listing(dataFilters ...string) listing {
	q := rq.q
	l := listing{limit: rq.pageRows(), sees: rq.shows}
	l.since, l.mirror = q.instant("updated_since")
	l.tombstones, _ = q.flag("include_deleted")
	if l.mirror || l.tombstones {
		for _, f := range dataFilters {
			if q.has(f) {
				q.bad.add(f, "The %s cannot be combined with updated_since or include_deleted.", f)
			}
		}
	}
	l.after = rq.cursor().pos
	return l
}

// pageRows is how many rows the page has at most.
func (rq *request) pageRows() int {
	limit := rq.q.limit()
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
	p, ok := rq.cursors.open(rq.q.values.Get("cursor"), rq.filters(), rq.b.index)
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
	h := hashString(rq.route.name)
	for _, name := range filterNames {
		if rq.q.has(name) {
			h = mix(h ^ hashString(name+"="+rq.q.values.Get(name)))
		}
	}
	return h
}

// listTable answers a page of a table.
func listTable[T any](rq *request, t *table[T], match func(*row[T]) bool, dataFilters ...string) *apiError {
	l := rq.listing(dataFilters...)
	if err := rq.q.bad.err(); err != nil {
		return err
	}
	rq.b.mu.Lock() // rows cache their JSON
	defer rq.b.mu.Unlock()
	if err := rq.sees(); err != nil {
		return err
	}
	rq.openPage()
	end, more := t.page(l, match, func(r *row[T]) { rq.addRow(t.bytes(r)) })
	rq.closePage(place{pos: end}, more)
	return nil
}

func oneRow[T any](rq *request, t *table[T]) *apiError {
	rq.b.mu.Lock()
	defer rq.b.mu.Unlock()
	if err := rq.sees(); err != nil {
		return err
	}
	r := t.live(rq.id)
	if r == nil || !rq.shows(r.loc) {
		return fail(codeNotFound)
	}
	rq.addRow(t.bytes(r))
	return nil
}

func (rq *request) listCategories() *apiError {
	return listTable(rq, rq.b.categories, func(*row[category]) bool { return true })
}

func (rq *request) listProducts() *apiError {
	category, byCategory := rq.q.text("category_id")
	available, byAvailable := rq.q.flag("available")
	return listTable(rq, rq.b.products, func(r *row[product]) bool {
		return (!byCategory || r.val.category == category) && (!byAvailable || r.val.available == available)
	}, "category_id", "available")
}

func (rq *request) oneProduct() *apiError { return oneRow(rq, rq.b.products) }

func (rq *request) listIngredients() *apiError {
	below, by := rq.q.flag("below_min")
	return listTable(rq, rq.b.ingredients, func(r *row[ingredient]) bool {
		return !by || r.val.belowMin() == below
	}, "below_min")
}

func (rq *request) oneIngredient() *apiError { return oneRow(rq, rq.b.ingredients) }

func (rq *request) listAllergens() *apiError {
	rq.out = append(rq.out, `{"data":[`...)
	for _, a := range allergenList {
		rq.addRow(encodeJSON(api.Allergen{Code: a.code, Name: a.name}))
	}
	rq.out = append(rq.out, "]}"...)
	return nil
}

func (rq *request) openPage() { rq.out = append(rq.out, `{"data":[`...) }

// addRow appends a row, maybe spoilt by a fault.
func (rq *request) addRow(json []byte) {
	rq.comma()
	start := len(rq.out)
	rq.out = append(rq.out, json...)
	rq.spoilRow(start)
}

func (rq *request) comma() {
	if rq.rows > 0 {
		rq.out = append(rq.out, ',')
	}
	rq.rows++
}

// closePage ends the page with the cursor of the next one.
func (rq *request) closePage(end place, more bool) {
	rq.out = append(rq.out, `],"next_cursor":`...)
	switch {
	case more && rq.page.cursorMissing:
		rq.out = append(rq.out, "null"...)
	case more && rq.page.cursorRepeats && rq.q.has("cursor"):
		rq.out = appendString(rq.out, rq.q.values.Get("cursor"))
	case more:
		end.filters, end.business = rq.filters(), uint32(rq.b.index)
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
