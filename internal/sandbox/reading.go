package sandbox

import (
	"errors"
	"strconv"

	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// readCall is a request of a route that reads the restaurant, which stands still meanwhile.
type readCall struct{ *request }

// reading is what all reading routes share.
func reading(handle func(readCall) *refusal.Refusal) func(*request) *refusal.Refusal {
	return func(rq *request) *refusal.Refusal {
		rq.open()
		defer rq.view.Close()
		return handle(readCall{rq})
	}
}

// narrow leaves location_id of what is seen. An unknown location is 404, one outside the
// key's restriction 403.
func (c readCall) narrow() *refusal.Refusal {
	id, given := c.q.text("location_id")
	if !given {
		return nil
	}
	switch err := c.view.Narrow(id); {
	case errors.Is(err, world.ErrForbidden):
		return refusal.Of(refusal.LocationForbidden)
	case err != nil:
		return refusal.Of(refusal.NotFound)
	}
	return nil
}

// listing reads what all lists share. dataFilters are filters that change with
// the data; they cannot go with updated_since or include_deleted. at is what the cursor says.
func (c readCall) listing(dataFilters ...string) (l rows.Listing, at place) {
	q := c.q
	l.Limit = c.q.limit(maxLimit)
	l.Since, l.Mirror = q.instant("updated_since")
	l.Tombstones, _ = q.flag("include_deleted")
	if l.Mirror || l.Tombstones {
		for _, f := range dataFilters {
			if q.has(f) {
				q.bad.Add(f, "The %s cannot be combined with updated_since or include_deleted.", f)
			}
		}
	}
	at = c.cursor()
	l.After = at.pos
	return l, at
}

// cursor reads the cursor of this walk.
func (c readCall) cursor() place {
	if !c.q.has("cursor") {
		return place{}
	}
	p, ok := c.s.unseal(c.q.values.Get("cursor"), c.filters(), c.key.Business)
	if !ok || c.met(faults.CursorRefused) {
		c.q.bad.Add("cursor", "The cursor is not valid for this list and these filters.")
		return place{}
	}
	return p
}

var filterNames = []string{"location_id", "updated_since", "include_deleted", "category_id", "available", "below_min", "from", "to"}

// filters is a hash of the list and its filters, which a cursor is bound to.
// The limit is none: it may change from page to page.
func (c readCall) filters() uint64 {
	h := seeded.Hash(c.route.name)
	for _, name := range filterNames {
		if c.q.has(name) {
			h = seeded.Mix(h ^ seeded.Hash(name+"="+c.q.values.Get(name)))
		}
	}
	return h
}

// list answers a page of a list.
func (c readCall) list(page func(rows.Listing) (rows.Pos, bool), dataFilters ...string) *refusal.Refusal {
	l, at := c.listing(dataFilters...)
	if err := c.begin(); err != nil {
		return err
	}
	c.openList()
	c.page(at, func() (rows.Pos, bool) { return page(l) })
	return nil
}

// page answers the page behind at: its rows and its cursor, or one of the empty pages that
// follow those with rows (Readings.EmptyPages).
func (c readCall) page(at place, addRows func() (rows.Pos, bool)) {
	most := uint32(c.s.opts.Readings.EmptyPages)
	if at.empty > 0 && at.empty <= most {
		at.empty++
		c.closePage(at, true)
		return
	}
	end, more := addRows()
	next := place{pos: end, days: at.days}
	if anyRows := c.out[len(c.out)-1] != '['; most > 0 && anyRows {
		next.empty, more = 1, true
	}
	c.closePage(next, more)
}

// begin is what comes before an answer: the parameters are right, and the location is one
// that the key may see.
func (c readCall) begin() *refusal.Refusal {
	if err := c.q.bad.Refusal(); err != nil {
		return err
	}
	return c.narrow()
}

// one answers the row with the id of the path.
func (c readCall) one(find func(id string) ([]byte, bool)) *refusal.Refusal {
	if err := c.narrow(); err != nil {
		return err
	}
	row, ok := find(c.id)
	if !ok {
		return refusal.Of(refusal.NotFound)
	}
	c.addRow(func(out []byte) []byte { return append(out, row...) })
	return nil
}

// days reads from and to; both are days of the view.
func (c readCall) days() sales.Days {
	from, to := c.q.days(c.view.Today(), c.s.opts.Readings.LooseRange)
	return sales.Days{From: from, To: to}
}

// closePage ends the page with the cursor of the next one.
func (c readCall) closePage(end place, more bool) {
	c.write(`],"next_cursor":`)
	switch {
	case !more || c.met(faults.CursorMissing):
		c.write("null")
	case c.met(faults.CursorRepeats) && c.q.has("cursor"):
		c.out = units.AppendString(c.out, c.q.values.Get("cursor"))
	default:
		end.filters, end.business = c.filters(), uint32(c.key.Business)
		c.write(`"` + c.s.seal(end) + `"`)
	}
	c.write(`,"has_more":` + strconv.FormatBool(more) + "}")
}
