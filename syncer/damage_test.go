package syncer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// damage is what was done to the mirrored orders behind the syncer's back, as a
// mistake or a person at the warehouse does.
type damage struct {
	kind string
	at   time.Time
	days map[string]bool   // whose figures differ for it
	was  map[string]uint64 // versions of the damaged rows by id; 0 for rows that were removed
}

func (d *damage) String() string {
	return fmt.Sprintf("%s at %s: %d orders, days %s", d.kind, d.at.Format(time.DateTime), len(d.was), strings.Join(slices.Sorted(maps.Keys(d.days)), " "))
}

// vandal damages the mirrored orders of a restaurant.
type vandal struct {
	store     *memsink.Store
	business  string
	locations []string
	g         *rand.Rand
	done      map[string]bool // orders that were damaged before: two mistakes might make it right
	turns     []int           // kinds, in the order in which they are tried next
}

func (w *world) vandal(business int, g *rand.Rand) *vandal {
	r := w.box.Restaurant(business)
	return &vandal{store: w.store, business: r.ID(), locations: r.LocationIDs(), g: g, done: map[string]bool{}}
}

// damageKind is a kind of damage. It returns nil where the day has nothing to damage
// so.
type damageKind struct {
	name string
	harm func(v *vandal, day string) *damage
}

var damageKinds = []damageKind{
	{"rows removed", func(v *vandal, day string) *damage { return v.each(v.some(3, v.sold(day)), v.lose) }},
	{"a day removed", func(v *vandal, day string) *damage { return v.each(v.sold(day), v.lose) }},
	{"a figure altered", func(v *vandal, day string) *damage {
		column := pick(v.g, "totals_tip", "totals_items", "totals_discount", "totals_delivery_fee", "totals_deposit", "totals_net_sales")
		return v.each(v.some(1, v.sold(day)), v.column(column, func(soldOrder) string {
			return fmt.Sprintf(`"%d.%02d"`, 1000+v.g.IntN(1000), v.g.IntN(100))
		}))
	}},
	{"payments altered", func(v *vandal, day string) *damage {
		return v.each(v.some(2, v.sold(day)), v.column("payments.amount", func(o soldOrder) string { return sameEach(len(o.Payments), "0.01") }))
	}},
	{"lines altered", func(v *vandal, day string) *damage {
		return v.each(v.some(2, v.sold(day)), v.column("items.total", func(o soldOrder) string { return sameEach(len(o.Items), "0.01") }))
	}},
	{"buried by mistake", func(v *vandal, day string) *damage {
		return v.each(v.some(3, v.sold(day)), func(r memsink.Row, o soldOrder) []string {
			v.store.Edit(registry.Orders, v.business, r.ID, func(r *memsink.Row) { r.Deleted, r.Reason = true, "deleted" })
			return o.days()
		})
	}},
	{unDeleted, func(v *vandal, day string) *damage {
		removed := v.orders(func(r memsink.Row) bool { return r.Deleted })
		slices.SortStableFunc(removed, func(a, b memsink.Row) int { return away(a, day) - away(b, day) })
		return v.each(v.some(3, removed), func(r memsink.Row, o soldOrder) []string {
			v.store.Edit(registry.Orders, v.business, r.ID, func(r *memsink.Row) { r.Deleted, r.Reason = false, "" })
			return o.days()
		})
	}},
	{"doubled", func(v *vandal, day string) *damage {
		return v.each(v.some(2, v.sold(day)), func(r memsink.Row, o soldOrder) []string {
			v.store.Copy(registry.Orders, v.business, r.ID, r.ID+copied)
			return o.days()
		})
	}},
	{"moved to another day", func(v *vandal, day string) *damage {
		to, err := schedule.AddDays(types.Date(day), -1-v.g.IntN(3))
		if err != nil {
			panic(err)
		}
		return v.each(v.some(1, v.sold(day)), func(r memsink.Row, o soldOrder) []string {
			v.store.EditColumn(registry.Orders, v.business, r.ID, "business_day", asJSON(string(to)))
			return []string{o.Day, string(to)}
		})
	}},
	{"moved to another location", func(v *vandal, day string) *damage {
		if len(v.locations) < 2 {
			return nil
		}
		return v.each(v.some(1, v.sold(day)), func(r memsink.Row, o soldOrder) []string {
			other := slices.DeleteFunc(slices.Clone(v.locations), func(id string) bool { return id == r.Location })
			v.store.EditColumn(registry.Orders, v.business, r.ID, "location_id", asJSON(pick(v.g, other...)))
			return o.days()
		})
	}},
	{"refunds lost", func(v *vandal, day string) *damage {
		return v.each(v.some(1, v.refunded(day)), func(r memsink.Row, o soldOrder) []string {
			for _, column := range []string{"amount", "method", "at", "item_id"} {
				v.store.EditColumn(registry.Orders, v.business, r.ID, "refunds."+column, `[]`)
			}
			return o.refundDays()
		})
	}},
	{"refunds altered", func(v *vandal, day string) *damage {
		return v.each(v.some(1, v.refunded(day)), func(r memsink.Row, o soldOrder) []string {
			v.store.EditColumn(registry.Orders, v.business, r.ID, "refunds.amount", sameEach(len(o.Refunds), "0.01"))
			return o.refundDays()
		})
	}},
	{"refunds moved to another day", func(v *vandal, day string) *damage {
		return v.each(v.some(1, v.refunded(day)), func(r memsink.Row, o soldOrder) []string {
			to := o.Refunds[0].At.AddDate(0, 0, -1-v.g.IntN(3)).UTC()
			v.store.EditColumn(registry.Orders, v.business, r.ID, "refunds.at", sameEach(len(o.Refunds), to.Format(time.RFC3339Nano)))
			return append(o.refundDays(), string(schedule.DayOf(to)))
		})
	}},
}

const (
	unDeleted = "un-deleted"
	copied    = " copy" // ends the id of a doubled row
)

func (d *damage) wasUnDeleted(id string) bool {
	_, of := d.was[id]
	return of && d.kind == unDeleted
}

// soldOrder is what of an order tells which figures it counts in.
type soldOrder struct {
	Day      string            `json:"business_day"`
	Location string            `json:"location_id"`
	Items    []json.RawMessage `json:"items"`
	Payments []json.RawMessage `json:"payments"`
	Refunds  []struct {
		At time.Time `json:"at"`
	} `json:"refunds"`
}

func readSold(raw string) (o soldOrder) {
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		panic("a stored order: " + err.Error())
	}
	return o
}

func (o soldOrder) refundDays() (days []string) {
	for _, r := range o.Refunds {
		days = append(days, string(schedule.DayOf(r.At)))
	}
	return days
}

// days are all days on which the order counts.
func (o soldOrder) days() []string { return append(o.refundDays(), o.Day) }

// sameEach is a JSON array of one text, so many times.
func sameEach(n int, text string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(asJSON(text)+",", n), ",") + "]"
}

// away is how many days lie between a stored order and a day.
func away(r memsink.Row, day string) int {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return int(max(r.Day-t.Unix()/86400, t.Unix()/86400-r.Day))
}

// orders are the stored orders that fit, none of them damaged before, in an order by
// chance.
func (v *vandal) orders(fits func(memsink.Row) bool) []memsink.Row {
	all := v.store.Rows(registry.Orders, v.business)
	var found []memsink.Row
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if r := all[id]; r.Raw != "" && !v.done[id] && !strings.HasSuffix(id, copied) && fits(r) {
			found = append(found, r)
		}
	}
	v.g.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	return found
}

func (v *vandal) sold(day string) []memsink.Row {
	return v.orders(func(r memsink.Row) bool { return !r.Deleted && away(r, day) == 0 })
}

func (v *vandal) refunded(day string) []memsink.Row {
	return v.orders(func(r memsink.Row) bool { return !r.Deleted && slices.Contains(readSold(r.Raw).refundDays(), day) })
}

// some are between one and most of the rows.
func (v *vandal) some(most int, rows []memsink.Row) []memsink.Row {
	return rows[:min(len(rows), 1+v.g.IntN(most))]
}

func (v *vandal) lose(r memsink.Row, o soldOrder) []string {
	v.store.Lose(registry.Orders, v.business, r.ID)
	return o.days()
}

// column has a typed column of a row hold another value.
func (v *vandal) column(name string, value func(soldOrder) string) func(memsink.Row, soldOrder) []string {
	return func(r memsink.Row, o soldOrder) []string {
		v.store.EditColumn(registry.Orders, v.business, r.ID, name, value(o))
		return []string{o.Day}
	}
}

// each damages each of the rows; harm returns the days that differ for it.
func (v *vandal) each(rows []memsink.Row, harm func(memsink.Row, soldOrder) (days []string)) *damage {
	if len(rows) == 0 {
		return nil
	}
	d := &damage{at: time.Now(), days: map[string]bool{}, was: map[string]uint64{}}
	for _, r := range rows {
		for _, day := range harm(r, readSold(r.Raw)) {
			d.days[day] = true
		}
		id := r.ID
		if v.version(id+copied) != 0 {
			id += copied
		}
		d.was[id], v.done[r.ID] = v.version(id), true
	}
	return d
}

func (v *vandal) version(id string) uint64 {
	return v.store.Row(registry.Orders, v.business, id).Version
}

// mended is true when every damaged row was written anew.
func (v *vandal) mended(d *damage) bool {
	for id, was := range d.was {
		if v.version(id) == was {
			return false
		}
	}
	return true
}

// harm damages a day in one of the kinds that it has something for, those first that
// were not chosen yet; nil when it has for none.
func (v *vandal) harm(day string) *damage {
	if len(v.turns) < len(damageKinds) {
		v.turns = append(v.turns, v.g.Perm(len(damageKinds))...)
	}
	for n, i := range v.turns {
		if d := damageKinds[i].harm(v, day); d != nil {
			d.kind, v.turns = damageKinds[i].name, slices.Delete(v.turns, n, n+1)
			return d
		}
	}
	return nil
}

// asJSON is a text as JSON.
func asJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // it is a text
	}
	return string(b)
}
