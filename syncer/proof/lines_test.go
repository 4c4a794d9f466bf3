package proof

import (
	"fmt"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/syncer/registry"
)

// Every range is asked for once, and none is longer than the service answers.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		sp   Span
		want string
	}{
		{Span{"2026-01-01", "2026-01-01", ""}, "[{2026-01-01 2026-01-01 }]"},
		{Span{"2026-01-01", "2026-04-02", ""}, "[{2026-01-01 2026-04-02 }]"},
		{Span{"2026-01-01", "2026-04-03", "l"}, "[{2026-01-01 2026-04-02 l} {2026-04-03 2026-04-03 l}]"},
		{Span{"2026-01-02", "2026-01-01", ""}, "[]"},
	} {
		if got := fmt.Sprint(ranges(c.sp)); got != c.want {
			t.Errorf("%v: %s", c.sp, got)
		}
	}
	var days []Span
	for _, day := range []types.Date{"2026-05-01", "2026-01-01", "2026-01-05"} {
		days = append(days, Span{day, day, ""}, Span{day, day, "l"})
	}
	if got := fmt.Sprint(Covering(days)); got != "[{2026-01-01 2026-01-05 } {2026-05-01 2026-05-01 } {2026-01-01 2026-01-05 l} {2026-05-01 2026-05-01 l}]" {
		t.Error(got)
	}
}

func TestLocationOfALine(t *testing.T) {
	products := &registry.Definition{LinesMayVanish: true}
	daily := &registry.Definition{}
	seen := map[string]bool{}
	for _, location := range []string{"", "l1", "l/p/x", "%2F", "l", "p", "ș 'x\"", "a/b"} {
		for _, name := range []string{"p", "l/x/p/y", "x/p/y", ""} {
			for _, id := range []*string{nil, &name} {
				line := LineID(products, DayRow{Date: "2026-03-29", productLine: productLine{id, name}}, location)
				if day, of := LocationOf(products, line); day != "2026-03-29" || of != location || seen[line] {
					t.Errorf("%q is of %q on %q, or another's too; want %q", line, of, day, location)
				}
				seen[line] = true
			}
		}
		if day, of := LocationOf(daily, DayKey("2026-03-29", location)); day != "2026-03-29" || of != location {
			t.Errorf("the day of %q is of %q on %q", location, of, day)
		}
	}
}
