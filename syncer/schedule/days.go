package schedule

import (
	"fmt"
	"sync"
	"time"
	_ "time/tzdata" // days are Bucharest's on machines without a zone database too (docs/rules.md R13)

	"github.com/larder-sync/larder/internal/api/types"
)

// Zone is the zone of every restaurant (docs/openapi.yaml, Values).
var Zone = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("Europe/Bucharest")
	if err != nil {
		panic("the embedded zone database lacks Europe/Bucharest: " + err.Error())
	}
	return zone
})

// DayOf is the calendar day of an instant.
func DayOf(t time.Time) types.Date {
	return types.Date(t.In(Zone()).Format(time.DateOnly))
}

// AddDays moves a day on the calendar, which no change of clock touches. It fails on what
// is no day.
func AddDays(day types.Date, n int) (types.Date, error) {
	t, err := time.Parse(time.DateOnly, string(day))
	if err != nil {
		return "", fmt.Errorf("day %q: %w", day, err)
	}
	return types.Date(t.AddDate(0, 0, n).Format(time.DateOnly)), nil
}
