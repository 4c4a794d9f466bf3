package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

const everyHour = 1<<24 - 1

// ChangedClocks describes how a schedule runs on the next two days on which the clocks of its
// time zone change; empty when it runs on them as on any other day.
func ChangedClocks(spec string, now time.Time) string {
	parsed, err := Parse(spec)
	c, ok := parsed.(*cron.SpecSchedule)
	if err != nil || !ok || c.Hour&everyHour == everyHour {
		return ""
	}
	var days []string
	for range 2 {
		_, change := now.In(c.Location).ZoneBounds()
		if change.IsZero() {
			break
		}
		_, before := change.Add(-1).In(c.Location).Zone()
		_, after := change.In(c.Location).Zone()
		old := *c
		old.Location = time.FixedZone("", before)
		moved := time.Duration(after-before) * time.Second
		first, last, runs := change, change.Add(moved), "does not run at %s"
		if moved < 0 {
			first, last, runs = last, first, "runs at %s twice"
		}
		if at := old.Next(first.Add(-1).In(old.Location)); !at.IsZero() && at.Before(last) {
			days = append(days, "on "+at.Format(time.DateOnly)+" it "+fmt.Sprintf(runs, at.Format("15:04")))
		}
		now = change
	}
	return strings.Join(days, ", ")
}

// Intervals returns the shortest and the longest time between two runs of a valid schedule in
// a week without a change of clocks.
func Intervals(spec string) (shortest, longest time.Duration) {
	parsed, err := Parse(spec)
	if err != nil {
		return never, 0
	}
	if every, ok := parsed.(cron.ConstantDelaySchedule); ok {
		return every.Delay, every.Delay
	}
	at := parsed.Next(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	shortest = never
	for end := at.AddDate(0, 0, 7); at.Before(end); {
		next := parsed.Next(at)
		if next.IsZero() {
			return shortest, never
		}
		shortest, longest = min(shortest, next.Sub(at)), max(longest, next.Sub(at))
		at = next
	}
	return shortest, longest
}
