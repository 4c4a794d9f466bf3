package write

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// refusing is a sink that takes nothing while it has an error.
type refusing struct {
	err   error
	taken []*sinks.Commit
}

func (r *refusing) Write(_ context.Context, c *sinks.Commit) (*sinks.Receipt, error) {
	if r.err != nil {
		return nil, r.err
	}
	r.taken = append(r.taken, c)
	receipt := sinks.NewReceipt(nil)
	receipt.Resolve(nil)
	return receipt, nil
}

// What a page reports of its rows is reported again when the page was refused, and once when
// it was taken.
func TestDriftOfARefusedPageIsReportedLater(t *testing.T) {
	plan, err := mapping.Compile[types.Category]("categories")
	if err != nil {
		t.Fatal(err)
	}
	sink := &refusing{err: errors.New("this process does not hold the source any more")}
	w := NewWriter(Options{
		Table: plan.Table(), Committer: &Committer{sink: sink}, Counted: func(Counts) {},
		Commit: func() *sinks.Commit { return &sinks.Commit{Source: "s", Stream: "categories"} },
	})
	page := func() error {
		in, m := w.Begin(w.NextWalk(), 2), plan.NewMapper()
		for i, id := range []string{"a", "b"} {
			raw := `{"id":"` + id + `","deleted":false,"name":"n","position":1,"updated_at":"2026-01-02T03:04:05.1234567Z","color":"red"}`
			if r := in.Row(m, []byte(raw), uint64(i+1), time.Now(), RowContext{}); r.Bad {
				t.Fatalf("row %s is bad", id)
			}
		}
		return w.Store(t.Context(), in)
	}
	if page() == nil {
		t.Fatal("the page was taken")
	}
	sink.err = nil
	for range 2 {
		if err := page(); err != nil {
			t.Fatal(err)
		}
	}
	var reported []string
	for _, c := range sink.taken {
		for _, d := range c.Drift {
			reported = append(reported, d.Kind+" "+d.Path)
		}
	}
	if len(reported) != 2 || reported[0] != "digits updated_at" || reported[1] != "field color" {
		t.Errorf("reported %q", reported)
	}
}
