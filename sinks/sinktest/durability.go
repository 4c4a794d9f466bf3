package sinktest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
)

func testOrder(t *testing.T, h Harness) {
	s := open(t, h, Options{FlushRows: 7})
	var receipts []*sinks.Receipt
	for n := range 60 {
		receipts = append(receipts, write(t, s, ingredients(h, row(fmt.Sprintf("id-%d", n), uint64(n+1)))))
	}
	ctx := within(t)
	for n := len(receipts) - 1; n > 0; n-- {
		if err := receipts[n].Wait(ctx); err != nil {
			t.Fatal(err)
		}
		for earlier := range n {
			select {
			case <-receipts[earlier].Done():
			default:
				t.Fatalf("receipt %d is resolved and %d is not", n, earlier)
			}
		}
	}
}

func testBackPressure(t *testing.T, h Harness) {
	f := NewFlaky(h.Dial)
	s := open(t, h, Options{Dial: f.Dial, QueueBytes: 64 << 10})
	f.Down()
	var receipts []*sinks.Receipt
	full := false
	for n := 0; n < 1000 && !full; n++ {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		receipt, err := s.Write(ctx, ingredients(h, row(fmt.Sprintf("id-%d", n), 1)))
		cancel()
		switch {
		case err == nil:
			receipts = append(receipts, receipt)
		case errors.Is(err, context.DeadlineExceeded):
			full = true
		default:
			t.Fatal(err)
		}
	}
	if !full {
		t.Fatal("a queue of 64 KiB took a thousand commits of a kilobyte and more")
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := s.Write(context.Background(), ingredients(h, row("waited", 1)))
		waiting <- err
	}()
	f.Up()
	if err := <-waiting; err != nil {
		t.Errorf("a writer that waited: %v", err)
	}
	store(t, s, ingredients(h, row("last", 1)))
	for n, r := range receipts {
		if err := r.Wait(within(t)); err != nil {
			t.Errorf("receipt %d: %v", n, err)
		}
	}
	if got := len(h.Rows("ingredients", business)); got != len(receipts)+2 {
		t.Errorf("%d rows, want the %d that were queued and no other", got, len(receipts)+2)
	}
}

func testDown(t *testing.T, h Harness) {
	f := NewFlaky(h.Dial)
	f.Down() // from the start
	s := open(t, h, Options{Dial: f.Dial})
	first := write(t, s, ingredients(h, row("a", 1)))
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := first.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a receipt while the warehouse is down: %v", err)
	}
	f.Up()
	if err := first.Wait(within(t)); err != nil {
		t.Fatal(err)
	}
	f.Down()
	second := write(t, s, ingredients(h, row("b", 2)))
	f.Up()
	if err := second.Wait(within(t)); err != nil {
		t.Fatal(err)
	}
	expect(t, h, map[string]string{"a": "live 1", "b": "live 2"})
}

// testCuts cuts connections after a number of bytes that differs each time, so
// that every statement of a flush is hit somewhere.
func testCuts(t *testing.T, h Harness) {
	f := NewFlaky(h.Dial)
	s := open(t, h, Options{Dial: f.Dial})
	chance := rand.New(rand.NewPCG(1, 2))
	want := map[string]string{}
	for n := range 25 {
		version := uint64(10*n + 1)
		c := ingredients(h)
		var rows []sinks.Row
		for i := range 40 {
			id := fmt.Sprintf("id-%d", (7*n+i)%90)
			rows = append(rows, row(id, version+1))
			want[id] = fmt.Sprintf("live %d", version+1)
		}
		c.Batch = plain(h.Tables["ingredients"], rows...)
		gone := fmt.Sprintf("id-%d", (7*n)%90)
		c.Tombstones = []sinks.Tombstone{tombstone(gone, version+2, "deleted")}
		want[gone] = fmt.Sprintf("deleted %d", version+2)
		c.Checkpoint = checkpoint(sinks.WalkIncremental, uint64(n))
		f.CutAfter(chance.Int64N(14_000))
		store(t, s, c)
	}
	if f.Cuts() < 15 {
		t.Errorf("only %d cuts: the test proves little", f.Cuts())
	}
	expect(t, h, want)
}

func testLostAnswers(t *testing.T, h Harness) {
	f := NewFlaky(h.Dial)
	s := open(t, h, Options{Dial: f.Dial})
	store(t, s, ingredients(h, row("a", 1)))
	for n := range 8 {
		f.CutReply()
		c := ingredients(h, row("a", uint64(10*n+2)), row("b", uint64(10*n+3)))
		c.Tombstones = []sinks.Tombstone{tombstone("c", uint64(10*n+4), "deleted")}
		store(t, s, c)
	}
	if f.Cuts() < 8 {
		t.Errorf("only %d answers were lost", f.Cuts())
	}
	expect(t, h, map[string]string{"a": "live 72", "b": "live 73", "c": "deleted 74"})
}

// testCheckpointLast looks, while connections are cut and the warehouse goes
// away and comes back, for a checkpoint whose rows are not there.
func testCheckpointLast(t *testing.T, h Harness) {
	f := NewFlaky(h.Dial)
	s := open(t, h, Options{Dial: f.Dial})
	observer := open(t, h, Options{})
	chance := rand.New(rand.NewPCG(3, 4))
	var trouble sync.WaitGroup
	stop := make(chan struct{})
	trouble.Go(func() {
		for {
			select {
			case <-stop:
				f.Up()
				return
			case <-time.After(time.Duration(chance.IntN(20)) * time.Millisecond):
				f.Down()
				f.Up()
				f.CutAfter(chance.Int64N(30_000))
			}
		}
	})
	const commits = 40
	var last *sinks.Receipt
	for n := range commits {
		c := ingredients(h, row(fmt.Sprintf("id-%03d", n), uint64(n+1)))
		c.Checkpoint = checkpoint(sinks.WalkBackfill, uint64(n+1))
		c.Verdicts = []sinks.Verdict{{Day: verdictDay, Requests: uint64(n + 1)}}
		last = write(t, s, c)
		if n%4 == 0 {
			checkCovered(t, h, observer)
		}
	}
	close(stop)
	trouble.Wait()
	if err := last.Wait(within(t)); err != nil {
		t.Fatal(err)
	}
	if covered, spoken := checkCovered(t, h, observer); covered != commits || spoken != commits {
		t.Errorf("the checkpoint covers %d rows and the verdict speaks of %d, want %d", covered, spoken, commits)
	}
}

const verdictDay = "2026-03-29"

// checkCovered reads the checkpoint first, then the verdict, and then the rows that
// both are about.
func checkCovered(t *testing.T, h Harness, s sinks.Sink) (covered, spoken uint64) {
	t.Helper()
	state, err := s.State(within(t), source)
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := s.Verdicts(within(t), business, source, verdictDay, verdictDay)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Checkpoints) > 0 {
		covered = state.Checkpoints[0].Rows
	}
	if len(verdicts) > 0 {
		spoken = verdicts[0].Requests
	}
	if spoken < covered {
		t.Fatalf("the checkpoint covers %d rows and the verdict before it speaks of %d", covered, spoken)
	}
	if got := uint64(len(h.Rows("ingredients", business))); got < spoken {
		t.Fatalf("the verdict speaks of %d rows and %d are there", spoken, got)
	}
	return covered, spoken
}

func testClose(t *testing.T, h Harness) {
	s := h.Open(Options{FlushInterval: time.Hour})
	store(t, s, ingredients(h, row("first", 1))) // after quiet: at once
	var receipts []*sinks.Receipt
	for n := range 5 {
		receipts = append(receipts, write(t, s, ingredients(h, row(fmt.Sprintf("id-%d", n), 1))))
	}
	if err := s.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	for n, r := range receipts {
		select {
		case <-r.Done():
			if err := r.Wait(context.Background()); err != nil {
				t.Errorf("receipt %d: %v", n, err)
			}
		default:
			t.Errorf("receipt %d is open after Close", n)
		}
	}
	if got := len(h.Rows("ingredients", business)); got != 6 {
		t.Errorf("%d rows, want 6", got)
	}
	if _, err := s.Write(within(t), ingredients(h, row("late", 1))); err == nil {
		t.Error("a closed sink took a commit")
	}
}

func testCloseInVain(t *testing.T, h Harness) {
	f := NewFlaky(h.Dial)
	f.Down()
	s := h.Open(Options{Dial: f.Dial, QueueBytes: 4 << 10, FlushInterval: time.Millisecond})
	receipts := []*sinks.Receipt{write(t, s, ingredients(h, row("a", 1))), write(t, s, ingredients(h, row("b", 1)))}
	blocked := make(chan error, 1)
	go func() {
		var err error
		for err == nil { // until the queue is full
			_, err = s.Write(context.Background(), ingredients(h, row("c", 1)))
		}
		blocked <- err
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close in vain: %v", err)
	}
	if err := <-blocked; err == nil {
		t.Error("a writer that waited was told that its commit is queued")
	}
	for n, r := range receipts {
		if err := r.Wait(within(t)); err == nil {
			t.Errorf("receipt %d says that its rows are durable", n)
		}
	}
}

// testFence fences one commit of a flush after it was asked 0, 1, 2, … times, which
// hits every statement, until it is not hit any more.
func testFence(t *testing.T, h Harness) {
	s := open(t, h, Options{FlushInterval: 100 * time.Millisecond})
	fenced := errors.New("another process serves the source")
	for allowed := range 20 {
		store(t, s, ingredients(h, row("before", 1))) // what follows gathers until the next flush
		asked := 0
		mine := ingredients(h, row(fmt.Sprintf("mine-%d", allowed), 1))
		mine.Tombstones = []sinks.Tombstone{tombstone(fmt.Sprintf("buried-%d", allowed), 1, "gone")}
		mine.Checkpoint = checkpoint(sinks.WalkIncremental, uint64(allowed+1))
		mine.Fence = func() error {
			if asked++; asked > allowed {
				return fenced
			}
			return nil
		}
		other := ingredients(h, row(fmt.Sprintf("other-%d", allowed), 1))
		other.Source = "other"
		other.Checkpoint = checkpoint(sinks.WalkIncremental, uint64(allowed+1))
		other.Checkpoint.Source = "other"
		receipts := []*sinks.Receipt{write(t, s, mine), write(t, s, other)}
		if err := receipts[1].Wait(within(t)); err != nil {
			t.Fatal(err)
		}
		err := receipts[0].Wait(within(t))
		if err != nil && !errors.Is(err, fenced) {
			t.Errorf("asked %d times: %v", asked, err)
		}
		expectFenced(t, h, s, allowed, err != nil)
		if err == nil {
			return
		}
	}
	t.Error("a fence is asked more often than a flush has statements")
}

// expectFenced looks for what a commit that was allowed so many statements has left.
func expectFenced(t *testing.T, h Harness, s sinks.Sink, allowed int, fenced bool) {
	t.Helper()
	for name, want := range map[string]bool{source: !fenced, "other": true} {
		state, err := s.State(within(t), name)
		if err != nil {
			t.Fatal(err)
		}
		has := len(state.Checkpoints) > 0 && state.Checkpoints[0].Rows == uint64(allowed+1)
		if has != want {
			t.Errorf("after %d statements the checkpoint of %s is stored: %t", allowed, name, has)
		}
	}
	ids := map[string]bool{}
	for _, r := range h.Rows("ingredients", business) {
		ids[r.ID] = true
	}
	if n := strconv.Itoa(allowed); !ids["other-"+n] || allowed == 0 && (ids["mine-0"] || ids["buried-0"]) || !fenced && !ids["mine-"+n] {
		t.Errorf("after %d statements these rows are stored: %v", allowed, ids)
	}
}
