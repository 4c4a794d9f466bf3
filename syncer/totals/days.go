package totals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/write"
)

// dayLines are the rows of the days as they were last written; a day whose rows are the same
// is not written again. The mu of the totals guards days.
type dayLines struct {
	totals *Totals
	seed   maphash.Seed      // tells rows apart
	days   map[string]uint64 // by DayKey: what the day's rows were
}

// DayRow is what is read of a totals row to place it.
type DayRow struct {
	dated
	totalsRow
	lineRow
	// Unplaced: which line of its day it is cannot be read.
	Unplaced bool
}

// The fields that are read of every row. Days of totals have those of totalsRow, lines of
// products those of lineRow.
type (
	dated struct {
		Date types.Date `json:"date"`
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

// Empty is true of a day without orders and refunds: days without sales come with zeros
// (api.md, "/sales/daily").
func (r DayRow) Empty() bool {
	return r.Orders == 0 && strings.Trim(r.Refunds, "0.") == ""
}

// PlaceRows reads what places each row, of days of totals or of lines of products. A row
// that cannot be read whole is placed by its date alone; the mapping says what is wrong
// with it.
func PlaceRows(raws [][]byte, lines bool) []DayRow {
	rows := make([]DayRow, len(raws))
	for i, raw := range raws {
		if !rows[i].read(raw, lines) {
			rows[i].totalsRow, rows[i].lineRow = totalsRow{Orders: 1}, lineRow{} // it is something, so the day is not empty
			rows[i].Unplaced = true
		}
	}
	return rows
}

func (r *DayRow) read(raw []byte, line bool) bool {
	if mapping.Unmarshal(raw, &r.dated) != nil {
		r.dated = dated{}
		return false
	}
	if line {
		return mapping.Unmarshal(raw, &r.lineRow) == nil
	}
	return mapping.Unmarshal(raw, &r.totalsRow) == nil
}

// holds is true when the span covers the place and the days of a sighting.
func (sp Span) holds(s write.Sighting) bool {
	return s.From != "" && s.Location == sp.Location && string(sp.From) <= s.From && s.To <= string(sp.To)
}

// Covers is true when a day lies within the span.
func (sp Span) Covers(day types.Date) bool {
	return len(day) == len(time.DateOnly) && sp.From <= day && day <= sp.To
}

// Days are the days of the span.
func (sp Span) Days() []types.Date {
	var days []types.Date
	for day := sp.From; day <= sp.To; {
		days = append(days, day)
		next, err := calendar.AddDays(day, 1)
		if err != nil || len(days) > 2*calendar.MaxRange {
			break
		}
		day = next
	}
	return days
}

// Covering returns the fewest ranges that cover the days, each no longer than the service
// answers.
func Covering(places []Span) []Span {
	days := map[string][]types.Date{}
	for _, p := range places {
		days[p.Location] = append(days[p.Location], p.From)
	}
	var spans []Span
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
			spans = append(spans, Span{of[0], of[n-1], location})
			of = of[n:]
		}
	}
	return spans
}

// changedDays hashes each day of the span, its rows in any order, and returns the
// days that differ from what was stored last. A day whose lines have all vanished
// has changed too.
func (l *dayLines) changedDays(sp Span, rows []DayRow, raws [][]byte) map[types.Date]uint64 {
	sums := map[types.Date]uint64{}
	for _, day := range sp.Days() {
		sums[day] = 0
	}
	l.totals.mu.Lock()
	defer l.totals.mu.Unlock()
	for i, raw := range raws {
		sums[rows[i].Date] += maphash.Bytes(l.seed, raw) | 1
	}
	maps.DeleteFunc(sums, func(day types.Date, sum uint64) bool {
		old, known := l.days[DayKey(day, sp.Location)]
		return known && old == sum
	})
	return sums
}

// rememberDays notes what has been stored of the days that had changed. Rows of
// days that were not asked for are in quarantine.
func (l *dayLines) rememberDays(sp Span, changed map[types.Date]uint64) {
	l.totals.mu.Lock()
	defer l.totals.mu.Unlock()
	for day, sum := range changed {
		if sp.Covers(day) {
			l.days[DayKey(day, sp.Location)] = sum
		}
	}
}

// readTotals maps the rows of changed days; it returns their ids.
func (l *dayLines) readTotals(in *write.Intake, sp Span, rows []DayRow, r Report, changed map[types.Date]uint64) map[string]bool {
	m := l.totals.Def.Plan.NewMapper()
	first := l.totals.Source.Versions.Take(len(rows))
	present := map[string]bool{}
	for i, raw := range r.Rows {
		row := rows[i]
		_, isNew := changed[row.Date]
		id := l.lineOf(row, sp)
		if !isNew && id != "" {
			in.Counts.Unchanged++
			continue
		}
		if !sp.Covers(row.Date) {
			// Without an id, so that the proper row of the day is not taken for this one.
			in.Quarantine("", "date", fmt.Sprintf("%q is not a day from %s to %s, which were asked for", row.Date, sp.From, sp.To), "it is not a day that was asked for", raw, first+uint64(i), r.At)
			continue
		}
		present[id] = true
		in.Row(m, raw, first+uint64(i), r.At, write.RowContext{ID: id, Columns: l.totals.Def.Columns(sp.Location)})
	}
	return present
}

// lineOf identifies a row of a span. It is empty for a row that cannot be told from others: no
// good row will take its place.
func (l *dayLines) lineOf(r DayRow, sp Span) string {
	if _, err := time.Parse(time.DateOnly, string(r.Date)); err != nil || r.Unplaced && l.totals.Def.LinesMayVanish {
		return ""
	}
	return l.totals.LineID(r, sp.Location)
}

// LineID identifies a row of a day of a location, or of all (empty).
func (st *Totals) LineID(r DayRow, location string) string {
	if st.Def.LinesMayVanish {
		return ProductLineID(r, location)
	}
	return DayKey(r.Date, location)
}

// LocationOf is the day and the location that a [Totals.LineID] is of; the location is empty for
// all together.
func (st *Totals) LocationOf(id string) (day types.Date, location string) {
	date, rest, _ := strings.Cut(id, "/")
	if !st.Def.LinesMayVanish {
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

// ProductLineID identifies what a product sold on a day, in a location or in all together;
// lines without a catalogue product come one per name (api.md, "Product sales row"). The
// location is escaped: its id may have any character.
func ProductLineID(r DayRow, location string) string {
	day := string(r.Date) + "/"
	if location != "" {
		day += ofLocation + url.PathEscape(location) + "/"
	}
	if r.ProductID != nil {
		return day + "p/" + shortened(*r.ProductID)
	}
	return day + "n/" + shortened(r.Name)
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

// removeLines adds tombstones for the lines of a location that vanished from the changed days of a
// span. A day with a line that cannot be identified keeps all its lines: that line may be any of them.
func (l *dayLines) removeLines(ctx context.Context, in *write.Intake, sp Span, rows []DayRow, changed map[types.Date]uint64, present map[string]bool, at time.Time) error {
	changed = maps.Clone(changed)
	maps.DeleteFunc(changed, func(day types.Date, _ uint64) bool { return !sp.Covers(day) })
	for _, r := range rows {
		if r.Unplaced {
			delete(changed, r.Date)
		}
	}
	for _, prefix := range prefixes(changed) {
		live, err := l.totals.Source.Sink.Live(ctx, sinks.LiveQuery{Table: l.totals.Def.Name, Business: in.Commit.Business, Prefix: prefix})
		if err != nil {
			return fmt.Errorf("live rows of %s: %w", prefix, err)
		}
		for _, row := range live {
			day, of := l.totals.LocationOf(row.ID)
			if _, ok := changed[day]; ok && of == sp.Location && !present[row.ID] {
				in.Remove(row.ID, write.ReasonGone, l.totals.Source.Versions.Take(1), at)
			}
		}
	}
	return nil
}

// fewDays is up to how many changed days the sink is asked about one by one;
// above it, month by month.
const fewDays = 3

func prefixes(changed map[types.Date]uint64) []string {
	set := map[string]struct{}{}
	for day := range changed {
		switch {
		case len(changed) <= fewDays:
			set[string(day)+"/"] = struct{}{}
		default:
			set[string(day[:len("2006-01-")])] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// forgetDays lets days be written again whatever was written of them.
func (l *dayLines) forgetDays(sp Span) {
	l.totals.mu.Lock()
	defer l.totals.mu.Unlock()
	for _, day := range sp.Days() {
		delete(l.days, DayKey(day, sp.Location))
	}
}
