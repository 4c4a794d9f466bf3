package syncer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/write"
)

// dayRow is what is read of a totals row to place it.
type dayRow struct {
	dated
	totalsRow
	lineRow
	// unplaced: which line of its day it is cannot be read.
	unplaced bool
}

// What is read of every row, of a day of totals and of a line of products: what the one
// has is unknown in the other.
type (
	dated struct {
		Date api.Date `json:"date"`
	}
	totalsRow struct {
		Orders  uint64 `json:"orders"`
		Refunds string `json:"refunds"`
	}
	lineRow struct {
		ProductID *string `json:"product_id"`
		Name      string  `json:"name"`
	}
)

// empty tells a day without anything: days without sales come with zeros
// (api.md, "/sales/daily").
func (r dayRow) empty() bool {
	return r.Orders == 0 && strings.Trim(r.Refunds, "0.") == ""
}

// placeRows reads what places each row, of days of totals or of lines of products. A row
// that cannot be read whole is placed by its date alone; the mapping says what is wrong
// with it.
func placeRows(raws [][]byte, lines bool) []dayRow {
	rows := make([]dayRow, len(raws))
	for i, raw := range raws {
		if !rows[i].read(raw, lines) {
			rows[i].totalsRow, rows[i].lineRow = totalsRow{Orders: 1}, lineRow{} // it is something, so the day is not empty
			rows[i].unplaced = true
		}
	}
	return rows
}

func (r *dayRow) read(raw []byte, line bool) bool {
	if mapping.Unmarshal(raw, &r.dated) != nil {
		r.dated = dated{}
		return false
	}
	if line {
		return mapping.Unmarshal(raw, &r.lineRow) == nil
	}
	return mapping.Unmarshal(raw, &r.totalsRow) == nil
}

// holds is true when what was seen among some days would be seen among these.
func (sp span) holds(s write.Sighting) bool {
	return s.From != "" && s.Location == sp.location && string(sp.from) <= s.From && s.To <= string(sp.to)
}

// covers is true when a day lies within the span.
func (sp span) covers(day api.Date) bool {
	return len(day) == len(time.DateOnly) && sp.from <= day && day <= sp.to
}

// days are the days of the span.
func (sp span) days() []api.Date {
	var days []api.Date
	for day := sp.from; day <= sp.to; {
		days = append(days, day)
		next, err := calendar.AddDays(day, 1)
		if err != nil || len(days) > 2*calendar.MaxRange {
			break
		}
		day = next
	}
	return days
}

// covering are as few ranges, such as the service answers, as cover some days.
func covering(places []span) []span {
	days := map[string][]api.Date{}
	for _, p := range places {
		days[p.location] = append(days[p.location], p.from)
	}
	var spans []span
	for location, of := range days {
		slices.Sort(of)
		for len(of) > 0 {
			reach, err := calendar.AddDays(of[0], calendar.MaxRange-1)
			if err != nil {
				reach = of[0]
			}
			n := len(of)
			for i, day := range of {
				if day > reach {
					n = i
					break
				}
			}
			spans = append(spans, span{of[0], of[n-1], location})
			of = of[n:]
		}
	}
	return spans
}

// changedDays hashes each day of the span, its rows in any order, and returns the
// days that differ from what was stored last. A day whose lines have all vanished
// has changed too.
func (st *totals) changedDays(sp span, rows []dayRow, raws [][]byte) map[api.Date]uint64 {
	sums := map[api.Date]uint64{}
	for _, day := range sp.days() {
		sums[day] = 0
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for i, raw := range raws {
		sums[rows[i].Date] += maphash.Bytes(st.seed, raw) | 1
	}
	maps.DeleteFunc(sums, func(day api.Date, sum uint64) bool {
		old, known := st.memory.days[dayKey(day, sp.location)]
		return known && old == sum
	})
	return sums
}

// rememberDays notes what has been stored of the days that had changed.
func (st *totals) rememberDays(location string, changed map[api.Date]uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for day, sum := range changed {
		st.memory.days[dayKey(day, location)] = sum
	}
}

// readTotals maps the rows of changed days; it returns their ids.
func (st *totals) readTotals(in *write.Intake, sp span, rows []dayRow, r report, changed map[api.Date]uint64) map[string]bool {
	m := st.def.Plan.NewMapper()
	first := st.source.versions.Take(len(rows))
	present := map[string]bool{}
	for i, raw := range r.rows {
		row := rows[i]
		_, isNew := changed[row.Date]
		id := st.lineOf(row, sp)
		if !isNew && id != "" {
			in.Counts.Unchanged++
			continue
		}
		if !sp.covers(row.Date) {
			in.Quarantine(id, "date", fmt.Sprintf("%q is not a day from %s to %s, which were asked for", row.Date, sp.from, sp.to), raw, first+uint64(i), r.at)
			continue
		}
		present[id] = true
		in.Row(m, raw, first+uint64(i), r.at, write.Place{ID: id, Columns: st.def.Columns(sp.location)})
	}
	return present
}

// lineOf identifies a row of a span; empty for one that cannot be told from others,
// which no good row will have the place of.
func (st *totals) lineOf(r dayRow, sp span) string {
	if _, err := time.Parse(time.DateOnly, string(r.Date)); err != nil || r.unplaced && st.def.Vanish {
		return ""
	}
	return st.lineID(r, sp.location)
}

// lineID identifies a row of a day: of products its line, of daily totals its location.
func (st *totals) lineID(r dayRow, location string) string {
	if st.def.Vanish {
		return productLineID(r)
	}
	return dayKey(r.Date, location)
}

// dayKey identifies a day's totals: "<date>" for all locations together,
// "<date>/<location>" for one.
func dayKey(day api.Date, location string) string {
	if location == "" {
		return string(day)
	}
	return string(day) + "/" + location
}

// productLineID identifies what a product sold on a day; lines without a catalogue
// product come one per name (api.md, "Product sales row").
func productLineID(r dayRow) string {
	if r.ProductID != nil {
		return string(r.Date) + "/p/" + shortened(*r.ProductID)
	}
	return string(r.Date) + "/n/" + shortened(r.Name)
}

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

// buryLines adds tombstones for the lines that vanished from the changed days. A day
// with a line that cannot be told apart keeps all it had: that line may be any.
func (st *totals) buryLines(ctx context.Context, in *write.Intake, rows []dayRow, changed map[api.Date]uint64, present map[string]bool, at time.Time) error {
	changed = maps.Clone(changed)
	for _, r := range rows {
		if r.unplaced {
			delete(changed, r.Date)
		}
	}
	for _, prefix := range prefixes(changed) {
		live, err := st.source.sink.Live(ctx, sinks.LiveQuery{Table: st.def.Name, Business: in.Commit.Business, Prefix: prefix})
		if err != nil {
			return fmt.Errorf("live rows of %s: %w", prefix, err)
		}
		for _, row := range live {
			if !present[row.ID] && ofDays(row.ID, changed) {
				in.Bury(row.ID, write.ReasonGone, st.source.versions.Take(1), at)
			}
		}
	}
	return nil
}

// fewDays is up to how many changed days the sink is asked about one by one;
// above it, month by month.
const fewDays = 3

func prefixes(changed map[api.Date]uint64) []string {
	set := map[string]struct{}{}
	for day := range changed {
		switch {
		case len(day) != len(time.DateOnly): // a row that is in quarantine
		case len(changed) <= fewDays:
			set[string(day)+"/"] = struct{}{}
		default:
			set[string(day[:len("2006-01-")])] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func ofDays(id string, changed map[api.Date]uint64) bool {
	day, _, _ := strings.Cut(id, "/")
	_, ok := changed[api.Date(day)]
	return ok
}
