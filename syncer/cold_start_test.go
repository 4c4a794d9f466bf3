package syncer

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/syncer/status"
)

// TestKilledAgainAndAgainWithoutA429 kills the daemon at random instants of its
// backfill, at the documented limits, and has it finish (DESIGN B2).
func TestKilledAgainAndAgainWithoutA429(t *testing.T) {
	for _, algorithm := range []string{sandbox.AlgorithmFixed, sandbox.AlgorithmFixedFirst, sandbox.AlgorithmSliding, sandbox.AlgorithmBucket} {
		t.Run(algorithm, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 4, Orders: 8000, Days: 900, Algorithm: algorithm}, func(t *testing.T, w *world) {
				w.schedule = Schedule{Incremental: "@every 5s"}
				random := rand.New(rand.NewPCG(3, 3))
				for range 60 {
					w.run()
					time.Sleep(2*time.Second + time.Duration(random.Int64N(int64(8*time.Second))))
					w.crash(random.IntN(4))
				}
				w.run()
				w.until("backfill", 30*time.Minute, w.filled)
				if n := w.box.Stats().RateLimited; n > 0 {
					t.Errorf("%d × 429", n)
				}
			})
		})
	}
}

// TestAFirstStartWaitsForNobody: only where a process was at work before.
func TestAFirstStartWaitsForNobody(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 4, Orders: 50, Days: 3}, func(t *testing.T, w *world) {
		running := func() bool { return w.syncer.Status().Sources[0].State == status.StateRunning }
		w.run()
		w.until("first start", time.Second, running)
		w.until("backfill", 5*time.Minute, w.filled)
		w.crash(0)
		w.run()
		time.Sleep(2500 * time.Millisecond)
		if running() {
			t.Error("a restart did not wait")
		}
		w.until("restart", 2*time.Second, running)
		w.halt()
		time.Sleep(2 * time.Hour)
		w.run()
		w.until("start after hours", time.Second, running)
	})
}
