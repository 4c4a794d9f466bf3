package dashboards

import (
	"testing"
	"time"
)

// choice is what a person has chosen on a dashboard.
type choice struct {
	from, to    time.Time
	restaurants []string // one of an owner's dashboard
	locations   []string // none: all
	every       bool     // all restaurants, where that may be chosen
}

func (c choice) expand(t *testing.T, sql string) string {
	t.Helper()
	expanded, err := Choice{From: c.from, To: c.to, Restaurants: c.restaurants, Locations: c.locations, Every: c.every}.Expand(sql)
	if err != nil {
		t.Fatal(err)
	}
	return expanded
}
