package sandbox

import (
	"fmt"
	"sort"
	"time"
	_ "time/tzdata" // days are Bucharest's on machines without zone files too
)

// ZoneName is the zone of every restaurant's days (api.md, "Conventions").
const ZoneName = "Europe/Bucharest"

const (
	usSecond = int64(1_000_000)
	usMinute = 60 * usSecond
	usHour   = 60 * usMinute
	usDay    = 24 * usHour
)

// Day counts days of the Bucharest calendar; 1970-01-01 is 0.
type Day int32

// calendar turns instants (microseconds since 1970) into Bucharest days and
// back, through every change of clock. It is immutable.
type calendar struct {
	zone *time.Location
	from []int64 // instants at which an offset begins
	off  []int64 // microseconds to add to UTC
}

func newCalendar() (*calendar, error) {
	zone, err := time.LoadLocation(ZoneName)
	if err != nil {
		return nil, fmt.Errorf("load zone %s: %w", ZoneName, err)
	}
	c := &calendar{zone: zone}
	for t := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC); t.Year() < 2200; {
		local := t.In(zone)
		_, seconds := local.Zone()
		if off := int64(seconds) * usSecond; len(c.off) == 0 || c.off[len(c.off)-1] != off {
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

// offset is what Bucharest adds to UTC at an instant.
func (c *calendar) offset(us int64) int64 {
	return c.off[sort.Search(len(c.from), func(i int) bool { return c.from[i] > us })-1]
}

// day is the Bucharest day that an instant falls on.
func (c *calendar) day(us int64) Day {
	return Day(floorDiv(us+c.offset(us), usDay))
}

// start is the instant at which a Bucharest day begins.
func (c *calendar) start(d Day) int64 {
	return time.Date(1970, 1, 1+int(d), 0, 0, 0, 0, c.zone).UnixMicro()
}

// minuteOfDay is the local time of an instant, in minutes after midnight.
func (c *calendar) minuteOfDay(us int64) int {
	local := us + c.offset(us)
	return int((local - floorDiv(local, usDay)*usDay) / usMinute)
}

// weekday of a day; Sunday is 0 as in package time.
func (d Day) weekday() time.Weekday {
	return time.Weekday(((int(d)+4)%7 + 7) % 7)
}

func (d Day) String() string { return string(appendDate(nil, d)) }

// parseDay reads YYYY-MM-DD between 1900-01-01 and 9999-12-31 (api.md,
// "Limits": dates accepted).
func parseDay(s string) (Day, bool) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1900 {
		return 0, false
	}
	return Day(floorDiv(t.Unix(), 86400)), true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
