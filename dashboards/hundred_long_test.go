//go:build long

package dashboards

import (
	"reflect"
	"strings"
	"testing"
)

// TestAHundredRestaurants draws every panel in a warehouse of a hundred restaurants: one in the
// middle and one with a strange id show what the first one shows, and no restaurant shows nothing.
func TestAHundredRestaurants(t *testing.T) {
	w := newWarehouse(t, 99)
	t.Run("every panel", w.everyPanel)
	t.Run("several restaurants", w.several)
	t.Run("nothing yet", w.nothingYet)
	t.Run("variables", w.variables)
	for name, m := range boards(t, "ro") {
		for i, p := range m.Panels {
			where := name + "/" + dashboardOf(name).panels[i].key
			c := w.mine()
			if name != "mirror" { // its panels name the sources
				c.restaurants = []string{w.restaurant + "-50"}
				got, want := w.ask(c.expand(t, p.Targets[0].RawSQL)), w.ask(w.mine().expand(t, p.Targets[0].RawSQL))
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s of %s: %v, want %v", where, c.restaurants, got.lines, want.lines)
				}
			}
			c.restaurants = []string{""}
			if a := w.ask(c.expand(t, p.Targets[0].RawSQL)); !inOneRow(p) && len(a.lines) > 0 {
				t.Errorf("%s of no restaurant: %v", where, a.lines)
			} else if wrong := drawable(dashboardOf(name).panels[i], p, a); len(wrong) > 0 {
				t.Errorf("%s of no restaurant: %s", where, strings.Join(wrong, ", "))
			}
		}
	}
}
