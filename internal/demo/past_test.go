package demo

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
)

// The demo's restaurants sell through today as through any day: as much as the hour says,
// through both changes of clock, and whatever the sizes asked for.
func TestDemoWorldFollowsTheHours(t *testing.T) {
	zone, err := time.LoadLocation(sandbox.ZoneName)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		began string
		days  int
		sold  [2]int // orders of today that are likely by then, of 200 an average day
	}{
		{"2026-11-18 04:00", 60, [2]int{0, 12}},
		{"2026-11-18 14:30", 60, [2]int{50, 90}},
		{"2026-11-18 23:30", 60, [2]int{140, 190}},
		{"2026-03-29 15:00", 20, [2]int{55, 120}}, // the clock has changed this night
		{"2026-10-26 23:00", 5, [2]int{95, 180}},
		{"2026-11-18 14:30", 1, [2]int{100, 210}}, // a single day has no days before it, and is made at once
	} {
		at, err := time.ParseInLocation("2006-01-02 15:04", c.began, zone)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Restaurants: 1, Days: c.days, OrdersADay: 200, Seed: 3, began: at, zone: zone}
		world := o.world()
		world.Now = func() time.Time { return at }
		world.Inspect = apicheck.Inspect(t)
		box, err := sandbox.New(world)
		if err != nil {
			t.Fatalf("%s: %v", c.began, err)
		}
		box.Tick(at)
		byDay := map[string]int{}
		status, body, err := box.Fetch(box.Key(0, sandbox.RoleMain).Value, "/sales/daily?from="+o.day(-min(c.days, 14)+1).Format(time.DateOnly)+"&to="+at.Format(time.DateOnly))
		if err != nil || status != 200 {
			t.Fatalf("%s: %d, %v", c.began, status, err)
		}
		var answer struct {
			Data []struct {
				Date   string
				Orders int
			}
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatal(err)
		}
		for _, day := range answer.Data {
			byDay[day.Date] = day.Orders
		}
		today := byDay[at.Format(time.DateOnly)]
		if today < c.sold[0] || today > c.sold[1] {
			t.Errorf("%s: %d orders so far, not %v: %v", c.began, today, c.sold, byDay)
		}
		for day, n := range byDay {
			if day != at.Format(time.DateOnly) && (n < 90 || n > 400) {
				t.Errorf("%s: %d orders on %s", c.began, n, day)
			}
		}
	}
}
