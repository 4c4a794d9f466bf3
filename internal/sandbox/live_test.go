package sandbox

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
	"github.com/larder-sync/larder/syncer/registry"
)

// fingerprint is a hash of everything a mirror must hold.
func (h *harness) fingerprint() string {
	h.t.Helper()
	sum := sha256.New()
	for _, d := range registry.All() {
		stream := d.Name
		if d.Kind == registry.KeyKind || d.Kind == registry.TotalsKind {
			continue // computed from the rest
		}
		err := h.Truth(h.key, stream, func(r TruthRow) error {
			_, err := fmt.Fprintf(sum, "%s %s %s\n", r.ID, r.Reason, r.Row)
			return err
		})
		if err != nil {
			h.t.Fatal(err)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// The world is the same for one seed, and moves the same in steps of any size.
func TestTheWorldIsDeterministic(t *testing.T) {
	end := testEpoch.Add(30 * time.Hour)
	var want string
	for _, step := range []time.Duration{30 * time.Hour, time.Hour, 7 * time.Minute, 11 * time.Second} {
		h := newHarness(t, Options{Orders: 2000, Seed: 7})
		for at := testEpoch; at.Before(end); at = at.Add(step) {
			h.Tick(at)
		}
		h.Tick(end)
		h.clock = end
		got := h.fingerprint()
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("steps of %s give another world", step)
		}
	}
	if other := newHarness(t, Options{Orders: 2000, Seed: 8}); other.fingerprint() == want {
		t.Error("another seed gives the same world")
	}
}

// A world that is stopped shows nothing new, while what was used of a limit comes back.
func TestAStoppedWorld(t *testing.T) {
	h := newHarness(t, Options{Live: true, Orders: 6000, Days: 30})
	newest := "/sales/orders?limit=200&updated_since=" + h.clock.Format(time.RFC3339)
	h.clock = h.clock.Add(time.Hour)
	h.StopAt(h.clock)
	before := h.walk(newest)
	for h.get(newest).status == 200 {
	}
	h.clock = h.clock.Add(time.Hour)
	if after := h.walk(newest); len(before) == 0 || !reflect.DeepEqual(after, before) {
		t.Errorf("%d orders before, %d after", len(before), len(after))
	}
}

// A live week: orders in rush hours, all fates, stock that sales draw down and
// deliveries refill, and nothing shown before its time.
func TestLiveWeek(t *testing.T) {
	h := newHarness(t, Options{Live: true, NoLimits: true, Orders: 6000, Days: 30, Readings: Readings{NeverPaidTombstones: true}})
	before := h.walk("/ingredients?limit=200")
	since := "?limit=200&updated_since=" + h.clock.Format(time.RFC3339)
	h.clock = h.clock.Add(7 * 24 * time.Hour)
	zone := must(time.LoadLocation(units.ZoneName))(t)
	reasons, hours, refunds := map[string]int{}, map[int]int{}, 0
	for _, row := range h.walk("/sales/orders" + since) {
		var o struct {
			types.SalesOrder
			Reason string
		}
		if err := json.Unmarshal(row, &o); err != nil {
			t.Fatal(err)
		}
		reasons[o.Reason]++
		if o.Reason != "" {
			continue
		}
		at := must(time.Parse(time.RFC3339, string(o.CreatedAt)))(t)
		hours[at.In(zone).Hour()]++
		refunds += len(o.Refunds)
		if must(time.Parse(time.RFC3339, string(o.UpdatedAt)))(t).After(h.clock) {
			t.Fatalf("from the future: %s", row)
		}
	}
	for _, r := range []string{"", rows.ReasonCancelled, rows.ReasonUnpaid, rows.ReasonDeleted} {
		if reasons[r] == 0 {
			t.Errorf("no order with reason %q: %v", r, reasons)
		}
	}
	if n := reasons[""]; n < 1000 || n > 2000 || refunds == 0 {
		t.Errorf("%d sales with %d refunds in a week of 200 a day", n, refunds)
	}
	if hours[20] < 3*hours[10] || hours[13] < 3*hours[10] {
		t.Errorf("no rush hours: %v", hours)
	}
	m := mirrored{}
	m.upsert(t, before)
	moved := 0
	for _, row := range h.walk("/ingredients?limit=200") {
		if string(m[idOf(t, row)]) != string(row) {
			moved++
		}
	}
	if moved < 50 || len(h.walk("/products"+since)) == 0 {
		t.Errorf("%d ingredients moved", moved)
	}
}
