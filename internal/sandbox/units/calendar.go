package units

import (
	"fmt"
	"sort"
	"time"
	_ "time/tzdata" // days are Bucharest's on machines without zone files too
)

// ZoneName is the zone of every restaurant's days (docs/openapi.yaml, Values).
const ZoneName = "Europe/Bucharest"

// Spans of time. FullDay is that of most days: two a year are an hour off.
const (
	Millisecond = int64(1_000) // in microseconds, as all below
	Second      = 1000 * Millisecond
	Minute      = 60 * Second
	Hour        = 60 * Minute
	FullDay     = 24 * Hour
)

// Day counts days of the Bucharest calendar; 1970-01-01 is 0.
type Day int32

// Calendar turns instants (microseconds since 1970) into Bucharest days and
// back, through every change of clock. It is immutable.
type Calendar struct {
	Zone *time.Location
	from []int64 // instants at which an offset begins
	off  []int64 // microseconds to add to UTC
}

// NewCalendar reads the changes of clock from the zone's file.
func NewCalendar() (*Calendar, error) {
	zone, err := time.LoadLocation(ZoneName)
	if err != nil {
		return nil, fmt.Errorf("load zone %s: %w", ZoneName, err)
	}
	c := &Calendar{Zone: zone}
	for t := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC); t.Year() < 2200; {
		local := t.In(zone)
		_, seconds := local.Zone()
		if off := int64(seconds) * Second; len(c.off) == 0 || c.off[len(c.off)-1] != off {
			c.from = append(c.from, t.UnixMicro())
			c.off = append(c.off, off)
		}
		_, end := local.ZoneBounds()
		if end.IsZero() {
			break
		}
		if !end.After(t) { // bounds beyond the zone file's table can be empty
			end = t.Add(time.Hour)
		}
		t = end.UTC()
	}
	c.from[0] = -1 << 63
	return c, nil
}

// Offset is what Bucharest adds to UTC at an instant.
func (c *Calendar) Offset(us int64) int64 {
	return c.off[sort.Search(len(c.from), func(i int) bool { return c.from[i] > us })-1]
}

// Day is the Bucharest day that an instant falls on.
func (c *Calendar) Day(us int64) Day {
	return Day(FloorDiv(us+c.Offset(us), FullDay))
}

// Start is the instant at which a Bucharest day begins.
func (c *Calendar) Start(d Day) int64 {
	return time.Date(1970, 1, 1+int(d), 0, 0, 0, 0, c.Zone).UnixMicro()
}

// MinuteOfDay is the local time of an instant, in minutes after midnight.
func (c *Calendar) MinuteOfDay(us int64) int {
	local := us + c.Offset(us)
	return int((local - FloorDiv(local, FullDay)*FullDay) / Minute)
}

// Weekday of a day; Sunday is 0 as in package time.
func (d Day) Weekday() time.Weekday {
	return time.Weekday(((int(d)+4)%7 + 7) % 7)
}

func (d Day) String() string { return string(AppendDate(nil, d)) }

// ParseDay reads YYYY-MM-DD between 1900-01-01 and 9999-12-31 (the API's description,
// "Limits": dates accepted).
func ParseDay(s string) (Day, bool) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1900 {
		return 0, false
	}
	return Day(FloorDiv(t.Unix(), 86400)), true
}

// FloorDiv divides and rounds down, for negative numbers too; b is positive.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
