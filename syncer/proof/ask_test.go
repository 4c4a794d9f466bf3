package proof

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// heldReceipts takes every commit, and stores it when the test says so.
type heldReceipts struct {
	sinks.Sink
	receipt  *sinks.Receipt
	durable  bool
	verdicts []sinks.Verdict
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
	in.Drifted([]mapping.DriftItem{{Path: "a"}}, "", time.Time{})
	in.AfterTaken = func() { noted++ }
	var p pending
	if err := p.store(t.Context(), w, in, 1); err != nil || noted != 1 {
		t.Errorf("handed over, the day is noted %d times: %v", noted, err)
	}
	sink.receipt.Resolve(nil)
	if err := p.wait(t.Context(), 0); err != nil || noted != 1 || len(p.commits) > 0 {
		t.Errorf("durable, the day is noted %d times: %v", noted, err)
	}
}

// Live has the one line that the commit brings, once it is durable.
func (s *heldReceipts) Live(context.Context, sinks.LiveQuery) ([]sinks.LiveRow, error) {
	if !s.durable {
		return nil, nil
	}
	return []sinks.LiveRow{{ID: "2026-03-10/n/a"}}, nil
}

// Verdicts answers all who ask at once with one slice.
func (s *heldReceipts) Verdicts(context.Context, string, string, string, string) ([]sinks.Verdict, error) {
	return s.verdicts, nil
}

// hold returns a stream of products whose first commit is durable after five seconds.
func hold(t *testing.T) (*Totals, *heldReceipts) {
	sink := &heldReceipts{receipt: sinks.NewReceipt(nil)}
	o := &stream.Source{Name: "s", Sink: sink, Commits: write.NewCommitter(sink), Versions: write.NewVersionClock(time.Now), Clock: stream.Clock{WallClock: time.Now}, Metrics: noMeter{}}
	o.IdentifyAs(stream.Identity{})
	var st *Totals
	for _, def := range registry.All() {
		if def.Kind == registry.TotalsKind && def.LinesMayVanish {
			st = New(o, def, NewShared(o))
		}
	}
	go func() {
		time.Sleep(5 * time.Second)
		sink.durable = true
		sink.receipt.Resolve(nil)
	}()
	t.Cleanup(func() { <-sink.receipt.Done() })
	return st, sink
}

type noMeter struct{}

func (noMeter) Paged(string, string, string)                {}
func (noMeter) Walked(string, string, error, time.Duration) {}
func (noMeter) Counted(string, string, write.Counts)        {}

// A line that was handed over and is not durable yet is removed when it vanishes.
func TestALineThatIsNotDurableYetIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, _ := hold(t)
		if _, err := st.Source.Commits.Write(t.Context(), &sinks.Commit{Source: "s"}); err != nil {
			t.Fatal(err)
		}
		in, day := st.Writer.Begin(1, 0), types.Date("2026-03-10")
		err := st.removeLines(t.Context(), in, Span{day, day, ""}, answer{}, map[types.Date]uint64{day: 1}, map[types.Date]uint64{day: 2}, nil)
		if err != nil || len(in.Commit.Tombstones) != 1 {
			t.Errorf("%d lines are removed: %v", len(in.Commit.Tombstones), err)
		}
	})
}

// An entry of the quarantine is known when the next walk begins, which may close it.
func TestAnEntryOfTheQuarantineIsNotPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, _ := hold(t)
		in := st.Writer.Begin(1, 0)
		in.Quarantine("a", "net", "bad", "bad", []byte("{}"), 1, time.Now())
		var p pending
		if err := p.store(t.Context(), st.Writer, in, 1); err != nil || st.Writer.QuarantinedCount() != 1 {
			t.Errorf("%d entries are open: %v", st.Writer.QuarantinedCount(), err)
		}
	})
}

// Streams of a source that ask for the same days at once have one answer.
func TestASharedAnswerStaysAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, sink := hold(t)
		sink.verdicts = []sinks.Verdict{{Subject: sinks.SubjectDaily}, {Subject: sinks.SubjectProducts}}
		own, err := st.verdicts.stored(t.Context(), FirstDay, FirstDay)
		if err != nil || len(own) != 1 || sink.verdicts[0].Subject != sinks.SubjectDaily || sink.verdicts[1].Subject != sinks.SubjectProducts {
			t.Errorf("%+v of %+v: %v", own, sink.verdicts, err)
		}
	})
}
