package syncer

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

// TestAClockOfOursThatIsAheadHidesNoLateChange: a walk is past the place of a change
// that the service dates two minutes back, and its last row is newer.
func TestAClockOfOursThatIsAheadHidesNoLateChange(t *testing.T) {
	for name, c := range map[string]struct{ silent, incremental bool }{
		"backfill": {}, "backfill without Date headers": {silent: true},
		"incremental": {incremental: true}, "incremental without Date headers": {silent: true, incremental: true},
	} {
		t.Run(name, func(t *testing.T) {
			inFake(t, func(t *testing.T, f *fake, w *world) {
				f.silent, f.skew = c.silent, -3*time.Hour
				w.open(w.one())
				if c.incremental {
					f.set(cats, category("before", "B", f.stamp(-time.Hour)))
					w.once(Selection{Streams: []string{"categories"}})
					time.Sleep(time.Hour)
				}
				f.slipIn(200)
				w.once(Selection{Streams: []string{"categories"}})
				w.once(Selection{Streams: []string{"categories"}})
				if w.store.Row("categories", "b1", "late").Raw == "" {
					t.Errorf("the late change is missing: %q", f.asked(cats))
				}
			})
		})
	}
}

// stamp is the service's clock, moved, as it writes it.
func (f *fake) stamp(d time.Duration) string {
	return clockText(time.Now().Add(f.skew + d).Truncate(time.Millisecond))
}

// slipIn makes a list of n rows and one more, and slips a late change in among the
// first while the last is asked for.
func (f *fake) slipIn(n int) {
	var rows []string
	for i := range n {
		rows = append(rows, category(fmt.Sprint("old", i), "O", f.stamp(-time.Minute)))
	}
	f.set(cats, append(rows, category("last", "L", f.stamp(0)))...)
	f.on(cats, func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("cursor") == "" {
			return false
		}
		time.Sleep(5 * time.Second)
		late := category("late", "A", f.stamp(-2*time.Minute))
		time.Sleep(45 * time.Second)
		last := category("last", "L", f.stamp(0))
		f.rows[cats], f.answer[cats] = append(slices.Clone(rows), late, last), nil
		fmt.Fprintf(rw, `{"data":[%s],"next_cursor":null,"has_more":false}`, last)
		return true
	})
}
