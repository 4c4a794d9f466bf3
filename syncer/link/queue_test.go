package link

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// However many processes share an address, their wrong keys stay below the 30 a minute that
// the service allows it, and each comes to its turn.
func TestWrongKeysOfAllProcessesOfAnAddress(t *testing.T) {
	for _, processes := range []int{0, 1, 2, 3, 7, 20, 21, 29} {
		t.Run(fmt.Sprint(processes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				refused := make(chan time.Time, 100_000)
				for range max(processes, 1) {
					q := NewQueue(processes)
					for i := range 60 {
						go func() {
							for k := untried; ctx.Err() == nil; k = triedOnce {
								if leave, err := q.enter(ctx, k); err == nil {
									refused <- time.Now()
									leave(true)
								}
								time.Sleep(time.Duration(i+1) * time.Second)
							}
						}()
					}
				}
				time.Sleep(time.Hour)
				cancel()
				time.Sleep(time.Minute)
				var all []time.Time
				for len(refused) > 0 {
					all = append(all, <-refused)
				}
				slices.SortFunc(all, time.Time.Compare)
				most := 0
				for i, at := range all {
					within, _ := slices.BinarySearchFunc(all[i:], at.Add(time.Minute), time.Time.Compare)
					most = max(most, within)
				}
				if most > 29 || len(all) < 60*8 {
					t.Errorf("%d wrong keys in an hour, %d in a minute", len(all), most)
				}
			})
		})
	}
}

// A key that was refused before waits for no place of those before it either: another may be put in
// its place meanwhile.
func TestARefusedKeyWaitsForNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1)
		for range mostRefused {
			q.refused()
		}
		began := time.Now()
		if _, err := q.enter(t.Context(), triedOnce); !errors.Is(err, ErrBusy) || time.Since(began) > 0 {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		time.Sleep(time.Minute + time.Second)
		for range 2 * mostRefused {
			leave, err := q.enter(t.Context(), triedOnce)
			if err != nil {
				t.Fatalf("a place was not given back: %v", err)
			}
			leave(false)
		}
	})
}
