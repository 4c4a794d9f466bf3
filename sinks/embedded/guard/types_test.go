package guard

import (
	"fmt"
	"testing"
)

// Readers name as many zones as the memory bears; those in use go on.
func TestTimeZonesHaveABound(t *testing.T) {
	var known []string
	for i := range 500 {
		known = append(known, fmt.Sprintf("Land/Town_%d", i))
	}
	for memory, want := range map[int64]int{128 << 20: 4, 2 << 30: 6, 64 << 30: 64} {
		z, admitted := newZones(known, "Europe/Bucharest", memory), 0
		for _, name := range known {
			if z.admit(name) == nil {
				admitted++
			}
		}
		if admitted != want {
			t.Errorf("with %d MiB: %d zones, want %d", memory>>20, admitted, want)
		}
		for _, name := range []string{"UTC", "Europe/Bucharest", known[0], ""} {
			if err := z.admit(name); err != nil {
				t.Errorf("with %d MiB: %s is in use: %v", memory>>20, name, err)
			}
		}
	}
	z := newZones(known, "Europe/Bucharest", 64<<30)
	for _, name := range []string{"Fixed/UTC+02:02:00", "file:/etc/passwd", "../../etc/passwd", "Land", "land/town_1"} {
		if z.admit(name) == nil {
			t.Errorf("%s is no zone", name)
		}
	}
}
