package totals

import (
	"fmt"
	"testing"
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
		if got := fmt.Sprint(Ranges(c.sp)); got != c.want {
			t.Errorf("%v: %s", c.sp, got)
		}
	}
	all := []Span{{"2026-05-01", "2026-05-01", ""}, {"2026-01-01", "2026-01-01", ""}, {"2026-01-05", "2026-01-05", ""}}
	if got := fmt.Sprint(Covering(all)); got != "[{2026-01-01 2026-01-05 } {2026-05-01 2026-05-01 }]" {
		t.Error(got)
	}
}
