package sandbox

import (
	"testing"
	"testing/synctest"
	"time"
)

// The clock begins at noon at any hour of any day, of 23 and 25 hours too, and runs.
func TestAtNoonNoDayEndsAndNoLocationOpens(t *testing.T) {
	for _, day := range []time.Time{
		time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC),
	} {
		for hour := range 24 {
			at := day.Add(time.Duration(hour) * time.Hour)
			noon := lastNoon(at)
			if h, m, s := noon.Clock(); h != 12 || m+s != 0 || noon.After(at) || at.Sub(noon) > 25*time.Hour {
				t.Errorf("at %s it begins at %s", at, noon)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		now := AtNoon()
		began := now()
		time.Sleep(time.Minute)
		if passed := now().Sub(began); passed != time.Minute {
			t.Errorf("in a minute it goes on by %s", passed)
		}
		if box, err := New(Options{Orders: -1, Now: now}); err != nil || box.now() != now().UnixMicro() {
			t.Errorf("the sandbox has another clock, %v", err)
		}
	})
}
