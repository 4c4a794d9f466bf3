package proof

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/write"
)

// DayRow is what is read of a row of totals to place it: a day, or a line of products.
type DayRow struct {
	Date types.Date `json:"date"`
	dayTotals
	productLine
	// Unplaced: which line of its day it is cannot be read.
	Unplaced bool `json:"-"`
}

// dayTotals is what is read of a day.
type dayTotals struct {
	Orders  uint64 `json:"orders"`
	Refunds string `json:"refunds"`
}

// productLine is what is read of a line of products.
type productLine struct {
	ProductID *string `json:"product_id"`
	Name      string  `json:"name"`
}

// Empty reports a day without orders and refunds: days without sales come with zeros
// (docs/openapi.yaml, /sales/daily).
func (r DayRow) Empty() bool {
	return r.Orders == 0 && strings.Trim(r.Refunds, "0.") == ""
}

// PlaceRows reads what places each row, of days of totals or of lines of products: fields of the other
// kind are unknown ones (docs/rules.md R9). A row that cannot be read whole is placed by its date alone; the
// mapping reports what is wrong with it.
func PlaceRows(raws [][]byte, lines bool) []DayRow {
	rows := make([]DayRow, len(raws))
	for i, raw := range raws {
		var dated struct {
			Date types.Date `json:"date"`
		}
		row := &rows[i]
		into := any(&row.dayTotals)
		if lines {
			into = &row.productLine
		}
		undated := mapping.Unmarshal(raw, &dated) != nil
		if undated || mapping.Unmarshal(raw, into) != nil {
			*row = DayRow{dayTotals: dayTotals{Orders: 1}, Unplaced: true} // it is something, so the day is not empty
		}
		if !undated {
			row.Date = dated.Date
		}
	}
	return rows
}

// storedDays returns the hashes of the days of a span of which it is known what is stored; 0 where nothing
// is. They are read where this process has not asked for the days before: the first time those of all
// locations and of the last 92 days, which are remembered.
func (st *Totals) storedDays(ctx context.Context, sp Span) (map[types.Date]uint64, error) {
	today := st.shared.today()
	recent := addDays(today, 1-MaxRange)
	sums, missing := st.stored.remembered(sp)
	if len(missing) == 0 {
		return sums, nil
	}
	read, locations := Span{missing[0], missing[len(missing)-1], ""}, []string{sp.Location}
	if len(sums) == 0 && read.From >= recent {
		read.From, read.To, locations = recent, max(read.To, today), append(locations, st.deepLocations()...)
	}
	rows, err := st.Source.Sink.Hashes(ctx, sinks.HashQuery{
		Table: st.Def.Name, Business: st.Source.Business(), From: string(read.From), Before: string(addDays(read.To, 1)),
	})
	if err != nil {
		return nil, fmt.Errorf("what is stored of %s from %s to %s: %w", st.Def.Name, read.From, read.To, err)
	}
	found := map[string]uint64{}
	for _, row := range rows {
		if !row.Removed {
			found[DayKey(LocationOf(st.Def, row.ID))] += row.Hash | 1
		}
	}
	open := map[string]bool{} // a day with a row in quarantine is written, so that the entry closes
	for id := range st.Writer.Quarantined() {
		open[DayKey(LocationOf(st.Def, id))] = true
	}
	for _, day := range missing {
		if key := DayKey(day, sp.Location); !open[key] {
			sums[day] = found[key]
		}
	}
	st.stored.mu.Lock()
	defer st.stored.mu.Unlock()
	st.stored.of.forget(recent)
	for _, day := range read.Days() {
		for _, l := range locations {
			if key := DayKey(day, l); day >= recent && st.stored.of.at(day, l) <= nothingStored && !open[key] {
				st.stored.of.set(day, l, found[key]+nothingStored)
			}
		}
	}
	return sums, nil
}

// dayHashes are remembered of the last 92 days: of the rows of each, as they are stored.
type dayHashes struct {
	mu sync.Mutex
	of byDay[uint64] // each with nothingStored added: 0 where it is not known what is stored
}

// nothingStored is remembered of a day of which nothing is stored.
const nothingStored = 1

func (d *dayHashes) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.of)
}

// note remembers days from a recent one on that were written. Rows of days outside of the span are in quarantine.
func (d *dayHashes) note(sp Span, recent types.Date, written map[types.Date]uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for day, sum := range written {
		if sp.Covers(day) && day >= recent {
			d.of.set(day, sp.Location, sum+nothingStored)
		}
	}
}

// remembered returns the hashes of the days of a span that are remembered, and the days that are not.
func (d *dayHashes) remembered(sp Span) (sums map[types.Date]uint64, missing []types.Date) {
	sums = map[types.Date]uint64{}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, day := range sp.Days() {
		if sum := d.of.at(day, sp.Location); sum != 0 {
			sums[day] = sum - nothingStored
		} else {
			missing = append(missing, day)
		}
	}
	return sums, missing
}

// changed hashes each day of the span, its rows in any order, and returns the days that differ
// from what is stored. A day whose lines have all vanished has changed too.
func (d *dayHashes) changed(sp Span, r answer, stored map[types.Date]uint64) map[types.Date]uint64 {
	sums := map[types.Date]uint64{}
	for _, day := range sp.Days() {
		sums[day] = 0
	}
	for i, raw := range r.Rows {
		sums[r.days[i].Date] += sinks.HashOf(raw) | 1
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(sums, func(day types.Date, sum uint64) bool {
		old, known := stored[day]
		if !sp.Covers(day) { // it was not asked for
			remembered := d.of.at(day, sp.Location)
			old, known = remembered-nothingStored, remembered != 0
		}
		return known && old == sum
	})
	return sums
}

// readLines maps the rows of changed days; it returns their ids.
func (st *Totals) readLines(in *write.Intake, sp Span, r answer, changed map[types.Date]uint64) map[string]bool {
	m := st.Def.Plan.NewMapper()
	first := st.Source.Versions.Take(len(r.Rows))
	present := map[string]bool{}
	for i, raw := range r.Rows {
		row, id := r.days[i], ""
		// A row that cannot be distinguished from others has no id: no good row will take its place.
		if _, err := time.Parse(time.DateOnly, string(row.Date)); err == nil && (!row.Unplaced || !st.Def.LinesMayVanish) {
			id = LineID(st.Def, row, sp.Location)
		}
		if _, isNew := changed[row.Date]; !isNew && id != "" {
			in.Counts.Unchanged++
			continue
		}
		if !sp.Covers(row.Date) {
			// Without an id, so that the proper row of the day is not taken for this one.
			in.Quarantine("", "date", fmt.Sprintf("%q is not a day from %s to %s, which were asked for", row.Date, sp.From, sp.To), "it is not a day that was asked for", raw, first+uint64(i), r.Date)
			continue
		}
		present[id] = true
		in.Row(m, raw, first+uint64(i), r.Date, write.RowContext{ID: id, Columns: st.Def.Columns(sp.Location)})
	}
	return present
}

// LineID identifies a row of a day of a location, or of all (empty).
//
// What a product sold on a day, in a location or in all together, comes in one line; what has no catalogue
// product comes in one per name (docs/openapi.yaml, ProductSales). The location is escaped: its id may have any
// character.
func LineID(def *registry.Definition, r DayRow, location string) string {
	if !def.LinesMayVanish {
		return DayKey(r.Date, location)
	}
	day := string(r.Date) + "/"
	if location != "" {
		day += ofLocation + url.PathEscape(location) + "/"
	}
	if r.ProductID != nil {
		return day + "p/" + shortened(*r.ProductID)
	}
	return day + "n/" + shortened(r.Name)
}

// LocationOf is the day and the location that a [LineID] is of; the location is empty
// for all together.
func LocationOf(def *registry.Definition, id string) (day types.Date, location string) {
	date, rest, _ := strings.Cut(id, "/")
	if !def.LinesMayVanish {
		return types.Date(date), rest
	}
	if escaped, found := strings.CutPrefix(rest, ofLocation); found {
		escaped, _, _ = strings.Cut(escaped, "/")
		if location, err := url.PathUnescape(escaped); err == nil {
			return types.Date(date), location
		}
	}
	return types.Date(date), ""
}

// DayKey identifies a day's totals: "<date>" for all locations together,
// "<date>/<location>" for one.
func DayKey(day types.Date, location string) string {
	if location == "" {
		return string(day)
	}
	return string(day) + "/" + location
}

// ofLocation begins the id of a line of one location, behind its day.
const ofLocation = "l/"

// longName is from where on a name does not identify a line by itself.
const longName = 512

// shortened is a name that may be of any length, as a part of an id.
func shortened(name string) string {
	if len(name) <= longName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:64], "") + "…" + hex.EncodeToString(sum[:])
}

// removeLines adds tombstones for the lines of a location that vanished from the changed days of a
// span of which something is stored. A day with a line that cannot be identified keeps all its lines:
// that line may be any of them.
func (st *Totals) removeLines(ctx context.Context, in *write.Intake, sp Span, r answer, stored, changed map[types.Date]uint64, present map[string]bool) error {
	changed = maps.Clone(changed)
	maps.DeleteFunc(changed, func(day types.Date, _ uint64) bool {
		old, known := stored[day]
		return !sp.Covers(day) || known && old == 0
	})
	for _, row := range r.days {
		if row.Unplaced {
			delete(changed, row.Date)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if r, ok := st.Source.Commits.Last(st.Source.Name); ok { // lines that were handed over are live, too
		if err := r.Wait(ctx); err != nil {
			return fmt.Errorf("wait for the warehouse: %w", err)
		}
	}
	days := slices.Sorted(maps.Keys(changed))
	first, last := days[0], days[len(days)-1]
	live, err := st.Source.Sink.Live(ctx, sinks.LiveQuery{ // an id begins with its day
		Table: st.Def.Name, Business: in.Commit.Business, After: string(first), Before: string(addDays(last, 1)),
	})
	if err != nil {
		return fmt.Errorf("live rows from %s to %s: %w", first, last, err)
	}
	for _, row := range live {
		day, location := LocationOf(st.Def, row.ID)
		if _, ok := changed[day]; ok && location == sp.Location && !present[row.ID] {
			in.Remove(row.ID, write.ReasonGone, st.Source.Versions.Take(1), r.Date)
		}
	}
	return nil
}
