package write

import (
	"log/slog"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// A row that the lookback brings again as it was last written is not mapped, and is remembered for the next
// walk. All others are: those that changed, those of a full resync, and bad ones.
func TestARowThatWasWrittenIsNotMappedAgain(t *testing.T) {
	plan, err := mapping.Compile[types.Category]("categories")
	if err != nil {
		t.Fatal(err)
	}
	stamp := time.Date(2026, 1, 2, 3, 4, 5, 123456000, time.UTC)
	live := func(name string) string {
		return `{"id":"a","deleted":false,"name":"` + name + `","position":1,"updated_at":"2026-01-02T03:04:05.1234569Z"}`
	}
	removed := `{"id":"b","deleted":true,"updated_at":"2026-01-02T03:04:05.123456Z"}`
	bad := `{"id":"c","deleted":false,"name":7,"position":1,"updated_at":"2026-01-02T03:04:05.123456Z"}`
	w := NewWriter(Options{
		Table: plan.Table(), Committer: &Committer{sink: &refusing{}}, Counted: func(Counts) {},
		Commit: func() *sinks.Commit { return &sinks.Commit{Source: "s", Stream: "categories"} },
	})
	version := uint64(0)
	for _, c := range []struct {
		what, raw             string
		rewrite, mapped, news bool
	}{
		{what: "new", raw: live("n"), mapped: true, news: true},
		{what: "again", raw: live("n")},
		{what: "changed", raw: live("m"), mapped: true, news: true},
		{what: "changed back", raw: live("n"), mapped: true, news: true},
		{what: "in a full resync", raw: live("n"), rewrite: true, mapped: true, news: true},
		{what: "after it", raw: live("n")},
		{what: "a tombstone", raw: removed, mapped: true, news: true},
		{what: "the tombstone again", raw: removed},
		{what: "bad", raw: bad, mapped: true, news: true},
		{what: "bad again", raw: bad, mapped: true},
	} {
		in, m := w.Begin(w.NextWalk(), 1), plan.NewMapper()
		in.All, in.Rewrite, version = true, c.rewrite, version+1
		row := in.Row(m, []byte(c.raw), version, time.Now(), RowContext{})
		if mapped := m.Known != nil; mapped != c.mapped || row.Fresh != c.news || in.Empty() == c.news {
			t.Errorf("%s: mapped is %t, fresh %t, nothing to write %t", c.what, mapped, row.Fresh, in.Empty())
		}
		if made := in.Commit.Batch != nil; made != c.mapped {
			t.Errorf("%s: a batch is made is %t", c.what, made)
		}
		if c.raw != bad && (row.ID == "" || !row.UpdatedAt.Equal(stamp)) {
			t.Errorf("%s: it is row %q of %s", c.what, row.ID, row.UpdatedAt)
		}
		if !c.news && in.Counts != (Counts{Unchanged: 1}) {
			t.Errorf("%s: counted is %+v", c.what, in.Counts)
		}
		if err := w.Store(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	in := w.Begin(w.NextWalk(), 1)
	in.All = true
	in.Row(plan.NewMapper(), []byte(live("n")), version+1, time.Now(), RowContext{})
	w.Prune(stamp.Add(time.Hour), in.walk)
	if _, known := w.Remembers("a"); !known {
		t.Error("the row that the last walk brought is forgotten")
	}
}

// Each walk ends with it, and hardly any has bad rows.
func TestWithoutBadRowsNothingIsMadeForTheLog(t *testing.T) {
	w := NewWriter(Options{Table: &sinks.Table{Name: "categories"}, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if n := testing.AllocsPerRun(100, w.LogQuarantine); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
