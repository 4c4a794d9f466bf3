package budget

import (
	"testing"
	"testing/synctest"
	"time"
)

// What holds until /me has answered may be given; what is not given is as in the API's description.
func TestLimitsUntilTheKeyTellsItsOwn(t *testing.T) {
	for _, c := range []struct {
		given Limits
		wait  time.Duration // a minute and its margin, for a sixth of its requests
	}{
		{Limits{}, 3012500 * time.Microsecond},
		{Limits{PerMinute: -1}, 3012500 * time.Microsecond},
		{Limits{HeavyPerMinute: 6000}, 3012500 * time.Microsecond},
		{Limits{PerMinute: 6000}, 60250 * time.Microsecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := NewLedger(Options{Limits: c.given}).Key("bistro", 1)
			if wait := k.FollowProcess("bistro"); wait != c.wait {
				t.Errorf("with %+v the first request waits %s, want %s", c.given, wait, c.wait)
			}
			if want := max(c.given.HeavyPerMinute, DefaultLimits.HeavyPerMinute); k.heavy.limit != want || k.business.limit.limit != DefaultLimits.BusinessPerMinute {
				t.Errorf("with %+v: heavy %d, business %d", c.given, k.heavy.limit, k.business.limit.limit)
			}
		})
	}
}
