package sandbox

import (
	"time"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// AtNoon returns a clock for [Options.Now] that runs like the machine's and begins at the
// restaurants' last noon: in a test of some hours no location opens or closes, and no day ends.
func AtNoon() func() time.Time {
	began := time.Now()
	noon := lastNoon(began)
	return func() time.Time { return noon.Add(time.Since(began)) }
}

// lastNoon is the newest noon of the restaurants that is not after an instant.
func lastNoon(at time.Time) time.Time {
	zone, err := time.LoadLocation(units.ZoneName)
	if err != nil {
		panic(err) // package units has the zones in it
	}
	y, m, d := at.In(zone).Date()
	if noon := time.Date(y, m, d, 12, 0, 0, 0, zone); !noon.After(at) {
		return noon
	}
	return time.Date(y, m, d-1, 12, 0, 0, 0, zone)
}
