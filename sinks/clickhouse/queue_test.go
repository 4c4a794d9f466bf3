package clickhouse

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// What nobody waits for gathers for ten seconds. When somebody begins to wait, it goes with the
// flush that is due after a second.
func TestCommitsGatherUntilSomebodyWaits(t *testing.T) {
	for _, test := range []struct {
		name       string
		waitsAfter time.Duration // never when 0
		patience   time.Duration
		then       time.Duration // when somebody without patience waits as well; never when 0
		want       time.Duration
	}{
		{"nobody waits", 0, 0, 0, 10 * time.Second},
		{"somebody waits at once", 1, 0, 0, time.Second},
		{"somebody waits later", 4 * time.Second, 0, 0, 4 * time.Second},
		{"somebody waits patiently, then another without patience", 1, 5 * time.Second, 2 * time.Second, 2 * time.Second},
		{"somebody waits patiently", 1, 5 * time.Second, 0, 5 * time.Second},
		{"somebody waits patiently, and later than the flush is due", 6 * time.Second, 5 * time.Second, 0, 6 * time.Second},
		{"somebody has more patience than what nobody waits for", 1, time.Minute, 0, 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(1 << 20)
				item := &queued{commit: &sinks.Commit{}, rows: 200}
				began := time.Now()
				if err := q.put(t.Context(), item); err != nil {
					t.Fatal(err)
				}
				if test.waitsAfter != 0 {
					go func() {
						time.Sleep(test.waitsAfter)
						_ = item.receipt.WaitPatiently(t.Context(), test.patience)
					}()
				}
				if test.then != 0 {
					go func() {
						time.Sleep(test.then)
						_ = item.receipt.Wait(t.Context())
					}()
				}
				taken := q.take(t.Context(), began, time.Second, 10*time.Second, 50_000)
				if after := time.Since(began); len(taken) != 1 || after != test.want {
					t.Errorf("%d commits were taken after %s, want 1 after %s", len(taken), after, test.want)
				}
				item.receipt.Resolve(nil)
				_ = item.receipt.Wait(t.Context()) // of what was taken already: the next gathers all the same
				next := &queued{commit: &sinks.Commit{}}
				began = time.Now()
				if err := q.put(t.Context(), next); err != nil {
					t.Fatal(err)
				}
				q.take(t.Context(), began, time.Second, 10*time.Second, 50_000)
				if after := time.Since(began); after != 10*time.Second {
					t.Errorf("what nobody waits for was taken after %s", after)
				}
			})
		})
	}
}

// A process that is killed every few seconds gets on: of what it has fetched, a fifth is fetched again.
func TestCommitsGatherForLongerAsTheSinkGrowsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := time.Now()
		for _, want := range []struct{ age, gathers time.Duration }{{0, 1}, {8, 2}, {20, 5}, {40, 10}, {3600, 10}} {
			time.Sleep(want.age*time.Second - time.Since(opened))
			if got := gathers(opened, time.Second); got != want.gathers*time.Second {
				t.Errorf("after %d s it gathers for %s, want %d s", want.age, got, want.gathers)
			}
		}
		if got := gathers(opened, time.Minute); got != time.Minute {
			t.Errorf("with a flush a minute it gathers for %s", got)
		}
	})
}
