package proof

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/stream"
)

// TestDaysAreKeptAsAMapWouldKeepThem, in whatever order they are set and forgotten.
func TestDaysAreKeptAsAMapWouldKeepThem(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's
	days, want := byDay[int]{}, map[Span]int{}
	const first = types.Date("1969-12-01") // its number is below zero
	for n := range 3000 {
		day, location := addDays(first, random.IntN(400)), []string{"", "l", "a/b"}[random.IntN(3)]
		if n%200 == 199 {
			days.forget(day)
			maps.DeleteFunc(want, func(sp Span, _ int) bool { return sp.From < day })
		} else {
			days.set(day, location, n+1)
			want[Span{day, day, location}] = n + 1
		}
		if n%50 != 0 {
			continue
		}
		got := map[Span]int{}
		for location, values := range days {
			for day, value := range values.all() {
				if value != 0 {
					got[Span{day, day, location}] = value
				}
				if value != days.at(day, location) {
					t.Fatalf("%s: %d, and %d", day, value, days.at(day, location))
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("after %d steps there are %v, want %v", n, got, want)
		}
	}
	days.set("2026-02-30", "", 1) // no day
	if days.at("2026-02-30", "") != 0 || days.at("1900-01-01", "") != 0 || days.at("2026-03-01", "none") != 0 {
		t.Error("a value of a day that has none")
	}
	if days.forget("9999-12-31"); len(days) > 0 {
		t.Errorf("%d locations are left", len(days))
	}
}

// remember92Days is what stays in memory of the deep runs of a source with two locations.
func remember92Days() []*Totals {
	o := &stream.Source{Clock: stream.Clock{WallClock: time.Now}}
	o.IdentifyAs(stream.Identity{})
	shared := NewShared(o)
	var all []*Totals
	for _, locations := range [][]string{{"", "0190c1a2-loc-1", "0190c1a2-loc-2"}, {""}} {
		st := &Totals{stored: dayHashes{of: byDay[uint64]{}}, verdicts: &verdicts{shared: shared, last: byDay[lastVerdict]{}}}
		for _, l := range locations {
			sp := Span{"2026-01-01", "2026-04-02", l}
			written, found := map[types.Date]uint64{}, []dayProof{}
			for _, day := range sp.Days() {
				written[day] = 42
				found = append(found, dayProof{Day: day, Location: l, Verdict: sinks.VerdictProven, isNew: true, hash: 7})
			}
			st.stored.note(sp, sp.From, written)
			st.verdicts.remember(found)
		}
		all = append(all, st)
	}
	return all
}

// TestWhatIsRememberedOfDaysIsBounded: after years there are as many days as after the first.
func TestWhatIsRememberedOfDaysIsBounded(t *testing.T) {
	st := remember92Days()[0]
	day := types.Date("2026-04-02")
	for range 1000 {
		day = addDays(day, 1)
		recent := addDays(day, 1-MaxRange)
		st.verdicts.forget(recent)
		st.stored.of.forget(recent)
		st.verdicts.last.set(day, "", lastVerdict{verdict: sinks.VerdictProven})
		st.stored.note(Span{"2020-01-01", day, ""}, recent, map[types.Date]uint64{"2020-01-01": 1, day: 0}) // a full resync asks for old days
	}
	const most = MaxRange + daysAtOnce
	if values := st.verdicts.last[""]; len(st.verdicts.last) != 1 || len(values.of) > most {
		t.Errorf("verdicts of %d locations, about %d days", len(st.verdicts.last), len(values.of))
	}
	if values := st.stored.of[""]; len(st.stored.of) != 1 || len(values.of) > most {
		t.Errorf("hashes of %d locations, of %d days", len(st.stored.of), len(values.of))
	}
	sums, missing := st.stored.remembered(Span{day, addDays(day, 1), ""})
	if sum, known := sums[day]; !known || sum != 0 || len(missing) != 1 {
		t.Errorf("nothing is stored of %s: %v; missing %v", day, sums, missing)
	}
	if size := unsafe.Sizeof(lastVerdict{}); size > 40 {
		t.Errorf("a verdict takes %d bytes", size)
	}
}

// BenchmarkRemembered reports the bytes that stay.
func BenchmarkRemembered(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var all [][]*Totals
		for range 100 {
			all = append(all, remember92Days())
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/100, "bytes/source")
		runtime.KeepAlive(all)
	}
}
