package syncer

import (
	"bytes"
	"context"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/syncer/stream"
)

// Jobs that follow each other share a goroutine. One that comes while all are at work waits for none, and
// of those that are free then no more are kept than may be.
func TestWalksShareGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		w := &walkers{next: make(chan func()), free: make(stream.Slot, 2), done: ctx.Done(), all: &all}
		var mu sync.Mutex
		used := map[string]int{}
		job := func() {
			id, _, _ := bytes.Cut(debug.Stack(), []byte(" ["))
			mu.Lock()
			used[string(id)]++
			mu.Unlock()
			time.Sleep(time.Second)
		}
		for range 10 {
			w.run(job)
			time.Sleep(2 * time.Second)
		}
		goroutines := func() int {
			mu.Lock()
			defer mu.Unlock()
			n := len(used)
			clear(used)
			return n
		}
		if n := goroutines(); n != 1 {
			t.Errorf("ten jobs, one after the other, had %d goroutines", n)
		}
		began := time.Now()
		for range 10 {
			w.run(job)
		}
		time.Sleep(1500 * time.Millisecond)
		if n := goroutines(); n != 10 || time.Since(began) > 2*time.Second {
			t.Errorf("ten jobs at once had %d goroutines", n)
		}
		if len(w.free) != 2 {
			t.Errorf("%d goroutines wait for jobs", len(w.free))
		}
		cancel()
		all.Wait()
	})
}
