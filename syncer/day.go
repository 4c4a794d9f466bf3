package syncer

import (
	"fmt"
	"sync"
	"time"
	_ "time/tzdata" // days are Bucharest's on machines without a zone database too (DESIGN R13)

	"github.com/larder-sync/larder/internal/api"
)

// maxRange is the longest date range the service answers (api.md, "Limits").
const maxRange = 92

// bucharest is the zone of every restaurant (api.md, "Conventions").
var bucharest = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("Europe/Bucharest")
	if err != nil {
		panic("the embedded zone database lacks Europe/Bucharest: " + err.Error())
	}
	return zone
})

// dayOf returns the calendar day of an instant in Bucharest.
func dayOf(t time.Time) api.Date {
	return api.Date(t.In(bucharest()).Format(time.DateOnly))
}

// addDays moves a day on the calendar, which no change of clock touches.
func addDays(day api.Date, n int) (api.Date, error) {
	t, err := time.Parse(time.DateOnly, string(day))
	if err != nil {
		return "", fmt.Errorf("day %q: %w", day, err)
	}
	return api.Date(t.AddDate(0, 0, n).Format(time.DateOnly)), nil
}
