package proof

import (
	"context"
	"testing"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/write"
)

// heldReceipts takes every commit, and stores it when the test says so.
type heldReceipts struct {
	sinks.Sink
	receipt *sinks.Receipt
}

func (s *heldReceipts) Write(context.Context, *sinks.Commit) (*sinks.Receipt, error) {
	return s.receipt, nil
}

// What is stored of a day is noted once, when it is handed over: the note of a turn beside is not undone by one that
// was written before.
func TestDaysAreNotedInTheOrderOfTheWrites(t *testing.T) {
	sink, noted := &heldReceipts{receipt: sinks.NewReceipt(nil)}, 0
	w := write.NewWriter(write.Options{
		Committer: write.NewCommitter(sink), Commit: func() *sinks.Commit { return &sinks.Commit{Source: "s"} }, Counted: func(write.Counts) {},
	})
	in := w.Begin(w.NextWalk(), 0)
	in.Commit.Released, in.AfterTaken = []string{"a"}, func() { noted++ }
	var p pending
	if err := p.store(t.Context(), w, in); err != nil || noted != 1 {
		t.Errorf("handed over, the day is noted %d times: %v", noted, err)
	}
	sink.receipt.Resolve(nil)
	if err := p.wait(t.Context(), 0); err != nil || noted != 1 || len(p.commits) > 0 {
		t.Errorf("durable, the day is noted %d times: %v", noted, err)
	}
}
